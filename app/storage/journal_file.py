"""One open journal on the disk: locked, and longer only by whole writes.

What fails half-way (a full disk, a drive that is gone) is cut off again or, where even that fails,
before the next write; a reader ignores such a tail. Waits for the disk: not for the GUI thread.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import uuid
from pathlib import Path

from app.storage.journal_lock import try_lock

# More is no conversation; whatever it is, it is not read into memory.
LIMIT_BYTES = 512 * 2**20
_BINARY = getattr(os, "O_BINARY", 0)
# A pipe or a link put in a journal's place is not waited for, nor followed.
_CAREFUL = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
_READ_BYTES = 2**20


class BusyError(Exception):
    """Another program has the file."""


class JournalFile:
    """A file with one writer.

    Attributes:
        path: Where it is.
        good_bytes: Length of what was written whole; the next write begins there.
    """

    def __init__(self, path: Path, handle: int, good_bytes: int) -> None:
        """Take over an open and locked ``handle``; see ``create`` and ``open``."""
        self.path = path
        self.good_bytes = good_bytes
        self._handle = handle
        self._is_new = False
        self._refusal: OSError | None = None

    @classmethod
    def create(cls, path: Path) -> JournalFile:
        """Begin a file that must not exist, for this user alone; its folder is made if missing.

        Raises:
            OSError: If it cannot be had.
        """
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _BINARY | _CAREFUL, 0o600)
        try_lock(handle)
        file = cls(path, handle, 0)
        file._is_new = True
        return file

    @classmethod
    def open(cls, path: Path) -> JournalFile:
        """Open and lock a file; where it may not be written, it can still be read.

        ``good_bytes`` is its whole length until the caller has read it and knows better.

        Raises:
            BusyError: If somebody else has it.
            OSError: If it cannot be had.
        """
        refusal = None
        try:
            handle = os.open(path, os.O_RDWR | _BINARY | _CAREFUL)
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
                raise
            refusal = error
            handle = os.open(path, os.O_RDONLY | _BINARY | _CAREFUL)
        file = cls(path, handle, 0)
        file._refusal = refusal
        try:
            file.good_bytes = _checked_bytes(handle)
            file._lock()
        except BaseException:
            file.close()
            raise
        return file

    def read(self) -> bytes:
        """All that is in it.

        Raises:
            OSError: If it cannot be read.
        """
        return _read(self._handle)

    def append(self, content: bytes, *, is_lasting: bool) -> None:
        """Write ``content`` behind what was written whole.

        Args:
            content: Whole lines.
            is_lasting: Wait until the disk has it, so that it outlasts a power cut.

        Raises:
            OSError: If it could not be written whole; the file counts as before then.
        """
        if self._refusal is not None:
            raise OSError(self._refusal.errno, self._refusal.strerror)
        if self.good_bytes + len(content) > LIMIT_BYTES:  # it could not be opened again
            raise OSError(errno.EFBIG, f"it would be larger than {LIMIT_BYTES >> 20} MiB")
        try:
            if _checked_bytes(self._handle) != self.good_bytes:
                os.ftruncate(self._handle, self.good_bytes)
            os.lseek(self._handle, self.good_bytes, os.SEEK_SET)
            rest = memoryview(content)
            while rest:
                rest = rest[os.write(self._handle, rest) :]
            if is_lasting:
                os.fsync(self._handle)
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(self._handle, self.good_bytes)
            raise
        self.good_bytes += len(content)

    def replaced_by(self, content: bytes) -> JournalFile:
        """Put a new file with ``content`` in the place of this one, which is closed.

        Returns:
            The new file; it was locked before it got there.

        Raises:
            OSError: If that failed; this one is as it was.
        """
        draft = self.path.with_name(f".{self.path.name}.{uuid.uuid4().hex[:8]}")
        file = JournalFile.create(draft)
        try:
            file.append(content, is_lasting=True)
            draft.replace(self.path)
        except OSError:
            file.close()
            draft.unlink(missing_ok=True)
            raise
        file.path = self.path
        self.close()
        return file

    def is_in_place(self) -> bool:
        """Whether the path still leads to this very file; not if it was moved or deleted."""
        try:
            there, here = self.path.stat(follow_symlinks=False), os.fstat(self._handle)
        except OSError:
            return False
        return (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)

    def _lock(self) -> None:
        if not try_lock(self._handle):
            raise BusyError
        if not self.is_in_place():  # moved away between the opening and the locking
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))

    def close(self) -> None:
        """Let go of the file and its lock; one that was made but never written to goes."""
        if self._handle < 0:
            return
        if self._is_new and self.good_bytes == 0 and self.is_in_place():
            with contextlib.suppress(OSError):
                self.path.unlink()
        handle, self._handle = self._handle, -1
        with contextlib.suppress(OSError):  # a drive that is gone; nothing is left to be written
            os.close(handle)


def read_file(path: Path) -> bytes:
    """A journal's content, whoever writes it meanwhile.

    Raises:
        OSError: If it cannot be read, is no plain file, or is absurdly large.
    """
    handle = os.open(path, os.O_RDONLY | _BINARY | _CAREFUL)
    try:
        _checked_bytes(handle)
        return _read(handle)
    finally:
        os.close(handle)


def _checked_bytes(handle: int) -> int:
    """Length of an open file.

    Raises:
        OSError: If it is no plain file, or absurdly large.
    """
    about = os.fstat(handle)
    if not stat.S_ISREG(about.st_mode):
        raise OSError(errno.EINVAL, "it is no plain file")
    if about.st_size > LIMIT_BYTES:
        raise OSError(errno.EFBIG, f"it is larger than {LIMIT_BYTES >> 20} MiB")
    return about.st_size


def _read(handle: int) -> bytes:
    os.lseek(handle, 0, os.SEEK_SET)
    pieces = []
    rest = LIMIT_BYTES
    while rest > 0 and (piece := os.read(handle, min(rest, _READ_BYTES))):
        pieces.append(piece)
        rest -= len(piece)
    return b"".join(pieces)
