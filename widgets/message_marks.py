"""Words that were searched for, marked where they stand in a message."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from PySide6.QtCore import QPoint
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QTextEdit

from resources.theme import found_ground
from resources.tokens import Palette
from widgets.message_code import CodeText
from widgets.message_text import TextRun

Part = TextRun | CodeText
Find = Callable[[str], list[tuple[int, int]]]
"""Finds all places in a text, each as beginning and end in characters."""

# More marks in one message than anybody looks at; each costs a layout of its line.
_MOST_MARKS = 500


@dataclass(frozen=True)
class Place:
    """Where a mark stands: ``point`` in the viewport of ``part``, ``end_px`` at the right."""

    part: Part
    point: QPoint
    end_px: int


def mark(parts: Iterable[Part], find: Find, palette: Palette) -> Place | None:
    """Mark what ``find`` finds in ``parts``; older marks go.

    Returns:
        The place of the first mark; None where nothing was found.
    """
    first: Place | None = None
    left = _MOST_MARKS
    for part in parts:
        cursors = _found(part, find)[:left]
        left -= len(cursors)
        part.setExtraSelections([_selection(cursor, palette) for cursor in cursors])
        if cursors and first is None:
            begin = QTextCursor(cursors[0])
            begin.setPosition(cursors[0].selectionStart())
            end_px = part.cursorRect(cursors[0]).right()
            first = Place(part, part.cursorRect(begin).topLeft(), end_px)
    return first


def unmark(parts: Iterable[Part]) -> None:
    """Take all marks away."""
    for part in parts:
        part.setExtraSelections([])


def _found(part: Part, find: Find) -> list[QTextCursor]:
    cursors = []
    block = part.document().begin()
    while block.isValid():
        text = block.text()
        for begin, end in find(text):
            cursor = QTextCursor(block)
            cursor.setPosition(block.position() + _utf16(text[:begin]))
            cursor.setPosition(
                block.position() + _utf16(text[:end]), QTextCursor.MoveMode.KeepAnchor
            )
            cursors.append(cursor)
        block = block.next()
    return cursors


def _utf16(text: str) -> int:
    """How long Qt thinks that ``text`` is."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _selection(cursor: QTextCursor, palette: Palette) -> QTextEdit.ExtraSelection:
    shown = QTextCharFormat()
    shown.setBackground(QColor(found_ground(palette)))
    shown.setForeground(QColor(palette.text))
    selection = QTextEdit.ExtraSelection()
    selection.cursor = cursor
    selection.format = shown
    return selection
