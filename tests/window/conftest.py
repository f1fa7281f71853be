"""The whole program in a test: a real window on a real engine with a tiny model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app import window_memory
from app.desk import Desk
from app.experiments.lengths import Fixed
from app.experiments.workload import Material, Workload
from app.experiments.workload_file import to_json
from app.window import Window
from app.window_memory import Unkept
from app.window_place import Place
from engine_bridge.settings.config import EngineConfig
from resources.tokens import DARK
from widgets.experiments.form_values import FILE
from widgets.theme import apply_theme

# A loaded machine of two cores may take this long for what takes it a second alone.
PATIENCE_MS = 60_000
SCREEN = Place(0, 0, 1920, 1080)
# Of experiments: as small as it can be and still have several answers.
WORK = Workload(
    name="small", material=Material.PROSE, prompt_tok=Fixed(48), answer_tok=Fixed(12), requests=3
)


@pytest.fixture
def windows(qapp: QApplication) -> Iterator[list[Window]]:
    """Windows that are closed after the test, the last one first; the theme is on meanwhile."""
    opened: list[Window] = []
    font, palette = qapp.font(), qapp.palette()
    apply_theme(qapp, DARK)
    yield opened
    for window in reversed(opened):
        window.close()
        window.desk.deleteLater()
        window.deleteLater()
    qapp.setStyleSheet("")
    qapp.setFont(font)
    qapp.setPalette(palette)


@pytest.fixture
def open_window(windows: list[Window]) -> Callable[..., Window]:
    """Open a window; the engine process is started with it. All is closed after the test."""

    def open_(**values: object) -> Window:
        config = EngineConfig.from_values({"threads": 1, "ctx_per_slot_tok": 512, **values})
        window = Window(Desk(config), DARK)
        windows.append(window)
        window.show()
        window.desk.open()
        return window

    return open_


@pytest.fixture
def loaded_window(open_window: Callable[..., Window], qtbot: QtBot, tiny_chat_path: Path) -> Window:
    """A window with the tiny chat model loaded, greedy, at most 64 tokens an answer."""
    window = open_window(temperature=0.0, max_new_tok=64)
    window.engine_wiring.load(str(tiny_chat_path))
    qtbot.waitUntil(lambda: window.desk.session.applied is not None, timeout=PATIENCE_MS)
    return window


@pytest.fixture
def experiment_window(loaded_window: Window, tmp_path: Path) -> Window:
    """A window with the experiments in front, and small work chosen in the form."""
    path = tmp_path / "small.json"
    path.write_bytes(to_json(WORK))
    loaded_window.go_to("experiments")
    loaded_window.experiments.page.form.sources.set_key(FILE)
    loaded_window.experiments.page.form.set_text("path", str(path))
    return loaded_window


@pytest.fixture
def make_window(
    windows: list[Window], qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Window]:
    """Show a window on a large screen; its engine is never started."""
    monkeypatch.setattr(window_memory, "_screens", lambda: [SCREEN])

    def make(kept: Unkept | None = None) -> Window:
        window = Window(Desk(EngineConfig()), DARK, kept)
        windows.append(window)
        with qtbot.waitActive(window):
            window.show()
            window.activateWindow()
        return window

    return make
