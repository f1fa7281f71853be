"""The hub in the whole window: a model found, judged before a download, downloaded and loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.window import Window
from tests.small_hub import Repository, SmallHub
from tests.window.conftest import PATIENCE_MS
from widgets.hub_view import HubView

pytestmark = [pytest.mark.gui, pytest.mark.engine]
LEFT = Qt.MouseButton.LeftButton
REPO = "somebody/tiny-GGUF"


@pytest.fixture
def small(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tiny_chat_path: Path
) -> Iterator[SmallHub]:
    with SmallHub() as server:
        content = tiny_chat_path.read_bytes()
        server.repositories[REPO] = Repository({"tiny-F32.gguf": content})
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
        monkeypatch.setenv("HF_TOKEN", "other")
        monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
        yield server


def opened(window: Window, qtbot: QtBot) -> HubView:
    window.actions_of_window.run("model.hub")
    view = window.engine_wiring.picker.hub.view
    assert view is not None
    qtbot.waitUntil(lambda: view.finder.hits.rowCount() == 1, timeout=PATIENCE_MS)
    view.finder.hits.selectRow(0)
    qtbot.waitUntil(lambda: view.quants.rowCount() == 1, timeout=PATIENCE_MS)
    return view


def cell(view: HubView, column: int) -> str:
    item = view.quants.item(0, column)
    return "" if item is None else item.text()


def test_that_a_model_is_judged_before_a_download_and_loaded_after_it(
    small: SmallHub, open_window: Callable[..., Window], qtbot: QtBot
) -> None:
    window = open_window()
    view = opened(window, qtbot)
    qtbot.waitUntil(lambda: cell(view, 3) == "fits", timeout=PATIENCE_MS)
    assert "MiB were read to say so" in view.said()
    QTest.mouseClick(view.download, LEFT)
    qtbot.waitUntil(view.strip.load.isVisible, timeout=PATIENCE_MS)
    QTest.mouseClick(view.strip.load, LEFT)
    session = window.desk.session
    qtbot.waitUntil(lambda: session.applied is not None, timeout=PATIENCE_MS)
    assert session.applied is not None
    assert "snapshots" in session.applied.config.model_path


def test_that_a_download_can_be_paused_and_goes_on_and_given_up(
    small: SmallHub, open_window: Callable[..., Window], qtbot: QtBot, tmp_path: Path
) -> None:
    window = open_window()
    view = opened(window, qtbot)

    def hangs(handler: object) -> bool:
        path = str(getattr(handler, "path", ""))
        if "/resolve/" in path and getattr(handler, "command", "") == "GET":
            handler.hang()  # type: ignore[attr-defined]
            return True
        return False

    small.fault = hangs
    QTest.mouseClick(view.download, LEFT)
    qtbot.waitUntil(view.strip.pause.isVisible, timeout=PATIENCE_MS)
    QTest.mouseClick(view.strip.pause, LEFT)
    assert view.strip.resume.isVisible()
    assert not window.engine_wiring.picker.hub.download.is_under_way
    small.fault = lambda _: False
    QTest.mouseClick(view.strip.resume, LEFT)
    qtbot.waitUntil(view.strip.load.isVisible, timeout=PATIENCE_MS)
    assert list((tmp_path / "hub").rglob("tiny-F32.gguf"))


def test_that_no_network_is_a_sentence_and_the_window_goes_on(
    open_window: Callable[..., Window], qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    window = open_window()
    window.actions_of_window.run("model.hub")
    view = window.engine_wiring.picker.hub.view
    assert view is not None
    qtbot.waitUntil(lambda: "does not answer" in view.finder.status(), timeout=PATIENCE_MS)
    view.close()
    assert window.engine_wiring.picker.hub.view is None


def test_that_filters_change_what_is_found_and_the_choice_in_it(
    small: SmallHub, open_window: Callable[..., Window], qtbot: QtBot, tiny_chat_path: Path
) -> None:
    content = tiny_chat_path.read_bytes()
    small.repositories["other/two-GGUF"] = Repository(
        {"m-Q4_K_M.gguf": content, "m-Q8_0.gguf": content}, architecture="llama"
    )
    window = open_window()
    window.actions_of_window.run("model.hub")
    view = window.engine_wiring.picker.hub.view
    assert view is not None
    finder = view.finder
    qtbot.waitUntil(lambda: finder.hits.rowCount() == 2, timeout=PATIENCE_MS)
    finder.filters.quantisation.put("Q8_0")
    qtbot.waitUntil(lambda: finder.hits.rowCount() == 1, timeout=PATIENCE_MS)
    assert finder.status() == "1 of 2 repositories looked through; these are all"
    finder.hits.selectRow(0)
    qtbot.waitUntil(lambda: view.quants.rowCount() == 2, timeout=PATIENCE_MS)
    assert view.quant() == "Q8_0", "what was looked for is not what stands chosen"
    finder.filters.architecture.put("gemma3")
    qtbot.waitUntil(lambda: "none is of the architecture" in finder.status(), timeout=PATIENCE_MS)
    QTest.mouseClick(finder.filters.clear, LEFT)
    qtbot.waitUntil(lambda: finder.hits.rowCount() == 2, timeout=PATIENCE_MS)
    assert finder.status() == "2 repositories; these are all"


def test_that_more_is_looked_for_where_a_search_ended(
    small: SmallHub, open_window: Callable[..., Window], qtbot: QtBot
) -> None:
    for number in range(130):
        small.repositories[f"many/{number}"] = Repository({"m-Q4_0.gguf": b""}, downloads=1)
    window = open_window()
    window.actions_of_window.run("model.hub")
    view = window.engine_wiring.picker.hub.view
    assert view is not None
    finder = view.finder
    qtbot.waitUntil(lambda: finder.hits.rowCount() == 100, timeout=PATIENCE_MS)
    assert finder.status() == "100 repositories; the hub has more"

    def is_busy(handler: object) -> bool:
        handler.say(429, b"{}", Retry_After="7")  # type: ignore[attr-defined]
        return True

    small.fault = is_busy
    QTest.mouseClick(finder.more, LEFT)
    qtbot.waitUntil(lambda: "in 7 s" in finder.status(), timeout=PATIENCE_MS)
    assert finder.hits.rowCount() == 100, "what was found is not lost"
    small.fault = lambda _: False
    QTest.mouseClick(finder.more, LEFT)
    qtbot.waitUntil(lambda: finder.hits.rowCount() == 131, timeout=PATIENCE_MS)
    assert finder.status() == "131 repositories; these are all"
    assert not finder.more.isVisible()
    finder.search.setText("nobody has this")
    QTest.keyClick(finder.search, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: finder.status().startswith("Nothing with"), timeout=PATIENCE_MS)
