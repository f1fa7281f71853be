"""Starts, asks, kills and restarts the process that runs chat templates.

Knows processes and deadlines; must not know what a template means.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import engine_bridge

# Starting Python on a machine whose cores are all decoding takes seconds.
_START_DEADLINE_S = 30.0


class TemplateTimeoutError(Exception):
    """The template did not finish in time; its process was killed."""


class TemplateDiedError(Exception):
    """The process ended while the template ran."""


class TemplateProcess:
    """One helper process, started when first needed. Safe to use from any thread."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Have the process ready, so that the first question does not wait for it.

        Raises:
            TemplateDiedError: If it cannot be started.
        """
        with self._lock:
            self._ready_process()

    def ask(self, request: dict[str, object], deadline_s: float) -> dict[str, object]:
        """Send one request and wait for its answer.

        Raises:
            TemplateTimeoutError: After ``deadline_s`` seconds.
            TemplateDiedError: If the process ended instead.
        """
        with self._lock:
            process = self._ready_process()
            line = json.dumps(request, ensure_ascii=False).encode("utf-8", "surrogatepass")
            said = self._exchange(process, line + b"\n", deadline_s)
        answer: dict[str, object] = json.loads(said)
        return answer

    def close(self) -> None:
        """End the process; a later ``ask`` starts a new one."""
        with self._lock:
            self._end()

    def _ready_process(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._end()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "engine_bridge.child.template_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=Path(engine_bridge.__file__).parent.parent,
        )
        self._exchange(self._process, b"", _START_DEADLINE_S)
        return self._process

    def _exchange(self, process: subprocess.Popen[bytes], line: bytes, deadline_s: float) -> bytes:
        """Write a line and read one; the process is killed at the deadline."""
        assert process.stdin is not None
        assert process.stdout is not None
        expired = threading.Event()

        def expire() -> None:
            expired.set()
            process.kill()

        timer = threading.Timer(deadline_s, expire)
        timer.start()
        said = b""
        try:
            process.stdin.write(line)
            process.stdin.flush()
            said = process.stdout.readline()
        except OSError:  # it died while the request was written
            said = b""
        finally:
            timer.cancel()
            timer.join()
        if expired.is_set() or not said.endswith(b"\n"):
            self._end()
        if expired.is_set() and not said.endswith(b"\n"):
            raise TemplateTimeoutError
        if not said.endswith(b"\n"):
            raise TemplateDiedError
        return said

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is None:
                continue
            try:
                pipe.close()
            except BrokenPipeError:  # what was left to write has no reader any more
                continue
