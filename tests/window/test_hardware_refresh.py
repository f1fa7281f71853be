"""What a reading of the hardware, once a second, brings up to date, and what it leaves alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pytestqt.qtbot import QtBot

from app.window import Window
from engine_bridge.metrics.snapshot import MemorySnapshot

pytestmark = pytest.mark.gui
GIB = 1 << 30


def test_that_it_moves_the_memory_bar_and_looks_at_no_fader(
    make_window: Callable[..., Window], qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = make_window()
    wiring, bar = window.tune_wiring, window.tune.memory_bar
    qtbot.waitUntil(lambda: not wiring._refresh_timer.isActive())
    looks: list[str] = []
    monkeypatch.setattr(window.tune.row("slots"), "set_hint", looks.append)
    said = []
    for used in (12, 16):
        ram = MemorySnapshot(used, "system", "System memory", 32 * GIB, used * GIB, 0)
        window.desk.hardware_measured.emit((ram,))
        said.append(bar.text())
    assert said[0] != said[1]
    assert "16" in said[1]
    assert not wiring._refresh_timer.isActive()
    assert looks == []
    wiring._refresh()
    assert len(looks) == 1
