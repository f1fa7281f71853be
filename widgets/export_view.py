"""Where tuned settings leave: engines on the left, what leaves and what becomes of each setting."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from resources.tokens import PANEL_GAP_PX, PANEL_PADDING_PX, STEP_PX, Palette
from widgets.export_engines import ExportEngines
from widgets.export_files import ExportFiles
from widgets.export_settings import ExportSettings
from widgets.export_sheet import ExportSheet, ExportTarget
from widgets.reading_area import ReadingArea
from widgets.sentence_label import sentence_label
from widgets.theme import set_role

# From this width on the settings stand beside what leaves, else below it.
_SIDE_BY_SIDE_PX = 290 * STEP_PX
_LEAST_SIDE_PX = 70 * STEP_PX
# Notes may be many; then they scroll, so that the command keeps its room.
_NOTES_SHARE = 0.22
_NOTES_LINES = 3
# The words of the settings need more width than a command, and no more height.
_WIDE_SHARES = (800, 1200)
# Above each other a command has what it takes, and never more of the height than this.
_MOST_ABOVE = 0.45


class ExportView(QWidget):
    """Engines, what leaves for the one chosen, and the settings.

    Signals:
        target_chosen: Key (str) of the engine that a person chose.
        shell_chosen: Id (str) of the shell that a person chose.
        save_requested: The ``ExportPart`` that is to be saved.
        save_all_requested: Everything is to be saved into one folder.
        try_requested: The program is to be tried with this line.
    """

    target_chosen = Signal(str)
    shell_chosen = Signal(str)
    save_requested = Signal(object)
    save_all_requested = Signal()
    try_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make a view without engines."""
        super().__init__(parent)
        self._targets: dict[str, ExportTarget] = {}
        self._shown_target = ""
        self._is_moved = False
        self.engines = ExportEngines(self)
        self.name_label = QLabel(self)
        self.name_label.setTextFormat(Qt.TextFormat.PlainText)
        set_role(self.name_label, "heading")
        self.told_label = sentence_label("muted", self)
        self.shells = QComboBox(self)
        self.shells.setAccessibleName("Shell the command is quoted for")
        self.shells.setToolTip("Shell the command is quoted for")
        self.try_button = QPushButton("Try it…", self)
        self.try_button.setToolTip(
            "Start the real llama-server with this line and measure it beside TuneDeck's engine"
        )
        self.refusals_label = sentence_label("warning", self)
        self.notes_label = sentence_label("muted", self)
        self.notes_label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._notes = ReadingArea("What to know before running it", self.notes_label, parent=self)
        self.files = ExportFiles(self)
        self.settings = ExportSettings(self)
        self._nothing = sentence_label("muted", self)
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._split = QSplitter(Qt.Orientation.Horizontal, self)
        self._lay_out()
        self._connect()

    # --- What is shown ------------------------------------------------------------------

    def set_targets(self, targets: Sequence[ExportTarget], chosen: str) -> None:
        """Offer ``targets``, ``chosen`` of them chosen; without a signal."""
        self._targets = {target.key: target for target in targets}
        self.engines.set_targets(targets, chosen)
        self._show_target(chosen)

    def set_shells(self, shells: Sequence[tuple[str, str]], chosen: str) -> None:
        """Offer ``shells``, each an id and a name, ``chosen`` by its id; without a signal."""
        with QSignalBlocker(self.shells):
            self.shells.clear()
            for key, name in shells:
                self.shells.addItem(name, key)
            self.shells.setCurrentIndex(max(0, self.shells.findData(chosen)))

    def show_sheet(self, sheet: ExportSheet) -> None:
        """Show what leaves."""
        if self.engines.chosen() != sheet.target:
            self.engines.choose(sheet.target)
        self._show_target(sheet.target)
        self.refusals_label.setText("\n".join(sheet.refusals))
        self.refusals_label.setVisible(bool(sheet.refusals))
        self.notes_label.setText("\n".join(sheet.notes))
        self._notes.setVisible(bool(sheet.notes))
        self._fit_notes()
        # Another engine opens with what it is told by; of the same one the tab in front stays.
        is_other = sheet.target != self._shown_target
        self._shown_target = sheet.target if sheet.parts else ""
        self.files.show_parts(sheet.parts, front=sheet.front if is_other else None)
        self.files.setVisible(bool(sheet.parts))
        self._share()
        self._nothing.setText(sheet.nothing)
        self._nothing.setAccessibleName(sheet.nothing)
        self._nothing.setVisible(not sheet.parts)
        self.settings.show_settings(sheet.settings)

    def set_try(self, why_not: str) -> None:
        """Say why it cannot be tried now; empty where it can."""
        self.try_button.setEnabled(not why_not)
        self.try_button.setAccessibleDescription(why_not)

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self.engines.set_palette(palette)
        self.settings.set_palette(palette)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Side by side where there is room for it."""
        super().resizeEvent(event)
        is_wide = self.width() >= _SIDE_BY_SIDE_PX
        orientation = Qt.Orientation.Horizontal if is_wide else Qt.Orientation.Vertical
        if self._split.orientation() is not orientation:
            self._split.setOrientation(orientation)
            self._is_moved = False
        self._fit_notes()
        self._share()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Notes are broken into lines by the width they have by now."""
        if watched is self._notes.viewport() and event.type() is QEvent.Type.Resize:
            self._fit_notes()
        return super().eventFilter(watched, event)

    # --- Inside -------------------------------------------------------------------------

    def _lay_out(self) -> None:
        self.engines.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        head = QHBoxLayout()
        head.setSpacing(PANEL_GAP_PX)
        head.addWidget(self.name_label)
        head.addStretch(1)
        head.addWidget(self.shells)
        head.addWidget(self.try_button)
        self._notes.viewport().installEventFilter(self)
        self._split.setChildrenCollapsible(False)
        self._split.setHandleWidth(PANEL_PADDING_PX)
        left = QWidget(self)
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.files, 1)
        column.addWidget(self._nothing, 1)
        left.setMinimumWidth(_LEAST_SIDE_PX)
        self.settings.setMinimumWidth(_LEAST_SIDE_PX)
        self._split.addWidget(left)
        self._split.addWidget(self.settings)
        # Both sides together must not keep the view from becoming so narrow that they are stacked.
        self._split.setMinimumWidth(_LEAST_SIDE_PX)
        right = QVBoxLayout()
        right.setSpacing(STEP_PX)
        right.addLayout(head)
        right.addWidget(self.told_label)
        right.addWidget(self.refusals_label)
        right.addWidget(self._notes)
        right.addSpacing(STEP_PX)
        right.addWidget(self._split, 1)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(*[PANEL_PADDING_PX] * 4)
        layout.setSpacing(PANEL_PADDING_PX)
        layout.addWidget(self.engines)
        layout.addLayout(right, 1)

    def _connect(self) -> None:
        self.engines.target_chosen.connect(self.target_chosen)
        self.shells.currentIndexChanged.connect(
            lambda index: self.shell_chosen.emit(self.shells.itemData(index))
        )
        self.files.save_requested.connect(self.save_requested)
        self.files.save_all_requested.connect(self.save_all_requested)
        self.try_button.clicked.connect(self.try_requested)
        self.files.tabs.currentChanged.connect(lambda _: self._share())
        self._split.splitterMoved.connect(self._on_splitter_moved)

    def _show_target(self, key: str) -> None:
        target = self._targets.get(key)
        if target is None:
            return
        self.name_label.setText(target.name)
        words = " ".join(filter(None, (target.told, target.needs)))
        self.told_label.setText(words)
        self.told_label.setVisible(bool(words))
        self.try_button.setVisible(target.can_be_tried)

    def _on_splitter_moved(self) -> None:
        self._is_moved = True

    def _share(self) -> None:
        """Share the room between what leaves and the settings, until a person did."""
        if self._is_moved:
            return
        if self._split.orientation() is Qt.Orientation.Horizontal:
            self._split.setSizes(_WIDE_SHARES)
            return
        height = self._split.height() - self._split.handleWidth()
        above = min(self.files.wanted_px(), round(_MOST_ABOVE * height))
        self._split.setSizes((above, max(0, height - above)))

    def _fit_notes(self) -> None:
        """As high as the notes are, up to a share of the view."""
        room = self._notes.viewport().width() - 2 * STEP_PX
        wanted = self.notes_label.heightForWidth(max(1, room)) + STEP_PX
        least = _NOTES_LINES * self.notes_label.fontMetrics().lineSpacing()
        most = max(least, round(_NOTES_SHARE * self.height()))
        self._notes.setFixedHeight(min(wanted, most))
