from __future__ import annotations

from itertools import pairwise
from statistics import fmean, pstdev

import msgspec
import pytest

from app.experiments.lengths import Fixed, LogNormal, Uniform
from app.experiments.outline import Outline, outlines_of
from app.experiments.workload import Material, Workload

CHAT = Workload(
    "chat",
    Material.PROSE,
    prompt_tok=LogNormal(60, 0.7),
    answer_tok=Uniform(50, 200),
    turns=4,
    requests=40,
)


def other(workload: Workload, **values: object) -> Workload:
    return msgspec.structs.replace(workload, **values)


def gaps_s(outlines: tuple[Outline, ...]) -> list[float]:
    starts = [outline.start_s for outline in outlines if outline.start_s is not None]
    return [later - earlier for earlier, later in pairwise(starts)]


def test_that_there_are_as_many_turns_as_requests() -> None:
    assert [len(each.turns) for each in outlines_of(other(CHAT, requests=10))] == [4, 4, 2]
    assert [len(each.turns) for each in outlines_of(other(CHAT, requests=8))] == [4, 4]
    assert [len(each.turns) for each in outlines_of(other(CHAT, requests=1))] == [1]


def test_that_the_same_seed_draws_the_same_and_another_does_not() -> None:
    workload = other(CHAT, think_s=2.0, rate_req_s=3.0)
    assert outlines_of(workload) == outlines_of(workload)
    assert outlines_of(workload) != outlines_of(other(workload, seed=2))


def test_that_draws_are_the_same_on_every_machine() -> None:
    # Recorded once: what comes out differently elsewhere is another workload by the same name.
    first = outlines_of(other(CHAT, think_s=2.0))[0]
    assert [turn.prompt_tok for turn in first.turns] == [107, 20, 92, 51]
    assert [turn.new_tok for turn in first.turns] == [197, 65, 85, 154]
    assert [turn.think_s for turn in first.turns] == [0.0, 1.448, 3.178, 3.04]


def test_that_more_requests_leave_the_earlier_ones_as_they_are() -> None:
    workload = other(CHAT, think_s=1.0, rate_req_s=2.0)
    assert outlines_of(other(workload, requests=80))[:10] == outlines_of(workload)


def test_that_other_answers_leave_prompts_pauses_and_arrivals_as_they_are() -> None:
    workload = other(CHAT, think_s=1.0, rate_req_s=2.0)
    changed = outlines_of(other(workload, answer_tok=Fixed(9)))
    for now, before in zip(changed, outlines_of(workload), strict=True):
        assert now.start_s == before.start_s
        assert [(turn.prompt_tok, turn.think_s) for turn in now.turns] == [
            (turn.prompt_tok, turn.think_s) for turn in before.turns
        ]


def test_that_later_prompts_have_lengths_of_their_own() -> None:
    outlines = outlines_of(other(CHAT, prompt_tok=Fixed(500), later_tok=Fixed(30)))
    assert all([t.prompt_tok for t in each.turns] == [500, 30, 30, 30] for each in outlines)


def test_that_arrivals_are_a_poisson_process_of_the_rate_asked_for() -> None:
    outlines = outlines_of(other(CHAT, turns=1, requests=5000, rate_req_s=4.0))
    gaps = gaps_s(outlines)
    assert outlines[0].start_s == 0.0
    assert all(gap >= 0 for gap in gaps)
    # Of an exponential distribution mean and deviation are the same; 5,000 give them to 1.4 %.
    assert fmean(gaps) == pytest.approx(0.25, rel=0.05)
    assert pstdev(gaps) == pytest.approx(0.25, rel=0.07)
    # A share of exp(-1) is longer than the mean, exp(-3) than three of them.
    assert sum(gap > 0.25 for gap in gaps) / len(gaps) == pytest.approx(0.368, abs=0.03)
    assert sum(gap > 0.75 for gap in gaps) / len(gaps) == pytest.approx(0.050, abs=0.015)


def test_that_counts_of_arrivals_vary_as_much_as_their_mean() -> None:
    outlines = outlines_of(other(CHAT, turns=1, requests=8000, rate_req_s=4.0))
    starts = [outline.start_s for outline in outlines if outline.start_s is not None]
    counts = [0] * int(starts[-1])
    for start in starts:
        if start < len(counts):
            counts[int(start)] += 1
    assert fmean(counts) == pytest.approx(4.0, rel=0.05)
    assert pstdev(counts) ** 2 == pytest.approx(4.0, rel=0.12)


def test_that_the_rate_counts_requests_not_conversations() -> None:
    outlines = outlines_of(other(CHAT, turns=4, requests=8000, rate_req_s=4.0))
    # A conversation of four turns begins once a second.
    assert fmean(gaps_s(outlines)) == pytest.approx(1.0, rel=0.08)


def test_that_a_closed_loop_has_no_times_of_its_own() -> None:
    assert {outline.start_s for outline in outlines_of(CHAT)} == {None}


def test_that_pauses_are_exponential_with_the_mean_asked_for_and_none_is_endless() -> None:
    outlines = outlines_of(other(CHAT, requests=8000, think_s=2.0))
    pauses = [turn.think_s for outline in outlines for turn in outline.turns]
    assert pauses[0] == 0.0
    assert fmean(pauses) == pytest.approx(2.0, rel=0.05)
    assert max(pauses) == 10.0
    assert sum(pause > 2.0 for pause in pauses) / len(pauses) == pytest.approx(0.368, abs=0.03)


def test_that_in_an_open_loop_a_conversation_begins_when_it_is_due() -> None:
    outlines = outlines_of(other(CHAT, think_s=2.0, rate_req_s=1.0))
    assert {outline.turns[0].think_s for outline in outlines} == {0.0}
    assert all(turn.think_s > 0 for outline in outlines for turn in outline.turns[1:])


def test_that_without_think_time_nobody_pauses() -> None:
    assert {turn.think_s for outline in outlines_of(CHAT) for turn in outline.turns} == {0.0}
