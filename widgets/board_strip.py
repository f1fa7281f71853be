"""The boards of this machine, a row each, and its main memory: how busy, how hot, how full.

Not there before the first reading.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from PySide6.QtCore import Qt
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
        self._told = ""
        self.hide()

    def set_boards(self, boards: Sequence[BoardActivity]) -> None:
        """Show ``boards``; without one and without main memory there is no strip."""
        keys = [key for key in _HEADS if any(key in columns(board) for board in boards)]
        outline = (keys, [(board.name, bool(board.problem)) for board in boards])
        if outline != self._outline:
            self._outline = outline
            self._build(keys, boards)
        for row, board in zip(self._rows, boards, strict=True):
            row.show_board(board)
        self._told = " ".join(sentence(board) for board in boards)
        self._body.setHidden(not boards)
        self._tell()

    def set_ram(self, memory: MemorySnapshot | None) -> None:
        """Show main memory below the boards; None takes it away."""
        self.ram.show_memory(memory)
        self._tell()

    def text(self) -> str:
        """All that is said, in words."""
        return self.accessibleDescription()

    def _tell(self) -> None:
        """Say all of it in words, and be there if there is anything to say."""
        self.setAccessibleDescription(" ".join(filter(None, (self._told, self.ram.sentence()))))
        self.setHidden(not self.text())

    def _build(self, keys: Sequence[str], boards: Sequence[BoardActivity]) -> None:
        old, self._body = self._body, QWidget()
        self._column.replaceWidget(old, self._body)
        old.deleteLater()
        grid = QGridLayout(self._body)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(3 * STEP_PX)
        grid.setVerticalSpacing(0)
        grid.setColumnStretch(0, 1)
        title = QLabel("GPU" if len(boards) < 2 else "GPUs")
        set_role(title, "heading")
        grid.addWidget(title, 0, 0)
        if not all(board.problem for board in boards):
            for place, key in enumerate(keys, 1):
                name, definition, _ = _HEADS[key]
                head = QLabel(name)
                head.setToolTip(wrapped_tip(DEFINITIONS[definition]))
                set_role(head, "hint")
                grid.addWidget(head, 0, place, _RIGHT)
        names = Counter(board.name for board in boards)
        self._rows = []
        for number, board in enumerate(boards):
            name = short_name(board.name)
            if names[board.name] > 1:
                name = f"{number} · {name}"
            row = _SilentRow(name) if board.problem else _Row(name, keys)
            row.lay_out(grid, 1 + _ROWS_A_BOARD * number, len(keys))
            self._rows.append(row)


class _Row:
    """The labels of one board."""

    def __init__(self, name: str, keys: Sequence[str]) -> None:
        self._name = ElidedLabel(name)
        self._values = {key: SteadyLabel(_HEADS[key][2]) for key in keys}
        self._note = NoteLine()
        self._held_back = SteadyLabel("power limit +1")
        set_role(self._note, "hint")
        self._remark, self._warning = _sentence_label("hint"), _sentence_label("hint-warning")
        for label in (*self._values.values(), self._held_back):
            label.setAlignment(_RIGHT)

    def lay_out(self, grid: QGridLayout, top: int, columns_after: int) -> None:
        """Take some rows of ``grid``, with a gap above them but for the first board."""
        grid.setRowMinimumHeight(top, STEP_PX if top > 1 else 0)
        grid.addWidget(self._name, top + 1, 0)
        for place, label in enumerate(self._values.values(), 1):
            grid.addWidget(label, top + 1, place, _RIGHT)
        below = QHBoxLayout()
        below.setSpacing(2 * STEP_PX)
        below.addWidget(self._note, 1)
        below.addWidget(self._held_back)
        grid.addLayout(below, top + 2, 0, 1, columns_after + 1)
        grid.addWidget(self._remark, top + 3, 0, 1, columns_after + 1)
        grid.addWidget(self._warning, top + 4, 0, 1, columns_after + 1)

    def show_board(self, board: BoardActivity) -> None:
        """Bring the figures up to date."""
        about = "\n\n".join(filter(None, (board.name, memory_text(board.memory))))
        self._name.setToolTip(wrapped_tip(about))
        shown = columns(board)
        for key, label in self._values.items():
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
        self._name = ElidedLabel(name)
        self._problem = _sentence_label("hint-warning")

    def lay_out(self, grid: QGridLayout, top: int, columns_after: int) -> None:
        """Take some rows of ``grid``, with a gap above them but for the first board."""
        grid.setRowMinimumHeight(top, STEP_PX if top > 1 else 0)
        grid.addWidget(self._name, top + 1, 0)
        grid.addWidget(self._problem, top + 2, 0, 1, columns_after + 1)

    def show_board(self, board: BoardActivity) -> None:
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
