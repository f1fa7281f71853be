"""A GPU that this build cannot use is said once, with the line that builds for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.unused_gpu import UnusedGpu, line_to_build
from app.window import Window
from engine_bridge.hardware.board_here import BoardHere, amd_board
from tests.window.conftest import PATIENCE_MS

pytestmark = [pytest.mark.gui, pytest.mark.engine]
_BOARD = BoardHere("NVIDIA Test 9000", "cuda", "CUDA")


@dataclass
class _Told:
    boards_told: list[str] = field(default_factory=list)


@pytest.fixture
def told() -> _Told:
    """What was heard enough of."""
    return _Told()


@pytest.fixture
def window(open_window: Callable[..., Window], told: _Told) -> Window:
    """A window whose engine was built for the CPU, on a machine with a GPU."""
    window = open_window()
    window.gpu = UnusedGpu(window.desk, window.banner, window, told, lambda: _BOARD)  # type: ignore[attr-defined]
    return window


def test_that_the_line_is_said_copied_and_comes_back_after_a_load(
    window: Window, qtbot: QtBot, tiny_chat_path: Path
) -> None:
    banner = window.banner
    qtbot.waitUntil(lambda: _BOARD.name in banner.sentence(), timeout=PATIENCE_MS)
    assert window.desk.hello is not None
    line = line_to_build(_BOARD, window.desk.hello.binding_version)
    assert line in banner.sentence()
    window.engine_wiring.load(str(tiny_chat_path))
    qtbot.waitUntil(lambda: window.desk.session.applied is not None, timeout=PATIENCE_MS)
    assert _BOARD.name in banner.sentence()
    _press(window, "Copy the line")
    assert QGuiApplication.clipboard().text() == line
    assert not banner.sentence()


def test_that_who_stays_on_the_processor_is_left_in_peace(
    window: Window, told: _Told, qtbot: QtBot
) -> None:
    qtbot.waitUntil(lambda: _BOARD.name in window.banner.sentence(), timeout=PATIENCE_MS)
    _press(window, "Stay on the processor")
    assert told.boards_told == [_BOARD.name]
    with qtbot.waitSignal(window.desk.engine_said_hello, timeout=PATIENCE_MS):
        window.engine_wiring.restart()
    assert not window.banner.sentence()


def _press(window: Window, words: str) -> None:
    buttons = window.banner.findChildren(QPushButton)
    next(one for one in buttons if one.text() == words).click()


def test_that_a_program_without_its_set_up_names_the_whole_line(tmp_path: Path) -> None:
    line = line_to_build(_BOARD, "0.3.36", tmp_path)
    assert '-DGGML_CUDA=ON"' in line
    assert line.endswith("--no-binary llama-cpp-python llama-cpp-python==0.3.36")


def test_that_an_amd_gpu_is_told_from_a_processor(tmp_path: Path) -> None:
    for number, words in enumerate(("simd_count 0", "simd_count 120\ngfx_target_version 110001")):
        node = tmp_path / str(number)
        node.mkdir()
        (node / "properties").write_text(words + "\n", encoding="ascii")
    assert amd_board(tmp_path) == "AMD gfx1101"
    assert amd_board(tmp_path / "nothing") is None
