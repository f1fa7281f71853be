"""The file of the history: opened and brought up to date, or set aside where it is damaged.

SQLite with a write-ahead log: a program that is killed in the middle of a write leaves the file as
it was before that write. Every fault of SQLite becomes a sentence here.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from app.experiments.history_schema import STEPS, Step, migrate, version_of
from app.storage.journal_lock import try_lock
from app.storage.storage_error import StorageError, storage_error

FILE_NAME = "history.sqlite3"
PATIENCE_S = 5.0
"""So long another program may hold the file before this one gives up."""

_LOCK_NAME = ".history.lock"
# What SQLite keeps beside a file.
_BESIDE = ("", "-wal", "-shm")
# Each write is on the disk before the next part of an experiment begins; runs take seconds, so
# that is no price.
_PRAGMAS = ("PRAGMA synchronous = FULL", "PRAGMA foreign_keys = ON")
_PRIMARY = 0xFF
# Twice what SQLite keeps in memory that it shares, before it reads anything.
_ROOM_BYTES = 64 * 1024
_ERRNOS = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_PERM: errno.EACCES,
    sqlite3.SQLITE_IOERR: errno.EIO,
    sqlite3.SQLITE_NOMEM: errno.ENOMEM,
}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_UNWRITABLE = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}


class NewerFileError(StorageError):
    """The file was written by a newer program; it is neither read nor written."""


class ForeignFileError(StorageError):
    """The file is a database of another program; it is neither read nor written."""


def open_file(
    path: Path, what: str, steps: Sequence[Step] = STEPS, patience_s: float = PATIENCE_S
) -> sqlite3.Connection:
    """Open ``path``, making it and its folder where they are missing.

    Where the disk is full, or it or the folder can only be read, so can what is opened.

    Args:
        path: The file.
        what: Begins the sentence of an error, e.g. ``The history could not be read``.
        steps: Of the schema.
        patience_s: So long another program may hold it.

    Returns:
        In autocommit mode; for one thread at a time.

    Raises:
        NewerFileError: If a newer program wrote it.
        ForeignFileError: If another program did.
        StorageError: If the folder cannot be made.
        sqlite3.Error: If SQLite cannot open it; see ``is_damage`` and ``sentence_of``.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise storage_error(what, path.parent, error) from error
    _refuse_others(path, steps, patience_s)
    connection = _connected(path, "rwc", patience_s)
    try:
        _prepare(connection)
        migrate(connection, steps)
    except sqlite3.Error as error:
        connection.close()
        if not path.exists() or not (is_unwritable(error) or _is_for_want_of_room(path, error)):
            raise
        return _readable(path, steps, patience_s, error)
    except BaseException:
        connection.close()
        raise
    return connection


def is_unwritable(error: sqlite3.Error) -> bool:
    """Whether ``error`` means that the file can at most be read."""
    return _code(error) in _UNWRITABLE


def is_damage(error: sqlite3.Error) -> bool:
    """Whether ``error`` means that the file is no history, or one with damaged pages."""
    return _code(error) in _DAMAGED


def set_aside(path: Path, patience_s: float = PATIENCE_S) -> Path | None:
    """Give a damaged file, and what SQLite keeps beside it, another name.

    Returns:
        The new name; None if it is not damaged any more, since another program was quicker.

    Raises:
        StorageError: If it cannot be renamed.
    """
    what = "The history is damaged and could not be set aside"
    try:
        handle = os.open(path.with_name(_LOCK_NAME), os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise storage_error(what, path, error) from error
    try:
        if not try_lock(handle):
            raise StorageError(f"{what}: another copy of TuneDeck is about it; try again.")
        if not _is_damaged(path, patience_s):
            return None
        now = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
        aside = path.with_name(f"{path.stem}.damaged-{now}{path.suffix}")
        for ending in reversed(_BESIDE):  # the file last: until then it is found damaged again
            with contextlib.suppress(FileNotFoundError):
                Path(f"{path}{ending}").rename(f"{aside}{ending}")
    except OSError as error:
        raise storage_error(what, path, error) from error
    finally:
        os.close(handle)
    return aside


def sentence_of(what: str, path: Path, error: sqlite3.Error) -> StorageError:
    """The sentence for a fault of SQLite.

    Args:
        what: What was lost by it, e.g. ``The experiment could not be kept``.
        path: The file.
        error: What SQLite said.
    """
    code = _code(error)
    if code in _BUSY:
        return StorageError(
            f"{what}: another copy of TuneDeck is writing to the history; try again ({path})."
        )
    if code in _DAMAGED:
        return StorageError(f"{what}: the file is damaged ({path}).")
    if code in _UNWRITABLE:
        return storage_error(what, path, _why_unwritable(path))
    number = errno.ENOSPC if _is_for_want_of_room(path, error) else _ERRNOS.get(code)
    if number is None:
        return StorageError(f"{what}: {error} ({path}).")
    return storage_error(what, path, OSError(number, os.strerror(number)))


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Everything within it is written, or nothing of it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        # SQLite has rolled back by itself where the disk was full.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    try:
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


# --- Inside -----------------------------------------------------------------------------


def _connected(path: Path, mode: str, patience_s: float) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=patience_s,
        isolation_level=None,
        check_same_thread=False,
    )


