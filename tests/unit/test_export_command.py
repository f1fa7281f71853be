"""``tunedeck export``: the command and its files, on a terminal, as JSON and in a folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app import cli
from app.cli import main
from app.planning import PlanAnswer
from engine_bridge.memory_plan import BytesByUse, MemoryPlan
from engine_bridge.settings.config import EngineConfig
from tests.unit.fake_client import model_facts


@pytest.fixture(autouse=True)
def _planned(monkeypatch: pytest.MonkeyPatch) -> None:
    def plan(_config: EngineConfig) -> PlanAnswer:
        made = MemoryPlan(BytesByUse(), (), None, fits=True, problems=(), seconds=0.0)
        return PlanAnswer(made, model_facts())

    monkeypatch.setattr(cli, "plan_in_throwaway_process", plan)


def test_that_json_has_the_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "/m/m.gguf", "--to", "docker-compose", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["target"] == "docker-compose"
    assert answer["text"] == "docker compose up -d"
    (file,) = answer["files"]
    assert set(file) == {"name", "text", "about"}
    assert file["name"] == "compose.yaml"
    assert file["text"].startswith("services:\n")
    assert answer["not_carried"]["rpc_servers"].endswith(".")
    assert answer["carried"]["slots"] == {"manner": "said", "how": "-np"}
    assert answer["written"] == []


def test_that_a_command_line_has_no_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "/m/m.gguf", "--to", "llama-server", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"] == []


def test_that_files_stand_behind_the_command_with_their_names(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["export", "/m/m.gguf", "--to", "llama-preset", "--shell", "posix"]
    assert main([*words, "--set", 'grammar=root ::= "a"']) == 0
    said = capsys.readouterr()
    lines = said.out.splitlines()
    assert lines[0] == "llama-server --models-preset models.ini"
    assert lines[1:4] == ["", "--- models.ini ---", "[m]"]
    assert lines[-3:] == ["", "--- grammar.gbnf ---", 'root ::= "a"']
    assert "file: models.ini: Put it in the folder" in said.err


def test_that_only_changed_settings_are_named_and_the_others_counted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["export", "/m/m.gguf", "--to", "llama-bench", "--set", "top_k=7"]) == 0
    said = capsys.readouterr().err
    assert "not carried: top_k:" in said
    assert "not carried: top_p:" not in said
    assert "settings that were not changed; --json names each" in said


def test_that_the_files_are_written_where_they_are_wanted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["export", "/m/m.gguf", "--to", "systemd", "--out", str(tmp_path / "new")]
    assert main(words) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "systemctl --user enable --now llama-server.service"
    path = tmp_path / "new" / "llama-server.service"
    assert said[1:] == [f"written: {path}"]
    assert path.read_text(encoding="utf-8").startswith("[Unit]\n")


def test_that_no_file_is_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    taken = tmp_path / "llama-swap.yaml"
    taken.write_text("mine", encoding="utf-8")
    words = ["export", "/m/m.gguf", "--to", "llama-swap", "--out", str(tmp_path), "--json"]
    assert main(words) == 1
    said = capsys.readouterr()
    assert "llama-swap.yaml would be overwritten" in json.loads(said.out)["error"]
    assert "llama-swap.yaml would be overwritten" in said.err
    assert taken.read_text(encoding="utf-8") == "mine"


def test_that_an_engine_without_files_is_told_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", "/m/m.gguf", "--to", "llama-server", "--out", str(tmp_path)]) == 1
    assert "no file to write" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_that_what_cannot_be_exported_says_why_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", "/m/a;b.gguf", "--to", "llama-preset"]) == 1
    assert "Rename the file" in capsys.readouterr().err
    words = ["export", "/m/a;b.gguf", "--to", "llama-preset", "--out", str(tmp_path)]
    assert main(words) == 1
    assert "Nothing was written" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
