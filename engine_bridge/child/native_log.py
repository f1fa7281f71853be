"""Where llama.cpp's log lines go: nowhere, unless someone on this thread is listening.

Knows llama.cpp's log callback; must not know models or contexts.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

# enum ggml_log_level
_WARN, _ERROR, _CONT = 3, 4, 5


class CapturedLog:
    """Lines caught so far.

    Attributes:
        lines: Every line.
        errors: The lines of level error, and warnings when there is no error.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._pieces: list[tuple[int, str]] = []

    def add(self, level: int, text: str) -> None:
        """Take one call of the log callback."""
        if level == _CONT and self._pieces:
            last_level, last = self._pieces[-1]
            self._pieces[-1] = (last_level, last + text)
        else:
            self._pieces.append((level, text))

    @property
    def lines(self) -> list[str]:
        """All lines, without their line ends."""
        return [text.rstrip("\n") for _, text in self._pieces]

    @property
    def errors(self) -> list[str]:
        """Error lines; warnings where there is no error line."""
        for wanted in (_ERROR, _WARN):
            found = [text.strip() for level, text in self._pieces if level == wanted]
            if found:
                return found
        return []

    @property
    def cause(self) -> str:
        """The most telling error line without the C function's name, or the empty string.

        The first line names the cause, the later ones only pass it on.
        """
        for line in self.errors:
            _, _, said = line.partition(": ")
            return said or line
        return ""


class NativeLog:
    """Routes the process-wide log callback.

    A Python callback costs more than a dry run (1,000 lines and more), so the resting callback is
    a C function that does nothing: ``abs`` of libc, which reads one int and returns.

    Args:
        set_callback: ``llama_log_set``.
        callback_type: The ctypes type of its first argument.
    """

    def __init__(self, set_callback: Callable[[Any, None], None], callback_type: Any) -> None:  # noqa: ANN401
        """Silence the library."""
        self._set_callback = set_callback
        libc = ctypes.CDLL("msvcrt" if sys.platform == "win32" else None)
        self._quiet = callback_type(ctypes.cast(libc.abs, ctypes.c_void_p).value)
        self._listening = callback_type(self._on_line)
        self._captures: dict[int, CapturedLog] = {}
        self._lock = threading.Lock()
        set_callback(self._quiet, None)

    def _on_line(self, level: int, text: bytes | None, _: object) -> None:
        capture = self._captures.get(threading.get_ident())
        if capture is None or text is None:
            return
        # Names from a file stand in these lines, whatever characters it has.
        decoded = "".join(
            letter if letter.isprintable() or letter in "\n\t" else "\ufffd"
            for letter in text.decode(errors="replace")
        )
        capture.add(level, decoded)
        if level in (_WARN, _ERROR):
            sys.stderr.write(decoded)  # the window keeps the last lines for whoever must debug

    @contextmanager
    def captured(self) -> Iterator[CapturedLog]:
        """Catch what the library says on this thread; not to be nested on one thread."""
        me, capture = threading.get_ident(), CapturedLog()
        with self._lock:
            self._captures[me] = capture
            self._set_callback(self._listening, None)
        try:
            yield capture
        finally:
            with self._lock:
                del self._captures[me]
                if not self._captures:
                    self._set_callback(self._quiet, None)
