"""How long an experiment takes, on a machine whose speed is known."""

from __future__ import annotations

import msgspec
import pytest

from app.experiment_estimate import Engine, Work, estimate_words, run_seconds
from app.experiments.lengths import Fixed
from app.experiments.workload import Material, Workload
from engine_bridge.metrics.prediction import Predictor
from tests.unit.test_prediction import (
    PLAIN,
    SIZE,
    runs_of,
    true_decode_s,
    true_prefill_s,
)

WORK = Workload(
    name="toy", material=Material.PROSE, prompt_tok=Fixed(400), answer_tok=Fixed(100), requests=8
)
ENGINE = Engine(Predictor(runs_of(seed=1, noise=0.0, count=30), SIZE), PLAIN, 2)


def test_that_a_run_takes_what_its_prompts_and_answers_take() -> None:
    assert ENGINE.predictor is not None
    found = run_seconds(WORK, ENGINE.predictor, ENGINE)
    assert isinstance(found, float)
    expected = 8 * (true_prefill_s(PLAIN, 400) + 100 * true_decode_s(PLAIN, 1, 250))
    assert found == pytest.approx(expected, rel=0.1)


def test_that_users_write_together_but_no_more_than_there_are_slots() -> None:
    assert ENGINE.predictor is not None
    seconds = [
        run_seconds(msgspec.structs.replace(WORK, users=users), ENGINE.predictor, ENGINE)
        for users in (1, 2, 8)
    ]
    one, two, eight = seconds
    assert isinstance(one, float)
    assert isinstance(two, float)
    assert two < one
    assert eight == two


def test_that_the_sentence_says_the_whole_or_what_is_missing() -> None:
    words = estimate_words(Work(((WORK, 6),)), ENGINE)
    assert words.startswith("About ")
    assert words.endswith(" for 6 runs, by what was measured of this model.")
    assert estimate_words(Work(((WORK, 6),), is_most=True), ENGINE).startswith("At most about ")
    fresh = Engine(Predictor((), SIZE), PLAIN, 2)
    assert estimate_words(Work(((WORK, 1),)), fresh) == (
        "1 run; how long they take is not known yet: no prompt was read by this model here."
    )
    unknown = Engine(None, PLAIN, 2)
    assert estimate_words(Work(((WORK, 2),)), unknown) == (
        "2 runs; nothing was measured of this model yet."
    )
    assert estimate_words(None, ENGINE) == ""


def test_that_the_smaller_of_runs_and_limit_is_told() -> None:
    whole = estimate_words(Work(((WORK, 6),), is_most=True), ENGINE)
    roomy = estimate_words(Work(((WORK, 6),), is_most=True, most_s=86_400.0), ENGINE)
    assert roomy == whole
    short = estimate_words(Work(((WORK, 6_000),), is_most=True, most_s=600.0), ENGINE)
    assert short == "At most about 10 min, for no run begins after it."
    fresh = Engine(None, ENGINE.settings, 1)
    assert estimate_words(Work(((WORK, 9),), is_most=True, most_s=600.0), fresh).startswith(
        "At most 9 runs within 10 min;"
    )
