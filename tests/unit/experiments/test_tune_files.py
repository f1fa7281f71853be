"""Files that a tuner cannot work with are refused before anything runs."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from app.experiments import cli_tune
from app.experiments.tune_files import refuse_files
from engine_bridge.settings.domain import DomainError
from tests.tiny_model import TinyLlama, write_tiny_llama


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_llama(tmp_path_factory.mktemp("model") / "tiny.gguf")


@pytest.fixture(autouse=True)
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    def conduct(*_: object, **__: object) -> int:
        raise AssertionError("an engine would have been started")

    monkeypatch.setattr(cli_tune, "conduct_on_own_engine", conduct)


def tuned(*words: str) -> int:
    parser = argparse.ArgumentParser()
    cli_tune.add_parser(parser.add_subparsers(dest="command"))
    return cli_tune.run(parser.parse_args(["tune", *words]))


def other_vocabulary(folder: Path) -> Path:
    return write_tiny_llama(folder / "other.gguf", TinyLlama(vocab_tok=700))


def test_that_a_model_and_its_drafts_pass(model: Path, tmp_path: Path) -> None:
    draft = write_tiny_llama(tmp_path / "draft.gguf")
    refuse_files(str(model), [str(draft)])
    refuse_files(str(model), [])
    assert tuned(str(model), "--draft", str(draft), "--plan") == 0


@pytest.mark.parametrize("plan", [["--plan"], []])
def test_that_a_file_that_is_no_model_is_refused_with_a_plan_and_without(
    plan: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "text.gguf"
    text.write_text("no model at all")
    for path in (tmp_path / "nope.gguf", text):
        assert tuned(str(path), *plan) == 1
        said = capsys.readouterr()
        assert path.name in said.err
        assert said.out == ""


def test_that_each_draft_that_is_of_no_use_is_told(model: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.gguf"
    text.write_text("no model at all")
    other = other_vocabulary(tmp_path)
    with pytest.raises(DomainError) as found:
        refuse_files(str(model), [str(tmp_path / "nope.gguf"), str(text), str(other)])
    told = str(found.value)
    assert "nope.gguf" in told
    assert "text.gguf" in told
    assert "it has another vocabulary" in told


def test_that_one_draft_of_no_use_refuses_all(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, other = write_tiny_llama(tmp_path / "draft.gguf"), other_vocabulary(tmp_path)
    assert tuned(str(model), "--draft", str(good), "--draft", str(other)) == 1
    assert "cannot draft for" in capsys.readouterr().err
