"""The context menu of a message: what can be copied of it, and what can be done with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPoint
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QTextCursor
from PySide6.QtWidgets import QMenu, QWidget

from widgets.markdown_bidi import without_isolates
from widgets.message_code import CodeBlock, CodeText
from widgets.message_selection import SelectionGroup
from widgets.message_text import TextRun

Entry = tuple[str, Callable[[], None]]


def copy_text(text: str) -> None:
    """Put ``text`` on the clipboard."""
    QGuiApplication.clipboard().setText(text)


def open_menu(
    message: QWidget,
    event: QContextMenuEvent,
    selection: SelectionGroup,
    entries: Sequence[Entry],
) -> QMenu:
    """Open the menu of ``message`` where ``event`` asks for it.

    Args:
        message: Owner of the menu.
        event: From the mouse or the keyboard.
        selection: Of the conversation.
        entries: What belongs to the message as a whole: words and what they do.

    Returns:
        The open menu; it deletes itself.
    """
    menu = QMenu(message)
    part = _part_at(message, event)
    if selection.selected_text():
        menu.addAction("Copy", selection.copy)
    if part is not None:
        for text, slot in _entries_of(part, event):
            menu.addAction(text, slot)
    if not menu.isEmpty():
        menu.addSeparator()
    for text, slot in entries:
        menu.addAction(text, slot)
    menu.aboutToHide.connect(menu.deleteLater)
    menu.popup(event.globalPos())
    return menu


def _part_at(message: QWidget, event: QContextMenuEvent) -> TextRun | CodeText | None:
    at: QWidget | None = message.childAt(message.mapFromGlobal(event.globalPos()))
    if event.reason() == QContextMenuEvent.Reason.Keyboard:
        window = message.window()
        at = window.focusWidget()
    while at is not None and at is not message:
        if isinstance(at, TextRun | CodeText):
            return at
        at = at.parentWidget()
    return None


def _entries_of(part: TextRun | CodeText, event: QContextMenuEvent) -> list[Entry]:
    """What can be copied of the text under the mouse, or where the cursor stands."""
    place = part.viewport().mapFromGlobal(event.globalPos())
    if isinstance(part, CodeText):
        block = part.parentWidget()
        if isinstance(block, CodeBlock):
            return [("Copy this code block", lambda: copy_text(block.code()))]
        return []
    entries: list[Entry] = []
    address = _address_at(part, place)
    if address:
        entries.append(("Copy the link's address", lambda: copy_text(address)))
    is_key = event.reason() == QContextMenuEvent.Reason.Keyboard
    cursor = part.textCursor() if is_key else part.cursorForPosition(place)
    words = _paragraph(cursor)
    if words.strip():
        entries.append(("Copy this paragraph", lambda: copy_text(words)))
    return entries


def _address_at(part: TextRun, place: QPoint) -> str:
    return part.anchorAt(place)


def _paragraph(cursor: QTextCursor) -> str:
    # Qt keeps a line break within a paragraph as U+2028.
    return without_isolates(cursor.block().text()).replace("\u2028", "\n")
