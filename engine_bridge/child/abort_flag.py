"""Ends a step that is under way, and tells how far inside it is.

ggml's processor backend asks a C function after every operation of a graph whether it shall stop
(``ggml_graph_compute_thread`` in ggml-cpu.c), a thousand times a step: too often for Python. On
Linux ``sem_trywait`` serves: it takes one from a semaphore, so what is left of it says how many
operations are computed, and fails, which means stop, once nothing is left. Elsewhere ``strlen``
does: the flag is a text, and stop once it has a length; nothing is counted then.
"""

from __future__ import annotations

import ctypes
import os
import sys

# Not CDLL: these calls take a fraction of a microsecond, and that would let the interpreter's lock
# go around each, in front of every step.
_LIBC = ctypes.PyDLL("msvcrt" if os.name == "nt" else None)
_COUNTS = sys.platform == "linux"
# SEM_VALUE_MAX: no step has so many operations.
_PLENTY = 2**31 - 1
# sem_t has 32 bytes on Linux at most.
_FLAG_BYTES = 64

# Address of the C function to be given to llama.cpp, its data the address of a flag.
SHALL_STOP: int | None = ctypes.cast(
    _LIBC.sem_trywait if _COUNTS else _LIBC.strlen, ctypes.c_void_p
).value


class AbortFlag:
    """The flag of one context. Keep it as long as the context."""

    def __init__(self) -> None:
        """Not to be stopped."""
        self._flag = ctypes.create_string_buffer(_FLAG_BYTES)
        self.request(False)

    @property
    def address(self) -> int:
        """The function's data."""
        return ctypes.addressof(self._flag)

    def request(self, wanted: bool) -> None:
        """Have the step under way stop, or let the next one run; from any thread."""
        if _COUNTS:
            _LIBC.sem_init(self._flag, 0, 0 if wanted else _PLENTY)
        else:
            self._flag[0] = b"\x01" if wanted else b"\x00"

    @property
    def computed(self) -> int:
        """Operations computed since the last ``request``; 0 where they are not counted."""
        if not _COUNTS:
            return 0
        left = ctypes.c_int()
        _LIBC.sem_getvalue(self._flag, ctypes.byref(left))
        return _PLENTY - left.value


class UnderWay:
    """The steps that are being computed now, on whatever thread."""

    def __init__(self) -> None:
        """None yet."""
        self._flags: set[AbortFlag] = set()

    def begin(self, flag: AbortFlag) -> None:
        """A step of the context with that flag begins."""
        self._flags.add(flag)

    def end(self, flag: AbortFlag) -> None:
        """It is over."""
        self._flags.discard(flag)

    def computed(self) -> dict[int, int]:
        """Operations computed in each step, by its context."""
        return {id(flag): flag.computed for flag in tuple(self._flags)}
