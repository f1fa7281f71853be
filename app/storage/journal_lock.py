"""One writer to a file, among all copies of the program.

The system lets go of a lock when its process ends, however it ends: nothing is ever left locked by
a program that died, in containers neither, where process numbers say little.
"""

from __future__ import annotations

import os
import sys

# Far behind every journal: on Windows what is locked cannot be read by others.
_LOCKED_BYTE = 2**31 - 2


def try_lock(handle: int) -> bool:
    """Lock an open file until it is closed.

    Returns:
        False if somebody else has it; True also where the drive knows no locks.
    """
    try:
        if sys.platform == "win32":
            import msvcrt  # noqa: PLC0415  # exists there alone

            at = os.lseek(handle, 0, os.SEEK_CUR)
            os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
            try:
                msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
            finally:
                os.lseek(handle, at, os.SEEK_SET)
        else:
            import fcntl  # noqa: PLC0415  # exists there alone

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        # Some network drives cannot lock; better kept without a lock than not at all.
        return True
    return True
