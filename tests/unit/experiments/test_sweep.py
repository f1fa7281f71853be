"""Sweeps on a made-up engine whose speed depends on its settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import msgspec
import pytest

from app.experiments.conditions import Conditions
from app.experiments.experiment import Experiment, State
from app.experiments.grid import GridCell, grid_of
from app.experiments.measures import BY_FIGURE
from app.experiments.measuring import Measured
from app.experiments.player import Progressed
from app.experiments.port import EnginePort
from app.experiments.ranking import ranking_of
from app.experiments.runner import Runner
from app.experiments.sweep import AGAIN, Sweep, sweep
from app.experiments.sweep_resume import begun, resumed
from engine_bridge.protocol import Applied, Generate
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import DomainError
from tests.unit.experiments.fake_port import DIED, FakeEngine, FakePort
from tests.unit.experiments.made_up import SMALL, SUBJECT, Listener, small_runner

_BASE = EngineConfig(model_path="/m.gguf", slots=2)
_TOTAL = BY_FIGURE["total_tok_s"]
_Behaviour = Callable[[EngineConfig], FakeEngine]


def by_threads(config: EngineConfig) -> FakeEngine:
    """3 threads are the fastest, 4 too many; two slots are better than one."""
    step_s = {1: 0.030, 2: 0.020, 3: 0.015, 4: 0.018}[int(config.threads)]
    return FakeEngine(step_s=lambda streams: step_s, owned_bytes=config.slots << 30)


def asked_of(*words: str, rounds: int = 5, base: EngineConfig = _BASE) -> Sweep:
    return Sweep(grid_of(base, words), _TOTAL, rounds)


def swept(
    asked: Sweep,
    engine: _Behaviour = by_threads,
    *,
    runner: Runner | None = None,
    port: FakePort | None = None,
    listener: Listener | None = None,
    kept: Experiment | None = None,
) -> Experiment:
    port = port or FakePort(engine)
    if kept is None:
        experiment = begun(asked, SUBJECT, SMALL, key="k", begun_at="2026-11-30", title="A sweep")
    else:
        experiment = resumed(kept, asked, SUBJECT, SMALL)
    return sweep(
        port,
        asked,
        runner or small_runner(),
        listener or Listener(),
        experiment,
        clock=lambda: port.now_ns / 1e9,
    )


class SpoiltRunner:
    """A runner some of whose runs are disturbed, by their number from 0."""

    def __init__(self, disturbed: set[int]) -> None:
        self._runner = small_runner()
        self._disturbed = disturbed
        self.runs = 0

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
        measured = self._runner.run(port, applied, variant=variant, progressed=progressed)
        sentence = f"Run {self.runs} was loud." if self.runs in self._disturbed else ""
        self.runs += 1
        return replace(measured, disturbed=sentence)


def test_that_the_best_is_found_and_every_cell_is_measured_in_every_round() -> None:
    experiment = swept(asked_of("threads=1,2,3,4"))
    assert experiment.state is State.DONE
    assert [len(cell.runs) for cell in experiment.cells] == [5] * 4
    assert ranking_of(experiment.cells, _TOTAL).best == 2
    assert experiment.conclusion[0].startswith("Best in total throughput: threads=3 (")
    assert experiment.conclusion[0].endswith("All others are worse beyond their spread.")
    assert experiment.cells[2].config == {"slots": 2, "threads": 3}
    assert experiment.cells[2].extra["pareto"] == 1.0
    assert "pareto" not in experiment.cells[0].extra


def test_that_all_runs_do_the_same_work_and_each_visit_warms_up_first() -> None:
    port = FakePort(by_threads)
    experiment = swept(asked_of("threads=1,2"), port=port)
    assert {run.new_tok for cell in experiment.cells for run in cell.runs} == {4 * 12}
    prompts = [
        command.messages[-1].content for command in port.sent if isinstance(command, Generate)
    ]
    # One that counts tokens; ten visits, each with two openings before its four requests.
    assert len(prompts) == 1 + 10 * (2 + 4)
    assert len(port.applied) == 10


def test_that_each_run_is_kept_as_it_ends_and_progress_only_grows() -> None:
    listener = Listener()
    swept(asked_of("threads=1,2", rounds=3), listener=listener)
    kept = [sum(len(cell.runs) for cell in one.cells) for one in listener.kept_ones]
    assert kept == [1, 2, 3, 4, 5, 6, 6]
    assert [one.state for one in listener.kept_ones[:-1]] == [State.RUNNING] * 6
    shares = [share for share, _, _ in listener.told]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert listener.told[0][1].startswith("Round 1 of 3: threads=")
    lefts = [left_s for _, _, left_s in listener.told if left_s is not None]
    assert lefts[0] > lefts[-1] >= 0


def drifting(config: EngineConfig) -> FakeEngine:
    """Settings 4 % apart, on a machine that slows down by half a per cent a second."""
    step_s = {1: 0.0216, 2: 0.0208, 3: 0.0200, 4: 0.0212, 5: 0.0204}[int(config.threads)]
    return FakeEngine(step_s=lambda streams: step_s, slowdown=lambda clock_s: 1 + 0.005 * clock_s)


def test_that_a_machine_that_slows_down_does_not_change_the_ranking() -> None:
    asked = asked_of("threads=1,2,3,4,5", rounds=6)
    port = FakePort(drifting)
    experiment = swept(asked, port=port)
    first = max(cell.runs[0].total_tok_s or 0 for cell in experiment.cells)
    last = max(cell.runs[-1].total_tok_s or 0 for cell in experiment.cells)
    assert last < 0.9 * first  # more than lies between any two of them
    ranking = ranking_of(experiment.cells, _TOTAL)
    assert (ranking.best, *ranking.alike, *ranking.worse) == (2, 4, 1, 3, 0)

    # The same machine, one setting after the other: the first ones come out on top.
    port, runner = FakePort(drifting), small_runner()
    speeds = []
    for cell in asked.cells:
        applied = port.apply(cell.config)
        runs = [runner.run(port, applied).figures.total_tok_s or 0 for _ in range(6)]
        speeds.append(sum(runs))
    assert speeds.index(max(speeds)) != 2


def test_that_a_cell_that_kills_the_engine_says_so_and_the_rest_goes_on() -> None:
    def engine(config: EngineConfig) -> FakeEngine:
        return replace(by_threads(config), kills=config.threads == 2)

    experiment = swept(asked_of("threads=1,2,3"), engine)
    assert experiment.state is State.DONE
    assert experiment.cells[1].skipped == DIED
    assert [len(cell.runs) for cell in experiment.cells] == [5, 0, 5]
    assert "threads=3" in experiment.conclusion[0]


def test_that_an_engine_that_dies_in_a_run_costs_only_that_cell() -> None:
    def engine(config: EngineConfig) -> FakeEngine:
        return replace(by_threads(config), dies_after=4 if config.threads == 1 else None)

    experiment = swept(asked_of("threads=1,3"), engine)
    assert experiment.cells[0].skipped == DIED
    assert len(experiment.cells[1].runs) == 5


def test_that_a_refused_configuration_is_told_with_the_engines_reason() -> None:
    def engine(config: EngineConfig) -> FakeEngine:
        return replace(by_threads(config), refusal="Not that." if config.threads == 2 else "")

    experiment = swept(asked_of("threads=1,2"), engine)
    assert experiment.cells[1].skipped == "Not that."
    assert len(experiment.cells[0].runs) == 5


def test_that_a_cell_all_of_whose_requests_fail_is_given_up() -> None:
    def engine(config: EngineConfig) -> FakeEngine:
        def refuses(command: Generate) -> str:
            return "Too long." if config.threads == 2 and not command.as_completion else ""

        return replace(by_threads(config), refuses=refuses)

    experiment = swept(asked_of("threads=1,2"), engine)
    assert "Too long." in experiment.cells[1].skipped
    assert experiment.cells[1].runs == ()


def test_that_combinations_that_cannot_run_are_never_applied() -> None:
    cells = grid_of(_BASE, ["threads=1,2"])
    asked = Sweep((cells[0], replace(cells[1], skipped="A rule.")), _TOTAL, 2)
    port = FakePort(by_threads)
    experiment = swept(asked, port=port)
    assert {config.threads for config in port.applied} == {1}
    assert experiment.cells[1].skipped == "A rule."


def test_that_a_disturbed_run_is_repeated_once_at_the_end_and_replaced() -> None:
    runner = SpoiltRunner({3})
    experiment = swept(asked_of("threads=1,3"), runner=runner)
    assert runner.runs == 11
    assert [any(cell.disturbed) for cell in experiment.cells] == [False, False]
    notes = [note for cell in experiment.cells for note in cell.notes]
    assert notes == ["Run 2 was repeated at the end, for it was disturbed: Run 3 was loud."]


def test_that_a_run_disturbed_again_keeps_its_mark_and_is_not_repeated_for_ever() -> None:
    runner = SpoiltRunner({3, 10})
    asked = asked_of("threads=1,3")
    experiment = swept(asked, runner=runner)
    marks = [sentence for cell in experiment.cells for sentence in cell.disturbed if sentence]
    assert marks == ["Run 3 was loud." + AGAIN]
    again = SpoiltRunner(set())
    swept(asked, runner=again, kept=experiment)
    assert again.runs == 0


def test_that_nothing_is_repeated_where_most_runs_were_disturbed() -> None:
    runner = SpoiltRunner(set(range(6)))
    experiment = swept(asked_of("threads=1,3"), runner=runner)
    assert runner.runs == 10
    assert experiment.conclusion[-1].startswith("6 of 10 runs were disturbed, so none was repeated")


@pytest.mark.parametrize("rounds", [0, -1, 101])
def test_that_a_budget_of_no_round_is_refused_in_a_sentence(rounds: int) -> None:
    with pytest.raises(DomainError, match="takes 1 to 100 rounds"):
        asked_of("threads=1,2", rounds=rounds).check()


def test_that_a_sweep_of_which_nothing_can_run_is_refused_with_all_reasons() -> None:
    cells = (GridCell("a", _BASE, "First."), GridCell("b", _BASE, "Second."))
    with pytest.raises(DomainError, match=r"^None of these combinations can run: First. Second.$"):
        begun(Sweep(cells, _TOTAL), SUBJECT, SMALL, key="k", begun_at="", title="")


# --- Stopping and going on ---------------------------------------------------------------


def loud_engine(config: EngineConfig) -> FakeEngine:
    return replace(by_threads(config), kills=config.threads == 4)


@pytest.mark.parametrize("part", range(1, 21))
def test_that_a_sweep_stopped_after_any_part_comes_to_the_same_when_gone_on_with(
    part: int,
) -> None:
    asked = asked_of("threads=1,2,3,4", rounds=5)
    whole = swept(asked, loud_engine)
    port = FakePort(loud_engine)
    stopped = swept(asked, port=port, listener=Listener(port.stop, part))
    assert stopped.state is (State.STOPPED if part < 16 else State.DONE)
    finished = swept(asked, loud_engine, kept=stopped)
    assert finished == whole


def test_that_one_cut_by_a_crash_goes_on_from_what_was_kept() -> None:
    asked = asked_of("threads=1,2,3", rounds=3)
    listener = Listener()
    whole = swept(asked, listener=listener)
    for kept in listener.kept_ones[:-1]:
        cut = msgspec.json.decode(msgspec.json.encode(kept), type=Experiment)
        cut = msgspec.structs.replace(cut, state=State.CUT)
        assert swept(asked, kept=cut) == whole


def test_that_a_stop_in_the_middle_of_a_run_loses_that_run_alone() -> None:
    asked = asked_of("threads=1,2", rounds=5)
    port = FakePort(by_threads)
    port.stop_at_s = 6.0
    stopped = swept(asked, port=port)
    assert stopped.state is State.STOPPED
    runs = sum(len(cell.runs) for cell in stopped.cells)
    assert 0 < runs < 10
    assert swept(asked, kept=stopped) == swept(asked)


def test_that_more_rounds_than_before_go_on_where_the_others_ended() -> None:
    short = swept(asked_of("threads=1,2", rounds=2))
    port = FakePort(by_threads)
    longer = swept(asked_of("threads=1,2", rounds=5), port=port, kept=short)
    assert len(port.applied) == 6
    assert [len(cell.runs) for cell in longer.cells] == [5, 5]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"model_sha256": "cd" * 32}, "another model"),
        ({"machine": "another"}, "another machine: a machine, and this is another."),
        ({"engine": "newer"}, "another engine: an engine, and this is newer."),
    ],
)
def test_that_another_subject_is_refused(change: dict[str, str], sentence: str) -> None:
    asked = asked_of("threads=1,2", rounds=2)
    kept = swept(asked)
    subject = msgspec.structs.replace(SUBJECT, **change)
    with pytest.raises(DomainError, match=sentence):
        resumed(kept, asked, subject, SMALL)


def test_that_other_words_or_another_workload_are_refused() -> None:
    asked = asked_of("threads=1,2", rounds=2)
    kept = swept(asked)
    with pytest.raises(DomainError, match="other combinations: threads=1; threads=2"):
        resumed(kept, asked_of("threads=1,3"), SUBJECT, SMALL)
    other = msgspec.structs.replace(SMALL, requests=6)
    with pytest.raises(DomainError, match="another workload"):
        resumed(kept, asked, SUBJECT, other)
    bench = msgspec.structs.replace(kept, kind="bench")
    with pytest.raises(DomainError, match="is no sweep but a bench"):
        resumed(bench, asked, SUBJECT, SMALL)


def test_that_what_does_not_fit_any_more_keeps_its_runs_and_says_why() -> None:
    asked = asked_of("threads=1,2", rounds=5)
    kept = swept(asked_of("threads=1,2", rounds=2))
    full = replace(asked, cells=(asked.cells[0], replace(asked.cells[1], skipped="No room.")))
    finished = swept(full, kept=kept)
    assert finished.cells[1].skipped == "Given up after 2 runs: No room."
    assert [len(cell.runs) for cell in finished.cells] == [5, 2]


def test_that_conditions_are_watched_in_every_run() -> None:
    opened: list[int] = []

    def watch(pid: int) -> Conditions:
        opened.append(pid)
        return small_runner()._watch(pid)

    runner = small_runner()
    runner._watch = watch
    port = FakePort(by_threads, pid=77)
    swept(asked_of("threads=1,2", rounds=2), runner=runner, port=port)
    assert opened == [77] * 4
