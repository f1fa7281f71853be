"""Profiles of one session: switched as one step, saved, and which of them is in use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest
import shiboken6
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.profile_keeper import ProfileKeeper
from app.profile_use import ProfileUse
from app.profiles import DEFAULTS_ID, MODELS_OWN_ID, ModelScope, Profile
from app.session import Session
from app.storage.profile_store import ProfileStore, exported_to
from engine_bridge.client import EngineClient
from engine_bridge.protocol import Apply, Load
from engine_bridge.settings.config import EngineConfig
from tests.unit.fake_client import FakeClient, applied, model_facts

TOY = ModelScope.of(model_facts())
OTHER = ModelScope.of(model_facts(name="Other"))


@dataclass
class Kept:
    """Where it is kept which profile is in use."""

    profile: str = ""


@dataclass
class Rig:
    """A session with profiles, on an engine that only writes down what it is told."""

    client: FakeClient
    session: Session
    store: ProfileStore
    keeper: ProfileKeeper
    use: ProfileUse
    kept: Kept
    told: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    deleted: list[tuple[str, str]] = field(default_factory=list)

    def used_name(self) -> str:
        """Name of the profile in use; empty for none."""
        used = self.use.used
        return used.profile.name if used is not None else ""

    def has_changes(self) -> bool:
        """Whether the settings differ from it."""
        return self.use.is_changed

    def load(self, **facts: object) -> None:
        """Load a model; the engine does as it is told."""
        self.session.load(str(facts.get("path", "/m.gguf")))
        self.obey(**facts)

    def obey(self, **facts: object) -> None:
        """Let the engine do the last thing that it was told."""
        command = self.client.sent[-1]
        assert isinstance(command, Load | Apply)
        is_load = isinstance(command, Load)
        model = model_facts(**facts) if is_load else None
        cost = "reload" if is_load else "new context"
        self.client.event_received.emit(
            applied(command.config, request_id=command.request_id, cost=cost, model=model)
        )


Make = Callable[..., Rig]


@pytest.fixture
def make(qapp: QApplication, tmp_path: Path) -> Iterator[Make]:
    rigs: list[Rig] = []

    def build(used: str = "", start: EngineConfig | None = None) -> Rig:
        client, kept = FakeClient(), Kept(used)
        session = Session(cast(EngineClient, client), start or EngineConfig())
        store = ProfileStore(tmp_path / "profiles")
        keeper = ProfileKeeper(session, store)
        use = ProfileUse(session, keeper, kept, clock_s=lambda: 1_700_000_000.0)
        rig = Rig(client, session, store, keeper, use, kept)
        keeper.told.connect(rig.told.append)
        keeper.failed.connect(rig.failed.append)
        keeper.deleted.connect(lambda token, name: rig.deleted.append((token, name)))
        rigs.append(rig)
        return rig

    yield build
    for rig in rigs:
        rig.keeper.close()
        for thing in (rig.use, rig.keeper, rig.session):
            shiboken6.delete(thing)


@pytest.fixture
def rig(make: Make) -> Rig:
    return make()


def read(rig: Rig, qtbot: QtBot) -> None:
    with qtbot.waitSignal(rig.keeper.listed):
        rig.keeper.refresh()


def added(rig: Rig, qtbot: QtBot, profile: Profile) -> str:
    """Put a profile into the folder and read it; gives its id."""
    profile_id = rig.store.add(profile).id
    read(rig, qtbot)
    return profile_id


def test_that_a_profile_of_the_command_line_is_in_use_for_this_run_alone(
    rig: Rig, qtbot: QtBot
) -> None:
    own = rig.store.add(Profile("Long", {"slots": 2})).id
    with qtbot.waitSignal(rig.keeper.listed):
        rig.use.begin_with(own)
    assert rig.used_name() == "Long"
    assert rig.has_changes(), "the settings were given otherwise"
    assert rig.kept.profile == "", "the next start goes on with what was in use before"
    rig.load()
    assert rig.used_name() == "Long"


# --- Switching ------------------------------------------------------------------------------


def test_that_a_switch_is_one_step_that_undo_takes_back(rig: Rig, qtbot: QtBot) -> None:
    rig.load()
    rig.session.commit("temperature", 0.1)
    rig.obey()
    before = rig.session.wanted
    eight = added(rig, qtbot, Profile("Eight", {"slots": 8, "top_k": 7}))
    assert rig.use.switch(eight)
    assert rig.session.wanted == EngineConfig(model_path="/m.gguf", slots=8, top_k=7)
    assert rig.used_name() == "Eight"
    rig.session.undo()
    assert rig.session.wanted == before
    assert rig.used_name() == ""
    rig.session.redo()
    assert rig.used_name() == "Eight"


def test_that_a_switch_is_applied_what_costs_nothing_first(rig: Rig, qtbot: QtBot) -> None:
    rig.load()
    eight = added(rig, qtbot, Profile("Eight", {"slots": 8, "top_k": 7}))
    rig.use.switch(eight)
    command = rig.client.sent[-1]
    assert isinstance(command, Apply)
    assert (command.config.slots, command.config.top_k) == (4, 7)
    rig.obey()
    qtbot.waitUntil(lambda: isinstance(rig.client.sent[-1], Apply) and rig.session.work != "")
    command = rig.client.sent[-1]
    assert isinstance(command, Apply)
    assert command.config.slots == 8


def test_that_without_a_model_a_switch_waits_for_one(rig: Rig, qtbot: QtBot) -> None:
    eight = added(rig, qtbot, Profile("Eight", {"slots": 8}))
    assert rig.use.switch(eight)
    assert rig.client.sent == []
    rig.load()
    command = rig.client.sent[-1]
    assert isinstance(command, Load)
    assert command.config.slots == 8


def test_that_switching_to_the_defaults_resets_everything(rig: Rig) -> None:
    rig.load()
    rig.session.want({"slots": 2, "lora": ("/a.gguf",), "grammar": "root ::= [a-z]+"})
    assert rig.use.switch(DEFAULTS_ID)
    assert rig.session.wanted == EngineConfig(model_path="/m.gguf")


def test_that_the_model_s_own_sampling_can_be_switched_to(rig: Rig) -> None:
    assert not rig.use.switch(MODELS_OWN_ID)
    rig.load(sampling=(("temp", "0.600000"),))
    assert rig.use.switch(MODELS_OWN_ID)
    assert rig.session.wanted.temperature == 0.6
    rig.load(path="/n.gguf", name="Other")
    assert rig.keeper.get(MODELS_OWN_ID) is None
    assert rig.used_name() == ""


def test_that_a_profile_of_another_model_is_refused_with_its_name(rig: Rig, qtbot: QtBot) -> None:
    rig.load()
    other = added(rig, qtbot, Profile("Eight", {"slots": 8}, OTHER))
    listed = rig.keeper.get(other)
    assert listed is not None
    assert "Other · Q4_K" in rig.use.why_not(listed)
    assert not rig.use.switch(other)
    assert rig.session.wanted.slots == 4


# --- In use ---------------------------------------------------------------------------------


def test_that_the_mark_says_whether_settings_differ(rig: Rig, qtbot: QtBot) -> None:
    eight = added(rig, qtbot, Profile("Eight", {"slots": 8}))
    assert not rig.has_changes()
    rig.use.switch(eight)
    assert not rig.has_changes()
    rig.session.commit("slots", 9)
    assert rig.has_changes()
    rig.session.commit("slots", 8)
    assert not rig.has_changes()


def test_that_another_model_ends_the_use_of_a_model_s_profile(rig: Rig, qtbot: QtBot) -> None:
    rig.load()
    eight = added(rig, qtbot, Profile("Eight", {"slots": 8}, TOY))
    rig.use.switch(eight)
    rig.obey()
    rig.load(path="/moved/elsewhere.gguf")  # the same model
    assert rig.kept.profile == eight
    rig.load(path="/n.gguf", name="Other")
    assert rig.used_name() == ""
    assert rig.kept.profile == ""
    assert rig.session.wanted.slots == 8


def test_that_the_profile_of_the_last_time_is_in_use_again(make: Make, qtbot: QtBot) -> None:
    first = make()
    eight = first.store.add(Profile("Eight", {"slots": 8}, TOY)).id
    again = make(used=eight, start=EngineConfig(slots=9))
    qtbot.waitUntil(lambda: again.use.used is not None)
    assert again.use.is_changed
    again.load()
    assert again.kept.profile == eight


def test_that_one_that_is_gone_is_in_use_no_more(make: Make, qtbot: QtBot) -> None:
    rig = make(used="gone")
    qtbot.waitUntil(lambda: rig.kept.profile == "")
    assert rig.used_name() == ""


def test_that_the_model_s_own_waits_for_the_model(make: Make, qtbot: QtBot) -> None:
    rig = make(used=MODELS_OWN_ID)
    read(rig, qtbot)
    assert rig.kept.profile == MODELS_OWN_ID
    rig.load(sampling=(("temp", "0.600000"),))
    other = make(used=MODELS_OWN_ID)
    other.load()
    assert other.kept.profile == ""


# --- Saving ---------------------------------------------------------------------------------


def test_that_settings_are_saved_as_a_profile_that_is_in_use_then(rig: Rig, qtbot: QtBot) -> None:
    rig.load()
    rig.session.want({"slots": 8, "lora": ("/a.gguf",)})
    with qtbot.waitSignal(rig.keeper.saved):
        rig.use.save_as("  Eight ", is_for_model=True)
    (profile,) = rig.store.read().profiles
    assert (profile.name, profile.model, profile.saved_s) == ("Eight", TOY, 1_700_000_000.0)
    assert profile.settings == {"slots": 8, "lora": ["/a.gguf"]}
    assert rig.kept.profile == profile.id
    assert not rig.has_changes()
    assert rig.told == ["Saved as “Eight”."]
    # What the engine says next changes nothing of that.
    rig.session.commit("top_k", 7)
    rig.session.undo()
    assert rig.kept.profile == profile.id


def test_that_one_for_all_is_said_to_differ_by_what_it_leaves_out(rig: Rig, qtbot: QtBot) -> None:
    rig.load()
    rig.session.want({"slots": 8, "lora": ("/a.gguf",)})
    with qtbot.waitSignal(rig.keeper.saved):
        rig.use.save_as("Eight", is_for_model=False)
    assert rig.store.read().profiles[0].settings == {"slots": 8}
    assert rig.has_changes()


def test_that_changes_are_saved_in_the_profile_in_use(rig: Rig, qtbot: QtBot) -> None:
    eight = added(rig, qtbot, Profile("Eight", {"slots": 8, "tomorrow": 1}))
    rig.use.switch(eight)
    assert "Nothing differs" in rig.use.why_no_save()
    rig.session.commit("top_k", 7)
    assert rig.use.why_no_save() == ""
    with qtbot.waitSignal(rig.keeper.saved):
        rig.use.save()
        # On its way: a second one would clash with it.
        assert "being written" in rig.use.why_no_save()
        rig.use.save()
    (profile,) = rig.store.read().profiles
    assert profile.settings == {"tomorrow": 1, "slots": 8, "top_k": 7}
    assert not rig.has_changes()
    assert rig.failed == []
    rig.session.commit("top_k", 9)
    with qtbot.waitSignal(rig.keeper.saved):
        rig.use.save()
    assert rig.store.read().profiles[0].settings["top_k"] == 9


def test_that_what_is_built_in_is_not_saved_to(rig: Rig) -> None:
    rig.use.switch(DEFAULTS_ID)
    rig.session.commit("slots", 8)
    assert "save the settings as a new one" in rig.use.why_no_save()
    rig.use.save()
    rig.keeper.delete(DEFAULTS_ID)
    rig.keeper.rename(DEFAULTS_ID, "Mine")
    assert rig.keeper.close() == ""
    assert not rig.store.folder.exists()


def test_that_a_change_of_another_window_is_kept_and_said(rig: Rig, qtbot: QtBot) -> None:
    eight = added(rig, qtbot, Profile("Eight", {"slots": 8}))
    rig.use.switch(eight)
    (seen,) = rig.store.read().profiles
    rig.store.replace(Profile("Eight", {"slots": 9}), seen)
    rig.session.commit("top_k", 7)
    rig.use.save()
    qtbot.waitUntil(lambda: bool(rig.failed))
    assert "changed in another window" in rig.failed[0]
    # It is shown as it is now, and can be saved to once it was seen.
    qtbot.waitUntil(lambda: rig.keeper.all()[-1].profile.settings == {"slots": 9})
    assert rig.session.wanted.top_k == 7
    with qtbot.waitSignal(rig.keeper.saved):
        rig.use.save()
    assert rig.store.read().profiles[0].settings == {"slots": 8, "top_k": 7}


# --- The list -------------------------------------------------------------------------------


def test_that_a_deleted_one_is_in_use_no_more_and_comes_back(rig: Rig, qtbot: QtBot) -> None:
    eight = added(rig, qtbot, Profile("Eight", {"slots": 8}))
    rig.use.switch(eight)
    with qtbot.waitSignal(rig.keeper.deleted):
        rig.keeper.delete(eight)
    ((token, name),) = rig.deleted
    assert name == "Eight"
    assert rig.used_name() == ""
    assert rig.session.wanted.slots == 8
    with qtbot.waitSignal(rig.keeper.saved):
        rig.keeper.restore(token)
    assert rig.keeper.get(eight) is not None


def test_that_a_renamed_one_stays_in_use(rig: Rig, qtbot: QtBot) -> None:
    eight = added(rig, qtbot, Profile("Eight", {"slots": 8}))
    rig.use.switch(eight)
    with qtbot.waitSignal(rig.keeper.saved):
        rig.keeper.rename(eight, "Acht")
    assert rig.used_name() == "Acht"
    assert rig.kept.profile == eight


def test_that_names_are_checked_for_whom_they_are(rig: Rig, qtbot: QtBot) -> None:
    eight = added(rig, qtbot, Profile("Eight", {"slots": 8}, TOY))
    why = rig.keeper.why_no_name
    assert "already" in why("EIGHT", TOY)
    assert why("EIGHT", TOY, eight) == ""
    assert why("Eight", None) == why("Eight", OTHER) == why("Nine", TOY) == ""
    assert "built in" in why("Defaults", None)
    assert "needs a name" in why(" ", None)
    assert "81 characters" in why("x" * 81, None)


def test_that_files_are_imported_and_exported(rig: Rig, qtbot: QtBot, tmp_path: Path) -> None:
    rig.load()
    paths = [tmp_path / name for name in ("one.json", "two.json")]
    exported_to(paths[0], Profile("Eight", {"slots": 8, "top_k": -5}, OTHER))
    exported_to(paths[1], Profile("Two", {"slots": 2}))
    rig.keeper.import_from(paths)
    qtbot.waitUntil(lambda: len(rig.told) == 2)
    assert "can be switched to once that is loaded" in rig.told[0]
    assert "top_k" in rig.told[0]  # a value that is left out is named
    assert "it is in the list" in rig.told[1]
    two = rig.keeper.all()[-1].profile
    target = tmp_path / "out.json"
    rig.keeper.export(two.id, target, " And so on.")
    qtbot.waitUntil(lambda: len(rig.told) == 3)
    assert rig.told[2] == f"Exported to {target}. And so on."
    rig.keeper.import_from([target, tmp_path / "gone.json"])
    qtbot.waitUntil(lambda: len(rig.told) == 4 and bool(rig.failed))
    assert "“Two (2)”" in rig.told[3]
    assert "gone" in rig.failed[0]


def test_that_a_damaged_file_is_said_once(rig: Rig, qtbot: QtBot) -> None:
    rig.store.folder.mkdir(parents=True)
    newer = rig.store.folder / "new.json"
    newer.write_text('{"format": "tunedeck-profile", "schema": 9, "name": "x", "settings": {}}')
    for _ in range(2):
        read(rig, qtbot)
    assert len(rig.failed) == 1
    assert "newer version" in rig.failed[0]
