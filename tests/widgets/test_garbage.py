"""Cycles with widgets in them die in the GUI thread."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

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
