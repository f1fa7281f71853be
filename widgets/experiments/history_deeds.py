"""The buttons for what is picked in the history."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QMenu, QPushButton, QWidget

from resources.tokens import STEP_PX, Palette
from widgets.experiments.history_entry import HistoryEntry
from widgets.menu_button import MenuButton
from widgets.theme import set_role

FORMS: tuple[tuple[str, str], ...] = (
    ("markdown", "Markdown, to read…"),
    ("csv", "CSV, a line for each run…"),
    ("json", "JSON, all of it…"),
    ("card", "Picture card…"),
)
"""What an experiment can be exported as, with the words of the menu."""

_PICK_TWO = "Pick two experiments to compare: Ctrl + click, or Shift + arrow keys."
_GO_ON = "Measure what it had not measured when it stopped"
_NOTHING_LEFT = "A sweep that was stopped, or cut off, can go on."
# Row and column of each button.
_ONE_LINE = ((0, 0), (0, 1), (0, 2), (0, 3), (0, 4))
_TWO_LINES = ((0, 0), (0, 1), (0, 2), (1, 0), (1, 2))


class HistoryDeeds(QWidget):
    """Open, compare, go on, export, delete.

    Signals:
        open_asked: The one that is picked is to be shown whole.
        compare_asked: The two that are picked are to be compared.
        resume_asked: The one that is picked is to go on.
        export_asked: What is picked is to be written, as ``csv``, ``json``, ``markdown``, ``card``.
        delete_asked: What is picked is to be deleted.
    """

    open_asked = Signal()
    compare_asked = Signal()
    resume_asked = Signal()
    export_asked = Signal(str)
    delete_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Begin with nothing that can be done."""
        super().__init__(parent)
        self.open_button = QPushButton("Open", self)
        set_role(self.open_button, "primary")
        self.open_button.setToolTip("Show its tables and charts (Return in the list)")
        self.compare_button = QPushButton("Compare", self)
        self.resume_button = QPushButton("Go on", self)
        self.export_button = MenuButton(self)
        self.export_button.setText("Export")
        set_role(self.export_button, "menu")
        self.export_menu = QMenu(self)
        for form, words in FORMS:
            self.export_menu.addAction(words).setData(form)
        self.export_button.setMenu(self.export_menu)
        self.delete_button = QPushButton("Delete", self)
        self.delete_button.setToolTip("It can be brought back (Del in the list)")
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(STEP_PX + 2)
        self.arrange(is_one_line=True)
        self._connect()

    def arrange(self, *, is_one_line: bool) -> None:
        """Stand in one line, or in two where there is less room."""
        columns = _ONE_LINE if is_one_line else _TWO_LINES
        for button, (row, column) in zip(self._buttons(), columns, strict=True):
            self._grid.addWidget(button, row, column)

    def show_picked(self, only: HistoryEntry | None, count: int) -> None:
        """Allow what can be done with them.

        Args:
            only: The only one; None where several or none are picked.
            count: How many are picked.
        """
        self.open_button.setEnabled(only is not None)
        self.compare_button.setEnabled(count == 2)
        self.compare_button.setToolTip("" if count == 2 else _PICK_TWO)
        can_resume = only is not None and only.can_resume
        self.resume_button.setEnabled(can_resume)
        self.resume_button.setToolTip(_GO_ON if can_resume else _NOTHING_LEFT)
        for button in (self.export_button, self.delete_button):
            button.setEnabled(count > 0)

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self.export_button.set_palette(palette)

    # --- Inside -----------------------------------------------------------------------------

    def _buttons(self) -> tuple[QPushButton, ...]:
        return (
            self.open_button, self.compare_button, self.resume_button, self.export_button,
            self.delete_button,
        )  # fmt: skip

    def _connect(self) -> None:
        for button, signal in (
            (self.open_button, self.open_asked),
            (self.compare_button, self.compare_asked),
            (self.resume_button, self.resume_asked),
            (self.delete_button, self.delete_asked),
        ):
            button.clicked.connect(lambda _=False, signal=signal: signal.emit())
        self.export_menu.triggered.connect(
            lambda action: self.export_asked.emit(str(action.data()))
        )
