"""What the engine's cache holds of a conversation, saved to a file and loaded from one."""

from __future__ import annotations

import itertools
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from app.desk import Desk
from app.figures import bytes_text, seconds_text
from app.file_names import safe_file_name
from app.last_folder import CACHES
from app.save_dialog import save_dialog
from engine_bridge.protocol import Refused, RestoreSlot, SaveSlot, SlotRestored, SlotSaved

# Far from the numbers of loads and of requests.
_FIRST_NUMBER = 2_000_000_000
_ENDING = "slot"
_FILTERS = [f"Caches of conversations (*.{_ENDING})", "All files (*)"]
_ENDED = "The engine ended before the cache was on the disk or in a slot. Try again."


class CacheFiles(QObject):
    """Asks for files, sends the engine there, and tells what came of it.

    Signals:
        done: A sentence: it worked.
        failed: Conversation id, a sentence: it did not.
    """

    done = Signal(str)
    failed = Signal(str, str)

    def __init__(self, desk: Desk, window: QWidget) -> None:
        """Nothing is under way; dialogs belong to ``window``."""
        super().__init__(window)
        self._desk = desk
        self._window = window
        self._numbers = itertools.count(_FIRST_NUMBER)
        self._under_way: dict[int, str] = {}
        desk.client.event_received.connect(self._on_event_received)
        desk.client.engine_died.connect(self._on_engine_died)

    def ask_to_save(self, conversation_id: str) -> None:
        """Let the user say where the cache of a conversation goes."""
        name = safe_file_name(self._desk.chats.conversation(conversation_id).title, "conversation")
        title = "Save this conversation's cache"
        dialog = save_dialog(self._window, title, name, _ENDING, _FILTERS[0])
        dialog.fileSelected.connect(partial(self.save, conversation_id))
        self._desk.last_folder.open(dialog, CACHES)

    def ask_to_load(self, conversation_id: str) -> None:
        """Let the user say which file a slot is filled from, for a conversation to go on with."""
        dialog = QFileDialog(self._window, "Load a cache")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters(_FILTERS)
        dialog.fileSelected.connect(partial(self.load, conversation_id))
        dialog.finished.connect(dialog.deleteLater)
        self._desk.last_folder.open(dialog, CACHES)

    def save(self, conversation_id: str, path: str) -> None:
        """Write the cache of a conversation to ``path``."""
        number = next(self._numbers)
        self._send(SaveSlot(number, conversation_id, path))

    def load(self, conversation_id: str, path: str) -> None:
        """Fill a slot from ``path``."""
        number = next(self._numbers)
        self._send(RestoreSlot(number, conversation_id, path))

    def _send(self, command: SaveSlot | RestoreSlot) -> None:
        client = self._desk.client
        if client.send(command):
            self._under_way[command.request_id] = command.conversation_id
        else:
            self.failed.emit(command.conversation_id, client.refusal)

    def _on_event_received(self, event: object) -> None:
        if not isinstance(event, SlotSaved | SlotRestored | Refused):
            return
        conversation_id = self._under_way.pop(event.request_id, None)
        if conversation_id is None:
            return
        if isinstance(event, Refused):
            self.failed.emit(conversation_id, event.problem.message)
            return
        name, figures = Path(event.path).name, _figures(event)
        if isinstance(event, SlotSaved):
            self.done.emit(f"Saved to {name}: {figures}.")
        else:
            self.done.emit(
                f"Loaded {name} into slot {event.slot + 1}: {figures}. A message that goes on with "
                "its text is not read from the beginning."
            )

    def _on_engine_died(self, _: object) -> None:
        under_way, self._under_way = self._under_way, {}
        for conversation_id in under_way.values():
            self.failed.emit(conversation_id, _ENDED)


def _figures(event: SlotSaved | SlotRestored) -> str:
    return f"{event.tokens:,} tokens, {bytes_text(event.bytes)}, {seconds_text(event.seconds)}"
