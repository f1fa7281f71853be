"""A Python module run as a process that may block, die or be thrown away, without the window.

One request goes in, lines come out. Holds no widget and knows nothing of what the lines mean.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from PySide6.QtCore import QObject, QProcess, QProcessEnvironment, Signal

from engine_bridge.engine_process import WITHHELD_VARIABLES, added_variables

# A killed process is gone in milliseconds, unless a dead drive holds it.
_FAREWELL_MS = 1_000
_STDERR_TAIL_BYTES = 2_000


class HelperProcess(QObject):
    """One run of one module.

    Signals:
        line_received: A line of its output (bytes), without the line feed.
        ended: It is gone, and not by ``stop``: its exit code, negative for a signal, and the last
            line it wrote for people.
    """

    line_received = Signal(bytes)
    ended = Signal(int, str)

    def __init__(
        self, module: str, parent: QObject, *, withheld: Sequence[str] = WITHHELD_VARIABLES
    ) -> None:
        """Prepare ``python -m module``, which does not see the variables ``withheld``."""
        super().__init__(parent)
        self._module = module
        self._rest = b""
        self._stderr = b""
        self._is_stopped = False
        self._process = QProcess(self)
        environment = QProcessEnvironment.systemEnvironment()
        for name, value in added_variables(os.environ.get("PYTHONPATH", "")).items():
            environment.insert(name, value)
        for name in withheld:
            environment.remove(name)
        self._process.setProcessEnvironment(environment)
        self._process.readyReadStandardOutput.connect(self._on_output_ready)
        self._process.readyReadStandardError.connect(self._on_stderr_ready)
        self._process.finished.connect(self._on_finished)
        self._process.errorOccurred.connect(self._on_error)

    def start(self, request: bytes, *, is_last: bool) -> None:
        """Start it and write ``request``; ``is_last`` closes its input after that."""
        self._process.start(sys.executable, ["-m", self._module])
        self.write(request)
        if is_last:
            self._process.closeWriteChannel()

    def write(self, line: bytes) -> None:
        """Write more to a process whose input is open."""
        self._process.write(line)

    def stop(self) -> None:
        """Kill it without waiting; nothing is reported any more, and the object deletes itself."""
        if self._is_stopped:
            return
        self._is_stopped = True
        if self._process.state() is QProcess.ProcessState.NotRunning:
            self.deleteLater()
        else:
            self._process.kill()

    def close(self) -> None:
        """Kill it and wait until it is gone, at most a second."""
        self.stop()
        if self._process.state() is not QProcess.ProcessState.NotRunning:
            self._process.waitForFinished(_FAREWELL_MS)

    def _on_output_ready(self) -> None:
        *lines, self._rest = (self._rest + self._read_output()).split(b"\n")
        for line in lines:
            if self._is_stopped:
                return
            self.line_received.emit(line)

    def _read_output(self) -> bytes:
        return bytes(self._process.readAllStandardOutput().data())

    def _on_stderr_ready(self) -> None:
        said = bytes(self._process.readAllStandardError().data())
        self._stderr = (self._stderr + said)[-_STDERR_TAIL_BYTES:]

    def _on_error(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:
            self._stderr = self._process.errorString().encode()
            self._on_finished(-1)

    def _on_finished(
        self, exit_code: int, how: QProcess.ExitStatus = QProcess.ExitStatus.NormalExit
    ) -> None:
        if not self._is_stopped:
            self._is_stopped = True
            self._on_stderr_ready()
            rest, self._rest = self._rest + self._read_output(), b""
            for line in filter(None, rest.split(b"\n")):
                self.line_received.emit(line)
            last = self._stderr.decode(errors="replace").strip().splitlines()[-1:]
            is_crash = how is QProcess.ExitStatus.CrashExit
            self.ended.emit(-exit_code if is_crash else exit_code, last[0] if last else "")
        self.deleteLater()


def close_helpers(parent: QObject) -> None:
    """End every process of ``parent``, those that were stopped and are not gone yet included."""
    for process in parent.findChildren(HelperProcess):
        process.close()
