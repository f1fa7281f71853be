"""What was open the last time comes back, the conversation in front in front again."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.desk import Desk
from app.window_memory import WindowMemory
from widgets.chat_tabs import ChatTabs

FRONT = "front_conversation"


class ComingBack(QObject):
    """Puts the tabs of the last time in order once they are read."""

    def __init__(self, desk: Desk, tabs: ChatTabs, memory: WindowMemory, parent: QObject) -> None:
        """Wait for the conversations of ``desk``; which was in front stands in ``memory``."""
        super().__init__(parent)
        self._desk = desk
        self._tabs = tabs
        self._memory = memory
        self._is_back = desk.keeping is None
        if desk.keeping is not None:
            desk.keeping.reopening_finished.connect(self._on_reopened)

    def front(self) -> str:
        """Id of the conversation in front; that of the last time until they are all back."""
        keeping, current = self._desk.keeping, self._tabs.current_id()
        # One that will not come back is no front: another window may have noted a better one.
        is_known = self._is_back and (keeping is None or keeping.is_kept(current))
        return current if is_known else self._memory.text(FRONT)

    def list_again(self) -> None:
        """Another copy of the program may have been at work."""
        if self._desk.keeping is not None and self._desk.is_open:
            self._desk.keeping.list()

    def _on_reopened(self, count: int) -> None:
        front = self._memory.text(FRONT)
        self._is_back = True
        if not count:
            return
        if front in self._tabs.conversation_ids():
            self._tabs.set_current(front)
        # Nobody needs the empty conversation of the start beside them, unless he began in it.
        for conversation in self._desk.chats.conversations():
            view = self._tabs.conversation(conversation.id)
            if not (conversation.tree or view.draft() or view.system_prompt()):
                self._tabs.conversation_closed.emit(conversation.id)
