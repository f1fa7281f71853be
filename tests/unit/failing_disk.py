"""Disks that fill up, in place of ``os.write``."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from typing import Any


def write_with_room(room: int, fault: int = errno.ENOSPC) -> Callable[[int, Any], int]:
    """``os.write`` on a disk with so many bytes left: what fits is written, then it fails."""
    write, left = os.write, [room]

    def limited(handle: int, content: Any) -> int:
        if left[0] <= 0:
            raise OSError(fault, os.strerror(fault))
        count = write(handle, content[: left[0]])
        left[0] -= count
        return count

    return limited
