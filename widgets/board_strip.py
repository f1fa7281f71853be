"""The boards of this machine, a row each, and its main memory: how busy, how hot, how full.

Not there before the first reading.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Sequence

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from engine_bridge.metrics.board_activity import BoardActivity
from engine_bridge.metrics.definitions import DEFINITIONS
from engine_bridge.metrics.snapshot import MemorySnapshot
from resources.tokens import PANEL_PADDING_PX, STEP_PX
from widgets.board_words import (
    FIELD_OF_COLUMN,
    NO_VALUE,
    Words,
    columns,
    held_back,
    memory_text,
    notes,
    sentence,
    short_name,
)
from widgets.charts.note_line import BETWEEN, NoteLine
from widgets.elided_label import ElidedLabel
from widgets.fitting_columns import FittingColumns
from widgets.plain_tip import wrapped_tip
from widgets.ram_row import RamRow
from widgets.steady_label import SteadyLabel
from widgets.theme import set_role

_HEADS = {
    "busy": ("Busy", "gpu_busy", "100 %"),
    "memory_busy": ("Mem. busy", "memory_busy", "100 %"),
    "dram": ("DRAM", "dram", "100 %"),
    "power": ("Power", "power", "888 / 888 W"),
    "temperature": ("Temp.", "temperature", "100 °C"),
}
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
# With little room these columns go, first of all what is easily taken for a bandwidth.
_LEAVE_FIRST = ("memory_busy", "temperature", "dram", "power")
_NAME_FIGURES = 7  # so many figures wide is the least of a name that can be read
_GAP_PX = 3 * STEP_PX
# A gap, figures, notes, a remark, a warning: less between them than between two boards.
_ROWS_A_BOARD = 5


class BoardStrip(QFrame):
    """All boards and main memory in one panel; it is made anew only with the boards."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make a strip that knows of nothing, which is not shown."""
        super().__init__(parent)
        set_role(self, "panel")
        self.setAccessibleName("Hardware")
        self._outline: object = ()
        self._rows: list[_Row | _SilentRow] = []
        self._boards: Sequence[BoardActivity] = ()
        self._fitting = FittingColumns({}, ())
        self._body = QWidget()
        self._body.hide()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(
            PANEL_PADDING_PX, STEP_PX, PANEL_PADDING_PX, STEP_PX + STEP_PX // 2
        )
        self._column.setSpacing(STEP_PX)
        self._column.addWidget(self._body)
        self.ram = RamRow()
        self._column.addWidget(self.ram)
        self._warning = _sentence_label("hint-warning")
        self._warning.hide()
        self._column.addWidget(self._warning)
        self._told = ""
        self.hide()

    def set_boards(self, boards: Sequence[BoardActivity]) -> None:
        """Show ``boards``; without one and without main memory there is no strip."""
        keys = [key for key in _HEADS if any(key in columns(board) for board in boards)]
        outline = (keys, [(board.name, bool(board.problem)) for board in boards])
        self._boards = boards
        if outline != self._outline:
            self._outline = outline
            self._build(keys, boards)
        self._show_figures()
        self._told = " ".join(sentence(board) for board in boards)
        self._body.setHidden(not boards)
        self._tell()

    def set_ram(self, memory: MemorySnapshot | None) -> None:
        """Show main memory below the boards; None takes it away."""
        self.ram.show_memory(memory)
        self._tell()

    def set_warning(self, sentence: str) -> None:
        """Say below all figures what a person should look after; empty for nothing."""
        if sentence != self._warning.text():
            self._warning.setText(sentence)
            self._warning.setHidden(not sentence)
            self._tell()

    def text(self) -> str:
        """All that is said, in words."""
        return self.accessibleDescription()

    def minimumSizeHint(self) -> QSize:
        """Room for the fewest columns, so that the strip widens no column of the window."""
        width = max(
            self._fitting.least_px() + self._beside_px(), self.ram.minimumSizeHint().width()
        )
        margins = self._column.contentsMargins()
        beside = margins.left() + margins.right() + 2 * self.frameWidth()
        return QSize(width + beside, super().minimumSizeHint().height())

    def event(self, event: QEvent) -> bool:
        """Another width, or another size of type, holds other columns."""
        is_handled = super().event(event)
        if event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest):
            self._fit()
        return is_handled

    def _fit(self) -> None:
        if self._fitting.fit(self._column.contentsRect().width() - self._beside_px()):
            self._show_figures()

    def _beside_px(self) -> int:
        """Room for a name that can be read."""
        return _NAME_FIGURES * self.fontMetrics().horizontalAdvance("0")

    def _show_figures(self) -> None:
        for row, board in zip(self._rows, self._boards, strict=True):
            row.show_board(board, self._fitting.left_out)

    def _tell(self) -> None:
        """Say all of it in words, and be there if there is anything to say."""
        told = (self._told, self.ram.sentence(), self._warning.text())
        self.setAccessibleDescription(" ".join(filter(None, told)))
        self.setHidden(not self.text())

    def _build(self, keys: Sequence[str], boards: Sequence[BoardActivity]) -> None:
        old, self._body = self._body, QWidget()
        self._column.replaceWidget(old, self._body)
        old.deleteLater()
        grid = QGridLayout(self._body)
        grid.setContentsMargins(0, 0, 0, 0)
        # The gap is the cells' own, so that a column that leaves takes it along.
        grid.setHorizontalSpacing(0)
        grid.setVerticalSpacing(0)
        grid.setColumnStretch(0, 1)
        title = QLabel("GPU" if len(boards) < 2 else "GPUs")
        set_role(title, "heading")
        grid.addWidget(title, 0, 0)
        cells: dict[str, list[QWidget]] = {key: [] for key in keys}
        if not all(board.problem for board in boards):
            for place, key in enumerate(keys, 1):
                name, definition, _ = _HEADS[key]
                head = QLabel(name)
                head.setToolTip(wrapped_tip(DEFINITIONS[definition]))
                set_role(head, "hint")
                grid.addWidget(head, 0, place, _RIGHT)
                cells[key].append(head)
        names = Counter(board.name for board in boards)
        self._rows = []
        for number, board in enumerate(boards):
            name = short_name(board.name)
            if names[board.name] > 1:
                name = f"{number} · {name}"
            row = _SilentRow(name) if board.problem else _Row(name, keys)
            row.lay_out(grid, 1 + _ROWS_A_BOARD * number, len(keys))
            self._rows.append(row)
            for key, label in row.values.items():
                cells[key].append(label)
        seen = {key: widgets for key, widgets in cells.items() if widgets}
        for cell in itertools.chain.from_iterable(seen.values()):
            cell.setContentsMargins(_GAP_PX, 0, 0, 0)
        self._fitting = FittingColumns(seen, _LEAVE_FIRST)
        self._fit()


