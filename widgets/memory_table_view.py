"""Memory by use, predicted beside measured: a table for main memory and one for each board."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from engine_bridge.metrics.memory_table import MemoryTable
from resources.tokens import PANEL_PADDING_PX, STEP_PX
from widgets.cell_grid import CellGrid
from widgets.elided_label import ElidedLabel
from widgets.memory_table_words import (
    lines_of,
    notes_of,
    room_lines,
    room_text,
    room_tip,
    sentence_of,
)
from widgets.plain_tip import wrapped_tip
from widgets.theme import set_role

_MEANING = (
    "What the engine's memory is for, as a dry run predicted it and as it was measured; main "
    "memory first, then every board that holds a part."
)
_NOTHING = "Nothing measured yet: the first reading comes within a second."


class MemoryTableView(QFrame):
    """A panel with a block for each memory."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make a panel without figures."""
        super().__init__(parent)
        set_role(self, "panel")
        self.setAccessibleName("Memory by use")
        title = QLabel("Memory by use")
        title.setToolTip(wrapped_tip(_MEANING))
        set_role(title, "heading")
        self.empty = QLabel(_NOTHING)
        self.empty.setWordWrap(True)
        set_role(self.empty, "hint")
        self.blocks: list[MemoryBlock] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(*[PANEL_PADDING_PX] * 4)
        self._column.setSpacing(2 * STEP_PX)
        self._column.addWidget(title)
        self._column.addWidget(self.empty)

    def show_tables(self, tables: Sequence[MemoryTable]) -> None:
        """Show ``tables`` in this order."""
        while len(self.blocks) < len(tables):
            block = MemoryBlock(self)
            self._column.addWidget(block)
            self.blocks.append(block)
        for place, block in enumerate(self.blocks):
            block.setHidden(place >= len(tables))
        for block, table in zip(self.blocks, tables, strict=False):
            block.show_table(table)
        self.empty.setHidden(bool(tables))

    def text(self) -> str:
        """Everything that is shown, in words."""
        return " ".join(block.accessibleName() for block in self.blocks if not block.isHidden())


class MemoryBlock(QWidget):
    """One memory: how much is free, whose it is, and by use what was predicted and measured."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make an empty block."""
        super().__init__(parent)
        self.name = ElidedLabel()
        self.room = QLabel()
        set_role(self.room, "value")
        self.whose = CellGrid(self, wide=0, right=(1,))
        self.uses = CellGrid(self, wide=0, right=(1, 2, 3))
        self.note = QLabel()
        self.note.setTextFormat(Qt.TextFormat.PlainText)
        self.note.setWordWrap(True)
        set_role(self.note, "hint")
        header = QHBoxLayout()
        header.addWidget(self.name, 1)
        header.addWidget(self.room)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(STEP_PX)
        column.addLayout(header)
        for widget in (self.whose, self.uses, self.note):
            column.addWidget(widget)

    def show_table(self, table: MemoryTable) -> None:
        """Bring the block up to date."""
        self.name.set_text(table.name, wrapped_tip(sentence_of(table)))
        self.room.setText(room_text(table))
        self.room.setToolTip(wrapped_tip(room_tip(table)))
        self.whose.show_cells(room_lines(table))
        self.uses.show_cells(lines_of(table))
        note = notes_of(table)
        if note != self.note.text():
            self.note.setText(note)
        self.note.setHidden(not note)
        sentence = sentence_of(table)
        if sentence != self.accessibleName():
            self.setAccessibleName(sentence)
