"""One set-up at a time, by a lock that the system drops when its holder dies."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from bootstrap.say import say

if sys.platform == "win32":
    import msvcrt

    _RETRY_S = 1.0  # Windows can only ask again

    def _try_lock(file: IO[str]) -> bool:
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _wait_for_lock(file: IO[str]) -> None:
        while not _try_lock(file):
            time.sleep(_RETRY_S)

else:
    import fcntl

    def _try_lock(file: IO[str]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _wait_for_lock(file: IO[str]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX)


@contextmanager
def only_one(path: Path) -> Iterator[None]:
    """Hold the lock file ``path``; who comes second waits, and says so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        if not _try_lock(file):
            say("Another set-up of TuneDeck is running; waiting for it.")
            _wait_for_lock(file)
        yield
