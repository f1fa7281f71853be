"""Functions off the GUI thread: told on it, and never waited for longer than a moment."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from app.background import Task

# Ends while a task waits for a pipe that nobody will ever write to, as for a drive that is gone.
_PROGRAM = """
import sys
from PySide6.QtCore import QCoreApplication, QTimer
import app.background
from app.background import Task

app.background._END_WAIT_S = 0.1
core = QCoreApplication([])
task = Task(lambda _: open(sys.argv[1]).read(), core)
task.start()
QTimer.singleShot(0, core.quit)
core.exec()
print("ended")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such pipes on Windows")
def test_that_the_program_ends_while_a_task_waits_for_a_dead_drive(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, str(pipe)],
        capture_output=True, text=True, timeout=120, cwd=root, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "ended\n", "")


@pytest.mark.gui
@pytest.mark.parametrize("is_failing", [False, True])
def test_that_a_task_whose_window_is_gone_tells_nobody(qtbot: QtBot, is_failing: bool) -> None:
    owner, go = QObject(), threading.Event()
    faults: list[object] = []

    def work(_: object) -> int:
        go.wait(60.0)
        if is_failing:
            raise OSError("gone")
        return 1

    task = Task(work, owner)
    task.start()
    hook, threading.excepthook = threading.excepthook, faults.append
    try:
        shiboken6.delete(owner)
        go.set()
        task._thread.join(60.0)
    finally:
        threading.excepthook = hook
    assert not task._thread.is_alive()
    assert faults == []


@pytest.mark.gui
def test_that_result_progress_and_failure_arrive(qtbot: QtBot) -> None:
    owner = QObject()

    def work(tell: object) -> int:
        assert callable(tell)
        tell(0.5, "half")
        return 7

    task = Task(work, owner)
    with qtbot.waitSignals([task.progressed, task.succeeded], timeout=60_000):
        task.start()

    def fail(_: object) -> None:
        raise ValueError("no")

    failing = Task(fail, owner)
    with qtbot.waitSignal(failing.failed, timeout=60_000) as told:
        failing.start()
    assert str(told.args[0]) == "no"
