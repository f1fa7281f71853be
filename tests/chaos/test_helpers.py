"""What ``make chaos`` stands on: mutations that hit what they mean, sentences, counts, lines."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from engine_bridge.gguf_file import GgufError
from engine_bridge.header_facts import read_header_facts
from tests.chaos import gguf_mutations
from tests.chaos.counts import FULL, USUAL, counts_of
from tests.chaos.gguf_fields import Kind, fields_of
from tests.chaos.mutated_files import fault_of_sentence, write_bases
from tests.chaos.soak import fault_of_caches
from tests.chaos.tally import HEADING, Tally
from tests.unit.gguf_bytes import Gguf


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    return [path.read_bytes() for path in write_bases(tmp_path_factory.mktemp("bases"))]


def said_of(path: Path) -> str:
    """The sentence with which a file is refused; empty where it is read."""
    try:
        read_header_facts(path)
    except GgufError as error:
        return str(error)
    return ""


def test_that_the_fields_of_a_file_stand_one_behind_the_other(bases: list[bytes]) -> None:
    for content in bases:
        fields = fields_of(content)
        assert fields[0].at == 0
        for before, after in itertools.pairwise(fields):
            assert after.at == before.end
        assert fields[-1].end == len(content)
        assert {field.kind for field in fields} == set(Kind)


def test_that_bases_are_models(bases: list[bytes], tmp_path: Path) -> None:
    for content in bases:
        path = tmp_path / "base.gguf"
        path.write_bytes(content)
        assert said_of(path) == ""


def test_that_a_cut_at_every_border_is_a_sentence(tmp_path: Path) -> None:
    content = Gguf().file()
    path = tmp_path / "cut.gguf"
    for field in fields_of(content):
        for size in (field.at - 1, field.at, field.at + 1):
            if 0 <= size < len(content):
                path.write_bytes(content[:size])
                assert fault_of_sentence(said_of(path)) == ""


@pytest.mark.parametrize("name", list(gguf_mutations.BY_NAME))
def test_that_a_mutation_changes_a_file_that_is_read_or_refused_in_a_sentence(
    bases: list[bytes], tmp_path: Path, name: str
) -> None:
    mutate = gguf_mutations.BY_NAME[name]
    path = tmp_path / "mutated.gguf"
    for number, content in enumerate(bases * 3):
        mutated = mutate(content, Random(number))
        assert mutated == mutate(content, Random(number))
        assert mutated != content or name in ("extreme_value", "other_type", "fields_exchanged")
        path.write_bytes(mutated)
        said = said_of(path)
        assert said == "" or fault_of_sentence(said) == ""


@pytest.mark.parametrize(
    ("sentence", "fault"),
    [
        ("The file is damaged. Download it again.", ""),
        ("", "no sentence"),
        ("It is \x1b[31mred.", "control characters"),
        ("It ends with", "no end"),
        ("x" * 5_000 + ".", "5,001 characters"),
        ("Planning failed by a mistake in TuneDeck: KeyError().", "our own mistake"),
    ],
)
def test_that_bad_sentences_are_known(sentence: str, fault: str) -> None:
    assert fault in fault_of_sentence(sentence)
    assert bool(fault) == bool(fault_of_sentence(sentence))


def test_that_what_is_left_in_a_cache_is_told(tmp_path: Path) -> None:
    report = tmp_path / "caches.json"
    assert "did not say" in fault_of_caches(report)
    report.write_text(json.dumps({"seq_pos_max": [-1, -1], "slots": [0, 0]}))
    assert fault_of_caches(report) == ""
    report.write_text(json.dumps({"seq_pos_max": [-1, 7], "slots": [0, 8]}))
    assert "[1]" in fault_of_caches(report)


def test_that_the_counts_are_asked_for_by_name() -> None:
    assert counts_of({}) is USUAL
    assert counts_of({"CHAOS": "full"}) is FULL
    with pytest.raises(ValueError, match="CHAOS=half"):
        counts_of({"CHAOS": "half"})


def test_that_a_line_says_tried_survived_and_lost() -> None:
    tally = Tally("engine killed")
    tally.note("")
    tally.note("it was gone")
    tally.seconds = 3.2
    assert tally.line().split()[-4:] == ["2", "1", "1", "3"]
    assert HEADING.split() == ["tried", "survived", "lost", "seconds"]
    assert len(tally.line()) == len(HEADING), "the figures stand below their names"


def test_that_a_kind_that_cannot_even_begin_is_lost_and_said(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.chaos", "nothing_of_the_kind", "--seed", "7"],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "seed 7" in done.stdout
    assert "ended with status" in done.stdout
