"""Settings kept between two starts: coalesced, in the background, and never a reason not to run."""

from __future__ import annotations

import errno
import json
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from app import kept_settings
from app.kept_settings import KeptSettings
from app.storage.settings_merge import Document
from app.storage.settings_store import SettingsStore
from app.storage.storage_error import StorageError
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import DomainError
from engine_bridge.settings.rules import errors_of

pytestmark = pytest.mark.gui
Start = Callable[[], KeptSettings]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "tunedeck"


@pytest.fixture
def start(folder: Path, qapp: QCoreApplication) -> Iterator[Start]:
    """Start the program once more; all of them are closed in the end."""
    made: list[KeptSettings] = []

    def begin() -> KeptSettings:
        made.append(KeptSettings(SettingsStore(folder)))
        return made[-1]

    yield begin
    for kept in made:
        kept.close()


def on_disk(folder: Path) -> Document:
    document = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
    assert isinstance(document, dict)
    return document


def put(folder: Path, **document: object) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "settings.json").write_text(json.dumps({"schema": 1, **document}))


def test_that_the_first_start_has_the_defaults_and_writes_nothing(
    start: Start, folder: Path
) -> None:
    kept = start()
    assert (kept.theme, kept.font_scale, kept.recent_models) == ("system", 1.0, [])
    assert kept.start_config() == EngineConfig()
    assert kept.sentences == ()
    assert kept.close() == ""
    assert not folder.exists()


def test_that_everything_is_there_at_the_next_start(start: Start, folder: Path) -> None:
    kept = start()
    kept.theme = "dark"
    kept.font_scale = 1.25
    kept.model_folders = ["/models", "/more"]
    kept.open_conversations = ["b", "a"]
    kept.window_state = {"geometry": "AdnQ", "tune": "330"}
    kept.command_shell = "powershell"
    kept.command_target = "llama-server"
    kept.server_program = "/opt/llama.cpp/llama-server"
    kept.profile = "0a1b2c"
    kept.note_model("/m/a.gguf")
    kept.note_model("/m/b.gguf")
    wanted = EngineConfig().with_values(
        {"slots": 8, "cache_type_k": "q8_0", "spec_types": ("ngram-simple",), "model_path": "/m/x"}
    )
    kept.note_wanted(wanted)
    assert kept.close() == ""
    again = start()
    assert again.theme == "dark"
    assert again.font_scale == 1.25
    assert again.model_folders == ["/models", "/more"]
    assert again.open_conversations == ["b", "a"]
    assert again.window_state == {"geometry": "AdnQ", "tune": "330"}
    assert (again.command_shell, again.command_target) == ("powershell", "llama-server")
    assert again.server_program == "/opt/llama.cpp/llama-server"
    assert again.profile == "0a1b2c"
    assert again.recent_models == ["/m/b.gguf", "/m/a.gguf"]
    assert again.last_model == "/m/b.gguf"
    assert again.start_config() == wanted.with_values({"model_path": ""})


def test_that_only_what_differs_from_the_default_is_written(start: Start, folder: Path) -> None:
    kept = start()
    kept.theme = "dark"
    kept.note_wanted(EngineConfig().with_values({"slots": 8, "top_k": 40}))
    kept.close()
    assert on_disk(folder) == {"schema": 1, "theme": "dark", "settings": {"slots": 8}}
    kept = start()
    kept.theme = "system"
    kept.note_wanted(EngineConfig())
    kept.close()
    assert on_disk(folder) == {"schema": 1}


def test_that_a_change_is_told_once(start: Start, qtbot: QtBot) -> None:
    kept = start()
    told: list[str] = []
    kept.changed.connect(told.append)
    kept.theme = "dark"
    kept.theme = "dark"
    kept.window_state = {"a": "b"}
    kept.note_wanted(EngineConfig())
    kept.note_wanted(EngineConfig().with_values({"slots": 2}))
    assert told == ["theme", "window_state", "settings"]


def test_that_what_is_read_cannot_be_changed_behind_its_back(start: Start) -> None:
    kept = start()
    kept.model_folders = ["/models"]
    kept.model_folders.append("/more")
    kept.window_state["a"] = "b"
    assert kept.model_folders == ["/models"]
    assert kept.window_state == {}


@pytest.mark.parametrize(
    ("name", "value"), [("theme", "pink"), ("font_scale", 9.0), ("font_scale", float("nan"))]
)
def test_that_a_value_that_cannot_be_kept_is_refused(
    start: Start, name: str, value: object
) -> None:
    with pytest.raises(ValueError, match=r"one of|from 0\.75"):
        setattr(start(), name, value)


