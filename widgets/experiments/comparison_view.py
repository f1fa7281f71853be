"""Two experiments side by side: what differs in them, and what their figures say of it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from resources.tokens import PANEL_GAP_PX, PANEL_PADDING_PX, STEP_PX
from widgets.elided_label import ElidedLabel
from widgets.experiments.comparison_sheet import ComparisonPair, ComparisonRow, ComparisonSheet
from widgets.theme import set_role

# A sign as well as a colour: no meaning hangs on hue alone.
_SIGNS = {"better": "▲", "worse": "▼", "none": "=", "unknown": "?"}
_ROLES = {"better": "good", "worse": "warning"}
# Wide enough to be read across, and for the longest unit.
_TABLE_PX, _UNIT_PX, _CHANGE_PX = 165 * STEP_PX, 9 * STEP_PX, 14 * STEP_PX
_SAME = "The same settings."
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop
_TOP = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop


class ComparisonView(QWidget):
    """A sheet with a way back.

    Signals:
        closed: Back to the list.
        opened: Key of the one to be shown whole.
    """

    closed = Signal()
    opened = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Begin without a sheet."""
        super().__init__(parent)
        self._sheet: ComparisonSheet | None = None
        self.back_button = QPushButton("Back to the list", self)
        self.back_button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.back_button.clicked.connect(self.closed)
        self.pairs = QComboBox(self)
        self.pairs.setAccessibleName("Configuration")
        self.pairs.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.pairs.setMinimumContentsLength(12)
        self.pairs.currentIndexChanged.connect(self._on_pair_chosen)
        self._area = QScrollArea(self)
        self._area.setWidgetResizable(True)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        set_role(self._area, "ringed")
        self._area.setAccessibleName("Comparison")
        head = QHBoxLayout()
        head.setSpacing(PANEL_GAP_PX)
        head.addWidget(self.back_button)
        head.addWidget(self.pairs, 4)
        head.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(PANEL_GAP_PX)
        layout.addLayout(head)
        layout.addWidget(self._area, 1)

    def show_sheet(self, sheet: ComparisonSheet) -> None:
        """Show ``sheet``, of several configurations the first."""
        self._sheet = sheet
        with QSignalBlocker(self.pairs):
            self.pairs.clear()
            self.pairs.addItems([pair.name for pair in sheet.pairs])
        self.pairs.setVisible(len(sheet.pairs) > 1)
        self._show(sheet.pairs[0] if sheet.pairs else None)

    def words(self) -> tuple[str, ...]:
        """Everything it says, in order."""
        page = self._area.widget()
        if page is None:
            return ()
        return tuple(
            label.full_text() if isinstance(label, ElidedLabel) else label.text()
            for label in page.findChildren(QLabel)
        )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape goes back."""
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        else:
            super().keyPressEvent(event)

    # --- Inside -----------------------------------------------------------------------------

    def _on_pair_chosen(self, place: int) -> None:
        if self._sheet is not None and 0 <= place < len(self._sheet.pairs):
            self._show(self._sheet.pairs[place])

    def _show(self, pair: ComparisonPair | None) -> None:
        sheet = self._sheet
        if sheet is None:
            return
        page = QWidget()
        page.setProperty("role", "scrolled")
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, PANEL_PADDING_PX, PANEL_PADDING_PX)
        column.setSpacing(PANEL_GAP_PX)
        column.addWidget(self._names(sheet))
        for caution in sheet.cautions:
            column.addWidget(_label(caution, "hint-warning", is_wrapped=True))
        if pair is not None:
            if pair.about:
                column.addWidget(_label(pair.about, "muted", is_wrapped=True))
            _add_table(column, "Figures", pair.figures)
            for sentence in pair.sentences:
                column.addWidget(_label(sentence, "muted", is_wrapped=True))
            _add_table(column, "Settings", pair.settings, otherwise=_SAME)
        _add_table(column, "What was measured", sheet.about)
        column.addStretch(1)
        self._area.setWidget(page)

    def _names(self, sheet: ComparisonSheet) -> QWidget:
        """A and B with their titles, when they were, and the way to each."""
        frame = QFrame()
        set_role(frame, "raised")
        grid = QGridLayout(frame)
        grid.setContentsMargins(*[PANEL_PADDING_PX] * 4)
        grid.setHorizontalSpacing(PANEL_PADDING_PX)
        grid.setVerticalSpacing(STEP_PX)
        grid.setColumnStretch(1, 1)
        for row, (letter, key, title, when) in enumerate(
            (
                ("A", sheet.first_key, sheet.first, sheet.first_when),
                ("B", sheet.second_key, sheet.second, sheet.second_when),
            )
        ):
            button = QPushButton("Open", frame)
            button.setAccessibleName(f"Open {letter}")
            button.clicked.connect(lambda _=False, key=key: self.opened.emit(key))
            name, about = ElidedLabel(title, frame), ElidedLabel(when, frame)
            set_role(about, "hint")
            grid.addWidget(_label(letter, "value"), 2 * row, 0)
            grid.addWidget(name, 2 * row, 1)
            grid.addWidget(about, 2 * row + 1, 1)
            grid.addWidget(button, 2 * row, 2, 2, 1, Qt.AlignmentFlag.AlignVCenter)
        return frame


# --- Inside -------------------------------------------------------------------------------------


def _add_table(
    column: QVBoxLayout, title: str, rows: Sequence[ComparisonRow], *, otherwise: str = ""
) -> None:
    """A heading and a table below it; ``otherwise`` where there are no rows, or nothing at all."""
    if not rows and not otherwise:
        return
    column.addWidget(_label(title, "heading"))
    if not rows:
        column.addWidget(_label(otherwise, "muted", is_wrapped=True))
        return
    table = QWidget()
    table.setMaximumWidth(_TABLE_PX)
    grid = QGridLayout(table)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(PANEL_PADDING_PX)
    grid.setVerticalSpacing(STEP_PX)
    for place in range(3):
        grid.setColumnStretch(place, 1)
    # Columns of all tables stand below each other, with units and without.
    grid.setColumnMinimumWidth(3, _UNIT_PX)
    if any(row.change for row in rows):
        head = _label("B − A", "hint")
        head.setAlignment(_RIGHT)
        grid.addWidget(head, 0, 4)
    grid.setColumnMinimumWidth(4, _CHANGE_PX)
    for place, letter in ((1, "A"), (2, "B")):
        head = _label(letter, "hint")
        head.setAlignment(_RIGHT)
        grid.addWidget(head, 0, place)
    line = 1
    for row in rows:
        line = _add_row(grid, line, row)
    column.addWidget(table)


def _add_row(grid: QGridLayout, line: int, row: ComparisonRow) -> int:
    """A row, and below it what is claimed; returns the next free line."""
    grid.addWidget(_label(row.name, "", is_wrapped=True), line, 0)
    for place, value in ((1, row.first), (2, row.second)):
        label = _label(value, "value", is_wrapped=True)
        label.setAlignment(_RIGHT)
        grid.addWidget(label, line, place)
    grid.addWidget(_label(row.unit, "hint"), line, 3, _TOP)
    if row.change:
        change = _label(row.change, "")
        change.setAlignment(_RIGHT)
        grid.addWidget(change, line, 4)
    if not row.sentence:
        return line + 1
    said = QHBoxLayout()
    said.setContentsMargins(0, 0, 0, 2 * STEP_PX)
    said.setSpacing(STEP_PX + 2)
    said.addWidget(_label(_SIGNS.get(row.outcome, ""), _ROLES.get(row.outcome, "muted")))
    said.addWidget(_label(row.sentence, "muted", is_wrapped=True), 1)
    grid.addLayout(said, line + 1, 0, 1, 5)
    return line + 2


def _label(text: str, role: str, *, is_wrapped: bool = False) -> QLabel:
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setAlignment(_TOP)
    if is_wrapped:
        label.setWordWrap(True)
        label.setMinimumWidth(1)
    if role:
        # Of two hundred new labels Qt looks at each once it is shown; here it would be twice.
        label.setProperty("role", role)
    return label
