from __future__ import annotations

import ast
import json
import re
from itertools import combinations
from pathlib import Path
from statistics import fmean

import msgspec
import pytest

from app.experiments.lengths import Fixed, Uniform
from app.experiments.materials import STYLES
from app.experiments.outline import outlines_of
from app.experiments.presets import PRESETS
from app.experiments.script import Script
from app.experiments.scripting import sample_text, scripts_of
from app.experiments.texts import bundled
from app.experiments.workload import Material, Workload
from app.experiments.workload_error import WorkloadError

RATE = 0.25
BUNDLED = tuple(material for material in STYLES if material is not Material.FILE)


def of(material: Material, **values: object) -> Workload:
    base = Workload("test", material, prompt_tok=Uniform(150, 300), turns=3, requests=18)
    return msgspec.structs.replace(base, **values)


def whole(script: Script) -> str:
    return script.system + script.turns[0].text


def common_start(first: Script, second: Script) -> str:
    """What both begin with."""
    pairs = enumerate(zip(whole(first), whole(second), strict=False))
    shorter = min(len(whole(first)), len(whole(second)))
    return whole(first)[: next((at for at, (a, b) in pairs if a != b), shorter)]


def shared_runs(texts: list[str], length: int) -> list[str]:
    """Stretches of ``length`` characters that are in two of the texts."""
    owners: dict[str, int] = {}
    return [
        text[at : at + length]
        for number, text in enumerate(texts)
        for at in range(len(text) - length + 1)
        if owners.setdefault(text[at : at + length], number) != number
    ]


@pytest.mark.parametrize("preset", PRESETS)
def test_that_presets_make_the_same_scripts_again(preset: str) -> None:
    workload = PRESETS[preset].workload
    scripts = scripts_of(workload, RATE)
    assert scripts == scripts_of(workload, RATE)
    assert sum(len(script.turns) for script in scripts) == workload.requests
    assert len({script.name for script in scripts}) == len(scripts)
    assert all(turn.text.strip() for script in scripts for turn in script.turns)
    assert scripts != scripts_of(msgspec.structs.replace(workload, seed=99), RATE)


@pytest.mark.parametrize("material", BUNDLED)
def test_that_more_requests_leave_the_earlier_scripts_as_they_are(material: Material) -> None:
    few, many = of(material, prefix_share=0.3), of(material, prefix_share=0.3, requests=36)
    assert scripts_of(many, RATE)[:6] == scripts_of(few, RATE)


@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 0.8])
@pytest.mark.parametrize("material", BUNDLED)
def test_that_conversations_share_the_prefix_and_only_that(
    material: Material, share: float
) -> None:
    scripts = scripts_of(of(material, prefix_share=share), RATE)
    assert len({script.system for script in scripts}) == 1
    assert bool(scripts[0].system) == bool(share)
    for first, second in combinations(scripts, 2):
        common = common_start(first, second)
        # Behind it stands a number, of which a digit may be the same.
        assert len(common) <= len(first.system) + 1


@pytest.mark.parametrize("material", [Material.PROSE, Material.CODE, Material.RETRIEVAL])
def test_that_bodies_come_from_different_places(material: Material) -> None:
    scripts = scripts_of(of(material, turns=1, requests=8, prefix_share=0.3), RATE)
    bodies = [re.sub(r"^\d+\. ", "", s.turns[0].text).rpartition("\n\n")[0] for s in scripts]
    assert not shared_runs([scripts[0].system, *bodies], 100)


def test_that_bodies_beyond_the_text_still_begin_differently() -> None:
    workload = of(Material.CODE, turns=1, requests=120, prompt_tok=Fixed(300))
    scripts = scripts_of(workload, RATE)
    assert sum(len(script.turns[0].text) for script in scripts) > 3 * len(bundled("code.txt"))
    for first, second in combinations(scripts, 2):
        assert len(common_start(first, second)) <= 2
    # A function with two names has only one other copy.
    assert not shared_runs([script.turns[0].text for script in scripts], 600)


