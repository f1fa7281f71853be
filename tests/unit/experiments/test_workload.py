from __future__ import annotations

import math

import msgspec
import pytest

from app.experiments.lengths import Fixed, LogNormal, Observed, Uniform
from app.experiments.outline import OPENING_TOK, TURN_TOK, outlines_of
from app.experiments.presets import PRESETS
from app.experiments.recording import Exchange, Recording
from app.experiments.workload import Material, Workload
from app.experiments.workload_error import WorkloadError
from app.experiments.workload_fit import fit_problem

TALK = Recording(
    "Talk", (Exchange("Why?", "Because."), Exchange("And then?", "Nothing.")), "Be brief."
)


def of(**values: object) -> Workload:
    return msgspec.structs.replace(Workload("test", Material.PROSE), **values)


def test_that_json_brings_back_the_same_workload() -> None:
    for workload in (
        of(prompt_tok=Uniform(5, 9), later_tok=LogNormal(50, 0.5), answer_tok=Observed((3, 4))),
        of(rate_req_s=2.5, ttft_slo_s=1.0, tpot_slo_s=0.1, seed=-7, users=3, think_s=2.0),
        of(material=Material.CONVERSATION, recording=TALK, turns=2, requests=2),
    ):
        assert msgspec.json.decode(msgspec.json.encode(workload), type=Workload) == workload


def test_that_a_workload_is_a_value() -> None:
    assert of(seed=3) == of(seed=3)
    assert hash(of(prompt_tok=Uniform(1, 2))) == hash(of(prompt_tok=Uniform(1, 2)))


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"requests": 0}, "requests must be from 1 to 100,000; got 0."),
        ({"requests": -3}, "requests must be from 1 to 100,000; got -3."),
        ({"requests": 10**30}, "requests must be from 1 to 100,000; got 1,000,"),
        ({"turns": 0}, "turns must be from 1 to 1,000; got 0."),
        ({"users": 0}, "users must be from 1 to 10,000; got 0."),
        ({"users": -1}, "users must be from 1 to 10,000; got -1."),
        ({"prompt_tok": Fixed(-5)}, "prompt_tok must be at least 1 token; got -5."),
        ({"answer_tok": Fixed(0)}, "answer_tok must be at least 1 token; got 0."),
        ({"later_tok": Uniform(9, 3)}, "later_tok goes from 9 to 3; the shorter comes first."),
        ({"answer_tok": Observed(())}, "answer_tok is a list of lengths without one."),
        ({"prefix_share": 1.0}, "prefix_share must be from 0 to 0.98; got 1."),
        ({"prefix_share": -0.1}, "prefix_share must be from 0 to 0.98; got -0.1."),
        ({"prefix_share": math.nan}, "prefix_share must be from 0 to 0.98; got nan."),
        ({"think_s": -1.0}, "think_s must be from 0 to 86,400 seconds; got -1."),
        ({"think_s": math.inf}, "think_s must be from 0 to 86,400 seconds; got inf."),
        (
            {"rate_req_s": 0.0},
            "rate_req_s must be above 0 and at most 10,000 requests per second; got 0.",
        ),
        ({"rate_req_s": math.nan}, "got nan."),
        ({"ttft_slo_s": 0.0}, "ttft_slo_s must be above 0 and at most 86,400 seconds; got 0."),
        ({"tpot_slo_s": -2.0}, "tpot_slo_s must be above 0 and at most 86,400 seconds; got -2."),
        ({"name": " "}, "name must not be empty."),
        ({"material": Material.FILE}, "text_path names the text of a workload whose material is"),
        ({"text_path": "/a"}, "text_path names the text of a workload whose material is file"),
        ({"recording": TALK}, "Only a workload whose material is conversation has a recording."),
        (
            {"users": 8, "turns": 4, "requests": 8},
            "8 users need as many conversations, but 8 requests with 4 turns each make 2. Set "
            "requests to 32 or more, or lower users.",
        ),
        (
            {"prompt_tok": Fixed(1_000_000), "requests": 21},
            "Its prompts have about 21,000,000 tokens in total, more than the 20,000,000",
        ),
        (
            {"prompt_tok": Fixed(1_000_000), "requests": 1, "prefix_share": 0.98},
            "Lower requests, prompt_tok or prefix_share.",
        ),
        ({"material": Material.CONVERSATION}, "The words of the conversation are not kept with"),
        (
            {"material": Material.CONVERSATION, "recording": TALK, "turns": 3},
            "“Talk” has 2 turns; a replay by 1 users has turns=2 and requests=2 or more.",
        ),
        (
            {"material": Material.CONVERSATION, "recording": Recording("Empty", ())},
            "Nothing was asked in “Empty”, so nothing can be replayed.",
        ),
    ],
)
def test_that_what_is_wrong_is_a_sentence(values: dict[str, object], sentence: str) -> None:
    problems = of(**values).problems()
    assert len(problems) == 1
    assert sentence in problems[0]
    assert problems[0].endswith(".")
    with pytest.raises(WorkloadError) as caught:
        of(**values).check()
    assert str(caught.value) == problems[0]


