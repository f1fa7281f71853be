"""What ran last with a model: kept once it was used, offered the next time, spoilt by nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
import shiboken6
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.last_settings import LastSettings
from app.profile_keeper import ProfileKeeper
from app.profile_use import ProfileUse
from app.profiles import LAST, LAST_ID, ModelScope, Profile
from app.session import Session
from app.storage.last_store import LastStore
from app.storage.profile_store import ProfileStore
from app.storage.storage_error import StorageError
from engine_bridge.client import EngineClient
from engine_bridge.protocol import Applied
from engine_bridge.settings.config import EngineConfig
from tests.unit.fake_client import FakeClient, applied, model_facts

TOY, OTHER = (ModelScope.of(model_facts(name=name)) for name in ("Toy", "Other"))


class Rig:
    """A session whose engine says what the test wants; settings count as used at once."""

    def __init__(self, folder: Path, qtbot: QtBot) -> None:
        self.client = FakeClient()
        self.session = Session(cast(EngineClient, self.client), EngineConfig())
        self.store = LastStore.beside(folder)
        self.is_held = False
        self.last = LastSettings(self.session, self.store, lambda: self.is_held, settled_ms=1)
        self.keeper = ProfileKeeper(self.session, ProfileStore(folder), last=self.last)
        self.use = ProfileUse(self.session, self.keeper)
        self._qtbot = qtbot

    def run(self, name: str, **values: object) -> None:
        """The engine runs ``values`` with a model, and it was looked what ran before."""
        config = EngineConfig(model_path=f"/{name}.gguf").with_values(values)
        event: Applied = applied(config, model=model_facts(name=name))
        self.session.wanted_changed.emit(config)
        self.client.event_received.emit(event)
        self._qtbot.waitUntil(lambda: self.last.is_known)

    def kept(self, model: ModelScope) -> dict[str, object] | None:
        """What the disk says of a model."""
        found = self.store.read(model)
        return None if found is None else dict(found.settings)

    def names(self) -> list[str]:
        """What can be chosen."""
        return [each.profile.name for each in self.keeper.all()]


@pytest.fixture
def rig(qapp: QApplication, tmp_path: Path, qtbot: QtBot) -> Iterator[Rig]:
    made = Rig(tmp_path, qtbot)
    yield made
    made.last.close()
    made.keeper.close()
    for thing in (made.use, made.keeper, made.last, made.session, made.client):
        shiboken6.delete(thing)


def test_that_what_ran_comes_back_with_the_model_and_not_with_another(
    rig: Rig, qtbot: QtBot
) -> None:
    rig.run("Toy", slots=2, top_k=7)
    assert rig.names() == ["Defaults"], "nothing ran before"
    qtbot.waitUntil(lambda: rig.kept(TOY) == {"slots": 2, "top_k": 7})
    rig.run("Other", slots=3)
    assert LAST not in rig.names()
    rig.run("Toy", slots=3)
    assert rig.names() == ["Defaults", LAST]
    (last,) = [each for each in rig.keeper.all() if each.profile.name == LAST]
    assert dict(last.profile.settings) == {"slots": 2, "top_k": 7}
    assert "2 settings differ from the defaults." in last.profile.about
    assert last.profile.is_built_in
    assert rig.use.switch(LAST_ID)
    assert (rig.session.wanted.slots, rig.session.wanted.top_k) == (2, 7)
    rig.session.undo()
    assert rig.session.wanted.slots != 2


def test_that_what_is_offered_stays_while_the_model_runs_with_other_settings(
    rig: Rig, qtbot: QtBot
) -> None:
    rig.store.write(Profile(LAST, {"slots": 2}, TOY, 1.0), TOY)
    rig.run("Toy", slots=5)
    qtbot.waitUntil(lambda: rig.kept(TOY) == {"slots": 5})
    assert rig.last.profile is not None
    assert dict(rig.last.profile.settings) == {"slots": 2}


def test_that_what_an_experiment_tries_is_not_what_was_used(rig: Rig, qtbot: QtBot) -> None:
    rig.is_held = True
    rig.run("Toy", slots=9)
    rig.is_held = False
    rig.run("Toy", slots=2)
    qtbot.waitUntil(lambda: rig.kept(TOY) is not None)
    assert rig.kept(TOY) == {"slots": 2}


def test_that_a_file_of_a_newer_version_is_told_and_left_as_it_is(
    rig: Rig, qtbot: QtBot, tmp_path: Path
) -> None:
    rig.store.write(Profile(LAST, {"slots": 2}, TOY, 1.0), TOY)
    (path,) = (tmp_path / "last").glob("*.json")
    newer = path.read_text().replace('"schema": 1', '"schema": 99')
    path.write_text(newer)
    told: list[str] = []
    rig.keeper.failed.connect(told.append)
    rig.run("Toy", slots=5)
    assert "newer version" in told[0]
    assert LAST not in rig.names()
    rig.last._on_settled_timeout()
    rig.last.close()
    assert path.read_text() == newer


def test_that_a_damaged_file_is_none(tmp_path: Path) -> None:
    store = LastStore(tmp_path)
    (tmp_path / f"{TOY.key}.json").write_text("{")
    assert store.read(TOY) is None
    assert store.read(OTHER) is None


def test_that_a_folder_in_its_place_is_told(tmp_path: Path) -> None:
    (tmp_path / f"{TOY.key}.json").mkdir()
    with pytest.raises(StorageError, match="is a folder"):
        LastStore(tmp_path).read(TOY)


def test_that_models_used_long_ago_are_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.storage.last_store._FILES", 3)
    store = LastStore(tmp_path)
    scopes = [ModelScope(f"{number:016x}", f"Model {number}") for number in range(5)]
    for number, scope in enumerate(scopes):
        store.write(Profile(LAST, {}, scope, 1.0), scope)
        os.utime(tmp_path / f"{scope.key}.json", (number, number))
    assert [scope.name for scope in scopes if store.read(scope)] == [
        "Model 2",
        "Model 3",
        "Model 4",
    ]


def test_that_no_profile_of_a_person_can_have_its_name(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="is built in"):
        ProfileStore(tmp_path).add(Profile("last used with this MODEL", {}))
