"""A file that is written beside its target and takes its place once it is whole.

A process that is killed while it writes leaves its part behind, as large as it had become and under
a hidden name. The next one to write in the same folder takes it away.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

if sys.platform != "win32":  # which lets nobody remove a file that is open
    import fcntl

_PREFIX, _SUFFIX = ".tunedeck-", ".part"
# One that was made this moment may not be locked yet.
_LEAST_AGE_S = 60.0


@contextmanager
def written_whole(target: Path) -> Iterator[BinaryIO]:
    """A file to write to, readable by this user alone; ``target`` is replaced by it at the end.

    Where anything goes wrong ``target`` stays as it is.

    Raises:
        OSError: If it cannot be written.
    """
    _remove_orphans(target.parent)
    handle, part = tempfile.mkstemp(prefix=_PREFIX, suffix=_SUFFIX, dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            _try_lock(file)
            yield file
            file.flush()
            os.fsync(file.fileno())
        Path(part).replace(target)
    finally:
        Path(part).unlink(missing_ok=True)


def _remove_orphans(folder: Path) -> None:
    """Take away the parts that no process has open any more."""
    for part in folder.glob(f"{_PREFIX}*{_SUFFIX}"):
        try:
            status = part.lstat()
            # What is no file was not made here; a pipe would block whoever opens it.
            if not stat.S_ISREG(status.st_mode) or time.time() - status.st_mtime < _LEAST_AGE_S:
                continue
            with part.open("rb") as file:
                is_orphan = _try_lock(file)
            if is_orphan:
                part.unlink()
        except OSError:  # somebody else's, or being written: it harms nobody but by its size
            continue


def _try_lock(file: BinaryIO) -> bool:
    """Lock ``file`` until it is closed; False where somebody else has it, or nobody can tell."""
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
