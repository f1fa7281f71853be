from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from app.experiments import cli_quality
from app.experiments.quality import QualityAsked
from app.experiments.workload_error import WorkloadError
from engine_bridge.settings.domain import DomainError


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
