"""All profiles: what is in each, what differs from now or from another, and what can be done."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QSizePolicy,
    QTableWidget,
    QVBoxLayout,
    QWidget,
)

from resources.tokens import PANEL_GAP_PX, PANEL_PADDING_PX, STEP_PX, Palette
from widgets.conversation_list_bar import ProblemBar, UndoBar
from widgets.elided_label import ElidedLabel
from widgets.plain_tip import plain_tip
from widgets.profile_list import ProfileList
from widgets.profile_rows import NOW, ProfileRow, ProfileSheet
from widgets.row_table import row_item, set_heads, set_row_height, set_up_rows
from widgets.theme import set_role

_SIZE_PX = (225 * STEP_PX, 135 * STEP_PX)
_SETTING, _BEFORE, _AFTER, _COST = range(4)
_VALUES = (_BEFORE, _AFTER)
_AS_NOW = "As set now"
_ALIKE = "No setting differs."
_BUILT_IN = "This one is built in. Save as… makes one of your own."


class ProfilesView(QDialog):
    """The list on the left, on the right the one that is looked at beside another.

    Signals:
        compare_wanted: Id (str) of a profile, and of what to compare it with, which may be ``NOW``.
        switch_wanted: Id (str) of the profile to switch to.
        save_as_wanted: The settings are to be saved as a new profile.
        rename_wanted: Id (str) of the profile that is to have another name.
        delete_wanted: Id (str) of the profile that is to go.
        restore_wanted: What a deleted profile is brought back by (str).
        export_wanted: Id (str) of the profile to be written to a file.
        import_wanted: A profile is to be read from a file.
    """

    compare_wanted = Signal(str, str)
    switch_wanted = Signal(str)
    save_as_wanted = Signal()
    rename_wanted = Signal(str)
    delete_wanted = Signal(str)
    restore_wanted = Signal(str)
    export_wanted = Signal(str)
    import_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make it without profiles."""
        super().__init__(parent)
        self._rows: dict[str, ProfileRow] = {}
        self.setWindowTitle("Profiles")
        set_role(self, "background")
        self.list = ProfileList(self)
        self.title = ElidedLabel("", self, Qt.TextElideMode.ElideMiddle)
        set_role(self.title, "heading")
        self.about = _words("hint")
        self.caution = _words("warning")
        self.other_box = QComboBox(self)
        self.other_box.setAccessibleName("Compared with")
        self.other_box.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.other_box.setMinimumContentsLength(12)
        self.table = self._make_table()
        self.total = _words("")
        self.problem_bar = ProblemBar(self)
        self.undo_bar = UndoBar(self)
        self.switch_button = self._button("Switch")
        set_role(self.switch_button, "primary")
        self.rename_button = self._button("Rename…")
        self.delete_button = self._button("Delete")
        self.export_button = self._button("Export…")
        self.save_as_button = self._button("Save as…")
        self.save_as_button.setToolTip("Save the settings as they stand now as a new profile.")
        self.import_button = self._button("Import…")
        self.close_button = self._button("Close")
        self._lay_out()
        self._connect()
        self.resize(*_SIZE_PX)

    # --- What is shown ----------------------------------------------------------------------

    def set_rows(self, rows: Sequence[ProfileRow]) -> None:
        """Show these profiles; what is looked at stays so where it is still there."""
        self._rows = {row.id: row for row in rows}
        other = str(self.other_box.currentData() or NOW)
        with QSignalBlocker(self.other_box):
            self.other_box.clear()
            self.other_box.addItem(_AS_NOW, NOW)
            for row in rows:
                self.other_box.addItem(row.name, row.id)
            self.other_box.setCurrentIndex(max(0, self.other_box.findData(other)))
        self.list.set_rows(rows)

    def show_sheet(self, sheet: ProfileSheet) -> None:
        """Show a profile beside another."""
        self.title.set_text(sheet.title)
        self.about.setText(sheet.about)
        self.caution.setText(sheet.caution)
        self.caution.setVisible(bool(sheet.caution))
        table = self.table
        set_heads(table, ("Setting", sheet.before, sheet.title, "Cost"), _VALUES)
        table.setRowCount(len(sheet.settings))
        for place, setting in enumerate(sheet.settings):
            texts = (setting.label, setting.before, setting.after, setting.cost)
            for column, text in enumerate(texts):
                tip = f"{setting.key}: {text}" if column == _SETTING else text
                item = row_item(text, tip, is_figure=column in _VALUES)
                table.setItem(place, column, item)
        set_row_height(table)
        table.setVisible(bool(sheet.settings))
        self._empty.setVisible(not sheet.settings)
        self.total.setText(sheet.total)
        self._show_buttons()

    def show_problem(self, sentence: str) -> None:
        """Say that something did not work; the empty string takes that back."""
        self.problem_bar.show_sentence(sentence)

    def show_note(self, sentence: str) -> None:
        """Say something that is no fault."""
        self.problem_bar.show_sentence(sentence, is_problem=False)

    def offer_undo(self, token: str, name: str) -> None:
        """Say that a profile was deleted, and offer to bring it back by ``token``."""
        self.undo_bar.show_deleted(token, name)

    def compare_with(self, profile_id: str, other: str) -> None:
        """Look at a profile beside another, or beside ``NOW``."""
        with QSignalBlocker(self.other_box):
            self.other_box.setCurrentIndex(max(0, self.other_box.findData(other)))
        self.list.pick(profile_id)

    def shown_texts(self) -> tuple[tuple[str, ...], ...]:
        """The table, heading first."""
        table = self.table
        columns = range(table.columnCount())
        heads = [table.horizontalHeaderItem(column) for column in columns]
        rows = [tuple(head.text() if head else "" for head in heads)]
        for place in range(table.rowCount()):
            items = [table.item(place, column) for column in columns]
            rows.append(tuple(item.text() if item else "" for item in items))
        return tuple(rows)

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self.problem_bar.set_palette(palette)

    # --- Inside -----------------------------------------------------------------------------

    def _make_table(self) -> QTableWidget:
        table = QTableWidget(0, 4, self)
        set_up_rows(table)
        table.setAccessibleName("What differs")
        header = table.horizontalHeader()
        header.setMinimumSectionSize(14 * STEP_PX)
        header.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        for column in range(table.columnCount()):
            is_value = column in _VALUES
            mode = QHeaderView.ResizeMode
            header.setSectionResizeMode(column, mode.Stretch if is_value else mode.ResizeToContents)
        header.setSectionsClickable(False)
        return table

    def _button(self, text: str) -> QPushButton:
        button = QPushButton(text, self)
        # Return is for what has the keyboard.
        button.setAutoDefault(False)
        button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        return button

    def _lay_out(self) -> None:
        self._empty = _words("muted")
        self._empty.setText(_ALIKE)
        compared = QHBoxLayout()
        compared.setSpacing(PANEL_GAP_PX)
        words = QLabel("Compared with", self)
        set_role(words, "muted")
        compared.addWidget(words)
        compared.addWidget(self.other_box, 1)
        right = QVBoxLayout()
        right.setSpacing(PANEL_GAP_PX)
        right.addWidget(self.title)
        for widget in (self.about, self.caution):
            right.addWidget(widget)
        right.addLayout(compared)
        right.addWidget(self.table, 1)
        right.addWidget(self._empty, 1)
        right.addWidget(self.total)
        own = QHBoxLayout()
        own.setSpacing(PANEL_GAP_PX)
        for button in (
            self.switch_button, self.rename_button, self.delete_button, self.export_button,
        ):  # fmt: skip
            own.addWidget(button)
        own.addStretch(1)
        right.addLayout(own)
        middle = QHBoxLayout()
        middle.setSpacing(PANEL_PADDING_PX)
        middle.addWidget(self.list, 2)
        middle.addLayout(right, 3)
        below = QHBoxLayout()
        below.setSpacing(PANEL_GAP_PX)
        below.addWidget(self.save_as_button)
        below.addWidget(self.import_button)
        below.addStretch(1)
        below.addWidget(self.close_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(*[PANEL_PADDING_PX] * 4)
        layout.setSpacing(PANEL_GAP_PX)
        layout.addLayout(middle, 1)
        layout.addWidget(self.undo_bar)
        layout.addWidget(self.problem_bar)
        layout.addLayout(below)

    def _connect(self) -> None:
        self.list.picked.connect(self._on_picked)
        self.list.switch_wanted.connect(self._on_switch_wanted)
        self.list.rename_wanted.connect(self.rename_button.click)
        self.list.delete_wanted.connect(self.delete_button.click)
        self.list.undo_wanted.connect(self.undo_bar.undo)
        self.undo_bar.undone.connect(self.restore_wanted)
        self.other_box.currentIndexChanged.connect(lambda _: self._on_picked())
        self.switch_button.clicked.connect(lambda: self._on_switch_wanted(self._current()))
        self.rename_button.clicked.connect(lambda: self.rename_wanted.emit(self._current()))
        self.delete_button.clicked.connect(lambda: self.delete_wanted.emit(self._current()))
        self.export_button.clicked.connect(lambda: self.export_wanted.emit(self._current()))
        self.save_as_button.clicked.connect(self.save_as_wanted)
        self.import_button.clicked.connect(self.import_wanted)
        self.close_button.clicked.connect(self.close)

    def _current(self) -> str:
        return self.list.current_id()

    def _on_picked(self, _: str = "") -> None:
        if self._current():
            self.compare_wanted.emit(self._current(), str(self.other_box.currentData() or NOW))

    def _on_switch_wanted(self, profile_id: str) -> None:
        row = self._rows.get(profile_id)
        if row is not None and row.why_not:
            self.show_problem(row.why_not)
        elif row is not None:
            self.switch_wanted.emit(profile_id)

    def _show_buttons(self) -> None:
        row = self._rows.get(self._current())
        self.switch_button.setEnabled(row is not None and not row.why_not)
        cost = f"Costs: {row.cost}." if row is not None and row.cost else "Costs nothing."
        tip = row.why_not if row is not None and row.why_not else cost
        self.switch_button.setToolTip(plain_tip(tip))
        for button in (self.rename_button, self.delete_button):
            is_own = row is not None and not row.is_built_in
            button.setEnabled(is_own)
            button.setToolTip("" if is_own else _BUILT_IN)
        self.export_button.setEnabled(row is not None)


def _words(role: str) -> QLabel:
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.setMinimumWidth(1)
    set_role(label, role)
    return label