class _Row:
    """The labels of one board.

    Attributes:
        values: The figure of each column.
    """

    def __init__(self, name: str, keys: Sequence[str]) -> None:
        self._name = ElidedLabel(name)
        self.values = {key: SteadyLabel(_HEADS[key][2]) for key in keys}
        self._note = NoteLine()
        self._held_back = SteadyLabel("power limit +1")
        set_role(self._note, "hint")
        self._remark, self._warning = _sentence_label("hint"), _sentence_label("hint-warning")
        for label in (*self.values.values(), self._held_back):
            label.setAlignment(_RIGHT)

    def lay_out(self, grid: QGridLayout, top: int, columns_after: int) -> None:
        """Take some rows of ``grid``, with a gap above them but for the first board."""
        grid.setRowMinimumHeight(top, STEP_PX if top > 1 else 0)
        grid.addWidget(self._name, top + 1, 0)
        for place, label in enumerate(self.values.values(), 1):
            grid.addWidget(label, top + 1, place, _RIGHT)
        below = QHBoxLayout()
        below.setSpacing(2 * STEP_PX)
        below.addWidget(self._note, 1)
        below.addWidget(self._held_back)
        grid.addLayout(below, top + 2, 0, 1, columns_after + 1)
        grid.addWidget(self._remark, top + 3, 0, 1, columns_after + 1)
        grid.addWidget(self._warning, top + 4, 0, 1, columns_after + 1)

    def show_board(self, board: BoardActivity, left_out: Collection[str]) -> None:
        """Bring the figures up to date; those of the columns ``left_out`` stand in the tooltip."""
        shown = columns(board)
        words_of = (shown.get(key) for key in self.values if key in left_out)
        hidden = ", ".join(f"{words.name} {words.text}" for words in words_of if words is not None)
        about = "\n\n".join(filter(None, (board.name, hidden, memory_text(board.memory))))
        self._name.setToolTip(wrapped_tip(about))
        for key, label in self.values.items():
            words = shown.get(key)
            _show(label, words or _column_of_others(board, key), "value")
        why = held_back(board)
        _show(self._held_back, why, "hint")
        self._held_back.setHidden(not why.text)
        below = notes(board)
        told = BETWEEN.join(words.text for words in below if words.text != NO_VALUE)
        self._note.set_text(told, wrapped_tip("\n\n".join(words.tip for words in below)))
        remark = board.remark and f"{board.remark[:1].upper()}{board.remark[1:]}."
        for line, text in ((self._remark, remark), (self._warning, board.warning)):
            if line.text() != text:
                line.setText(text)
            line.setHidden(not text)


class _SilentRow:
    """The labels of a board that does not answer."""

    def __init__(self, name: str) -> None:
        self.values: dict[str, SteadyLabel] = {}
        self._name = ElidedLabel(name)
        self._problem = _sentence_label("hint-warning")

    def lay_out(self, grid: QGridLayout, top: int, columns_after: int) -> None:
        """Take some rows of ``grid``, with a gap above them but for the first board."""
        grid.setRowMinimumHeight(top, STEP_PX if top > 1 else 0)
        grid.addWidget(self._name, top + 1, 0)
        grid.addWidget(self._problem, top + 2, 0, 1, columns_after + 1)

    def show_board(self, board: BoardActivity, _: Collection[str]) -> None:
        """Say what is wrong."""
        if self._problem.text() != board.problem:
            self._problem.setText(board.problem)


def _column_of_others(board: BoardActivity, key: str) -> Words:
    """What stands in a column that only other boards have."""
    name, definition, _ = _HEADS[key]
    why = f"Not reported by the driver: {board.refused.get(FIELD_OF_COLUMN[key], '')}."
    return Words(name, NO_VALUE, f"{why}\n\n{DEFINITIONS[definition]}")


def _show(label: SteadyLabel, words: Words, role: str) -> None:
    if label.text() != words.text:
        label.setText(words.text)
    label.setToolTip(wrapped_tip(words.tip))
    label.setAccessibleName(f"{words.name} {words.text}")
    missing = "muted" if role == "value" else role
    set_role(label, f"{role}-warning" if words.is_fault else missing if _is_none(words) else role)


def _is_none(words: Words) -> bool:
    return words.text == NO_VALUE


def _sentence_label(role: str) -> QLabel:
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    set_role(label, role)
    return label
