"""An engine process started here, as bytes: what it says, what it is told, how it ends.

Three threads, since each pipe may block: the output goes into a queue of bounded length (an engine
that is not listened to coalesces what it says), commands wait in memory until the engine reads
them, stderr is kept as its last lines. Knows pipes and the system; must not know the protocol.
"""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import IO

from engine_bridge.engine_process import (
    HAS_SESSIONS,
    WITHHELD_VARIABLES,
    added_variables,
    kill_session,
)

# 16 MiB at most: an engine says some KB a second.
_CHUNK_BYTES, _MOST_CHUNKS = 1 << 16, 256
# How long threads and a killed process may take to end; they end at once, if not the system hangs.
_END_S = 5.0
_OVER = b""


class OwnProcess:
    """A running process with its pipes; the caller ends it with ``kill`` or ``leave``.

    On Linux the engine dies with the thread that started it, so that must live as long.

    Args:
        arguments: The program and its arguments.
        on_stderr: Takes what it writes for people; called in a thread of this object.

    Raises:
        OSError: If the program cannot be started.
    """

    def __init__(self, arguments: Sequence[str], on_stderr: Callable[[bytes], None]) -> None:
        """Start it."""
        # Ctrl+C in the terminal is the command's to answer, not the engine's.
        self._process = subprocess.Popen(
            list(arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(),
            bufsize=0,
            start_new_session=HAS_SESSIONS,
        )
        self._chunks: queue.Queue[bytes] = queue.Queue(_MOST_CHUNKS)
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._unsent_bytes = 0
        self._is_read = False
        self._threads = [
            threading.Thread(target=work, name=f"engine's {name}", daemon=True)
            for name, work in (
                ("output", self._read),
                ("input", self._write),
                ("stderr", lambda: self._read_stderr(on_stderr)),
            )
        ]
        for thread in self._threads:
            thread.start()

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    @property
    def unsent_bytes(self) -> int:
        """Bytes of commands that it has not read yet."""
        return self._unsent_bytes

    def send(self, line: bytes) -> None:
        """Have ``line`` written as soon as it is read; to one that is gone it goes unheard."""
        with self._lock:
            self._unsent_bytes += len(line)
        self._lines.put(line)

    def receive(self, timeout_s: float) -> bytes | None:
        """The next piece of its output: empty at the end, None if nothing comes in time."""
        if self._is_read:
            return _OVER
        try:
            chunk = (
                self._chunks.get(timeout=timeout_s) if timeout_s > 0 else self._chunks.get(False)
            )
        except queue.Empty:
            return None
        self._is_read = chunk == _OVER
        return chunk

    def wait(self, timeout_s: float) -> int | None:
        """Its exit status, negative for a signal; None if it does not end in time."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(timeout_s)
        return None

    def leave(self, timeout_s: float) -> None:
        """Close its input, give it time to end by itself, and kill what is left of it."""
        self._lines.put(None)
        deadline_s = time.monotonic() + timeout_s
        try:
            # What it still says must not keep it from ending.
            while (left_s := deadline_s - time.monotonic()) > 0 and self.receive(left_s) != _OVER:
                pass
            self.wait(max(0.0, deadline_s - time.monotonic()))
        finally:
            self.kill()

    def kill(self) -> None:
        """Kill it with all that it started, and end the threads."""
        if self._process.returncode is None and not kill_session(self._process.pid):
            self._process.kill()
        self.wait(_END_S)
        kill_session(self._process.pid)  # throwaway processes that it had no time to end
        self._lines.put(None)
        while (chunk := self.receive(_END_S)) is not None and chunk != _OVER:
            pass
        for thread in self._threads:
            thread.join(_END_S)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            _close(pipe)

    # --- Threads ------------------------------------------------------------------------

    def _read(self) -> None:
        assert self._process.stdout is not None
        _read_all(self._process.stdout, self._chunks.put)
        self._chunks.put(_OVER)

    def _read_stderr(self, take: Callable[[bytes], None]) -> None:
        assert self._process.stderr is not None
        _read_all(self._process.stderr, take)

    def _write(self) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        while (line := self._lines.get()) is not None:
            with contextlib.suppress(OSError):  # its end is told by its output
                _write_all(stdin.fileno(), line)
            with self._lock:
                self._unsent_bytes -= len(line)
        _close(stdin)


def _environment() -> dict[str, str]:
    """This process's variables, with what the engine needs and without what it must not have."""
    environment = os.environ | added_variables(os.environ.get("PYTHONPATH", ""))
    return {name: value for name, value in environment.items() if name not in WITHHELD_VARIABLES}


def engine_arguments() -> tuple[str, ...]:
    """What starts the engine."""
    return (sys.executable, "-m", "engine_bridge.child")


def _read_all(pipe: IO[bytes], take: Callable[[bytes], None]) -> None:
    with contextlib.suppress(OSError):
        while chunk := os.read(pipe.fileno(), _CHUNK_BYTES):
            take(chunk)


def _write_all(descriptor: int, line: bytes) -> None:
    left = memoryview(line)
    while left:
        left = left[os.write(descriptor, left) :]


def _close(pipe: IO[bytes] | None) -> None:
    if pipe is not None:
        with contextlib.suppress(OSError):
            pipe.close()
