"""The tuner's table: recording it on a made-up engine, its file, and tuning it again and again."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import product
from pathlib import Path

import msgspec
import pytest

from app.experiments.experiment import Cell, Experiment, Figures, Kind, State, Subject
from app.experiments.measuring import Measured, changed_values
from app.experiments.player import Progressed
from app.experiments.port import ConfigRefusedError, EnginePort
from app.experiments.tune_bench import TuneBench
from app.experiments.tune_result import KEPT
from app.experiments.workload_file import kept_json
from engine_bridge.protocol import Applied
from engine_bridge.settings.config import EngineConfig
from tests.bench import tuner_recording, tuner_replay, tuner_table
from tests.bench.tuner_recording import Wanted, record
from tests.bench.tuner_replay import Replay, TableBench, replay
from tests.bench.tuner_table import Domain, Table, TableError
from tests.unit.experiments.fake_port import FakeEngine, FakePort, requests_sent
from tests.unit.experiments.made_up import SMALL, SUBJECT, Listener, small_runner

_BASE = EngineConfig(model_path="/m.gguf")
_DOMAIN: Domain = {"slots": (1, 2), "threads": (1, 2)}
_ROUNDS = 3


def by_threads(config: EngineConfig) -> FakeEngine:
    step_s = 0.03 if config.threads == "auto" else 0.03 / config.threads
    return FakeEngine(step_s=lambda streams: step_s)


class Counting:
    """A runner that counts its runs, and is killed in the middle of one."""

    def __init__(self, killed_after: int | None = None) -> None:
        self.runs = 0
        self._runner = small_runner()
        self._killed_after = killed_after

    def warm_up(self, port: EnginePort) -> None:
        self._runner.warm_up(port)

    def run(
        self,
        port: EnginePort,
        applied: Applied,
        *,
        variant: int = 0,
        progressed: Progressed | None = None,
    ) -> Measured:
        if self.runs == self._killed_after:
            raise KeyboardInterrupt
        self.runs += 1
        return self._runner.run(port, applied, variant=variant, progressed=progressed)


def recorded(
    path: Path,
    runner: Counting | None = None,
    *,
    rounds: int = _ROUNDS,
    subject: Subject = SUBJECT,
    domain: Domain = _DOMAIN,
    is_anew: bool = False,
    said: list[str] | None = None,
) -> Table:
    return record(
        FakePort(by_threads), Wanted(_BASE, domain, rounds, SMALL), subject, path, Listener(),
        is_anew=is_anew, runner=runner or Counting(),
        say=print if said is None else said.append,
    )  # fmt: skip


# --- Recording ------------------------------------------------------------------------------


def test_that_every_combination_is_measured_in_every_round_and_kept(tmp_path: Path) -> None:
    path, runner = tmp_path / "table.json", Counting()
    table = recorded(path, runner)
    assert (runner.runs, table.runs, len(table.ranked)) == (12, 12, 4)
    assert table.is_complete
    assert tuner_table.read_complete(path) == table
    assert table.ranked[0][0] == _BASE.with_values({"slots": 2, "threads": 2})


def test_that_what_was_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    with pytest.raises(KeyboardInterrupt):
        recorded(path, Counting(killed_after=7))
    cut = tuner_table.read(path)
    assert (cut.runs, cut.is_complete) == (7, False)
    with pytest.raises(TableError, match="not complete; --only table goes on"):
        tuner_table.read_complete(path)
    rest = Counting()
    table = recorded(path, rest)
    assert (rest.runs, table.runs) == (5, 12)
    before = {cell.name: cell.runs for cell in cut.experiment.cells}
    for cell in table.experiment.cells:
        assert cell.runs[: len(before[cell.name])] == before[cell.name]


def test_that_a_complete_table_is_used_as_it_is_and_more_rounds_are_added(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    table = recorded(path)
    again, more = Counting(), Counting()
    assert recorded(path, again).experiment == table.experiment
    assert recorded(path, more, rounds=_ROUNDS + 2).runs == 20
    assert (again.runs, more.runs) == (0, 8)


@pytest.mark.parametrize(
    ("subject", "domain", "why"),
    [
        (msgspec.structs.replace(SUBJECT, model_sha256="cd" * 32), _DOMAIN, "model"),
        (msgspec.structs.replace(SUBJECT, machine="another"), _DOMAIN, "machine"),
        (msgspec.structs.replace(SUBJECT, engine="another"), _DOMAIN, "engine"),
        (SUBJECT, {"slots": (1, 4), "threads": (1, 2)}, "combinations"),
    ],
)
def test_that_runs_of_something_else_are_not_mixed_in(
    tmp_path: Path, subject: Subject, domain: Domain, why: str
) -> None:
    path, said, runner = tmp_path / "table.json", list[str](), Counting()
    recorded(path)
    table = recorded(path, runner, subject=subject, domain=domain, said=said)
    assert (runner.runs, table.runs) == (12, 12)
    assert len(said) == 1
    assert why in said[0]


def test_that_a_table_is_recorded_anew_where_that_is_wanted(tmp_path: Path) -> None:
    path, said, runner = tmp_path / "table.json", list[str](), Counting()
    recorded(path)
    recorded(path, runner, is_anew=True, said=said)
    assert (runner.runs, said) == (12, [])


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_that_a_file_cut_off_is_said_and_recorded_anew(tmp_path: Path, share: float) -> None:
    path, said, runner = tmp_path / "table.json", list[str](), Counting()
    recorded(path)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(TableError, match="cannot be read"):
        tuner_table.read(path)
    recorded(path, runner, said=said)
    assert runner.runs == 12
    assert "recorded anew" in said[0]


def test_that_combinations_which_rules_forbid_are_skipped_with_the_reason(tmp_path: Path) -> None:
    domain: Domain = {"flash_attn": ("off", "on"), "cache_type_v": ("f16", "q8_0")}
    table = recorded(tmp_path / "table.json", domain=domain)
    (skipped,) = (cell for cell in table.experiment.cells if cell.skipped)
    assert "needs flash attention" in skipped.skipped
    assert (len(table.ranked), table.runs) == (3, 9)


def test_that_the_real_table_has_60_configurations_that_all_can_run_and_fit() -> None:
    base = tuner_recording.base_config(Path("/m.gguf"))
    cells = tuner_recording.combinations(base, tuner_recording.DOMAIN)
    assert len(cells) >= 60
    assert not any(cell.skipped for cell in cells)
    assert base.slot_cap_tok >= tuner_recording.WORK.needed_ctx_tok()
    # More slots than users would be told apart from as many by nothing.
    assert max(cell.config.slots for cell in cells) <= tuner_recording.WORK.users
    tuner_recording.WORK.check()


def test_that_the_warm_up_is_short_and_every_user_takes_part_in_it() -> None:
    port = FakePort()
    port.apply(_BASE)
    runner = tuner_recording.ShortRunner()
    runner.warm_up(port)
    # The first asks how many characters a token has.
    _, *asked = requests_sent(port)
    assert len(asked) == tuner_recording.WORK.users
    assert {command.max_new_tok for command in asked} == {2}


# --- A table that is made up ----------------------------------------------------------------

_WIDE: Domain = {
    "slots": (1, 2, 4, 8),
    "threads": (1, 2),
    "ubatch_tok": (32, 512),
    "flash_attn": ("off", "on"),
    "cache_type_k": ("f16", "q8_0"),
}


def speed(config: EngineConfig) -> float:
    """Threads help, slots help with two threads only, a quantised cache costs."""
    slots = {1: 1.0, 2: 1.2, 4: 1.5, 8: 1.4}[config.slots] if config.threads == 2 else 1.0
    ubatch = 1.1 if config.ubatch_tok == 512 and config.slots >= 4 else 1.0
    cache = 0.94 if config.cache_type_k == "q8_0" else 1.0
    flash = 1.04 if config.flash_attn == "on" else 1.0
    return 20.0 * int(config.threads) * slots * ubatch * cache * flash


def made_table(
    domain: Domain = _DOMAIN,
    speed_of: Callable[[EngineConfig], float] = speed,
    *,
    runs: int = 4,
    noise: float = 0.0,
) -> Table:
    """A table whose runs scatter around ``speed_of``."""
    chance = random.Random(1)
    cells = []
    for values in product(*domain.values()):
        config = _BASE.with_values(dict(zip(domain, values, strict=True)))
        figures = tuple(
            Figures(total_tok_s=speed_of(config) * chance.gauss(1.0, noise), requests=8)
            for _ in range(runs)
        )
        name = tuner_table.name_in(domain, config)
        cells.append(
            Cell(name, config=changed_values(config), runs=figures, disturbed=("",) * runs)
        )
    experiment = Experiment(
        key="k", kind=Kind.SWEEP, begun_at="2026-11-30", state=State.DONE, title="t",
        subject=SUBJECT, workload=kept_json(SMALL), cells=tuple(cells),
    )  # fmt: skip
    return Table(domain, experiment)


def test_that_shares_are_those_of_the_best_median() -> None:
    table = made_table()
    best, worst = table.ranked[0], table.ranked[-1]
    assert best[1] == pytest.approx(48.0)
    assert table.share_of_best(worst[0]) == pytest.approx(20 / 48)
    assert table.share_of_best(_BASE.with_values({"slots": 16})) == 0.0


def test_that_a_seed_begins_at_the_same_place_again_and_others_elsewhere() -> None:
    table = made_table(_WIDE)
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
    bench, strange = TableBench(table, 1), _BASE.with_values({"slots": 16, "threads": 1})
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
    goal = tuner_replay.goal_of(made_table(_WIDE))
    goal.check()
    assert (goal.measurements, goal.configurations) == (64, 16)
    assert (goal.users, goal.domain) == (SMALL.users, _WIDE)


def test_that_the_real_tuner_finds_the_best_of_a_table_with_interactions() -> None:
    table = made_table(_WIDE, runs=5, noise=0.01)
    replays = [replay(table, seed) for seed in range(1, 11)]
    summary = tuner_replay.summary(replays)
    assert summary["is_met"], "\n".join(tuner_replay.lines(replays, summary))
    # Not by having begun there.
    assert summary["median_start_share_of_best"] < 0.8


# --- What a table says ----------------------------------------------------------------------


def test_that_a_table_tells_its_spread_and_what_can_be_told_apart() -> None:
    quiet = tuner_table.as_json(made_table(noise=0.001))
    loud = tuner_table.as_json(made_table(noise=0.5))
    assert quiet["median_spread_share"] < 0.01 < loud["median_spread_share"]
    assert loud["pairs_told_apart_share"] < quiet["pairs_told_apart_share"]
    # With one thread slots change nothing; all other pairs differ.
    assert quiet["pairs_told_apart_share"] == pytest.approx(5 / 6)
    assert quiet["best"]["name"] == "slots=2, threads=2"
    assert (quiet["configurations"], quiet["runs"]) == (4, 16)
    text = "\n".join(tuner_table.lines(quiet))
    assert "slots=2, threads=2" in text
    assert "83 % of all pairs" in text


def test_that_runs_disturbed_are_counted() -> None:
    table = made_table()
    cells = list(table.experiment.cells)
    cells[1] = msgspec.structs.replace(cells[1], disturbed=("Loud.", "", "", "Loud."))
    loud = Table(table.domain, msgspec.structs.replace(table.experiment, cells=tuple(cells)))
    assert tuner_table.as_json(loud)["disturbed_runs"] == 2
