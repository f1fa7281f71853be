"""The tuner on a table, again and again: what it is given, what is counted, what is a hit."""

from __future__ import annotations

import msgspec
import pytest

from app.experiments.experiment import Experiment, Kind, State
from app.experiments.port import ConfigRefusedError
from app.experiments.tune_bench import TuneBench
from app.experiments.tune_result import KEPT
from engine_bridge.settings.config import EngineConfig
from tests.bench import tuner_replay
from tests.bench.tuner_replay import Replay, TableBench, replay
from tests.bench.tuner_table import Table
from tests.unit.experiments.made_up import SMALL
from tests.unit.made_table import BASE, WIDE, made_table


def test_that_a_seed_begins_at_the_same_place_again_and_others_elsewhere() -> None:
    table = made_table(WIDE)
    starts = [table.start(seed) for seed in range(20)]
    assert starts == [table.start(seed) for seed in range(20)]
    assert len(set(starts)) > 10
    assert set(starts) <= set(table.cells)


def test_that_each_run_is_given_once_before_one_comes_again() -> None:
    table = made_table(noise=0.05)
    config = table.ranked[0][0]
    recorded_ones = sorted(run.total_tok_s or 0 for run in table.cells[config].runs)
    bench = TableBench(table, seed=3)
    given = [bench.measure(config).total_tok_s or 0 for _ in range(8)]
    assert sorted(given[:4]) == sorted(given[4:]) == recorded_ones
    assert (bench.runs, bench.given[config]) == (8, 8)


def test_that_the_seed_alone_says_which_runs_are_given() -> None:
    table = made_table(noise=0.05, runs=5)
    first, second = table.ranked[0][0], table.ranked[1][0]

    def given(seed: int, others: int) -> list[float | None]:
        bench = TableBench(table, seed)
        for _ in range(others):
            bench.measure(second)
        return [bench.measure(first).total_tok_s for _ in range(5)]

    assert given(1, 0) == given(1, 3)
    assert len({tuple(given(seed, 0)) for seed in range(6)}) > 1


def test_that_what_was_not_recorded_does_not_fit_and_is_refused() -> None:
    table = made_table()
    bench, strange = TableBench(table, 1), BASE.with_values({"slots": 16, "threads": 1})
    assert bench.fits(strange) == "slots=16, threads=1 is not in the recorded table."
    assert bench.fits(table.ranked[0][0]) == ""
    with pytest.raises(ConfigRefusedError, match="not in the recorded table"):
        bench.measure(strange)
    assert bench.runs == 0


def test_that_a_disturbance_is_told_with_its_run() -> None:
    table = made_table(runs=1)
    cells = tuple(
        msgspec.structs.replace(cell, disturbed=(f"{cell.name} was disturbed.",))
        for cell in table.experiment.cells
    )
    loud = Table(table.domain, msgspec.structs.replace(table.experiment, cells=cells))
    bench, config = TableBench(loud, 1), loud.ranked[2][0]
    bench.measure(config)
    assert bench.disturbed() == f"{loud.name_of(config)} was disturbed."


# --- Tuning it ------------------------------------------------------------------------------


def taking(config: EngineConfig, runs: int) -> tuner_replay.Tuner:
    """A tuner that measures one configuration so often and keeps it."""

    def tuned(bench: TuneBench, start: EngineConfig, *_: object) -> Experiment:
        figures = tuple(bench.measure(config) for _ in range(runs))
        cell = msgspec.structs.replace(bench.cell(config), runs=figures, extra={KEPT: 1.0})
        return Experiment(
            key="k", kind=Kind.TUNE, begun_at="2026-11-30", state=State.DONE, title="t",
            subject=bench.subject(), cells=(bench.cell(start), cell),
        )  # fmt: skip

    return tuned


def test_that_runs_and_configurations_are_counted() -> None:
    table = made_table()
    best = table.ranked[0][0]
    found = replay(table, 1, taking(best, runs=4))
    assert (found.measurements, found.share_of_measurements) == (4, 0.25)
    assert (found.configurations, found.share_of_configurations) == (1, 0.25)
    assert (found.found, found.share_of_best) == (table.name_of(best), 1.0)
    assert found.is_met


def test_that_one_run_more_than_a_quarter_is_a_miss_and_so_is_a_slow_setting() -> None:
    table = made_table()
    assert not replay(table, 1, taking(table.ranked[0][0], runs=5)).is_met
    assert not replay(table, 1, taking(table.ranked[1][0], runs=2)).is_met


def test_that_a_tuner_that_ends_with_nothing_is_a_miss() -> None:
    def failing(bench: TuneBench, *_: object) -> Experiment:
        return Experiment(
            key="k", kind=Kind.TUNE, begun_at="2026-11-30", state=State.FAILED, title="t",
            subject=bench.subject(),
        )  # fmt: skip

    found = replay(made_table(), 1, failing)
    assert (found.found, found.share_of_best, found.is_met) == (None, 0.0, False)


def _replays(met: int, missed: int) -> list[Replay]:
    def one(seed: int, share: float) -> Replay:
        return Replay(
            seed, "a", "b", start_share_of_best=0.5, share_of_best=share, measurements=10,
            share_of_measurements=0.1, configurations=4, share_of_configurations=0.06,
        )  # fmt: skip

    shares = [0.97] * met + [0.9699] * missed
    return [one(seed, share) for seed, share in enumerate(shares, start=1)]


def test_that_18_of_20_seeds_are_the_target() -> None:
    enough, too_few = _replays(18, 2), _replays(17, 3)
    assert tuner_replay.summary(enough)["is_met"]
    assert not tuner_replay.summary(too_few)["is_met"]
    assert tuner_replay.lines(enough, tuner_replay.summary(enough))[-1].endswith("18: met")
    assert tuner_replay.lines(too_few, tuner_replay.summary(too_few))[-1].endswith("17: MISSED")


def test_that_replays_are_told_as_the_issue_names_them() -> None:
    first, *_ = tuner_replay.as_json(_replays(1, 0))
    assert {"seed", "share_of_best", "share_of_measurements"} <= first.keys()
    assert first["is_met"]


def test_that_the_tuner_may_spend_a_quarter_of_runs_and_of_configurations() -> None:
    goal = tuner_replay.goal_of(made_table(WIDE))
    goal.check()
    assert (goal.measurements, goal.configurations) == (64, 16)
    assert (goal.users, goal.domain) == (SMALL.users, WIDE)


def test_that_the_real_tuner_finds_the_best_of_a_table_with_interactions() -> None:
    table = made_table(WIDE, runs=5, noise=0.01)
    replays = [replay(table, seed) for seed in range(1, 11)]
    summary = tuner_replay.summary(replays)
    assert summary["is_met"], "\n".join(tuner_replay.lines(replays, summary))
    # Not by having begun there.
    assert summary["median_start_share_of_best"] < 0.8
