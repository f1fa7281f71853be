"""The boards of this machine, a row each: how busy, how hot, what they draw, what holds them back.

Not there while there is no board.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from engine_bridge.metrics.board_activity import BoardActivity
from engine_bridge.metrics.definitions import DEFINITIONS
from resources.tokens import PANEL_PADDING_PX, STEP_PX
from widgets.board_words import (
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
# The second row of a board belongs to the first: less between them than between two boards.
_ROWS_A_BOARD = 3


class BoardStrip(QFrame):
    """All boards in one panel; what it is made of changes only with the boards."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make a strip without a board, which is not shown."""
        super().__init__(parent)
        set_role(self, "panel")
        self.setAccessibleName("GPU")
        self._outline: object = ()
        self._rows: list[_Row | _SilentRow] = []
        self._body = QWidget()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(
            PANEL_PADDING_PX, STEP_PX, PANEL_PADDING_PX, STEP_PX + STEP_PX // 2
        )
        self._column.addWidget(self._body)
        self.hide()

    def set_boards(self, boards: Sequence[BoardActivity]) -> None:
        """Show ``boards``; none hides the strip."""
        keys = [key for key in _HEADS if any(key in columns(board) for board in boards)]
        outline = (keys, [(board.name, bool(board.problem)) for board in boards])
        if outline != self._outline:
            self._outline = outline
            self._build(keys, boards)
        for row, board in zip(self._rows, boards, strict=True):
            row.show_board(board)
        self.setAccessibleDescription(" ".join(sentence(board) for board in boards))
        self.setHidden(not boards)

    def text(self) -> str:
        """All that is said, in words."""
        return self.accessibleDescription()

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
                head.setToolTip(_tip(DEFINITIONS[definition]))
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
        for label in (*self._values.values(), self._held_back):
            label.setAlignment(_RIGHT)

    def lay_out(self, grid: QGridLayout, top: int, columns_after: int) -> None:
        """Take two rows of ``grid``, and a gap above them but for the first board."""
        grid.setRowMinimumHeight(top, STEP_PX if top > 1 else 0)
        grid.addWidget(self._name, top + 1, 0)
        for place, label in enumerate(self._values.values(), 1):
            grid.addWidget(label, top + 1, place, _RIGHT)
        below = QHBoxLayout()
        below.setSpacing(2 * STEP_PX)
        below.addWidget(self._note, 1)
        below.addWidget(self._held_back)
        grid.addLayout(below, top + 2, 0, 1, columns_after + 1)

    def show_board(self, board: BoardActivity) -> None:
        """Bring the figures up to date."""
        about = "\n\n".join(filter(None, (board.name, memory_text(board.memory))))
        self._name.setToolTip(_tip(about))
        shown = columns(board)
        for key, label in self._values.items():
            words = shown.get(key)
            _show(label, words or _column_of_others(board, key), "value")
        _show(self._held_back, held_back(board), "hint")
        below = notes(board)
        told = BETWEEN.join(words.text for words in below if words.text != NO_VALUE)
        self._note.set_text(told, _tip("\n\n".join(words.tip for words in below)))


class _SilentRow:
    """The labels of a board that does not answer."""

    def __init__(self, name: str) -> None:
        self._name = ElidedLabel(name)
        self._problem = QLabel()
        self._problem.setTextFormat(Qt.TextFormat.PlainText)
        self._problem.setWordWrap(True)
        set_role(self._problem, "hint-warning")

    def lay_out(self, grid: QGridLayout, top: int, columns_after: int) -> None:
        """Take two rows of ``grid``, and a gap above them but for the first board."""
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
    why = f"Not reported by the driver: {board.refused.get(key, '')}."
    return Words(name, NO_VALUE, f"{why}\n\n{DEFINITIONS[definition]}")


def _show(label: SteadyLabel, words: Words, role: str) -> None:
    if label.text() != words.text:
        label.setText(words.text)
    label.setToolTip(_tip(words.tip))
    label.setAccessibleName(f"{words.name} {words.text}")
    missing = "muted" if role == "value" else role
    set_role(label, f"{role}-warning" if words.is_fault else missing if _is_none(words) else role)


def _is_none(words: Words) -> bool:
    return words.text == NO_VALUE


def _tip(text: str) -> str:
    """Only what is marked up does Qt break into lines."""
    return f"<p>{escape(text)}</p>".replace("\n\n", "<br><br>")
