"""Drafts on the hub in the whole window: found, checked, downloaded, and then they draft."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import huggingface_hub.constants
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.draft_words import HUB
from app.library.draft_verdicts import CANNOT, LARGE
from app.window import Window
from tests.small_hub import Repository, SmallHub
from tests.tiny_model import TinyLlama, write_tiny_llama
from tests.window.conftest import PATIENCE_MS
from widgets.draft_button import DraftButton
from widgets.hub_drafts_view import HubDraftsView
from widgets.hub_view import HubView

pytestmark = [pytest.mark.gui, pytest.mark.engine]
LEFT = Qt.MouseButton.LeftButton
FITS, OTHER = "somebody/tiny-half-GGUF", "somebody/tiny-other-GGUF"


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[SmallHub]:
    half = write_tiny_llama(tmp_path / "half.gguf", TinyLlama(layers=1))
    other = write_tiny_llama(tmp_path / "other.gguf", TinyLlama(layers=1, vocab_tok=9_000))
    with SmallHub() as server:
        server.repositories |= {
            FITS: Repository({"half-F32.gguf": half.read_bytes()}, parameters=2_000_000),
            OTHER: Repository({"other-F32.gguf": other.read_bytes()}, parameters=4_000_000),
        }
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
        monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
        monkeypatch.setenv("HF_TOKEN", "other")
        monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
        yield server


def opened(window: Window) -> HubDraftsView:
    window.actions_of_window.run("draft.hub")
    view = window.engine_wiring.hub_drafts.view
    assert view is not None
    return view


def cell(view: HubDraftsView, row: int, column: int) -> str:
    item = view.table.item(row, column)
    return "" if item is None else item.text()


def test_that_a_draft_is_found_checked_downloaded_and_wanted(
    small: SmallHub, loaded_window: Window, qtbot: QtBot
) -> None:
    view = opened(loaded_window)
    qtbot.waitUntil(view.again.isVisible, timeout=PATIENCE_MS)
    assert [cell(view, row, 0) for row in range(view.table.rowCount())] == [FITS, OTHER]
    assert [cell(view, row, 2) for row in range(2)] == ["draft-simple"] * 2
    assert [cell(view, row, 6) for row in range(2)] == [LARGE, CANNOT]
    assert view.status().startswith("2 repositories were found, 2 were looked into, ")
    assert "were read" in view.said()
    QTest.mouseClick(view.download, LEFT)
    qtbot.waitUntil(view.strip.load.isVisible, timeout=PATIENCE_MS)
    assert view.strip.load.text() == "Draft with it"
    QTest.mouseClick(view.strip.load, LEFT)
    wanted = loaded_window.desk.session.wanted
    assert wanted.spec_types == ("draft-simple",)
    assert "snapshots" in wanted.draft_model_path
    assert loaded_window.engine_wiring.hub_drafts.view is None
    # It stands among those of this machine now.
    drafts = loaded_window.engine_wiring.drafts
    drafts.look()
    qtbot.waitUntil(
        lambda: "half-F32.gguf" in [entry.name for entry in drafts.fitting()], timeout=PATIENCE_MS
    )


def test_that_the_draft_menu_leads_there_once_a_model_is_loaded(
    small: SmallHub, loaded_window: Window
) -> None:
    button = loaded_window.top.findChild(DraftButton)
    assert button is not None
    loaded_window.engine_wiring.drafts.look()
    texts = [action.text() for action in button.menu().actions()]
    assert texts[-2:] == ["Choose a file…", "Find drafts on the hub…"]
    button.chosen.emit(HUB)
    view = loaded_window.engine_wiring.hub_drafts.view
    assert view is not None
    assert view.stop.isVisible()
    QTest.mouseClick(view.stop, LEFT)
    assert view.status() == "Stopped."
    assert view.again.isVisible()


def test_that_a_repository_is_looked_at_in_the_view_of_the_hub(
    small: SmallHub, loaded_window: Window, qtbot: QtBot
) -> None:
    view = opened(loaded_window)
    qtbot.waitUntil(view.again.isVisible, timeout=PATIENCE_MS)
    QTest.mouseClick(view.open_repo, LEFT)
    hub = loaded_window.engine_wiring.picker.hub.view
    assert hub is not None
    assert hub.finder.search.text() == FITS
    qtbot.waitUntil(lambda: hub.quants.rowCount() == 1, timeout=PATIENCE_MS)


def test_that_no_network_is_a_sentence_and_can_be_tried_again(
    small: SmallHub, loaded_window: Window, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
    view = opened(loaded_window)
    qtbot.waitUntil(view.again.isVisible, timeout=PATIENCE_MS)
    assert "does not answer" in view.status()
    monkeypatch.setenv("HF_ENDPOINT", small.url)
    QTest.mouseClick(view.again, LEFT)
    qtbot.waitUntil(lambda: view.table.rowCount() == 2, timeout=PATIENCE_MS)


def test_that_a_download_is_for_its_model_and_another_one_is_not_taken_for_it(
    small: SmallHub, loaded_window: Window, qtbot: QtBot, tiny_moe_path: Path
) -> None:
    view = opened(loaded_window)
    qtbot.waitUntil(view.again.isVisible, timeout=PATIENCE_MS)
    QTest.mouseClick(view.download, LEFT)
    qtbot.waitUntil(view.strip.load.isVisible, timeout=PATIENCE_MS)
    session = loaded_window.desk.session
    loaded_window.engine_wiring.load(str(tiny_moe_path))
    qtbot.waitUntil(
        lambda: session.model is not None and session.model.path == str(tiny_moe_path),
        timeout=PATIENCE_MS,
    )
    QTest.mouseClick(view.strip.load, LEFT)
    assert "Another model is loaded" in view.status()
    assert not session.wanted.draft_model_path
    QTest.mouseClick(view.open_repo, LEFT)
    hub = loaded_window.engine_wiring.picker.hub.view
    assert hub is not None
    hub.finder.search.setText(OTHER)
    QTest.keyClick(hub.finder.search, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: hub.quants.rowCount() == 1 and shows(hub, OTHER), timeout=PATIENCE_MS)
    small.fault = hangs
    QTest.mouseClick(hub.download, LEFT)
    qtbot.waitUntil(lambda: not view.strip.isVisible(), timeout=PATIENCE_MS)


def shows(view: HubView, words: str) -> bool:
    return any(label.text() == words for label in view.findChildren(QLabel))


def hangs(handler: object) -> bool:
    handler.hang()  # type: ignore[attr-defined]
    return True
