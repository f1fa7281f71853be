"""An engine that dies in the middle of an answer while a dialog is open: all of it stays right."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.export_wiring import ExportWiring
from app.import_wiring import ImportWiring
from app.profiles import Profile
from app.profiles_wiring import DEAD
from app.storage.folders import own_folders
from app.storage.profile_store import ProfileStore
from app.try_wiring import TryWiring
from app.window import Window
from engine_bridge.engine_state import EngineState
from tests.small_hub import Repository, SmallHub
from tests.window.conftest import PATIENCE_MS

pytestmark = [
    pytest.mark.gui,
    pytest.mark.engine,
    pytest.mark.qt_log_ignore("This plugin does not support"),
]
REPO = "somebody/tiny-GGUF"


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of profiles that no other test has put something into."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def window(loaded_window: Window) -> Window:
    loaded_window.desk.session.commit("max_new_tok", -1)
    return loaded_window


def kill_in_an_answer(window: Window, qtbot: QtBot) -> str:
    """Kill the engine while it answers; gives the words that had come."""
    view = window.chat.conversation(window.chat.current_id())
    with qtbot.waitSignal(window.desk.chats.text_arrived, timeout=PATIENCE_MS):
        view.submit("Hello")
    assert window.desk.hello is not None
    os.kill(window.desk.hello.pid, signal.SIGKILL)
    qtbot.waitUntil(lambda: window.desk.client.state is EngineState.DEAD, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: window.desk.chats.answering_count() == 0, timeout=PATIENCE_MS)
    return words(window)


def words(window: Window) -> str:
    """What stands of the last answer."""
    return window.desk.chats.conversation(window.chat.current_id()).turns[-1].text


def restart(window: Window, qtbot: QtBot) -> None:
    """Have the engine started again, as the banner offers."""
    window.banner.action_requested.emit("restart")
    qtbot.waitUntil(lambda: window.desk.session.applied is not None, timeout=PATIENCE_MS)


def check_answer(window: Window, before: str) -> None:
    """The words that had come are there, and why no more came."""
    assert before
    assert words(window) == before
    assert "SIGKILL" in window.banner.sentence()


def test_that_what_leaves_stays_the_same(
    window: Window, qtbot: QtBot, tiny_chat_path: Path
) -> None:
    window.actions_of_window.run("command.export")
    wiring = window.findChild(ExportWiring)
    assert wiring is not None
    view = wiring.view
    qtbot.waitUntil(lambda: bool(view.files.parts()), timeout=PATIENCE_MS)
    before = kill_in_an_answer(window, qtbot)
    check_answer(window, before)
    assert wiring.dialog.isVisible()
    (part,) = view.files.parts()
    assert str(tiny_chat_path) in part.text
    assert "-c " in part.text
    view.engines.choose("vllm")
    view.target_chosen.emit("vllm")
    assert view.files.parts()[0].text.startswith("vllm serve"), "it goes on without an engine"
    view.target_chosen.emit("llama-server")
    restart(window, qtbot)
    qtbot.waitUntil(lambda: str(tiny_chat_path) in view.files.parts()[0].text, timeout=PATIENCE_MS)
    check_words_stay(window, before)


def test_that_a_trial_waits_for_the_engine_and_says_so(window: Window, qtbot: QtBot) -> None:
    window.actions_of_window.run("command.try")
    trial = window.findChild(TryWiring)
    assert trial is not None
    before = kill_in_an_answer(window, qtbot)
    check_answer(window, before)
    assert trial.view.state_label.text() == (
        "The engine has ended, so there is nothing to stand beside. Start it again first."
    )
    assert not trial.view.start_button.isEnabled()
    assert trial.view.line.toPlainText().startswith("llama-server ")
    restart(window, qtbot)
    qtbot.waitUntil(lambda: "engine" not in trial.why_not(), timeout=PATIENCE_MS)
    check_words_stay(window, before)


def test_that_a_text_and_its_ticks_stay_and_are_taken(window: Window, qtbot: QtBot) -> None:
    window.command.paste_requested.emit()
    importing = window.findChild(ImportWiring)
    assert importing is not None
    view = importing.view
    assert view is not None
    text = "llama-server -m /nowhere/m.gguf -c 1024 -np 2 --top-k 7"
    view.set_text(text)
    qtbot.waitUntil(view.is_understood, timeout=PATIENCE_MS)
    line = view.meaning.table._rows.line_of("top_k")
    assert line is not None
    view.meaning.table._rows.toggle(line)
    before, ticks = kill_in_an_answer(window, qtbot), view.meaning.chosen()
    check_answer(window, before)
    QTest.qWait(0)
    assert view.text() == text
    qtbot.waitUntil(view.is_understood, timeout=PATIENCE_MS)
    assert view.meaning.chosen() == ticks
    assert "top_k" not in ticks
    view.use_button.click()
    assert window.desk.session.wanted.slots == 2
    restart(window, qtbot)
    assert window.desk.session.wanted.slots == 2, "what was taken waits for the engine"
    check_words_stay(window, before)


def test_that_profiles_stay_in_sight_and_in_use(window: Window, qtbot: QtBot) -> None:
    profiles = window.tune_wiring.profiles
    model = profiles.keeper.model
    assert model is not None
    ProfileStore(own_folders().profiles).add(Profile("Mine", {"top_k": 7, "threads": 1}, model))
    profiles.open_view()
    view = profiles.view
    assert view is not None
    qtbot.waitUntil(lambda: "Mine" in names(window), timeout=PATIENCE_MS)
    (mine,) = [each for each in profiles.keeper.all() if each.profile.name == "Mine"]
    view.list.pick(mine.profile.id)
    profiles.switch(mine.profile.id)
    qtbot.waitUntil(lambda: "runs it" in view.total.text(), timeout=PATIENCE_MS)
    window.desk.session.commit("max_new_tok", -1)
    before = kill_in_an_answer(window, qtbot)
    check_answer(window, before)
    assert view.isVisible()
    assert names(window)["Mine"] == f"For {model.name}"
    assert window.tune.profiles.button.text().startswith("Mine"), "it is in use as before"
    assert view.list.current_id() == mine.profile.id
    assert view.total.text() == DEAD, "nothing runs"
    view.list.pick("built-in.defaults")
    assert view.total.text() == DEAD
    profiles.switch("built-in.defaults")
    assert window.desk.session.wanted.top_k == 40
    restart(window, qtbot)
    qtbot.waitUntil(lambda: not window.desk.session.work, timeout=PATIENCE_MS)
    assert window.desk.session.wanted.top_k == 40, "what was switched to is still wanted"
    view.list.pick(mine.profile.id)
    assert view.total.text() != DEAD
    check_words_stay(window, before)


def names(window: Window) -> dict[str, str]:
    """Each profile of the view with its heading."""
    view = window.tune_wiring.profiles.view
    assert view is not None
    return {name: group for group, name, _ in view.list.shown_texts()}


@pytest.fixture
def small(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tiny_chat_path: Path
) -> Iterator[SmallHub]:
    with SmallHub() as server:
        server.repositories[REPO] = Repository({"tiny-F32.gguf": tiny_chat_path.read_bytes()})
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
        monkeypatch.setenv("HF_TOKEN", "other")
        monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
        yield server


def test_that_the_hub_goes_on_judging(small: SmallHub, window: Window, qtbot: QtBot) -> None:
    window.actions_of_window.run("model.hub")
    view = window.engine_wiring.picker.hub.view
    assert view is not None
    qtbot.waitUntil(lambda: view.finder.hits.rowCount() == 1, timeout=PATIENCE_MS)
    before = kill_in_an_answer(window, qtbot)
    check_answer(window, before)
    view.finder.hits.selectRow(0)
    qtbot.waitUntil(lambda: view.quants.rowCount() == 1, timeout=PATIENCE_MS)

    def verdict() -> str:
        item = view.quants.item(0, 3)
        return "" if item is None else item.text()

    qtbot.waitUntil(lambda: verdict() == "fits", timeout=PATIENCE_MS)
    assert view.isVisible()
    restart(window, qtbot)
    assert verdict() == "fits"
    check_words_stay(window, before)


def check_words_stay(window: Window, before: str) -> None:
    """The restart took nothing of the answer away."""
    assert words(window) == before
