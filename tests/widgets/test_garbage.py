"""Cycles with widgets in them die in the GUI thread."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pytest
from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app import main
from app.garbage import Garbage


class _InCycle(QWidget):
    """Holds itself, as a lambda connected to its own signal makes a widget do."""

    def __init__(self) -> None:
        super().__init__()
        self.itself = self


def _allocate() -> None:
    """Far more than lets Python collect by itself."""
    kept = [[number] for number in range(200_000)]
    assert kept


@pytest.fixture
def garbage(qapp: QApplication) -> Iterator[Garbage]:
    gc.collect()
    found = Garbage(qapp)
    yield found
    found.give_back()
    found.deleteLater()
    gc.disable()  # as every test with widgets runs


def _doomed(deaths: list[int]) -> None:
    widget = _InCycle()
    widget.destroyed.connect(
        lambda: deaths.append(threading.get_ident()), Qt.ConnectionType.DirectConnection
    )


def test_that_a_thread_that_allocates_destroys_no_widget(garbage: Garbage) -> None:
    deaths: list[int] = []
    _doomed(deaths)
    worker = threading.Thread(target=_allocate)
    worker.start()
    worker.join()
    assert deaths == []
    gc.collect()
    assert deaths == [threading.get_ident()]


def test_that_what_is_left_over_is_collected_by_and_by(garbage: Garbage, qtbot: QtBot) -> None:
    deaths: list[int] = []
    _doomed(deaths)
    young = [QObject() for _ in range(1000)]  # more than the youngest generation may hold
    qtbot.waitUntil(lambda: bool(deaths))
    assert deaths == [threading.get_ident()]
    assert len(young) == 1000


def test_that_python_collects_by_itself_again_afterwards(qapp: QApplication) -> None:
    found = Garbage(qapp)
    assert not gc.isenabled()
    found.give_back()
    assert gc.isenabled()
    found.deleteLater()
    gc.disable()


def test_that_what_stays_for_good_is_not_looked_through_again(
    garbage: Garbage, qtbot: QtBot
) -> None:
    qtbot.waitUntil(lambda: gc.get_freeze_count() > 10_000)
    garbage.give_back()
    assert gc.get_freeze_count() == 0


class _Look(QObject):
    """Stands for a tour: looks whether Python collects by itself, and is done."""

    finished = Signal(int)
    collects: ClassVar[list[bool]] = []

    def __init__(self, window: QWidget, out: Path, model: str | None) -> None:
        super().__init__(window)

    def start(self) -> None:
        self.collects.append(gc.isenabled())
        QTimer.singleShot(0, self, lambda: self.finished.emit(3))


def test_that_a_tour_collects_in_the_gui_thread_too(
    qapp: QApplication, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    monkeypatch.setattr(main, "application", lambda: qapp)
    monkeypatch.setattr(main, "Desk", lambda *_, **__: SimpleNamespace(open=lambda: None))
    monkeypatch.setattr(main, "_dressed_window", lambda *_: window)
    monkeypatch.setattr(main, "Tour", _Look)
    gc.enable()
    assert main.run_tour(tmp_path, model=None, theme="dark", size=(200, 100)) == 3
    assert _Look.collects == [False]
    assert gc.isenabled()
    for found in qapp.findChildren(Garbage):
        found.deleteLater()
    gc.disable()
