"""The log: lines by level, a search, and a list that keeps its end in sight."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from resources.tokens import DARK, PANEL_GAP_PX, PANEL_PADDING_PX, STEP_PX, Palette
from widgets.log_line import LEVELS, Level, LogLine
from widgets.log_list import LogList
from widgets.log_model import LogModel
from widgets.steady_label import SteadyLabel
from widgets.theme import icon, set_role

_LEVEL_NAMES: dict[Level, str] = {
    "debug": "All levels",
    "info": "Info and above",
    "warning": "Warnings and errors",
    "error": "Errors only",
}
_NOTHING_YET = "What the engine and TuneDeck say will appear here."
_NOTHING_OF_LEVEL = "Nothing of this level was said."
_WIDEST_COUNT = "20,000 of 20,000"


class LogView(QFrame):
    """What was said, with a filter and a search.

    Signals:
        cleared: A person emptied the log.
        save_requested: A person wants a diagnostics file.
    """

    cleared = Signal()
    save_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make an empty log."""
        super().__init__(parent)
        set_role(self, "panel")
        self._colours = DARK
        self._model = LogModel()
        self._model.setParent(self)
        self._list = LogList(self._model, self)
        self._levels = QComboBox(self)
        for level in LEVELS:
            self._levels.addItem(_LEVEL_NAMES[level], level)
        self._levels.setAccessibleName("Levels shown")
        self._levels.setToolTip("Levels shown")
        self._search = QLineEdit(self)
        self._search.setPlaceholderText("Search the log")
        self._search.setAccessibleName("Search the log")
        self._search.setClearButtonEnabled(True)
        self._previous = self._tool("chevron-up", "Previous match")
        self._next = self._tool("chevron-down", "Next match")
        self._count = SteadyLabel(_WIDEST_COUNT, self)
        self._count.setAccessibleName("Matches")
        set_role(self._count, "hint")
        self._follow = self._button("Follow", "Keep the newest line in sight")
        self._follow.setCheckable(True)
        self._follow.setChecked(True)
        self._copy = self._button("Copy", "Copy the selected lines")
        self._clear = self._button("Clear", "Forget every line")
        self._save = self._button("Save diagnostics…", "Save a file that tells what runs here")
        self._save.setToolTip(
            "Save versions, hardware, settings and this log, without names and without any text "
            "of a conversation"
        )
        self._lay_out()
        self._connect()
        self._show_state()

    def append(self, lines: Sequence[LogLine]) -> None:
        """Add ``lines`` at the end: many at once, a few times a second."""
        was_empty = not self._model.rowCount()
        self._model.append(lines)
        if was_empty:
            self._show_state()

    def lines(self) -> tuple[LogLine, ...]:
        """All that is kept, oldest first."""
        return self._model.lines()

    def show_from(self, level: Level) -> None:
        """Show lines of ``level`` and above."""
        self._levels.setCurrentIndex(self._levels.findData(level))

    def search(self, text: str) -> None:
        """Look for ``text``."""
        self._search.setText(text)

    def focus_search(self) -> None:
        """Let the next key go to the search."""
        self._search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._search.selectAll()

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self._colours = palette
        self._list.set_palette(palette)
        self._previous.setIcon(icon("chevron-up", palette.muted))
        self._next.setIcon(icon("chevron-down", palette.muted))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter and Shift+Enter in the search go from match to match; Esc ends it."""
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if is_enter and self._search.hasFocus():
            is_back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            self._go(-1 if is_back else 1)
        elif event.key() == Qt.Key.Key_Escape and self._search.text():
            self._search.clear()
        else:
            super().keyPressEvent(event)

    # --- Building -------------------------------------------------------------------------

    def _tool(self, name: str, words: str) -> QToolButton:
        button = QToolButton(self)
        button.setIcon(icon(name, self._colours.muted))
        button.setToolTip(words)
        button.setAccessibleName(words)
        set_role(button, "flat")
        return button

    def _button(self, text: str, words: str) -> QPushButton:
        button = QPushButton(text, self)
        button.setToolTip(words)
        button.setAccessibleName(text.rstrip("…"))
        button.setAccessibleDescription(words)
        return button

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(PANEL_GAP_PX)
        row.addWidget(self._levels)
        row.addWidget(self._search, 1)
        row.addWidget(self._count)
        row.addWidget(self._previous)
        row.addWidget(self._next)
        row.addSpacing(PANEL_GAP_PX)
        for button in (self._follow, self._copy, self._clear, self._save):
            row.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(PANEL_PADDING_PX, PANEL_GAP_PX, PANEL_PADDING_PX, PANEL_GAP_PX)
        layout.setSpacing(PANEL_GAP_PX)
        layout.addLayout(row)
        layout.addWidget(self._list, 1)
        self._count.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._search.setMinimumWidth(30 * STEP_PX)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def _connect(self) -> None:
        self._levels.currentIndexChanged.connect(self._on_level_chosen)
        self._search.textChanged.connect(self._on_search_changed)
        self._previous.clicked.connect(lambda: self._go(-1))
        self._next.clicked.connect(lambda: self._go(1))
        self._follow.toggled.connect(self._list.follow)
        self._list.following_changed.connect(self._follow.setChecked)
        self._copy.clicked.connect(self._list.copy)
        self._clear.clicked.connect(self._on_clear_clicked)
        self._save.clicked.connect(self.save_requested)
        self._model.found_changed.connect(self._show_count)
        self._list.selectionModel().selectionChanged.connect(lambda *_: self._show_state())
        self._model.modelReset.connect(self._show_state)
        find = QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self)
        find.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        find.activated.connect(self.focus_search)

    # --- What was done --------------------------------------------------------------------

    def _on_level_chosen(self, index: int) -> None:
        self._model.show_from(self._levels.itemData(index))

    def _on_search_changed(self, text: str) -> None:
        self._model.search(text)
        self._list.viewport().update()
        if self._model.found:
            # The newest one first: that is what one looks for in a log.
            self._go(-1, from_row=self._model.rowCount())

    def _on_clear_clicked(self) -> None:
        self._model.clear()
        self.cleared.emit()

    def _go(self, step: int, from_row: int | None = None) -> None:
        current = self._list.currentIndex()
        begin = from_row if from_row is not None else current.row()
        if begin < 0 and step < 0:
            begin = self._model.rowCount()
        row = self._model.next_found(begin, step)
        if row < 0:
            return
        self._list.show_row(row)
        self._show_count()

    def _show_count(self) -> None:
        found = self._model.found
        is_searching = bool(self._model.needle)
        self._previous.setEnabled(found > 0)
        self._next.setEnabled(found > 0)
        place = self._model.place_of(self._list.currentIndex().row()) if found else 0
        words = f"{place:,} of {found:,}" if place else f"{found:,} found"
        self._count.setText((words if found else "not found") if is_searching else "")

    def _show_state(self) -> None:
        has_lines = bool(self._model.lines())
        self._list.set_waiting_for(_NOTHING_OF_LEVEL if has_lines else _NOTHING_YET)
        self._clear.setEnabled(has_lines)
        self._copy.setEnabled(self._list.selectionModel().hasSelection())
        self._show_count()
