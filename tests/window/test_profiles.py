"""Profiles in the whole window: switched on a real engine, saved, told, found by keys."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from app.profiles import DEFAULTS_ID, LAST, ModelScope, Profile
from app.storage.folders import own_folders
from app.storage.last_store import LastStore
from app.storage.profile_store import ProfileStore
from app.window import Window
from engine_bridge.gguf_file import read_model_facts
from tests.widgets.finding import child
from tests.window.conftest import PATIENCE_MS
from widgets.profile_name_dialog import ProfileNameDialog

pytestmark = [
    pytest.mark.gui,
    pytest.mark.qt_log_ignore("This plugin does not support"),
]


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of profiles that no other test has put something into."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def read(window: Window, qtbot: QtBot) -> None:
    keeper = window.tune_wiring.profiles.keeper
    with qtbot.waitSignal(keeper.listed, timeout=PATIENCE_MS):
        keeper.refresh()


def texts(window: Window) -> list[str]:
    return [action.text().replace("\u202f", " ") for action in window.tune.profiles.menu.actions()]


@pytest.mark.engine
def test_that_one_click_switches_a_running_engine_and_undo_goes_back(
    loaded_window: Window, qtbot: QtBot
) -> None:
    window, session = loaded_window, loaded_window.desk.session
    profiles = window.tune_wiring.profiles
    model = profiles.keeper.model
    assert model is not None
    store = ProfileStore(own_folders().profiles)
    settings = {"slots": 2, "ctx_per_slot_tok": 1024, "top_k": 7, "threads": 1}
    two = store.add(Profile("Two & more", settings, model))
    window.tune.profiles.menu.aboutToShow.emit()
    qtbot.waitUntil(
        lambda: any(text.startswith("Two && more") for text in texts(window)), timeout=PATIENCE_MS
    )
    (text,) = [text for text in texts(window) if text.startswith("Two && more")]
    assert text.split("\t")[1].startswith("new context")
    before = session.wanted
    entry = next(
        action for action in window.tune.profiles.menu.actions()
        if action.text().startswith("Two && more")
    )  # fmt: skip
    entry.trigger()
    assert window.tune.profiles.button.text() == "Two && more"
    qtbot.waitUntil(
        lambda: session.applied is not None and session.applied.config.slots == 2,
        timeout=PATIENCE_MS,
    )
    assert session.applied is not None
    assert session.applied.config == session.wanted
    assert session.wanted.temperature == 0.8  # what a profile does not say is at its default
    assert "“Two & more”: " in window.toast.text()
    session.undo()
    assert session.wanted == before
    assert window.tune.profiles.button.text() == "Profiles"
    session.redo()
    window.desk.session.commit("top_k", 9)
    assert window.tune.profiles.button.text() == "Two && more · changed"
    window.tune.profiles.save_button.click()
    qtbot.waitUntil(
        lambda: store.read().profiles[0].settings.get("top_k") == 9, timeout=PATIENCE_MS
    )
    qtbot.waitUntil(
        lambda: window.tune.profiles.button.text() == "Two && more", timeout=PATIENCE_MS
    )
    assert store.read().profiles[0].id == two.id


@pytest.mark.engine
def test_that_settings_that_break_a_rule_wait_with_the_reason(
    loaded_window: Window, qtbot: QtBot
) -> None:
    window = loaded_window
    settings = {"cache_type_v": "q8_0", "flash_attn": "off", "threads": 1, "top_k": 7}
    broken = ProfileStore(own_folders().profiles).add(Profile("Broken", settings))
    read(window, qtbot)
    window.tune_wiring.profiles.switch(broken.id)
    assert "They wait for Apply: " in window.toast.text()
    assert window.desk.session.wanted.cache_type_v == "q8_0"
    assert window.desk.session.applied is not None
    assert window.desk.session.applied.config.cache_type_v == "f16"


def test_that_settings_are_saved_under_a_name_that_is_asked_for(
    make_window: Callable[..., Window], qtbot: QtBot
) -> None:
    window = make_window()
    window.desk.session.commit("slots", 8)
    window.actions_of_window.run("profiles.save_as")
    dialog = child(window, ProfileNameDialog)
    assert not dialog.scope.isVisible()  # no model is loaded, so it is for all
    child(dialog, QLineEdit).setText("Eight")
    dialog.accept()
    qtbot.waitUntil(lambda: window.tune.profiles.button.text() == "Eight", timeout=PATIENCE_MS)
    assert window.toast.text() == "Saved as “Eight”."
    (profile,) = ProfileStore(own_folders().profiles).read().profiles
    assert (profile.name, profile.model, profile.settings) == ("Eight", None, {"slots": 8})


def test_that_the_view_compares_deletes_and_brings_back(
    make_window: Callable[..., Window], qtbot: QtBot
) -> None:
    window = make_window()
    store = ProfileStore(own_folders().profiles)
    eight = store.add(Profile("Eight", {"slots": 8}))
    two = store.add(Profile("Two", {"slots": 2, "top_k": 7}))
    window.actions_of_window.run("profiles.show")
    view = window.tune_wiring.profiles.view
    assert view is not None
    qtbot.waitUntil(lambda: len(view.list.shown_texts()) == 3, timeout=PATIENCE_MS)
    view.compare_with(two.id, eight.id)
    assert view.shown_texts() == (
        ("Setting", "Eight", "Two", "Cost"),
        ("Parallel slots", "8", "2", "new context"),
        ("Top-k", "40", "7", "live"),
    )
    assert view.total.text() == "Going from “Eight” to it costs: new context."
    view.delete_button.click()
    qtbot.waitUntil(lambda: view.undo_bar.words() == "Deleted “Two”", timeout=PATIENCE_MS)
    assert [row[1] for row in view.list.shown_texts()] == ["Defaults", "Eight"]
    view.undo_bar.undo()
    qtbot.waitUntil(lambda: len(view.list.shown_texts()) == 3, timeout=PATIENCE_MS)
    assert view.problem_bar.sentence() == "“Two” is back."
    view.compare_with(two.id, "now")
    view.switch_button.click()
    assert window.desk.session.wanted.slots == 2
    assert "Parallel slots 4 → 2" in view.problem_bar.sentence()
    view.close()


def test_that_the_actions_say_why_nothing_can_be_saved(
    make_window: Callable[..., Window],
) -> None:
    window = make_window()
    window.actions_of_window.run("profiles.save")
    assert "save the settings as a new one" in window.toast.text()
    window.tune_wiring.profiles.switch(DEFAULTS_ID)
    assert window.toast.text() == "“Defaults” changes no setting."


def test_that_a_folder_that_takes_nothing_is_said_and_nothing_is_lost(
    make_window: Callable[..., Window], qtbot: QtBot
) -> None:
    folder = own_folders().profiles
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.touch()
    window = make_window()
    window.desk.session.commit("slots", 8)
    window.tune_wiring.profiles.use.save_as("Eight", is_for_model=False)
    qtbot.waitUntil(lambda: "move it away" in window.toast.text(), timeout=PATIENCE_MS)
    assert window.desk.session.wanted.slots == 8
    assert window.tune.profiles.button.text() == "Profiles"


@pytest.mark.engine
def test_that_what_ran_last_with_a_model_comes_back_with_one_click(
    open_window: Callable[..., Window], qtbot: QtBot, tiny_chat_path: Path
) -> None:
    scope = ModelScope.of(read_model_facts(str(tiny_chat_path)))
    ran = {"slots": 2, "ctx_per_slot_tok": 1024, "top_k": 7, "threads": 1}
    store = LastStore.beside(own_folders().profiles)
    store.write(Profile(LAST, ran, scope, 1.0), scope)
    window = open_window()
    window.engine_wiring.load(str(tiny_chat_path))
    qtbot.waitUntil(lambda: any(LAST in text for text in rows(window)), timeout=PATIENCE_MS)
    entry = next(a for a in window.tune.profiles.menu.actions() if a.text().startswith(LAST))
    entry.trigger()
    session = window.desk.session
    qtbot.waitUntil(
        lambda: session.applied is not None and session.applied.config.slots == 2,
        timeout=PATIENCE_MS,
    )
    assert session.wanted.top_k == 7
    assert window.tune.profiles.button.text() == LAST
    assert window.tune.profiles.save_button.text() != "Save", "it is nobody's to be changed"
    window.tune_wiring.profiles.last._on_settled_timeout()  # 30 s later
    qtbot.waitUntil(lambda: settings_of(store, scope) == ran, timeout=PATIENCE_MS)
    session.commit("top_k", 9)
    qtbot.waitUntil(
        lambda: session.applied is not None and session.applied.config.top_k == 9,
        timeout=PATIENCE_MS,
    )
    window.tune_wiring.profiles.last._on_settled_timeout()
    qtbot.waitUntil(lambda: settings_of(store, scope) == ran | {"top_k": 9}, timeout=PATIENCE_MS)


def rows(window: Window) -> list[str]:
    window.tune.profiles.menu.aboutToShow.emit()
    return texts(window)


def settings_of(store: LastStore, scope: ModelScope) -> dict[str, object]:
    found = store.read(scope)
    return {} if found is None else dict(found.settings)
