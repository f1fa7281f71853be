"""Conversations are kept while they are talked in, and brought back when they are asked for.

Holds no widget. What is new is noted here once a second, in memory; one thread takes it to the
disk, another searches. The GUI thread waits for neither.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from app.chats import Chats
from app.conversation import Conversation
from app.reopening import Reopened, elsewhere_sentence, reopened
from app.storage.atomic_file import write_whole
from app.storage.conversation_export import Kind, exported
from app.storage.conversation_store import ConversationStore, Opened
from app.storage.storage_error import StorageError
from app.worker import Worker

_PERIOD_MS = 1000
# A disk that is full or gone is tried again, not hammered on.
_RETRY_MS = 5000
_CLOSE_S = 2.0
_WORKS_AGAIN = "Conversations are saved again; nothing of them was lost."
_IS_COPY = (
    "This conversation is open in another window: this is a copy, and goes on in a file of its own."
)
_TOO_SLOW = (
    "The last words of the conversations may not be saved: the drive did not answer in time."
)


class Keeping(QObject):
    """Keeps the conversations of ``Chats`` in a ``ConversationStore``.

    Signals:
        entries_listed: All ``ConversationEntry``, the newest first; after whatever changed them.
        entry_changed: The ``ConversationEntry`` of a conversation that was just written.
        search_finished: What was searched for, the list of ``SearchHit``.
        opened: A ``Conversation`` to be adopted and shown; one that is open already, too.
        reopening_finished: How many of the conversations of the last time were opened; those that
            were not, but are still there, are in ``left_alone`` by then.
        gone_found: How many of the last time are not there any more.
        deleted: Conversation id, title: it is in the trash; where it is open, close it.
        restored: Conversation id: it is out of the trash again.
        exported: The path of the file.
        failed: A sentence: something could not be done.
        noted: A sentence: nothing is wrong, but something is to be known.
        damaged_found: Sentences about files that could not be opened whole.
    """

    entries_listed = Signal(object)
    entry_changed = Signal(object)
    search_finished = Signal(str, object)
    opened = Signal(object)
    reopening_finished = Signal(int)
    gone_found = Signal(int)
    deleted = Signal(str, str)
    restored = Signal(str)
    exported = Signal(str)
    failed = Signal(str)
    noted = Signal(str)
    damaged_found = Signal(object)

    def __init__(
        self, chats: Chats, store: ConversationStore, parent: QObject | None = None
    ) -> None:
        """Begin to keep what is said in ``chats``."""
        super().__init__(parent)
        self._chats = chats
        self._store = store
        self._left_alone: tuple[str, ...] = ()
        self._touched: dict[str, Conversation] = {}
        self._opening: set[str] = set()
        self._is_writing = False
        self._is_failing = False
        self._is_closed = False
        self._search_number = 0
        self._writer = Worker("conversations", self)
        self._finder = Worker("conversation-search", self)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._on_timer_timeout)
        chats.conversation_touched.connect(self._on_conversation_touched)
        chats.conversation_closed.connect(self._on_conversation_closed)

    # --- The list -----------------------------------------------------------------------

    def start(self) -> None:
        """List what is stored, and empty the trash of what is long in it."""
        self.list()
        self._writer.do(self._store.empty_trash)

    def list(self) -> None:
        """Tell all entries by ``entries_listed``."""
        self._note()
        self._do(self._store.entries, self.entries_listed.emit)

    def search(self, words: str) -> None:
        """Tell by ``search_finished`` where every word stands; an older search is given up."""
        self._note()
        self._search_number += 1
        number = self._search_number

        def is_over() -> bool:
            return number != self._search_number

        def tell(hits: object) -> None:
            if not is_over():
                self.search_finished.emit(words, hits)

        self._finder.do(
            lambda: [] if is_over() else self._store.search(words, is_over), tell, self._fail
        )

    # --- One conversation ---------------------------------------------------------------

    def open(self, conversation_id: str) -> None:
        """Tell a conversation by ``opened``; a copy, if another window has it."""
        open_one = self._open_one(conversation_id)
        if open_one is not None:
            self.opened.emit(open_one)
        elif conversation_id not in self._opening:
            self._opening.add(conversation_id)

            def tell(opened: Opened) -> None:
                self._opening.discard(conversation_id)
                self.opened.emit(opened.conversation)
                if opened.is_copy:
                    self.noted.emit(_IS_COPY)

            def fail(sentence: str) -> None:
                self._opening.discard(conversation_id)
                self.failed.emit(sentence)

            self._do(lambda: self._store.open(conversation_id), tell, fail)

    def reopen(self, conversation_ids: Sequence[str]) -> None:
        """Open those of the last time, in their order, but for those another window has."""
        self._do(lambda: reopened(self._store, conversation_ids), self._on_reopened)

    @property
    def left_alone(self) -> tuple[str, ...]:
        """Ids of the last time that another window has, or that could not be read this time."""
        return self._left_alone

    def is_kept(self, conversation_id: str) -> bool:
        """Whether an open conversation is stored or about to be; a copy nobody touched is not."""
        return conversation_id in self._touched or self._store.is_kept(conversation_id)

    @property
    def unsaved_titles(self) -> tuple[str, ...]:
        """Titles of the conversations whose last words are in no file yet."""
        self._note()
        return self._store.unwritten_titles()

    def rename(self, conversation_id: str, name: str) -> None:
        """Give it a title; an empty one takes its first words again."""
        if self._open_one(conversation_id) is not None:
            self._chats.rename(conversation_id, name)
            self.list()
        else:
            self._change(lambda: self._store.rename(conversation_id, name))

    def duplicate(self, conversation_id: str) -> None:
        """Store a copy of it."""
        self._note()
        self._change(lambda: self._store.duplicate(conversation_id))

    def delete(self, conversation_id: str, title: str) -> None:
        """Put it into the trash; ``restore`` takes it out again."""
        self._note()
        self._change(
            lambda: self._store.delete(conversation_id),
            lambda: self.deleted.emit(conversation_id, title),
        )

    def restore(self, conversation_id: str) -> None:
        """Undo ``delete``."""

        def tell() -> None:
            if self._open_one(conversation_id) is None:
                self._write()
                self._release(conversation_id)
            self.restored.emit(conversation_id)

        self._change(lambda: self._store.restore(conversation_id), tell)

    def export_to(self, conversation_id: str, path: Path, kind: Kind) -> None:
        """Write it as Markdown (the branch that is shown) or JSON (all branches)."""
        self._note()

        def write() -> None:
            content = exported(self._store.read(conversation_id), kind)
            write_whole(path, content, "The conversation could not be exported")

        self._do(write, lambda _: self.exported.emit(str(path)))

    def import_from(self, path: Path) -> None:
        """Store a conversation that was exported as JSON, and tell it by ``opened``."""

        def read() -> Conversation:
            conversation = self._store.import_json(path)
            return self._store.open(conversation).conversation

        self._do(read, self._on_imported)

    def save_now(self, timeout_s: float = _CLOSE_S) -> str:
        """Write what is new; waits at most so long for the disk.

        Returns:
            Why something is not saved; empty if all is.
        """
        if self._is_closed:
            return ""
        self._note()
        if not self._store.has_unwritten:
            return ""
        sentences: list[str] = []
        is_done = threading.Event()

        def save() -> None:
            try:
                self._store.flush()
            except StorageError as error:
                sentences.append(str(error))
            finally:
                is_done.set()

        self._writer.do(save)
        if not is_done.wait(timeout_s):
            return _TOO_SLOW
        return sentences[0] if sentences else ""

    def close(self, timeout_s: float = _CLOSE_S) -> str:
        """Write what is new and end; waits at most about so long for the disk.

        Returns:
            Why something is not saved; empty if all is, and the second time.
        """
        if self._is_closed:
            return ""
        self._is_closed = True
        self._timer.stop()
        self._note()
        self._chats.conversation_touched.disconnect(self._on_conversation_touched)
        self._chats.conversation_closed.disconnect(self._on_conversation_closed)
        self._search_number += 1
        sentences = []

        def end() -> None:
            try:
                self._store.close()
            except StorageError as error:
                sentences.append(str(error))

        until_s = time.monotonic() + timeout_s
        is_done = self._writer.close(end, timeout_s)
        self._finder.close(timeout_s=max(0.0, until_s - time.monotonic()))
        if not is_done:
            return _TOO_SLOW
        return sentences[0] if sentences else ""

    # --- Inside -------------------------------------------------------------------------

    def _on_reopened(self, result: Reopened) -> None:
        self._left_alone = (*result.elsewhere, *result.unread)
        for conversation in result.opened:
            self.opened.emit(conversation)
        if result.unread:
            more = len(result.unread) - 1
            self.failed.emit(result.why + (f" {more:,} more could not be opened." if more else ""))
        if result.elsewhere:
            self.noted.emit(elsewhere_sentence(len(result.elsewhere)))
        if result.gone:
            self.gone_found.emit(result.gone)
        self.reopening_finished.emit(len(result.opened))

    def _on_imported(self, conversation: Conversation) -> None:
        self.opened.emit(conversation)
        self.list()

    def _fail(self, sentence: str) -> None:
        self.failed.emit(sentence)

    def _open_one(self, conversation_id: str) -> Conversation | None:
        try:
            return self._chats.conversation(conversation_id)
        except KeyError:
            return None

    def _do(
        self,
        job: Callable[[], object],
        then: Callable[..., None],
        failed: Callable[[str], None] | None = None,
    ) -> None:
        """Do ``job`` where it may wait, and tell of files that turned out to be damaged."""

        def tell(result: tuple[object, Sequence[str]]) -> None:
            then(result[0])
            if result[1]:
                self.damaged_found.emit(result[1])

        self._writer.do(lambda: (job(), self._store.take_findings()), tell, failed or self._fail)

    def _change(self, job: Callable[[], object], then: Callable[[], None] = lambda: None) -> None:
        """Do what changes the list, then tell the list."""

        def tell(_: object) -> None:
            then()
            self.list()

        self._do(job, tell)

    def _on_conversation_touched(self, conversation_id: str) -> None:
        self._touched[conversation_id] = self._chats.conversation(conversation_id)
        if not self._timer.isActive():
            self._timer.start(_RETRY_MS if self._is_failing else _PERIOD_MS)

    def _on_conversation_closed(self, conversation_id: str) -> None:
        self._note()
        self._write()
        self._release(conversation_id)

    def _on_timer_timeout(self) -> None:
        self._note()
        if not self._is_writing:  # a slow disk gets one write at a time; the next takes all
            self._write()

    def _release(self, conversation_id: str) -> None:
        self._writer.do(lambda: self._store.release(conversation_id))

    def _note(self) -> None:
        """What is new goes over to the store, in memory."""
        for conversation in self._touched.values():
            self._store.keep(conversation)
        self._touched.clear()

    def _write(self) -> None:
        self._is_writing = True
        self._writer.do(self._store.flush, self._on_written, self._on_unwritten)

    def _on_written(self, conversation_ids: tuple[str, ...]) -> None:
        self._is_writing = False
        if self._is_failing:
            self._is_failing = False
            self.noted.emit(_WORKS_AGAIN)
        for conversation_id in conversation_ids:
            entry = self._store.entry(conversation_id)
            if entry is not None:
                self.entry_changed.emit(entry)
            # Closed while the disk was full: only now it can be let go.
            if self._open_one(conversation_id) is None and conversation_id not in self._opening:
                self._release(conversation_id)
        if self._store.has_unwritten and not self._timer.isActive():
            self._timer.start(_PERIOD_MS)

    def _on_unwritten(self, sentence: str) -> None:
        self._is_writing = False
        if not self._is_failing:
            self._is_failing = True
            self.failed.emit(sentence)
        if not self._timer.isActive():
            self._timer.start(_RETRY_MS)
