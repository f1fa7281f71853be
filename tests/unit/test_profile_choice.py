"""``--profile NAME``: found for the model that is meant, with ``--set`` going before it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from app import cli
from app.arguments import parse_arguments
from app.experiments.cli_engine import config_in
from app.profile_choice import profile_values
from app.profiles import ModelScope, Profile
from app.storage.profile_store import ProfileStore
from engine_bridge.gguf_file import read_model_facts
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
