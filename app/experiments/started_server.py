"""A server that was started here: its log, whether it serves, and how it ended.

It runs below ``server_guard``, so that it ends with this program in any case. All methods are for
one thread, but for ``stop``.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from app.experiments.own_process import OwnProcess
from app.experiments.port import PortError, StoppedError
from app.experiments.server_guard import GRACE_S
from app.plain_output import printable
from engine_bridge.engine_process import WITHHELD_VARIABLES
from engine_bridge.own_failure import last_words

LOOPBACK = "127.0.0.1"
STOPPED = "The experiment was stopped."
# A stop, and an end of the server, are noticed after so long at most.
_SLICE_S = 0.2
# A program on a drive that is asleep takes seconds to be started.
_START_S = 30.0
# Of a server that is about to end, how long its end may take to be told.
_LAST_WORD_S = 1.0
_ANSWER_S = 2.0
_MOST_CHARACTERS = 4_000
_LINES_KEPT = 50
# The line alone decides: llama-server takes these for flags that it does not say.
_OWN_VARIABLES = ("LLAMA_ARG_", "LLAMA_API_KEY")
_LOADING, _SERVING = 503, 200


@dataclass(frozen=True)
class Patience:
    """What is borne of a server that does not serve yet.

    Attributes:
        silent_s: Longest time without a line of its log.
        total_s: Longest time at all; a large model from a slow drive takes many minutes.
    """

    silent_s: float = 180.0
    total_s: float = 1_800.0


class ServerEndedError(PortError):
    """The server ended by itself; the message says how."""


class _Told(msgspec.Struct, frozen=True):
    """A line of the guard."""

    pid: int = 0
    refused: str = ""
    status: int | None = None


class _Health(Enum):
    SERVING = "serving"
    LOADING = "loading"
    SILENT = "silent"


class StartedServer:
    """A server under way; a context manager, for it must be ended.

    Args:
        words: The program and its arguments.
        on_line: Takes each line of its log; called in another thread.
        environment: Variables by name; those that stand for flags are left out.
        patience: What is borne of it.

    Raises:
        PortError: If it cannot be started.
    """

    def __init__(
        self,
        words: Sequence[str],
        on_line: Callable[[str], None],
        *,
        environment: Mapping[str, str] = os.environ,
        patience: Patience | None = None,
    ) -> None:
        """Start it."""
        self._name = Path(words[0]).name
        self._patience = patience or Patience()
        self._on_line = on_line
        self._rest = self._said = b""
        self._lines: deque[str] = deque(maxlen=_LINES_KEPT)
        self._moved_s = time.monotonic()
        self._is_stopped = threading.Event()
        self._end = ""
        self._is_closed = False
        self.pid = 0
        guard = (sys.executable, "-m", "app.experiments.server_guard")
        try:
            self._process = OwnProcess(guard, self._take_log)
        except OSError as error:
            raise PortError(f"{self._name} could not be started: {error.strerror}.") from None
        request = {"words": list(words), "environment": passed_on(environment)}
        self._process.send(json.dumps(request).encode() + b"\n")
        try:
            self._await_start()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the server."""
        self.close()

    def stop(self) -> None:
        """Make the wait under way raise ``StoppedError``; from any thread."""
        self._is_stopped.set()

    def await_health(self, port: int, tell: Callable[[str], None]) -> None:
        """Wait until it serves.

        Args:
            port: Where it was told to listen, on the loopback address.
            tell: Takes what it is doing, in a few words.

        Raises:
            ServerEndedError: If it ends.
            StoppedError: If ``stop`` was called.
            PortError: If it takes longer than is borne, or is no such server.
        """
        begun_s = self._moved_s = time.monotonic()
        while True:
            self._listen(_SLICE_S)
            health = self._health(port)
            if health is _Health.SERVING:
                self._listen(0.0)
                return
            now_s = time.monotonic()
            what = "loads its model" if health is _Health.LOADING else "is starting"
            tell(f"{self._name} {what}, {now_s - begun_s:.0f} s so far")
            if now_s - begun_s > self._patience.total_s:
                raise PortError(self._overdue("did not serve within", self._patience.total_s))
            if now_s - self._moved_s > self._patience.silent_s:
                raise PortError(self._overdue("has said nothing for", self._patience.silent_s))

    def end_sentence(self) -> str:
        """How it ended, in a sentence; empty where it still runs a moment later."""
        try:
            self._listen(_LAST_WORD_S)
        except ServerEndedError as error:
            return str(error)
        except StoppedError:
            pass
        return ""

    def close(self) -> None:
        """End it and wait for its end; again does nothing."""
        if not self._is_closed:
            self._is_closed = True
            self._process.leave(2 * GRACE_S)

    # --- Inside -------------------------------------------------------------------------

    def _await_start(self) -> None:
        deadline_s = time.monotonic() + _START_S
        while not self.pid:
            self._listen(_SLICE_S)
            if time.monotonic() > deadline_s:
                raise PortError(f"{self._name} was not started within {_START_S:.0f} s.")

    def _listen(self, timeout_s: float) -> None:
        """Take in what the guard says.

        Raises:
            ServerEndedError: If the server ended, or could not be started.
            StoppedError: If ``stop`` was called.
        """
        if self._is_stopped.is_set():
            raise StoppedError(STOPPED)
        if self._end:
            raise ServerEndedError(self._end)
        chunk = self._process.receive(timeout_s)
        if chunk is None:
            return
        if not chunk:
            raise ServerEndedError(f"The process that keeps {self._name} is gone.")
        *lines, self._said = (self._said + chunk).split(b"\n")
        for line in lines:
            self._take(msgspec.json.decode(line, type=_Told))

    def _take(self, told: _Told) -> None:
        self.pid = told.pid or self.pid
        if told.refused:
            raise ServerEndedError(
                f"{self._name} could not be started ({told.refused}). Choose another program."
            )
        if told.status is not None:
            self._bury()
            self._end = self._end_words(told.status)
            raise ServerEndedError(self._end)

    def _bury(self) -> None:
        """The server is gone: so is its guard soon, and then all of the log is here."""
        self._process.wait(_LAST_WORD_S)
        self._is_closed = True
        self._process.kill()

    def _take_log(self, chunk: bytes) -> None:
        """Called in the thread that reads the log."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        if len(self._rest) > _MOST_CHARACTERS:
            lines, self._rest = [*lines, self._rest], b""
        self._moved_s = time.monotonic()
        for raw in lines:
            line = printable(raw[:_MOST_CHARACTERS].decode(errors="replace").rstrip("\r"))
            self._lines.append(line)
            self._on_line(line)

    def _health(self, port: int) -> _Health:
        connection = http.client.HTTPConnection(LOOPBACK, port, timeout=_ANSWER_S)
        try:
            connection.request("GET", "/health")
            status = connection.getresponse().status
        except OSError:  # nobody listens yet, or does not answer
            return _Health.SILENT
        except http.client.HTTPException:
            raise PortError(
                f"What answers at {LOOPBACK}:{port} is no web server, so {self._name} is not "
                "llama.cpp's server. Choose another program."
            ) from None
        finally:
            connection.close()
        if status not in (_SERVING, _LOADING):
            raise PortError(
                f"{self._name} answers HTTP {status} when asked for its health, so it is not "
                "llama.cpp's server, or not a version that can be tried. Choose another program."
            )
        return _Health.SERVING if status == _SERVING else _Health.LOADING

    def _overdue(self, what: str, seconds: float) -> str:
        return f"{self._name} {what} {seconds:,.0f} s, so it was ended.{self._last_words()}"

    def _end_words(self, status: int) -> str:
        how = f"ended with exit status {status}" if status >= 0 else _killed_words(-status)
        return f"{self._name} {how}.{self._last_words()}"

    def _last_words(self) -> str:
        return last_words("\n".join(tuple(self._lines)))


def passed_on(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that a server gets: not those that say more than its line."""
    return {
        name: value
        for name, value in environment.items()
        if not name.startswith(_OWN_VARIABLES) and name not in WITHHELD_VARIABLES
    }


def withheld(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Names of variables that llama-server would have taken for flags."""
    return tuple(sorted(name for name in environment if name.startswith(_OWN_VARIABLES)))


def free_port() -> int:
    """A port of the loopback address that nobody listens at just now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        listening.bind((LOOPBACK, 0))
        return int(listening.getsockname()[1])


def _killed_words(number: int) -> str:
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    return f"was ended by {name}"
