"""Above the charts: the figures of the time that they show, side by side."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QVBoxLayout,
    QWidget,
)

from engine_bridge.metrics.definitions import DEFINITIONS
from engine_bridge.metrics.stretch_figures import StretchFigures
from resources.tokens import PANEL_PADDING_PX, STEP_PX
from widgets.charts.note_line import NoteLine
from widgets.elided_label import ElidedLabel
from widgets.figure_words import NO_VALUE, Cell, cells, count_text, count_tip, gaps_text
from widgets.plain_tip import wrapped_tip
from widgets.theme import set_role

_GAP_PX = 2 * STEP_PX
# What a figure needs at least; narrower, the four stand in two rows.
_WIDEST_VALUE, _WIDEST_UNIT = "0,000", "tok/s"
_WIDEST_NOTE = "TPOT 88.8 ms"
FULL, BRIEF, NONE = 2, 1, 0
"""How much of it is shown: everything, only the four figures, nothing."""


class FigureStrip(QFrame):
    """TTFT, speed per user, speed in total and goodput; below them ITL and what was counted."""

    _columns = 0  # before there is anything to place

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make a strip of a time without requests."""
        super().__init__(parent)
        set_role(self, "panel")
        self.setAccessibleName("Figures of the time shown")
        self._cells = tuple(_CellView() for _ in cells(StretchFigures()))
        self._gaps, self._count = NoteLine(), QLabel()
        for label in (self._gaps, self._count):
            set_role(label, "hint")
        self._below = QWidget()
        self._lines = below = QHBoxLayout(self._below)
        below.setContentsMargins(0, 0, 0, 0)
        below.setSpacing(2 * STEP_PX)
        below.addWidget(self._gaps, 1)
        below.addWidget(self._count)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(_GAP_PX)
        self._grid.setVerticalSpacing(STEP_PX)
        self._column = column = QVBoxLayout(self)
        column.setContentsMargins(PANEL_PADDING_PX, STEP_PX, PANEL_PADDING_PX, STEP_PX + 2)
        column.setSpacing(STEP_PX)
        column.addLayout(self._grid)
        column.addWidget(self._below)
        self._detail = FULL
        self._place()
        self.show_figures(StretchFigures())

    def show_figures(self, figures: StretchFigures) -> None:
        """Bring the figures up to date."""
        shown = cells(figures)
        for view, cell in zip(self._cells, shown, strict=True):
            view.show_cell(cell)
        gaps, count = gaps_text(figures), count_text(figures)
        self._gaps.set_text(
            gaps, wrapped_tip(f"{DEFINITIONS['itl']}\n\n{DEFINITIONS['stretch_itl']}")
        )
        if count != self._count.text():
            self._count.setText(count)
        tip = wrapped_tip(count_tip(figures))
        if tip != self._count.toolTip():
            self._count.setToolTip(tip)
        said = ". ".join(filter(None, (count, *(cell.sentence for cell in shown), gaps)))
        if said != self.accessibleDescription():
            self.setAccessibleDescription(said)

    def text(self) -> str:
        """All that is said, in words."""
        return self.accessibleDescription()

    @property
    def detail(self) -> int:
        """``FULL``, ``BRIEF`` or ``NONE``."""
        return self._detail

    def set_detail(self, detail: int) -> None:
        """Show so much of it."""
        if detail == self._detail:
            return
        self._detail = detail
        self._below.setVisible(detail == FULL)
        for cell in self._cells:
            cell.set_brief(detail != FULL)
        self.setVisible(detail != NONE)
        self.updateGeometry()

    def height_for(self, detail: int, width_px: int) -> int:
        """Pixels it takes with so much of it at a width; 0 for ``NONE``."""
        if detail == NONE:
            return 0
        rows = 1 if self._is_wide(width_px) else 2
        each = self._cells[0].height_for(is_brief=detail != FULL)
        margins = self._column.contentsMargins()
        height = rows * each + (rows - 1) * STEP_PX + margins.top() + margins.bottom() + 2
        if detail != FULL:
            return height
        line = self._gaps.sizeHint().height()
        return height + STEP_PX + (line if self._is_wide(width_px) else 2 * line)

    def minimumSizeHint(self) -> QSize:
        """Any height: the panel takes it away before the charts get too low."""
        return QSize(super().minimumSizeHint().width(), 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Four in a row, or two rows of two where they have no room."""
        super().resizeEvent(event)
        self._place()

    def changeEvent(self, event: QEvent) -> None:
        """Measure again in another font."""
        super().changeEvent(event)
        if self._columns and event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._place()

    def _is_wide(self, width_px: int) -> bool:
        """Whether all figures fit side by side."""
        margins = self._column.contentsMargins()
        room = width_px - margins.left() - margins.right() - (len(self._cells) - 1) * _GAP_PX
        needed = max(cell.needed_px() for cell in self._cells)
        return room >= len(self._cells) * needed

    def _place(self) -> None:
        is_wide = self._is_wide(self.width())
        columns = len(self._cells) if is_wide else len(self._cells) // 2
        if columns == self._columns:
            return
        self._columns = columns
        across, down = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        self._lines.setDirection(across if is_wide else down)
        self._lines.setSpacing(2 * STEP_PX if is_wide else 0)
        for place, cell in enumerate(self._cells):
            self._grid.addWidget(cell, place // columns, place % columns)
        for column in range(len(self._cells)):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)


class _CellNote(ElidedLabel):
    """The second figure; where it does not fit, in fewer words with its unit.

    Attributes:
        brief: The fewer words; empty for none.
    """

    brief = ""

    def shortened(self, full: str, room_px: int) -> str:
        """All of it, the fewer words, or as much as fits."""
        metrics = self.fontMetrics()
        is_whole = metrics.horizontalAdvance(full) <= room_px
        return full if is_whole or not self.brief else super().shortened(self.brief, room_px)


class _CellView(QWidget):
    """One figure: its name, the number with its unit, and a second figure below."""

    def __init__(self) -> None:
        super().__init__()
        self._head, self._value, self._unit = ElidedLabel(), QLabel(NO_VALUE), QLabel()
        self._note = _CellNote()
        for label in (self._head, self._unit, self._note):
            set_role(label, "hint")
        set_role(self._value, "figure")
        line = QHBoxLayout()
        line.setSpacing(STEP_PX)
        line.addWidget(self._value)
        line.addWidget(self._unit, 1)
        for label in (self._value, self._unit):
            label.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._head)
        column.addLayout(line)
        column.addWidget(self._note)

    def show_cell(self, cell: Cell) -> None:
        """Bring the texts up to date."""
        tip = wrapped_tip(cell.tip)
        self._head.set_text(cell.head, tip)
        self._note.brief = cell.brief
        self._note.set_text(cell.note, tip)
        for label, text in ((self._value, cell.value), (self._unit, cell.unit)):
            if label.text() != text:
                label.setText(text)
        set_role(self._value, "figure-muted" if cell.value == NO_VALUE else "figure")
        if tip != self.toolTip():
            self.setToolTip(tip)
        self._value.setAccessibleName(cell.sentence)

    def set_brief(self, is_brief: bool) -> None:
        """Whether the second figure is left out."""
        self._note.setVisible(not is_brief)

    def needed_px(self) -> int:
        """Width that the widest number takes with its unit, and what stands below it."""
        value = self._value.fontMetrics().horizontalAdvance(_WIDEST_VALUE)
        first = value + STEP_PX + self._unit.fontMetrics().horizontalAdvance(_WIDEST_UNIT)
        # What a label's hint has beside its text.
        return max(first, self._note.fontMetrics().horizontalAdvance(_WIDEST_NOTE) + 2)

    def height_for(self, is_brief: bool) -> int:
        """Pixels of its lines."""
        lines = self._head.sizeHint().height() + self._value.sizeHint().height()
        return lines + (0 if is_brief else self._note.sizeHint().height())

    def sizeHint(self) -> QSize:
        """As wide as any number needs: no column gets wider because one grew."""
        return QSize(self.needed_px(), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Any width will do."""
        return QSize(0, super().minimumSizeHint().height())
