"""The conversations kept on this machine: one journal each, in one folder.

Everything but ``keep`` may wait for the disk and belongs in a thread of its own; ``keep`` never
does. Holds no widget.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from app.conversation import Conversation
from app.storage.conversation_entry import ConversationEntry
from app.storage.conversation_export import from_json
from app.storage.conversation_folder import ConversationFolder, named, told_as
from app.storage.conversation_search import SearchHit, find_words, search_words
from app.storage.journal_file import BusyError, JournalFile, read_file
from app.storage.journal_records import SCHEMA, Header
from app.storage.journal_replay import read_journal
from app.storage.journal_state import JournalState
from app.storage.journal_writer import JournalWriter
from app.storage.storage_error import StorageError

_TRASH_S = 30 * 86400.0
_UNWRITTEN = "A conversation cannot be saved at the moment; it stays in memory until it can be"
_ENDED = "The program ended during this answer. What it said is kept."
_GOES_ON = "The answer goes on in the other window; this is what it had said so far."


@dataclass(frozen=True)
class Opened:
    """A conversation read from its file.

    Attributes:
        conversation: It, or a copy of it.
        is_copy: Another window has the conversation, or its file is damaged and there was no
            room to save that; this copy goes on in a file of its own.
    """

    conversation: Conversation
    is_copy: bool


class ConversationStore:
    """All stored conversations of one folder."""

    def __init__(self, folder: Path, clock_s: Callable[[], float] = time.time) -> None:
        """Begin with ``folder``; it is made when something is to be kept."""
        self._clock_s = clock_s
        self._folder = ConversationFolder(folder)
        self._writers: dict[str, JournalWriter] = {}
        self._deleted: dict[str, JournalWriter] = {}
        # Guards the dicts above, never held while the disk is waited for.
        self._lock = threading.Lock()
        # One thread at a time reads and changes the folder.
        self._disk = threading.RLock()

    # --- Keeping ------------------------------------------------------------------------

    def keep(self, conversation: Conversation) -> None:
        """Note what is new in ``conversation``, to be written by the next ``flush``.

        Never waits for the disk. A deleted conversation stays deleted; what is new in it is there
        when it is restored.
        """
        with self._lock:
            writer = self._writers.get(conversation.id) or self._deleted.get(conversation.id)
            if writer is None:
                header = Header(SCHEMA, conversation.id, conversation.number, self._clock_s())
                writer = self._writer(conversation.id, JournalState(header), None)
                self._writers[conversation.id] = writer
        writer.note(conversation)

    @property
    def has_unwritten(self) -> bool:
        """Whether something is noted that no file has yet."""
        return any(writer.has_pending for _, writer in self._open_writers())

    def is_kept(self, conversation_id: str) -> bool:
        """Whether a conversation that is open here has a file, or is to get one. No waiting."""
        writer = self._writers.get(conversation_id)
        return writer is not None and bool(writer.written_bytes or writer.has_pending)

    def unwritten_titles(self) -> tuple[str, ...]:
        """Of what conversations something is noted that no file has yet. No waiting."""
        return tuple(w.entry().title for _, w in self._open_writers() if w.has_pending)

    def flush(self) -> tuple[str, ...]:
        """Write all that is noted.

        Returns:
            Ids of the conversations that were written to.

        Raises:
            StorageError: If some of it could not be written; it stays noted, all else is written.
        """
        written, failure = [], None
        with self._disk:
            for conversation_id, writer in self._open_writers():
                if writer.has_pending:
                    try:
                        self._write(conversation_id, writer)
                    except StorageError as error:
                        failure = failure or error
                    else:
                        written.append(conversation_id)
        if failure is not None:
            raise failure
        return tuple(written)

    def release(self, conversation_id: str) -> None:
        """Let other windows have a conversation that is no longer open here.

        One of which something could not be written stays here.
        """
        with self._disk:
            writer = self._writers.get(conversation_id)
            if writer is not None and not writer.has_pending:
                self._let_go(writer)
                with self._lock:
                    del self._writers[conversation_id]

    def close(self) -> None:
        """Write what is noted and let go of all files.

        Raises:
            StorageError: If something could not be written.
        """
        with self._disk:
            try:
                self.flush()
            finally:
                for _, writer in self._open_writers():
                    self._let_go(writer)
                self._folder.save_index()

    # --- Listing and finding ------------------------------------------------------------

    def entries(self) -> list[ConversationEntry]:
        """All stored conversations, the one in which something was said last first.

        Files that cannot be read are set aside or left alone, and named by ``take_findings``.

        Raises:
            StorageError: If the folder cannot be read.
        """
        with self._disk:
            writers = dict(self._open_writers())
            entries = self._folder.entries(writers)
            entries += [w.entry() for w in writers.values() if w.written_bytes or w.has_pending]
        return sorted(entries, key=lambda entry: entry.updated_s, reverse=True)

    def entry(self, conversation_id: str) -> ConversationEntry | None:
        """What a list shows of a conversation that is open here; None if it is not. No waiting."""
        writer = self._writers.get(conversation_id)
        return writer.entry() if writer is not None else None

    def search(
        self, words: str, is_cancelled: Callable[[], bool] = lambda: False
    ) -> list[SearchHit]:
        """Conversations in whose title or turns every word stands, the newest first.

        Args:
            words: What was typed; case and accents do not count.
            is_cancelled: Asked again and again; the hits so far are returned then.

        Raises:
            StorageError: If the folder cannot be read.
        """
        wanted = search_words(words)
        hits = []
        for entry in self.entries() if wanted else ():
            if is_cancelled():
                break
            with contextlib.suppress(StorageError):  # gone since it was listed
                hit = find_words(self.read(entry.id), entry, wanted, is_cancelled)
                if hit is not None:
                    hits.append(hit)
        return hits

    def take_findings(self) -> list[str]:
        """Sentences about files that could not be opened whole, each told once."""
        with self._disk:
            return self._folder.take_findings()

    # --- One conversation ---------------------------------------------------------------

    def open(self, conversation_id: str) -> Opened:
        """Read a conversation, from then on kept by this window until ``release``.

        An answer that was under way when its program ended has failed; what it said stays.

        Raises:
            StorageError: If it cannot be read.
        """
        path = self._folder.path_of(conversation_id)
        with self._disk, told_as("The conversation could not be opened", path):
            self._forget_idle(conversation_id)
            writer = self._writers.get(conversation_id)
            if writer is not None:
                return Opened(_ended(writer.conversation(), _ENDED), is_copy=False)
            try:
                return self._take_over(conversation_id, path)
            except BusyError:
                return self._copy(self._folder.read(conversation_id).state, _GOES_ON)

    def is_gone(self, conversation_id: str) -> bool:
        """Whether the folder is there and can be looked into, but has no such conversation."""
        try:
            path = self._folder.path_of(conversation_id)
            return path.parent.is_dir() and not os.path.lexists(path)
        except StorageError:
            return True  # no file can have that name
        except OSError:
            return False

    def read(self, conversation_id: str) -> Conversation:
        """A conversation as it is, for a search or an export; it is not kept by this window.

        Raises:
            StorageError: If it cannot be read.
        """
        writer = self._writers.get(conversation_id)
        if writer is not None:
            return writer.conversation()
        return self._folder.read(conversation_id).state.kept

    def rename(self, conversation_id: str, name: str) -> None:
        """Name a conversation that is not open here; an open one is named on the desk.

        Raises:
            StorageError: If it is open in another window, or could not be written.
        """
        with self._disk:
            opened = self.open(conversation_id)
            if opened.is_copy:
                raise StorageError("The conversation is open in another window; rename it there.")
            opened.conversation.name = " ".join(name.split())
            self._keep_at_once(opened.conversation)

    def duplicate(self, conversation_id: str) -> str:
        """Store a copy of a conversation.

        Returns:
            Id of the copy.

        Raises:
            StorageError: If it could not be read or written.
        """
        with self._disk:
            conversation = _ended(self.read(conversation_id), _GOES_ON)
            copy = _renamed(conversation)
            self._keep_at_once(copy)
        return copy.id

    def import_json(self, path: Path) -> str:
        """Store a conversation that was exported as JSON.

        Returns:
            Its id, a new one.

        Raises:
            StorageError: If the file is none, or it could not be stored.
        """
        with told_as("The conversation could not be imported", path):
            content = read_file(path.resolve())
        conversation = from_json(content, 1, self._clock_s())
        with self._disk:
            self._keep_at_once(_ended(conversation, _ENDED))
        return conversation.id

    def delete(self, conversation_id: str) -> None:
        """Put a conversation into the trash.

        Raises:
            StorageError: If it is open in another window, or could not be moved.
        """
        with self._disk:
            writer = self._writers.get(conversation_id)
            if writer is not None:
                with contextlib.suppress(OSError, BusyError):  # stays noted, for an undo
                    writer.write()
                self._let_go(writer)
            self._folder.discard(conversation_id)
            if writer is not None:
                with self._lock:
                    self._deleted[conversation_id] = self._writers.pop(conversation_id)

    def restore(self, conversation_id: str) -> None:
        """Take a conversation out of the trash.

        Raises:
            StorageError: If it is not there, or could not be moved.
        """
        with self._disk:
            writer = self._deleted.get(conversation_id)
            if writer is None or writer.written_bytes:
                self._folder.take_back(conversation_id)
            if writer is not None:
                with self._lock:
                    self._writers[conversation_id] = self._deleted.pop(conversation_id)

    def empty_trash(self, older_than_s: float = _TRASH_S) -> int:
        """Delete for good what was put into the trash so long ago; returns how many files."""
        with self._disk:
            return self._folder.empty_trash(self._clock_s() - older_than_s)

    # --- Inside -------------------------------------------------------------------------

    def _open_writers(self) -> tuple[tuple[str, JournalWriter], ...]:
        with self._lock:
            return tuple(self._writers.items())

    def _writer(
        self, conversation_id: str, state: JournalState, file: JournalFile | None
    ) -> JournalWriter:
        return JournalWriter(self._folder.path_of(conversation_id), state, self._clock_s, file)

    def _write(self, conversation_id: str, writer: JournalWriter) -> None:
        with told_as(_UNWRITTEN, self._folder.path_of(conversation_id)):
            writer.write()

    def _let_go(self, writer: JournalWriter) -> None:
        writer.let_go()
        if not writer.has_pending and writer.written_bytes:
            self._folder.remember(writer.entry())

    def _keep_at_once(self, conversation: Conversation) -> None:
        self.keep(conversation)
        self._write(conversation.id, self._writers[conversation.id])
        self.release(conversation.id)

    def _forget_idle(self, conversation_id: str) -> None:
        """A writer without a file and without words has nothing that the file has not."""
        with self._lock:
            writer = self._writers.get(conversation_id)
            if writer is not None and not writer.has_file and not writer.has_pending:
                del self._writers[conversation_id]

    def _take_over(self, conversation_id: str, path: Path) -> Opened:
        file = JournalFile.open(path)
        try:
            journal = named(read_journal(file.read()), conversation_id)
            if journal.has_lost_lines and not self._folder.save_damaged(conversation_id):
                file.close()
                return self._copy(journal.state, _ENDED)
        except BaseException:
            file.close()
            raise
        file.good_bytes = journal.good_bytes
        conversation = _ended(journal.state.copy(), _ENDED)
        with self._lock:
            self._writers[conversation_id] = self._writer(conversation_id, journal.state, file)
        return Opened(conversation, is_copy=False)

    def _copy(self, state: JournalState, note: str) -> Opened:
        return Opened(_renamed(_ended(state.copy(), note)), is_copy=True)


def _ended(conversation: Conversation, note: str) -> Conversation:
    """The same, no answer of it under way any more."""
    for turn in conversation.tree.values():
        if turn.end == "open":
            turn.end, turn.note = "failed", note
    return conversation


def _renamed(conversation: Conversation) -> Conversation:
    """The same as another conversation."""
    return replace(conversation, id=uuid.uuid4().hex, name=f"{conversation.title} (copy)")
