"""What was freed goes back to the system where the allocator would keep it.

glibc keeps freed pieces of a few MiB for later, and a context leaves thousands behind: after some
hundred changes of settings a process is tens of MiB larger than what it holds.
"""

from __future__ import annotations

import ctypes
import sys

_TRIM = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None


def give_back() -> None:
    """Return free memory to the system; takes some milliseconds. Does nothing without glibc."""
    if _TRIM is not None:
        _TRIM(0)
