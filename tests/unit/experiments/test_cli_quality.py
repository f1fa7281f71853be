from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from app.cli import main
from app.experiments import cli_quality
from app.experiments.quality import QualityAsked
from app.experiments.workload_error import WorkloadError
from engine_bridge.gguf_file import read_model_facts
from engine_bridge.settings.domain import DomainError
from tests.tiny_model import write_tiny_llama


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "words.txt"
    path.write_text("Some words to be read.\n")
    return path


def asked(text: Path, *words: str) -> QualityAsked:
    parser = argparse.ArgumentParser()
    cli_quality.add_parser(parser.add_subparsers())
    line = [cli_quality.NAME, "m.gguf", "--text", str(text), *words]
    return cli_quality.asked_of(parser.parse_args(line))


def test_that_two_candidates_are_compared_unless_some_are_named(text: Path) -> None:
    made = asked(text)
    assert [dict(c) for c in made.candidates] == [
        {"cache_type_k": "q8_0", "cache_type_v": "q8_0"},
        {"cache_type_k": "q4_0", "cache_type_v": "q4_0"},
    ]
    assert (made.ctx_tok, made.chunks, made.facts) == (512, 20, 0)
    assert (made.text, made.text_name) == ("Some words to be read.", "words.txt")


def test_that_cache_types_that_are_set_make_a_candidate(text: Path) -> None:
    made = asked(text, "--set", "cache_type_k=q8_0", "--set", "threads=3")
    assert [dict(c) for c in made.candidates] == [{"cache_type_k": "q8_0"}]
    assert made.config.threads == 3
    assert made.base.cache_type_k == "f16"


def test_that_candidates_are_named_by_their_types(text: Path) -> None:
    made = asked(text, "--candidate", "q8_0/q4_0", "--candidate", "q5_1")
    assert [tuple(c.values()) for c in made.candidates] == [("q8_0", "q4_0"), ("q5_1", "q5_1")]


def test_that_flash_attention_belongs_to_every_candidate(text: Path) -> None:
    made = asked(text, "--set", "flash_attn=on", "--candidate", "q8_0")
    assert [dict(c) for c in made.candidates] == [
        {"cache_type_k": "q8_0", "cache_type_v": "q8_0", "flash_attn": "on"}
    ]
    alone = asked(text, "--set", "flash_attn=off")
    assert [dict(c) for c in alone.candidates] == [{"flash_attn": "off"}]


def test_that_the_recall_test_is_made_when_asked_for(text: Path) -> None:
    made = asked(text, "--recall", "--facts", "8", "--recall-ctx", "4096")
    assert (made.facts, made.recall_ctx_tok) == (8, 4096)


def test_that_an_unknown_type_is_refused_with_those_there_are(text: Path) -> None:
    with pytest.raises(DomainError, match="q8_0"):
        asked(text, "--candidate", "q9_0")


@pytest.mark.parametrize(
    ("content", "said"), [(b"", "empty"), (b"\x00\x01\x02\xff" * 500, "not a text file")]
)
def test_that_a_text_that_is_none_is_a_sentence(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "bad.bin"
    path.write_bytes(content)
    with pytest.raises(WorkloadError, match=said):
        asked(path)


@pytest.mark.parametrize("option", ["--ctx", "--recall-ctx"])
def test_that_a_context_that_no_engine_has_is_refused_before_one_is_started(
    text: Path, option: str
) -> None:
    with pytest.raises(DomainError, match=r"100,000,000 is outside"):
        asked(text, option, "100000000")
    assert asked(text, option, "64").candidates  # little is for the engine to judge


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--chunks", "0"], "--chunks takes 1 to 100,000 chunks; got 0."),
        (["--chunks", "-3"], "--chunks takes 1 to 100,000 chunks; got -3."),
        (["--ctx", "32"], "--ctx takes at least 64 tokens; got 32."),
        (["--recall", "--facts", "0"], "--recall asks for facts; got --facts 0."),
        (["--recall", "--facts", "101"], "--facts takes 1 to 100 facts; got 101."),
        (["--recall", "--recall-ctx", "0"], "--recall-ctx takes at least 64 tokens; got 0."),
        (["--candidate", "q8_0", "--candidate", "q8_0/q8_0"], "is named twice."),
        (["--candidate", "q9_0"], "q9_0"),
        (["--set", "flash_attn=off", "--candidate", "q8_0"], "needs flash attention"),
        (["--set", "slots=0"], "0 is outside 1 to 256"),
        (["--text", "/no/such.txt"], "There is no file such.txt."),
    ],
)
def test_that_wrong_words_are_told_before_a_model_is_read(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    # There is no such file, and nothing is said of it.
    assert main(["quality", "/no/such-model.gguf", *words]) == 1
    printed = capsys.readouterr()
    assert said in printed.err
    assert "such-model" not in printed.err
    assert printed.out == ""


def test_that_a_model_that_does_not_do_is_told_by_its_header(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = write_tiny_llama(tmp_path / "tiny.gguf")
    trained_tok = read_model_facts(model).ctx_train_tok
    assert main(["quality", str(model), "--ctx", str(trained_tok + 256), "--json"]) == 1
    said = json.loads(capsys.readouterr().out)["error"]
    assert f"was trained for {trained_tok:,} tokens" in said


def test_that_the_plan_alone_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = write_tiny_llama(tmp_path / "tiny.gguf")
    assert main(["quality", str(model), "--plan"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("Planned: 2 candidates beside f16, at most 20 chunks of 512 tokens")
    assert said.err == ""