def test_that_all_that_is_wrong_is_said_at_once() -> None:
    assert len(of(requests=0, users=0, think_s=-1.0, answer_tok=Fixed(0)).problems()) == 4


def test_that_an_open_loop_needs_no_users() -> None:
    assert not of(users=8, turns=4, requests=8, rate_req_s=1.0).problems()


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 0.9])
def test_that_the_prefix_is_that_share_of_the_first_prompt(share: float) -> None:
    workload = of(prompt_tok=Fixed(400), prefix_share=share)
    assert workload.prefix_tok / (workload.prefix_tok + 400) == pytest.approx(share, abs=0.001)


def test_that_more_users_get_as_many_conversations_each() -> None:
    workload = of(turns=4, requests=24, users=2)
    assert workload.conversations == 6
    assert workload.with_users(8).requests == 96
    assert workload.with_users(1).requests == 12
    assert not workload.with_users(8).problems()
    assert of(turns=4, requests=10).with_users(3).requests == 36


# --- Context ----------------------------------------------------------------------------


def test_that_the_context_is_that_of_the_whole_longest_conversation() -> None:
    workload = of(
        prompt_tok=Fixed(100), later_tok=Fixed(50), answer_tok=Fixed(30), turns=3, requests=7
    )
    assert workload.needed_ctx_tok() == OPENING_TOK + 3 * (TURN_TOK + 30) + 110 + 2 * 55
    after = workload.context_after(outlines_of(workload)[0])
    assert after == (188, 289, 390)


def test_that_the_prefix_counts_into_the_context() -> None:
    plain, shared = of(prompt_tok=Fixed(100)), of(prompt_tok=Fixed(100), prefix_share=0.5)
    assert shared.needed_ctx_tok() == plain.needed_ctx_tok() + 110


def test_that_the_context_is_by_what_is_drawn_not_by_what_could_be() -> None:
    workload = of(prompt_tok=Uniform(10, 900_000), answer_tok=Fixed(1), requests=4)
    longest = max(each.turns[0].prompt_tok for each in outlines_of(workload))
    assert workload.needed_ctx_tok() == OPENING_TOK + TURN_TOK + 1 + longest + math.ceil(
        longest / 10
    )


@pytest.mark.parametrize("preset", PRESETS)
def test_that_presets_fit_into_the_context_of_a_small_model(preset: str) -> None:
    workload = PRESETS[preset].workload
    assert workload.problems() == ()
    assert fit_problem(workload, 4096) is None


def test_that_what_is_too_long_is_told_with_its_turn_and_what_would_hold_it() -> None:
    workload = of(name="talk", prompt_tok=Fixed(1000), answer_tok=Fixed(100), turns=4, requests=8)
    problem = fit_problem(workload, 2048)
    assert problem is not None
    assert problem.message == (
        "Turn 2 of conversation 1 of talk takes about 2,464 tokens of context, 416 more than the "
        "2,048 of a slot. Set the context per slot to 5,120, which holds the whole workload, or "
        "lower prompt_tok, answer_tok or turns."
    )
    assert problem.keys == ("ctx_per_slot_tok",)
    assert problem.fix == {"ctx_per_slot_tok": 5120}
    assert fit_problem(workload, 5120) is None


def test_that_a_conversation_too_long_for_a_slot_is_told() -> None:
    long = Recording("Long", (Exchange("word " * 2000, "answer " * 500),))
    workload = of(material=Material.CONVERSATION, recording=long, requests=1)
    problem = fit_problem(workload, 1024)
    assert problem is not None
    assert "or replay a shorter conversation." in problem.message


def test_that_exactly_the_needed_context_is_enough() -> None:
    workload = of(prompt_tok=Fixed(500))
    needed_tok = workload.needed_ctx_tok()
    assert fit_problem(workload, needed_tok) is None
    assert fit_problem(workload, needed_tok - 1) is not None
