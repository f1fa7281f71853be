"""``tunedeck profile``: the same profiles as the window's, for people and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.cli import main
from app.storage.profile_store import ProfileStore
from tests.unit.gguf_bytes import Gguf, llama_values

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ProfileStore:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return ProfileStore(tmp_path / "data" / "tunedeck" / "profiles")


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "m.gguf"
    path.write_bytes(Gguf(values=llama_values() | {"general.sampling.temp": 0.6}).file())
    return str(path)


def told(capsys: Captured, *words: str, status: int = 0) -> str:
    """What the command writes."""
    assert main(["profile", *words]) == status
    return capsys.readouterr().out


def as_json(capsys: Captured, *words: str, status: int = 0) -> Any:
    return json.loads(told(capsys, *words, "--json", status=status))


def refusal(capsys: Captured, *words: str) -> str:
    """Why the command did nothing."""
    assert main(["profile", *words]) == 1
    return capsys.readouterr().err


def test_that_what_is_saved_is_listed_and_shown(capsys: Captured, model: str) -> None:
    told(capsys, "save", "Long", "--set", "slots=2", "--set", "ctx_per_slot_tok=8k")
    told(capsys, "save", "Long", "--model", model, "--set", "slots=3")
    assert told(capsys) == told(capsys, "list") == (
        "Defaults  (for all models; 0 settings, built in)\n"
        "Long  (for all models; 2 settings)\n"
        "Long  (for Small · Q8_0; 1 setting)\n"
    )  # fmt: skip
    assert told(capsys, "show", "long") == "ctx_per_slot_tok = 8192\nslots = 2\n"
    assert told(capsys, "show", "Long", "--model", model) == "slots = 3\n"
    found = as_json(capsys, "list", "--model", model)["profiles"]
    assert [(p["name"], p["settings"]) for p in found] == [
        ("Defaults", {}), ("The model's own", {"temperature": 0.6}),
        ("Long", {"ctx_per_slot_tok": 8192, "slots": 2}), ("Long", {"slots": 3}),
    ]  # fmt: skip


def test_that_a_profile_goes_to_another_machine_and_back(
    capsys: Captured, tmp_path: Path, store: ProfileStore
) -> None:
    path = tmp_path / "out.json"
    told(capsys, "save", "Long", "--set", "slots=2")
    told(capsys, "export", "Long", "--out", str(path))
    assert "--force" in refusal(capsys, "export", "Long", "--out", str(path))
    told(capsys, "export", "Long", "--out", str(path), "--force")
    done = as_json(capsys, "delete", "Long")["done"]
    assert "deleted" in done
    assert store.read().profiles == ()
    (found,) = as_json(capsys, "import", str(path))["imported"]
    assert (found["name"], found["settings"]) == ("Long", {"slots": 2})
    assert "Imported “Long (2)”." in told(capsys, "import", str(path))


def test_that_of_several_files_all_are_imported_or_none(
    capsys: Captured, tmp_path: Path, store: ProfileStore
) -> None:
    good, newer = tmp_path / "good.json", tmp_path / "newer.json"
    whole = {"format": "tunedeck-profile", "schema": 1, "name": "Two", "settings": {"slots": 2}}
    good.write_text(json.dumps(whole))
    newer.write_text(json.dumps(whole | {"schema": 2}))
    assert "newer version" in refusal(capsys, "import", str(good), str(newer))
    assert store.read().profiles == ()


def test_that_what_cannot_be_done_is_a_sentence(capsys: Captured, model: str) -> None:
    assert "There is no profile 'Long'" in refusal(capsys, "show", "Long")
    assert "built in" in refusal(capsys, "delete", "Defaults")
    assert "built in" in refusal(capsys, "save", "Defaults")
    assert "needs a name" in refusal(capsys, "save", " ")
    assert "outside 1 to 256" in refusal(capsys, "save", "x", "--set", "slots=0")
    assert "no file" in refusal(capsys, "save", "x", "--model", "/nowhere.gguf")
    assert "error" in as_json(capsys, "show", "Long", status=1)


def test_that_what_is_of_one_model_is_left_out_of_one_for_all(
    capsys: Captured, tmp_path: Path, store: ProfileStore
) -> None:
    words = told(capsys, "save", "x", "--set", f"lora={tmp_path}/a.gguf", "--set", "slots=2")
    assert "lora" in words
    assert store.read().profiles[0].settings == {"slots": 2}