def test_that_many_changes_are_one_write(
    start: Start, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[Document] = []
    keep = SettingsStore.keep

    def counting(store: SettingsStore, base: Document, mine: Document) -> None:
        keep(store, base, mine)
        written.append(mine)

    monkeypatch.setattr(SettingsStore, "keep", counting)
    kept = start()
    for slots in range(1, 60):
        kept.note_wanted(EngineConfig().with_values({"slots": slots}))
    qtbot.waitUntil(lambda: bool(written))
    assert written == [{"settings": {"slots": 59}}]
    kept.close()
    assert len(written) == 1


def test_that_the_window_never_waits_for_the_disk(
    start: Start, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    is_stuck, may_go_on, threads = threading.Event(), threading.Event(), []
    keep = SettingsStore.keep

    def stuck(store: SettingsStore, base: Document, mine: Document) -> None:
        threads.append(threading.current_thread())
        is_stuck.set()
        may_go_on.wait()
        keep(store, base, mine)

    monkeypatch.setattr(SettingsStore, "keep", stuck)
    kept = start()
    kept.theme = "dark"
    qtbot.waitUntil(is_stuck.is_set)
    kept.theme = "light"  # returns although the disk does not
    kept.font_scale = 1.5
    assert threading.current_thread() not in threads
    may_go_on.set()
    assert kept.close() == ""
    assert on_disk(folder) == {"schema": 1, "theme": "light", "font_scale": 1.5}


def test_that_a_disk_that_never_answers_does_not_keep_the_program_from_ending(
    start: Start, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_go_on = threading.Event()
    monkeypatch.setattr(SettingsStore, "keep", lambda *_: may_go_on.wait())
    monkeypatch.setattr(kept_settings, "_CLOSING_WAIT_S", 0.05)
    kept = start()
    kept.theme = "dark"
    assert "does not answer" in kept.close()
    may_go_on.set()


# S33: a full disk: said once, tried again, and said when it works again.
def test_that_a_disk_that_takes_nothing_is_said_once_and_tried_again(
    start: Start, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.setattr(kept_settings, "_RETRY_MS", 10)
    monkeypatch.setattr(kept_settings, "_COALESCED_MS", 1)
    fsync, is_full, tries = os.fsync, threading.Event(), []

    def full(handle: int) -> None:
        if is_full.is_set():
            tries.append(handle)
            raise OSError(errno.ENOSPC, "no space")
        fsync(handle)

    monkeypatch.setattr("app.storage.atomic_file.os.fsync", full)
    is_full.set()
    kept = start()
    said: list[str] = []
    kept.failed.connect(said.append)
    with qtbot.waitSignal(kept.failed) as failed:
        kept.theme = "dark"
    assert "the disk is full; free some space" in failed.args[0]
    kept.font_scale = 1.5
    qtbot.waitUntil(lambda: len(tries) >= 4)
    assert len(said) == 1
    with qtbot.waitSignal(kept.recovered) as recovered:
        is_full.clear()
    assert "can be saved again" in recovered.args[0]
    assert on_disk(folder) == {"schema": 1, "theme": "dark", "font_scale": 1.5}
    assert kept.close() == ""


def test_that_what_could_not_be_saved_in_the_end_is_said(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr("app.storage.atomic_file.os.fsync", full)
    kept = start()
    kept.theme = "dark"
    assert "the disk is full" in kept.close()


# S33: a folder that takes nothing is told at the start, before there is anything to lose.
def test_that_a_folder_that_cannot_be_written_is_told_at_the_start(
    start: Start, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_: SettingsStore) -> None:
        raise StorageError("The settings could not be saved: no (/etc).")

    monkeypatch.setattr(SettingsStore, "probe", refused)
    kept = start()
    with qtbot.waitSignal(kept.failed) as failed:
        kept.open()
    assert "/etc" in failed.args[0]
    assert "goes on" in failed.args[0]


def test_that_single_bad_values_fall_back_one_by_one(start: Start, folder: Path) -> None:
    put(folder, theme="pink", font_scale=1.5, model_folders="/models",
        settings={"slots": 0, "top_k": 12, "cache_type_k": "q3", "from_the_future": 1})  # fmt: skip
    kept = start()
    assert (kept.theme, kept.font_scale, kept.model_folders) == ("system", 1.5, [])
    assert kept.start_config() == EngineConfig().with_values({"top_k": 12})
    told = "\n".join(kept.sentences)
    assert len(kept.sentences) == 4
    for name in ("theme is 'pink'", "model_folders", "slots", "cache_type_k"):
        assert name in told
    kept.font_scale = 2.0
    kept.close()
    # What this version cannot take may be another's.
    assert on_disk(folder)["theme"] == "pink"
    settings = on_disk(folder)["settings"]
    assert settings == {"slots": 0, "top_k": 12, "cache_type_k": "q3", "from_the_future": 1}


@pytest.mark.parametrize("settings", [[], "slots", 3, None, True])
def test_that_settings_that_are_none_at_all_are_told(
    start: Start, folder: Path, settings: object
) -> None:
    put(folder, settings=settings)
    kept = start()
    assert kept.start_config() == EngineConfig()
    assert len(kept.sentences) == 1


def test_that_values_that_break_a_rule_together_never_stop_the_start(
    start: Start, folder: Path
) -> None:
    put(folder, settings={"flash_attn": "off", "cache_type_v": "q8_0", "top_k": 12})
    kept = start()
    config = kept.start_config()
    assert errors_of(config) == ()
    assert config.top_k == 12
    assert "flash attention" in kept.sentences[0]
    kept.open()
    kept.close()
    assert start().sentences == ()  # what was repaired is kept so


def test_that_a_newer_file_is_said_and_left_alone(start: Start, folder: Path, qtbot: QtBot) -> None:
    put(folder, schema=7, theme="dark")
    before = (folder / "settings.json").read_bytes()
    kept = start()
    assert "newer version" in kept.sentences[0]
    kept.open()
    kept.theme = "light"
    assert kept.theme == "light"
    assert kept.close() == ""
    assert (folder / "settings.json").read_bytes() == before


def test_that_a_newer_version_started_meanwhile_ends_the_writing(
    start: Start, folder: Path, qtbot: QtBot
) -> None:
    kept = start()
    put(folder, schema=7)
    with qtbot.waitSignal(kept.failed) as failed:
        kept.theme = "light"
    assert "newer version" in failed.args[0]
    kept.theme = "dark"
    assert kept.close() == ""
    assert on_disk(folder) == {"schema": 7}


# S17: two copies of the program at once.
def test_that_two_copies_keep_what_each_of_them_changed(start: Start, folder: Path) -> None:
    first, second = start(), start()
    first.theme = "dark"
    first.note_wanted(EngineConfig().with_values({"slots": 8}))
    first.note_model("/m/first.gguf")
    second.font_scale = 1.5
    second.note_wanted(EngineConfig().with_values({"top_k": 7}))
    second.note_model("/m/second.gguf")
    assert (first.close(), second.close()) == ("", "")
    third = start()
    assert (third.theme, third.font_scale) == ("dark", 1.5)
    assert third.start_config() == EngineConfig().with_values({"slots": 8, "top_k": 7})
    assert third.recent_models == ["/m/second.gguf", "/m/first.gguf"]


def test_that_settings_of_the_command_line_pass_unless_they_are_changed(
    start: Start, folder: Path
) -> None:
    put(folder, settings={"slots": 8, "top_k": 12})
    kept = start()
    config = kept.start_config({"slots": 1, "top_p": 0.5, "model_path": "/m.gguf"})
    assert (config.slots, config.top_p, config.top_k) == (1, 0.5, 12)
    kept.note_wanted(config)
    kept.note_wanted(config.with_values({"top_k": 13}))
    kept.close()
    assert on_disk(folder)["settings"] == {"slots": 8, "top_k": 13}
    kept = start()
    config = kept.start_config({"slots": 1})
    kept.note_wanted(config.with_values({"slots": 2}))
    kept.note_wanted(config)  # and back again, by hand this time
    kept.close()
    assert on_disk(folder)["settings"] == {"slots": 1, "top_k": 13}
    with pytest.raises(DomainError):
        start().start_config({"slots": 0})


def test_that_a_draft_model_that_is_gone_does_not_stop_the_start(
    start: Start, folder: Path, tmp_path: Path
) -> None:
    draft = tmp_path / "draft.gguf"
    settings = {"spec_types": ["draft-simple", "ngram-simple"], "draft_model_path": str(draft)}
    put(folder, settings=settings)
    kept = start()
    config = kept.start_config()
    assert (config.draft_model_path, config.spec_types) == ("", ("ngram-simple",))
    assert "draft.gguf is not there" in kept.sentences[0]
    kept.note_wanted(config.with_values({"slots": 2}))
    kept.close()
    # It may only be on a drive that is not connected today.
    assert on_disk(folder)["settings"] == settings | {"slots": 2}
    draft.touch()
    kept = start()
    assert kept.start_config().draft_model_path == str(draft)
    assert kept.sentences == ()


def test_that_a_drive_that_does_not_answer_does_not_stop_the_start(
    start: Start, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_answer = threading.Event()
    monkeypatch.setattr(Path, "is_file", lambda _: may_answer.wait())
    monkeypatch.setattr(kept_settings, "_FILE_WAIT_S", 0.05)
    put(folder, settings={"spec_types": ["draft-simple"], "draft_model_path": "/net/draft.gguf"})
    kept = start()
    assert kept.start_config().spec_types == ()
    assert "does not answer" in kept.sentences[0]
    may_answer.set()


def test_that_settings_of_an_experiment_are_not_kept_as_the_user_s(start: Start) -> None:
    kept = start()
    kept.note_wanted(EngineConfig(slots=2))
    kept.hold(is_trying_out=True)
    kept.note_wanted(EngineConfig(slots=9))
    kept.close()
    assert start().start_config().slots == 2
