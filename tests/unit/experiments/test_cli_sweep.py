"""The command lines of ``sweep`` and ``compare``: words that are wrong, and how they are read."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from app.experiments import cli_compare, cli_sweep
from app.experiments.measures import MEASURES
from app.experiments.setting_words import words_in
from tests.tiny_model import write_tiny_llama


def parsed(command: str, *words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command")
    cli_sweep.add_parser(commands)
    cli_compare.add_parser(commands)
    return parser.parse_args([command, *words])


@pytest.fixture(autouse=True)
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    def conduct(*_: object, **__: object) -> int:
        raise AssertionError("an engine would have been started")

    monkeypatch.setattr(cli_sweep, "conduct_on_own_engine", conduct)
    monkeypatch.setattr(cli_compare, "conduct_on_own_engine", conduct)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "A sweep needs at least one --vary setting=value,value."),
        (["--vary", "slots"], "--vary takes setting=value,value; 'slots' has no '='."),
        (["--vary", "slots=1,900"], "Parallel slots (slots): 900 is outside 1 to 256."),
        (["--vary", "slots=1,2", "--rounds", "0"], "A sweep takes 1 to 100 rounds; got 0."),
        (["--vary", "slots=1,2", "--set", "slotz=1"], "There is no setting 'slotz'."),
        (["--vary", "slots=1,2", "--workload", "no-such"], "no-such"),
        (["--vary", "slots=1,2", "--resume", "20200101"], "20200101"),
    ],
)
def test_that_wrong_words_of_a_sweep_are_a_sentence_before_any_engine_starts(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli_sweep.run(parsed("sweep", "/m.gguf", *words)) == 1
    said = capsys.readouterr()
    assert sentence in said.err
    assert said.out == ""


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--a", "slots=1", "--b", "slots"], "'slots' has no '='"),
        (["--a", "slots=1", "--b", "slots=0"], "0 is outside 1 to 256"),
        (["--a", "model_path=x.gguf"], "--a compares settings of one model"),
        ([], "A and B are the same settings"),
        (["--set", "slots=2", "--a", "slots=2"], "A and B are the same settings"),
        (["--pairs", "0"], "A comparison takes 4 to 200 pairs; got 0."),
        (["--b", "slots=2", "--seconds", "0"], "A comparison needs time; got 0 seconds."),
        (["--b", "slots=2", "--resume", "20200101"], "20200101"),
        (["--b", "slots=2", "--resume", ""], "is named by its key"),
    ],
)
def test_that_wrong_words_of_a_comparison_are_a_sentence_before_any_engine_starts(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli_compare.run(parsed("compare", "/m.gguf", *words)) == 1
    assert sentence in capsys.readouterr().err


def test_that_a_part_without_equals_belongs_to_the_word_before() -> None:
    words = words_in("slots=4, spec_types=ngram-simple,ngram-mod,flash_attn=on")
    assert words == ["slots=4", "spec_types=ngram-simple,ngram-mod", "flash_attn=on"]


def test_that_every_figure_can_be_the_one_that_matters() -> None:
    for measure in MEASURES:
        arguments = parsed("sweep", "/m.gguf", "--by", measure.key)
        assert arguments.by == measure.key
    assert parsed("compare", "/m.gguf").by == "tpot_s"
    with pytest.raises(SystemExit):
        parsed("sweep", "/m.gguf", "--by", "luck")


def test_that_a_fault_is_an_object_for_who_asked_for_json(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli_sweep.run(parsed("sweep", "/m.gguf", "--json")) == 1
    said = capsys.readouterr()
    assert json.loads(said.out) == {"error": said.err.removesuffix("\n")}
    assert cli_compare.run(parsed("compare", "/m.gguf", "--json")) == 1
    assert "A and B are the same" in json.loads(capsys.readouterr().out)["error"]


def test_that_the_plan_of_a_sweep_leaves_out_what_cannot_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = str(write_tiny_llama(tmp_path / "tiny.gguf"))
    words = ["--vary", "flash_attn=auto,off", "--vary", "cache_type_v=f16,q8_0", "--rounds", "2"]
    assert cli_sweep.run(parsed("sweep", model, *words, "--plan", "--json")) == 0
    planned = json.loads(capsys.readouterr().out)
    assert (planned["runs"], planned["requests"]) == (6, 48)
    assert list(planned["left_out"]) == ["flash_attn=off, cache_type_v=q8_0"]
    assert cli_sweep.run(parsed("sweep", model, *words, "--plan")) == 0
    said = capsys.readouterr()
    assert said.out.startswith("Planned: 3 combinations × 2 rounds, 6 runs of 8 requests")
    assert "left out flash_attn=off, cache_type_v=q8_0: " in said.out
    assert "Planning the memory of 4 combinations" in said.err


def test_that_the_plan_of_a_file_that_is_no_model_is_a_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "not.gguf"
    file.write_bytes(b"\0" * 64)
    assert cli_sweep.run(parsed("sweep", str(file), "--vary", "slots=1,2", "--plan")) == 1
    said = capsys.readouterr()
    assert "not.gguf" in said.err
    assert said.out == ""


def test_that_a_comparison_says_what_it_plans(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--a", "slots=1", "--b", "slots=2", "--plan"]
    model = str(write_tiny_llama(tmp_path / "tiny.gguf"))
    assert cli_compare.run(parsed("compare", model, *words)) == 0
    said = capsys.readouterr()
    assert said.out.startswith("Planned: 4 to 12 pairs of runs of 8 requests")
    assert said.err == ""
