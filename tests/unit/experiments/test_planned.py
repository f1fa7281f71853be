"""What experiments are going to do, in numbers and a sentence."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from app.experiments.compare import Comparison
from app.experiments.experiment import Cell, Experiment, Figures, Kind, State, Subject
from app.experiments.grid import grid_of
from app.experiments.measures import BY_FIGURE
from app.experiments.planned import (
    planned_compare,
    planned_quality,
    planned_runs,
    planned_sweep,
    planned_users,
    work_words,
)
from app.experiments.presets import PRESETS
from app.experiments.quality import QualityAsked
from app.experiments.users_cell import LONG_PROMPTS, USERS
from app.experiments.users_plan import UsersPlan
from engine_bridge.settings.config import EngineConfig
from tests.unit.experiments.made_up import SMALL

_CONFIG = EngineConfig(model_path="/m.gguf")
_RUN = Figures(requests=4)
_LIMITED = msgspec.structs.replace(SMALL, ttft_slo_s=1.0)


def kept(kind: Kind, *cells: Cell) -> Experiment:
    """An experiment to go on with."""
    return Experiment("k", kind, "", State.STOPPED, "", Subject(), cells=cells)


def test_that_the_work_of_a_run_is_told_in_tokens() -> None:
    # Four requests of 64 tokens, each answered with 12.
    assert work_words(SMALL) == "4 requests (about 256 prompt and 48 answer tokens)"
    one = msgspec.structs.replace(SMALL, requests=1, users=1)
    assert work_words(one).startswith("1 request (")


def test_that_the_work_of_a_huge_run_is_told_by_a_part_of_it() -> None:
    huge = msgspec.structs.replace(SMALL, requests=100_000)
    assert work_words(huge) == (
        "100,000 requests (about 6,400,000 prompt and 1,200,000 answer tokens)"
    )


@pytest.mark.parametrize("name", list(PRESETS))
def test_that_every_preset_has_words(name: str) -> None:
    assert "requests (about" in work_words(PRESETS[name].workload)


def test_that_a_bench_says_how_many_runs() -> None:
    planned = planned_runs(SMALL, 5)
    assert planned.sentence == (
        "Planned: a warm-up and 5 runs, 4 requests (about 256 prompt and 48 answer tokens) each."
    )
    assert (planned.runs, planned.requests) == (5, 20)
    assert "5 runs on each of 2" in planned_runs(SMALL, 5, sides=2).sentence


def test_that_a_sweep_says_how_many_runs_and_what_is_left_out() -> None:
    cells = grid_of(_CONFIG, ["slots=1,2", "threads=1,2"])
    planned = planned_sweep(cells, 5, SMALL)
    assert planned.sentence.startswith("Planned: 4 combinations × 5 rounds, 20 runs of 4 requests")
    assert (planned.runs, planned.requests, planned.left_out) == (20, 80, {})
    without = (replace(cells[0], skipped="No room."), *cells[1:])
    planned = planned_sweep(without, 5, SMALL)
    assert planned.sentence.endswith("1 combination cannot run.")
    assert (planned.runs, planned.left_out) == (15, {cells[0].name: "No room."})


def test_that_a_sweep_that_is_gone_on_with_says_what_is_left() -> None:
    cells = grid_of(_CONFIG, ["slots=1,2"])
    before = kept(Kind.SWEEP, Cell("a", runs=(_RUN,) * 2), Cell("b", runs=(_RUN,)))
    planned = planned_sweep(cells, 2, SMALL, before)
    assert planned.runs == 1
    assert planned.sentence.endswith("1 run of them is left.")


def test_that_a_comparison_says_its_least_and_its_most() -> None:
    asked = Comparison(_CONFIG, _CONFIG, BY_FIGURE["tpot_s"], 12, 600.0)
    planned = planned_compare(asked, SMALL)
    assert planned.sentence.startswith("Planned: 4 to 12 pairs of runs of 4 requests")
    assert planned.sentence.endswith("no pair is begun after 10 min.")
    assert (planned.runs, planned.requests) == (24, 96)
    before = kept(Kind.COMPARE, Cell("A", runs=(_RUN,) * 5), Cell("B", runs=(_RUN,) * 5))
    assert planned_compare(asked, SMALL, before).runs == 14


def test_that_numbers_of_users_are_named() -> None:
    planned = planned_users(UsersPlan(SMALL, numbers=(1, 4), requests=8, long_prompt_tok=500))
    assert planned.sentence.startswith("Planned: 3 runs (1 user, 4 users) of ")
    assert planned.sentence.endswith("the last run with long prompts among them.")
    before = kept(
        Kind.USERS,
        Cell("1 user", runs=(_RUN,), extra={USERS: 1.0}),
        Cell("long", runs=(_RUN,), extra={USERS: 1.0, LONG_PROMPTS: 3.0}),
    )
    planned = planned_users(
        UsersPlan(SMALL, numbers=(1, 4), requests=8, long_prompt_tok=500), before
    )
    assert planned.sentence.startswith("Planned: 1 run (4 users) of ")
    assert "long" not in planned.sentence


def test_that_rates_say_how_long_requests_take_to_arrive() -> None:
    planned = planned_users(UsersPlan(SMALL, rates=(0.5, 2.0), requests=20))
    assert planned.sentence == (
        "Planned: 2 runs (0.5 req/s, 2 req/s) of 20 requests, which arrive within about 50 s in "
        "all."
    )
    assert planned.requests == 40


def test_that_a_search_says_that_it_depends_on_what_it_finds() -> None:
    planned = planned_users(UsersPlan(_LIMITED, is_search=True, most=16))
    # 1, 2, 4, 8, 16; up to three between two of them; each of the two at the edge twice more.
    assert planned.runs == 5 + 3 + 4
    assert "among 1 to 16 users, at most 12 runs" in planned.sentence


def test_that_a_comparison_of_caches_is_told() -> None:
    asked = QualityAsked(_CONFIG, ({"cache_type_k": "q8_0"},), "text", facts=8)
    assert planned_quality(asked).sentence == (
        "Planned: 1 candidate beside f16, at most 20 chunks of 512 tokens each, then 8 facts told "
        "in 2,048 tokens."
    )
