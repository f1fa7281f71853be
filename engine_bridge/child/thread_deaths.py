"""A process of which one thread is gone ends.

Without the thread that reads commands it would hear nothing any more, not even that the window is
gone; without the one that writes events, say nothing. A death is noticed, named and mended by one
click; half a life is not. Pure standard library.
"""

from __future__ import annotations

import os
import threading

_STATUS = 1


def end_with_any_thread() -> None:
    """From now on an exception that nobody catches in a thread is told, and ends the process."""
    threading.excepthook = _end


def _end(told: threading.ExceptHookArgs) -> None:
    if told.exc_type is SystemExit:
        return  # as a thread ends that wants to
    try:
        threading.__excepthook__(told)
    finally:
        os._exit(_STATUS)
