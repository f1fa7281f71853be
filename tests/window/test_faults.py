"""An exception that nobody caught is seen: in the log, and in a sentence."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.faults import Faults, FaultsTold
from app.window import Window
from widgets.status_banner import StatusBanner

pytestmark = pytest.mark.gui
SECRET = "what the user wrote"


@pytest.fixture
def heard_before(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of exceptions that the hooks of before still got: in a test they would fail it."""
    heard: list[str] = []
    monkeypatch.setattr(sys, "excepthook", lambda kind, *_: heard.append(kind.__name__))
    monkeypatch.setattr(sys, "unraisablehook", lambda it: heard.append(it.exc_type.__name__))
    monkeypatch.setattr(threading, "excepthook", lambda it: heard.append(it.exc_type.__name__))
    return heard


@pytest.fixture
def faults(heard_before: list[str]) -> Iterator[Faults]:
    made = Faults()
    made.install()
    yield made
    made.remove()


class Told:
    """A window that is told of faults."""

    def __init__(self, window: Window, faults: Faults) -> None:
        self.window = window
        self.said: list[str] = []
        self.asked: list[bool] = []
        self.told = FaultsTold(
            faults, window.log_wiring, window.banner, window,
            say=self.said.append, save_diagnostics=lambda: self.asked.append(True),
        )  # fmt: skip

    @property
    def logged(self) -> list[str]:
        lines = [line.text for line in self.window.log_wiring.lines()]
        return [line for line in lines if "mistake of TuneDeck" in line]


@pytest.fixture
def told(make_window: Callable[..., Window], faults: Faults) -> Told:
    return Told(make_window(), faults)


class Source(QObject):
    """Something with a signal."""

    happened = Signal()


def raise_in_a_slot(error: Exception | None = None) -> None:
    def fail() -> None:
        raise error or KeyError(SECRET)

    source = Source()
    source.happened.connect(fail)
    source.happened.emit()


def test_that_an_exception_in_a_slot_is_told_and_logged_once(
    told: Told, heard_before: list[str]
) -> None:
    for _ in range(3):
        raise_in_a_slot()
    assert heard_before == ["KeyError"] * 3
    assert "KeyError in test_faults.py" in told.window.banner.sentence()
    assert "save diagnostics" in told.window.banner.sentence()
    (line,) = told.logged
    assert "KeyError in test_faults.py" in line
    assert SECRET not in line


def test_that_another_kind_is_told_as_well(told: Told) -> None:
    raise_in_a_slot()
    raise_in_a_slot(ZeroDivisionError())
    assert len(told.logged) == 2
    # The first one still stands in the banner.
    assert [sentence for sentence in told.said if "ZeroDivisionError" in sentence]


def test_that_an_exception_in_a_thread_and_in_a_destructor_is_told(
    told: Told, qtbot: QtBot
) -> None:
    def fail() -> None:
        raise LookupError

    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    qtbot.waitUntil(lambda: len(told.logged) == 1)

    class Failing:
        def __del__(self) -> None:
            raise OSError

    Failing()
    assert len(told.logged) == 2


def test_that_the_banner_of_a_dead_engine_stays(told: Told) -> None:
    told.window.banner.show_problem("The engine ended.", "", [("restart", "Restart the engine")])
    raise_in_a_slot()
    assert told.window.banner.sentence() == "The engine ended."
    assert len(told.said) == 1


def test_that_the_banner_leads_to_the_diagnostics(told: Told) -> None:
    raise_in_a_slot()
    banner: StatusBanner = told.window.banner
    (button,) = [b for b in banner.findChildren(QPushButton) if b.text().startswith("Save")]
    button.click()
    assert told.asked == [True]
    assert banner.sentence() == ""


def test_that_ctrl_c_is_no_fault_and_removed_hooks_are_the_old_ones(
    told: Told, faults: Faults
) -> None:
    sys.excepthook(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert told.logged == []
    faults.remove()
    raise_in_a_slot()
    assert told.logged == []


def test_that_without_the_program_a_slot_that_raises_fails_the_test(
    make_window: Callable[..., Window], qtbot: QtBot
) -> None:
    window = make_window()
    with qtbot.captureExceptions() as exceptions:
        QTimer.singleShot(0, window, raise_in_a_slot)
        qtbot.waitUntil(lambda: bool(exceptions))
    assert window.banner.sentence() == ""


FAILING_PROGRAM = """
import sys
from PySide6.QtCore import QTimer
from app import main

show = main.Window.show

def show_and_fail(window):
    def look():
        print(window.banner.sentence())
        window.close()

    def fail():
        QTimer.singleShot(0, look)
        raise ZeroDivisionError

    show(window)
    QTimer.singleShot(0, fail)

main.Window.show = show_and_fail
sys.exit(main.run_window({"model_path": sys.argv[1]}))
"""


@pytest.mark.engine
def test_that_the_program_listens(tiny_path: Path, tmp_path: Path) -> None:
    folders = {name: str(tmp_path) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")}
    done = subprocess.run(
        [sys.executable, "-c", FAILING_PROGRAM, str(tiny_path)],
        env=os.environ | folders | {"QT_QPA_PLATFORM": "offscreen"},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "ZeroDivisionError" in done.stderr
    assert "ZeroDivisionError in <string>" in done.stdout
