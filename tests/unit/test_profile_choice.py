"""``--profile NAME``: found for the model that is meant, with ``--set`` going before it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from app import cli
from app.arguments import parse_arguments
from app.experiments import cli_probe
from app.experiments.cli_engine import config_in
from app.experiments.cli_quality import asked_of
from app.profile_choice import profile_values
from app.profiles import LAST, ModelScope, Profile
from app.storage.folders import own_folders
from app.storage.last_store import LastStore
from app.storage.profile_store import ProfileStore
from app.storage.settings_store import SettingsStore
from engine_bridge.gguf_file import read_model_facts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import DomainError
from tests.unit.gguf_bytes import Gguf, llama_values

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "m.gguf"
    path.write_bytes(Gguf(values=llama_values() | {"general.sampling.temp": 0.6}).file())
    return path


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ProfileStore:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    store = ProfileStore(tmp_path / "data" / "tunedeck" / "profiles")
    store.add(Profile("Long", {"ctx_per_slot_tok": 8192, "slots": 2}))
    return store


def test_that_a_profile_s_settings_come_first_and_those_said_go_before(
    store: ProfileStore, model: Path
) -> None:
    words = [str(model), "--profile", "long", "--set", "slots=3", "--json"]
    expected = {"ctx_per_slot_tok": 8192, "slots": 3, "model_path": str(model)}
    assert cli._values(parse_arguments(["plan", *words])) == expected
    assert cli._values(parse_arguments(["export", *words])) == expected
    config = config_in(parse_arguments(["bench", *words]))
    assert {key: getattr(config, key) for key in expected} == expected
    assert config.top_k == 40


def test_that_the_one_for_the_model_goes_before_the_one_for_all(
    store: ProfileStore, model: Path
) -> None:
    scope = ModelScope.of(read_model_facts(model))
    store.add(Profile("Long", {"slots": 9}, scope))
    assert profile_values("Long", str(model)) == {"slots": 9}
    assert profile_values("Long", "") == {"ctx_per_slot_tok": 8192, "slots": 2}


def test_that_what_is_built_in_can_be_named(store: ProfileStore, model: Path) -> None:
    assert profile_values("Defaults", str(model)) == {}
    assert profile_values("the model's own", str(model)) == {"temperature": 0.6}
    assert profile_values(None, str(model)) == {}


def test_that_a_name_that_there_is_none_of_is_told_with_those_there_are(
    store: ProfileStore, model: Path
) -> None:
    with pytest.raises(DomainError, match=r"'Lung'.*“Defaults”, “The model's own”, “Long”"):
        profile_values("Lung", str(model))
    store.add(Profile("Elsewhere", {}, ModelScope("k", "Other · Q8_0")))
    with pytest.raises(DomainError, match="is for Other · Q8_0"):
        profile_values("Elsewhere", str(model))


def test_that_what_has_no_effect_is_said(
    store: ProfileStore, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store.add(Profile("Odd", {"slots": 0, "tomorrow": 1, "top_k": 7}))
    assert profile_values("Odd", str(model)) == {"top_k": 7}
    said = capsys.readouterr().err
    assert "slots" in said
    assert "tomorrow" in said


def test_that_a_model_that_cannot_be_read_is_left_to_the_command(store: ProfileStore) -> None:
    assert profile_values("Long", "/nowhere.gguf")["slots"] == 2


# --- In the window --------------------------------------------------------------------------


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[dict[str, object]]:
    """What the window was opened with, each time that it would be."""
    calls: list[dict[str, object]] = []

    def run_window(values: dict[str, object], **named: object) -> int:
        calls.append({"values": values, **named})
        return 0

    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setitem(sys.modules, "app.main", SimpleNamespace(run_window=run_window))
    return calls


def test_that_the_window_starts_with_all_that_a_profile_means(
    store: ProfileStore, model: Path, opened: list[dict[str, object]]
) -> None:
    assert cli.main(["--model", str(model), "--profile", "long", "--set", "slots=3"]) == 0
    values = opened[0]["values"]
    assert isinstance(values, dict)
    assert (values["ctx_per_slot_tok"], values["slots"]) == (8192, 3)
    assert values["top_k"] == 40, "what the profile does not say is at its default"
    assert values["model_path"] == str(model)
    assert opened[0]["profile_id"] == store.read().profiles[0].id


def test_that_a_model_in_the_first_place_is_the_model(
    store: ProfileStore, model: Path, opened: list[dict[str, object]]
) -> None:
    assert cli.main([str(model), "--profile", "Defaults"]) == 0
    values = opened[0]["values"]
    assert isinstance(values, dict)
    assert (values["model_path"], values["slots"]) == (str(model), EngineConfig().slots)
    assert cli.main([str(model)]) == 0
    assert opened[1]["values"] == {"model_path": str(model)}


def test_that_without_a_model_the_profile_is_one_for_the_model_that_ran_last(
    store: ProfileStore, model: Path, opened: list[dict[str, object]]
) -> None:
    scope = ModelScope.of(read_model_facts(model))
    store.add(Profile("Mine", {"slots": 9}, scope))
    assert cli.main(["--profile", "Mine"]) == 1, "no model ran"
    settings = SettingsStore(own_folders().settings)
    settings.keep({}, {"last_model": str(model)})
    assert cli.main(["--profile", "Mine"]) == 0
    values = opened[0]["values"]
    assert isinstance(values, dict)
    assert values["slots"] == 9
    assert "model_path" not in values, "the window loads it by itself"


def test_that_a_profile_that_there_is_none_of_opens_no_window(
    store: ProfileStore, opened: list[dict[str, object]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["--profile", "Lung"]) == 1
    assert "There is no profile 'Lung'" in capsys.readouterr().err
    assert not opened


# --- Where --set has a meaning of its own ---------------------------------------------------


def test_that_cache_types_of_a_profile_are_what_quality_measures(
    store: ProfileStore, model: Path
) -> None:
    store.add(
        Profile("Small cache", {"cache_type_k": "q8_0", "cache_type_v": "q4_0", "threads": 2})
    )
    words = ["quality", str(model), "--profile", "small cache"]
    asked = asked_of(parse_arguments(words))
    assert asked.candidates == ({"cache_type_k": "q8_0", "cache_type_v": "q4_0"},)
    assert asked.config.threads == 2
    asked = asked_of(parse_arguments([*words, "--set", "cache_type_v=q8_0"]))
    assert asked.candidates == ({"cache_type_k": "q8_0", "cache_type_v": "q8_0"},)


def test_that_a_profile_sets_the_engine_beside_a_server(store: ProfileStore, model: Path) -> None:
    words = ["probe", "localhost:1", "--profile", "Long"]
    config = cli_probe._config(parse_arguments([*words, "--beside", str(model)]))
    assert config is not None
    assert (config.slots, config.model_path) == (2, str(model))
    with pytest.raises(DomainError, match="--profile is for the engine of --beside"):
        cli_probe._config(parse_arguments(words))


def test_that_what_ran_last_in_the_window_can_be_named(store: ProfileStore, model: Path) -> None:
    scope = ModelScope.of(read_model_facts(model))
    LastStore.beside(store.folder).write(Profile(LAST, {"top_k": 7}, scope, 1.0), scope)
    assert profile_values("last used with this model", str(model)) == {"top_k": 7}
    with pytest.raises(DomainError, match="There is no profile"):
        profile_values(LAST, "")


_WITHOUT_QT = """
import sys
sys.modules["PySide6"] = None
from app.profile_choice import profile_values
print(profile_values("Long", ""))
"""


def test_that_reading_profiles_needs_no_qt(store: ProfileStore) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT_QT], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "8192" in done.stdout
