"""The way of one conversation to the disk.

What changed is noted on the GUI thread, in memory; another thread writes it. What cannot be
written stays noted and is written when it works again.
"""

from __future__ import annotations

import contextlib
import errno
import threading
import uuid
from collections.abc import Callable
from pathlib import Path

from app.conversation import Conversation
from app.storage.conversation_entry import ConversationEntry, entry_of
from app.storage.journal_file import JournalFile
from app.storage.journal_records import Change, encode_line
from app.storage.journal_state import JournalState

# A file is written anew when it is larger than this and than four times what it has to say: texts
# that are replaced over and over (a long system prompt that is edited) would fill the disk.
_REWRITE_BYTES = 2**20
_REWRITE_FACTOR = 4
# After these the open file is as good as before; after any other it is opened anew.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class JournalWriter:
    """One conversation, what of it is written, and what is still to be written."""

    def __init__(
        self,
        path: Path,
        state: JournalState,
        clock_s: Callable[[], float],
        file: JournalFile | None = None,
    ) -> None:
        """Begin.

        Args:
            path: Where it is kept.
            state: What its file says.
            clock_s: Wall clock.
            file: Its open file; None where there is none yet.
        """
        self._path = path
        self._state = state
        self._clock_s = clock_s
        self._file = file
        # How much of the file at ``path`` is ours; None while there is none.
        self._written_bytes = file.good_bytes if file else None
        self._rewrite_bytes = _REWRITE_BYTES
        self._pending: list[Change] = []
        # What a write that failed may have left behind the part that is ours.
        self._torn = b""
        self._lock = threading.Lock()

    @property
    def has_pending(self) -> bool:
        """Whether something is not written yet."""
        return bool(self._pending)

    @property
    def has_file(self) -> bool:
        """Whether its file is open and locked."""
        return self._file is not None

    @property
    def written_bytes(self) -> int:
        """Length of what the file has; 0 while there is none."""
        return self._written_bytes or 0

    def note(self, conversation: Conversation) -> None:
        """Note what is new in ``conversation``. Never waits for the disk.

        A conversation in which nothing was said, named or prescribed gets no file.
        """
        with self._lock:
            change = self._state.diff(conversation, round(self._clock_s(), 3))
            if change is not None:
                self._pending.append(change)

    def conversation(self) -> Conversation:
        """A copy of what was noted so far."""
        with self._lock:
            return self._state.copy()

    def entry(self) -> ConversationEntry:
        """What a list shows of it."""
        with self._lock:
            return entry_of(self._state.kept, self._state.updated_s, self.written_bytes)

    def write(self) -> None:
        """Write what is noted.

        Raises:
            OSError: If it could not be written; it stays noted.
            BusyError: If another program took the file over meanwhile.
        """
        if not self._pending:
            return
        if self._file is not None and not self._file.is_in_place():
            self.let_go()
        try:
            self._file = file = self._file or self._open()
            content, count, is_lasting = self._content(is_new=file.good_bytes == 0)
            self._torn = content
            file.append(content, is_lasting=is_lasting)
        except OSError as error:
            if error.errno not in _FULL:
                self.let_go()
            raise
        self._torn = b""
        self._written_bytes = file.good_bytes
        with self._lock:
            del self._pending[:count]
        if file.good_bytes > self._rewrite_bytes:
            self._rewrite(file)

    def let_go(self) -> None:
        """Close the file and give up its lock; what is noted stays noted."""
        if self._file is not None:
            self._file.close()
            self._file = None

    # --- Inside -------------------------------------------------------------------------

    def _content(self, *, is_new: bool) -> tuple[bytes, int, bool]:
        """What to write, how many changes that is, and whether it shall outlast a power cut."""
        # Encoded without the lock: the GUI thread notes more meanwhile.
        with self._lock:
            pending = tuple(self._pending)
            whole = self._state.whole() if is_new else None
        if whole is not None:
            return encode_line(self._state.header) + encode_line(whole), len(pending), True
        # Text that streams in is not worth a wait for the disk each second.
        is_lasting = any(
            change.turns or change.states or change.dropped or change.name is not None
            for change in pending
        )
        return b"".join(map(encode_line, pending)), len(pending), is_lasting

    def _rewrite(self, file: JournalFile) -> None:
        """Replace a file that is far longer than what it says; only a saving, so it may fail."""
        with self._lock:
            whole = self._state.whole() if not self._pending else None
        if whole is None:
            return  # more was noted meanwhile: after the next write
        content = encode_line(self._state.header) + encode_line(whole)
        self._rewrite_bytes = max(_REWRITE_BYTES, _REWRITE_FACTOR * len(content))
        if file.good_bytes <= self._rewrite_bytes:
            return
        with contextlib.suppress(OSError):
            self._file = file.replaced_by(content)
            self._written_bytes = len(content)

    def _open(self) -> JournalFile:
        if self._written_bytes is None:
            self._make_way()
            return JournalFile.create(self._path)
        try:
            file = JournalFile.open(self._path)
        except FileNotFoundError:
            return JournalFile.create(self._path)
        ours, theirs = self._written_bytes, file.read()
        tail = theirs[ours:]
        if len(theirs) >= ours and (b"\n" not in tail or self._torn.startswith(tail)):
            file.good_bytes = ours
            return file
        # Somebody else wrote there while the drive was gone: both are kept.
        file.close()
        self._make_way()
        return JournalFile.create(self._path)

    def _make_way(self) -> None:
        """What lies in the place of the file becomes a conversation of its own."""
        if self._path.exists():
            self._path.rename(self._path.with_stem(uuid.uuid4().hex))