@pytest.mark.parametrize("rate", [0.2, 0.3, 1.0])
@pytest.mark.parametrize("material", BUNDLED)
def test_that_texts_are_as_long_as_asked_for(material: Material, rate: float) -> None:
    workload = of(material, turns=2, later_tok=Uniform(80, 120))
    for script, outline in zip(scripts_of(workload, rate), outlines_of(workload), strict=True):
        for turn, wanted in zip(script.turns, outline.turns, strict=True):
            tok = len(turn.text) * rate
            assert tok <= wanted.prompt_tok + 1
            # A line of code or a record is not cut without need.
            assert tok >= wanted.prompt_tok - max(85 * rate, 0.1 * wanted.prompt_tok)
            assert turn.new_tok == wanted.new_tok


@pytest.mark.parametrize("material", BUNDLED)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_that_the_prefix_is_the_share_asked_for(material: Material, share: float) -> None:
    workload = of(material, turns=1, requests=60, prefix_share=share)
    scripts = scripts_of(workload, RATE)
    shares = [len(script.system) / len(whole(script)) for script in scripts]
    assert fmean(shares) == pytest.approx(share, abs=0.06)


@pytest.mark.parametrize("material", BUNDLED)
def test_that_a_prompt_of_one_token_still_says_something(material: Material) -> None:
    scripts = scripts_of(of(material, prompt_tok=Fixed(1), prefix_share=0.5), RATE)
    assert all(turn.text.strip() for script in scripts for turn in script.turns)
    assert scripts[0].system.strip()


def test_that_an_agent_edits_the_code_it_was_shown() -> None:
    workload = of(Material.CODE, turns=4, prompt_tok=Fixed(600), later_tok=Fixed(200), requests=8)
    for script in scripts_of(workload, RATE):
        shown = script.turns[0].text.partition("```python\n")[2].partition("\n```")[0]
        assert len(shown) > 1500
        assert "\n\n" in script.turns[0].text.rpartition("```")[2]
        for turn in script.turns[1:]:
            quoted = turn.text.partition("```python\n")[2].partition("\n```")[0]
            assert len(quoted) > 300
            assert quoted in shown


def test_that_a_later_turn_longer_than_the_code_shows_more_of_it() -> None:
    workload = of(Material.CODE, turns=2, prompt_tok=Fixed(200), later_tok=Fixed(600), requests=2)
    first, second = scripts_of(workload, RATE)[0].turns
    shown = first.text.partition("```python\n")[2].partition("\n```")[0]
    assert shown in second.text
    assert len(second.text) > 3 * len(shown)


def test_that_quoted_code_is_python() -> None:
    workload = of(Material.CODE, prompt_tok=Fixed(1200), turns=1, requests=6)
    parsed = 0
    for script in scripts_of(workload, RATE):
        code = script.turns[0].text.partition("```python\n")[2].partition("\n```")[0]
        try:
            ast.parse(code)
        except SyntaxError:
            # Cut in the middle of a block: all but its last block is whole.
            ast.parse(code.rpartition("\n\n\n")[0])
        parsed += 1
    assert parsed == 6


def test_that_retrieval_hands_over_numbered_documents_and_a_question() -> None:
    workload = of(Material.RETRIEVAL, prompt_tok=Fixed(1500), turns=1, requests=3)
    seen: list[str] = []
    for script in scripts_of(workload, RATE):
        documents, _, question = script.turns[0].text.rpartition("\n\n")
        assert question.startswith("Question: ")
        numbers = re.findall(r"(?:^\d+\. |\n\n)\((\d+)\) ", documents)
        assert 5 <= len(numbers) <= 7
        seen += numbers
    assert seen == [str(number) for number in range(1, len(seen) + 1)]


def test_that_records_are_whole_but_for_the_last() -> None:
    workload = of(Material.RECORDS, turns=1, requests=12, prompt_tok=Fixed(280), prefix_share=0.7)
    scripts = scripts_of(workload, RATE)
    assert scripts[0].system.startswith(bundled("system_records.txt").strip())
    for script in scripts:
        body = re.sub(r"^\d+\. ", "", script.turns[0].text).rpartition("\n\n")[0]
        records = body.splitlines()
        assert len(records) >= 2
        for record in records[:-1]:
            assert json.loads(record)["note"]