def _prepare(connection: sqlite3.Connection) -> None:
    for pragma in _PRAGMAS:
        connection.execute(pragma)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
    except sqlite3.OperationalError as error:
        # Two programs that make the same file: the other one is doing it.
        if _code(error) not in _BUSY:
            raise


def _refuse_others(path: Path, steps: Sequence[Step], patience_s: float) -> None:
    """Asked before anything is opened for writing: what others wrote stays as it is."""
    try:
        if not path.stat().st_size:
            return
        connection = _connected(path, "ro", patience_s)
    except (OSError, sqlite3.OperationalError):  # there is none, or none that can be looked into
        return
    with contextlib.closing(connection):
        try:
            connection.execute("BEGIN")  # another program may be making the file now
            version = version_of(connection)
            is_empty = connection.execute("SELECT 1 FROM sqlite_master").fetchone() is None
        except sqlite3.OperationalError:  # read-only without what SQLite keeps beside it
            return
    if version > len(steps):
        raise NewerFileError(
            f"The history was written by a newer TuneDeck; update to use it ({path}). Nothing is "
            "read from it or written to it until then."
        )
    if not version and not is_empty:
        raise ForeignFileError(
            f"The history cannot be kept: {path} is a database of another program. Move it away; "
            "nothing is read from it or written to it until then."
        )


def _readable(
    path: Path, steps: Sequence[Step], patience_s: float, error: sqlite3.Error
) -> sqlite3.Connection:
    """A connection that only reads; ``error`` again where there is none, or a step is missing."""
    # Where nothing can be made beside it, the file is read as one that nobody changes.
    for mode in ("ro", "ro&immutable=1"):
        connection = None
        try:
            connection = _connected(path, mode, patience_s)
            if version_of(connection) == len(steps):
                return connection
        except sqlite3.OperationalError:
            pass
        if connection is not None:
            connection.close()
    raise error


def _is_damaged(path: Path, patience_s: float) -> bool:
    try:
        with contextlib.closing(_connected(path, "ro", patience_s)) as connection:
            version_of(connection)
            # One fault is enough; "ok" is what a sound file answers.
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",))
    except sqlite3.Error as error:
        return is_damage(error)


def _is_for_want_of_room(path: Path, error: sqlite3.Error) -> bool:
    """Whether the disk is full; SQLite calls it the drive's fault where its own files lack room."""
    if _code(error) != sqlite3.SQLITE_IOERR:
        return _code(error) == sqlite3.SQLITE_FULL
    return _has_no_room(path.parent)


def _has_no_room(folder: Path) -> bool:
    try:
        return shutil.disk_usage(folder).free < _ROOM_BYTES
    except OSError:
        return False


def _why_unwritable(path: Path) -> OSError:
    """What keeps SQLite from writing there; it tells only that it could not.

    The file itself is not opened for it: closing it would let go of every lock that this process
    has on it.
    """
    folder = path.parent
    if not folder.is_dir():
        number = errno.ENOTDIR if folder.exists() else errno.ENOENT
    elif path.is_dir():
        number = errno.EISDIR
    elif hasattr(os, "statvfs") and os.statvfs(folder).f_flag & os.ST_RDONLY:
        number = errno.EROFS
    elif _has_no_room(folder):  # then it is opened for reading only
        number = errno.ENOSPC
    else:
        number = errno.EACCES
    return OSError(number, os.strerror(number))


def _code(error: sqlite3.Error) -> int:
    # Faults of Python's own module (a closed connection) carry no code.
    return int(getattr(error, "sqlite_errorcode", 0) or 0) & _PRIMARY
