"""One copy of the program at a time: what several of them write is locked meanwhile."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import QLockFile

from app.storage.storage_error import StorageError, storage_error

# The lock is held for one read and one write; a copy that takes longer has lost its disk.
LOCK_WAIT_MS = 5000
# Of a copy on another machine (a home folder on the network) nobody can say whether it lives.
_STALE_AFTER_MS = 30_000


@contextlib.contextmanager
def locked(path: Path, what: str, wait_ms: int = LOCK_WAIT_MS) -> Iterator[None]:
    """Keep other copies of the program from writing, for as long as the block lasts.

    Args:
        path: The file, or a name that stands for several; its folder is made where it is missing.
        what: Begins the sentence of an error: ``The settings could not be saved``.
        wait_ms: How long another copy is waited for.

    Raises:
        StorageError: If nothing can be written there, or another copy holds it.
    """
    try:
        target = path.resolve()
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise storage_error(what, path.parent, error) from error
    except RuntimeError as error:  # what Python makes of a link to itself
        raise StorageError(f"{what}: {path} is a link to itself.") from error
    lock = QLockFile(str(target.with_name(f".{target.name}.lock")))
    # The lock of a process that died on this machine is taken over at once, by its number.
    lock.setStaleLockTime(_STALE_AFTER_MS)
    if not lock.tryLock(wait_ms):
        raise StorageError(_lock_sentence(lock.error(), target, what))
    try:
        yield
    finally:
        lock.unlock()


def _lock_sentence(error: QLockFile.LockError, path: Path, what: str) -> str:
    if error is QLockFile.LockError.LockFailedError:
        return (
            f"{what}: another copy of TuneDeck has held them for {LOCK_WAIT_MS // 1000} s "
            f"({path}). Close it if it hangs."
        )
    if error is QLockFile.LockError.PermissionError:
        return f"{what}: nothing can be written in {path.parent}; make it writable for you."
    return (
        f"{what}: nothing can be written in {path.parent}; the disk may be full, read-only or gone."
    )