def test_that_arrivals_of_an_open_loop_are_in_the_scripts() -> None:
    scripts = scripts_of(of(Material.PROSE, rate_req_s=2.0), RATE)
    starts = [script.start_s for script in scripts if script.start_s is not None]
    assert len(starts) == 6
    assert starts == sorted(starts)
    assert scripts_of(of(Material.PROSE), RATE)[0].start_s is None


def test_that_answers_run_their_length_and_go_into_the_conversation_as_generated() -> None:
    for script in scripts_of(of(Material.PROSE), RATE):
        assert not script.ends_by_itself
        assert {turn.recorded_answer for turn in script.turns} == {None}


# --- The user's text --------------------------------------------------------------------


def file_workload(path: Path, **values: object) -> Workload:
    return of(Material.FILE, text_path=str(path), **values)


def test_that_prompts_are_cut_from_the_users_text(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text(" ".join(f"Sentence number {n} of mine." for n in range(5000)))
    scripts = scripts_of(file_workload(path, prefix_share=0.4), RATE)
    for script in scripts:
        body = re.sub(r"^\d+\. ", "", script.turns[0].text)
        assert body in path.read_text()
        assert script.system == scripts[0].system
        assert script.system in path.read_text()


def test_that_a_text_that_repeats_itself_still_begins_differently(tmp_path: Path) -> None:
    path = tmp_path / "same.txt"
    path.write_text("All work and no play.\n" * 2000)
    scripts = scripts_of(file_workload(path), RATE)
    for first, second in combinations(scripts, 2):
        assert len(common_start(first, second)) <= 1


def test_that_a_line_of_two_megabytes_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "line.txt"
    path.write_text("".join(chr(97 + n * 7 % 26) for n in range(2_000_000)))
    for script in scripts_of(file_workload(path), RATE):
        for turn in script.turns:
            assert 500 < len(turn.text) <= 1200


def test_that_a_text_shorter_than_a_prompt_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "short.txt"
    path.write_text("Write a poem about rain.")
    with pytest.raises(
        WorkloadError,
        match=r"^short\.txt has about 6 tokens, and the longest prompt .* has \d+\. Use",
    ):
        scripts_of(file_workload(path), RATE)
    assert scripts_of(file_workload(path, prompt_tok=Fixed(5)), RATE)


@pytest.mark.parametrize(
    ("raw", "words"), [(b"", "is empty"), (b"\0\1\2" * 99, "is not a text file")]
)
def test_that_a_text_that_is_none_is_a_sentence(tmp_path: Path, raw: bytes, words: str) -> None:
    path = tmp_path / "bad.txt"
    path.write_bytes(raw)
    with pytest.raises(WorkloadError, match=words):
        scripts_of(file_workload(path), RATE)
    with pytest.raises(WorkloadError, match=words):
        sample_text(file_workload(path))


# --- What is asked of the function ------------------------------------------------------


def test_that_a_workload_with_problems_is_refused_with_them() -> None:
    with pytest.raises(WorkloadError, match=r"requests must be from 1 .* got 0\."):
        scripts_of(of(Material.PROSE, requests=0), RATE)


@pytest.mark.parametrize("rate", [0.0, -1.0, float("nan"), float("inf")])
def test_that_a_token_must_have_a_length(rate: float) -> None:
    with pytest.raises(ValueError, match="more than 0 tokens"):
        scripts_of(of(Material.PROSE), rate)


@pytest.mark.parametrize("material", BUNDLED)
def test_that_a_sample_is_of_the_same_text(material: Material) -> None:
    sample = sample_text(of(material))
    text = bundled(STYLES[material].text)
    assert 3900 < len(sample) <= 4007
    assert sample[:400] in text[:500]
    assert sample[-400:] in text[-len(text) // 8 :]
