"""What tests do with the experiments of a whole window."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.experiments.experiment import Experiment
from app.window import Window
from tests.window.conftest import PATIENCE_MS


def fill(window: Window, kind: str, **texts: str) -> None:
    """Fill the form in."""
    window.actions_of_window.run(f"experiments.{kind}")
    for name, text in texts.items():
        window.experiments.page.form.set_text(name, text)


def start(window: Window, qtbot: QtBot) -> None:
    """Press Start and wait until it has begun."""
    page = window.experiments.page
    qtbot.waitUntil(page.form.start.isEnabled, timeout=PATIENCE_MS)
    with qtbot.waitSignal(window.experiments.run.begun, timeout=PATIENCE_MS):
        QTest.mouseClick(page.form.start, Qt.MouseButton.LeftButton)


def ended(window: Window, qtbot: QtBot, timeout_ms: int = PATIENCE_MS) -> None:
    """Wait for its end."""
    run = window.experiments.run
    qtbot.waitUntil(lambda: not run.is_under_way, timeout=timeout_ms)


def kept(window: Window) -> list[Experiment]:
    """What the history has, the newest first; read here, for no test waits for a disk."""
    store = window.experiments.history.store
    return [store.experiment(row.key) for row in store.listing()]


def shown_state(window: Window) -> str:
    """The state of the sheet in front."""
    sheet = window.experiments.page.result.sheet()
    return "" if sheet is None else sheet.state


def said(window: Window) -> str:
    """What is said of the last experiment."""
    return window.experiments.page.strip.result.text()
