"""A against B on a made-up engine."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import msgspec
import pytest

from app.experiments.compare import Comparison, begun, compare
from app.experiments.compare_resume import resumed
from app.experiments.experiment import Experiment, Figures, Kind, State
from app.experiments.measures import BY_FIGURE
from app.experiments.measuring import Measured
from app.experiments.player import Progressed
from app.experiments.port import EnginePort
from app.experiments.run_record import RunRecord
from app.experiments.runner import Runner
from engine_bridge.protocol import Applied, Generate
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import DomainError
from tests.unit.experiments.fake_port import DIED, FakeEngine, FakePort
from tests.unit.experiments.made_up import SMALL, SUBJECT, Listener, small_runner
from tests.unit.experiments.test_sweep import SpoiltRunner

_A = EngineConfig(model_path="/m.gguf", slots=2, threads=1)
_B = EngineConfig(model_path="/m.gguf", slots=2, threads=2)
_TPOT = BY_FIGURE["tpot_s"]
_NAMES = ("threads=1", "threads=2")


def noisy(first_s: float, second_s: float, noise: float = 0.02) -> Callable[..., FakeEngine]:
    """Steps of A and B last so long, with noise."""

    def engine(config: EngineConfig) -> FakeEngine:
        step_s = first_s if config.threads == 1 else second_s
        return FakeEngine(step_s=lambda streams: step_s, noise=noise)

    return engine


def compared(
    engine: Callable[..., FakeEngine] | None = None,
    *,
    pairs: int = 12,
    seconds: float = 1e6,
    port: FakePort | None = None,
    runner: Runner | None = None,
    listener: Listener | None = None,
    second: EngineConfig = _B,
) -> Experiment:
    asked = Comparison(_A, second, _TPOT, pairs, seconds)
    experiment = begun(
        asked, SUBJECT, SMALL, key="k", begun_at="2026-11-30", names=("threads=1", "threads=2")
    )
    port = port or FakePort(engine)
    return compare(
        port,
        asked,
        runner or small_runner(),
        listener or Listener(),
        experiment,
        clock=lambda: port.now_ns / 1e9,
    )


def plain(sentence: str) -> str:
    return sentence.replace("\u202f", " ")


def test_that_a_clear_difference_ends_it_early_with_a_verdict_in_a_sentence() -> None:
    experiment = compared(noisy(0.0224, 0.020))
    assert (experiment.kind, experiment.state) == (Kind.COMPARE, State.DONE)
    pairs = len(experiment.cells[0].runs)
    assert pairs == len(experiment.cells[1].runs)
    assert 4 <= pairs < 12
    verdict = plain(experiment.conclusion[0])
    assert verdict.startswith("B is 1")
    assert "% faster than A in TPOT (between" in verdict
    assert verdict.endswith(f"%, {pairs} pairs).")
    assert experiment.conclusion[1] == f"It was clear after {pairs} of at most 12 pairs."
    assert [cell.name for cell in experiment.cells] == ["A: threads=1", "B: threads=2"]
    assert experiment.title == "Toy, small: threads=1 against threads=2"


def test_that_the_order_is_a_b_b_a_and_a_repeated_setting_is_not_applied_again() -> None:
    port = FakePort(noisy(0.02, 0.02, 0.05))
    experiment = compared(pairs=4, port=port)
    assert [config.threads for config in port.applied] == [1, 2, 1, 2, 1]
    assert [len(cell.runs) for cell in experiment.cells] == [4, 4]


def test_that_both_of_a_pair_do_the_same_work_and_each_pair_another() -> None:
    port = FakePort(noisy(0.02, 0.02, 0.05))
    compared(pairs=4, port=port)
    said = [
        command.messages[-1].content
        for command in port.sent
        if isinstance(command, Generate) and command.max_new_tok == 12
    ]
    # Openings of the warm-ups have answers as long as these; a run is what has four requests.
    firsts = list(dict.fromkeys(said))
    assert len(firsts) == 4 * 4
    assert all(said.count(text) >= 2 for text in firsts)


def test_that_equal_settings_are_no_difference_when_the_budget_is_spent() -> None:
    experiment = compared(noisy(0.02, 0.02, 0.10), pairs=6)
    assert len(experiment.cells[0].runs) == 6
    assert plain(experiment.conclusion[0]).startswith("No difference in TPOT: the interval from ")
    assert experiment.conclusion[1] == "The budget of 6 pairs was spent."


def test_that_equal_settings_without_noise_end_it_early_too() -> None:
    experiment = compared(noisy(0.02, 0.02, 0.0))
    assert len(experiment.cells[0].runs) == 4
    assert experiment.conclusion[0].startswith("No difference in TPOT: ")


def test_that_a_machine_that_slows_down_makes_no_difference_between_equals() -> None:
    def engine(config: EngineConfig) -> FakeEngine:
        return FakeEngine(step_s=lambda streams: 0.02, slowdown=lambda clock_s: 1 + 0.01 * clock_s)

    experiment = compared(engine)
    assert experiment.conclusion[0].startswith("No difference in TPOT: ")


class DrawnRunner:
    """A runner whose runs are drawn: equal for A and B, but for noise."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def warm_up(self, port: EnginePort) -> None:
        """Nothing to warm up."""

    def run(
        self,
        port: EnginePort,
        applied: Applied,
        *,
        variant: int = 0,
        progressed: Progressed | None = None,
    ) -> Measured:
        figures = Figures(tpot_s=self._random.lognormvariate(-4, 0.05), requests=1)
        return Measured(RunRecord((), 0.0), figures)


def test_that_equal_settings_are_called_different_in_one_of_twenty_comparisons_at_most() -> None:
    endings = [compared(pairs=24, runner=DrawnRunner(seed)).conclusion[0] for seed in range(200)]
    assert all(one.startswith(("B is ", "No difference")) for one in endings)
    assert 0 < sum(one.startswith("B is ") for one in endings) <= 10


def test_that_time_is_a_budget_too() -> None:
    experiment = compared(noisy(0.02, 0.02, 0.10), pairs=100, seconds=20.0)
    assert 1 <= len(experiment.cells[0].runs) < 100
    assert experiment.conclusion[1] == "The budget of 20 s was spent."


@pytest.mark.parametrize(
    ("pairs", "seconds", "sentence"),
    [
        (0, 600.0, "takes 4 to 200 pairs; got 0"),
        (3, 600.0, "takes 4 to 200 pairs; got 3"),
        (201, 600.0, "got 201"),
        (12, 0.0, "needs time; got 0 seconds"),
        (12, -5.0, "needs time; got -5 seconds"),
        (12, float("nan"), "needs time; got nan seconds"),
    ],
)
def test_that_a_budget_of_nothing_is_refused_in_a_sentence(
    pairs: int, seconds: float, sentence: str
) -> None:
    with pytest.raises(DomainError, match=sentence):
        Comparison(_A, _B, _TPOT, pairs, seconds).check()


def test_that_stopping_keeps_what_was_measured_and_says_what_it_tells() -> None:
    port = FakePort(noisy(0.03, 0.02))
    experiment = compared(port=port, listener=Listener(port.stop, 5))
    assert experiment.state is State.STOPPED
    assert [len(cell.runs) for cell in experiment.cells] == [3, 2]
    assert experiment.conclusion[0] == "The 2 pairs are too few to tell a difference in TPOT."


def test_that_an_engine_that_dies_of_b_fails_it_and_names_b() -> None:
    def engine(config: EngineConfig) -> FakeEngine:
        return FakeEngine(kills=config.threads == 2)

    experiment = compared(engine)
    assert experiment.state is State.FAILED
    assert experiment.failure == f"B failed: {DIED}"
    assert len(experiment.cells[0].runs) == 1


def test_that_a_setting_that_answers_nothing_fails_it_with_the_reason() -> None:
    def engine(config: EngineConfig) -> FakeEngine:
        def refuses(command: Generate) -> str:
            return "" if command.as_completion or config.threads == 1 else "Too long."

        return FakeEngine(refuses=refuses)

    experiment = compared(engine)
    assert experiment.state is State.FAILED
    assert experiment.failure.startswith("B answered no request.")
    assert "Too long." in experiment.failure


def test_that_disturbed_pairs_are_told_and_not_counted() -> None:
    experiment = compared(noisy(0.02, 0.02, 0.05), pairs=8, runner=SpoiltRunner({2, 9}))
    assert "2 of 8 pairs were disturbed and are not counted." in experiment.conclusion
    assert "(6 pairs)" in experiment.conclusion[0]


def test_that_where_most_pairs_are_disturbed_all_count_and_it_is_said() -> None:
    runner = SpoiltRunner(set(range(0, 16, 2)))
    experiment = compared(noisy(0.02, 0.02, 0.05), pairs=8, runner=runner)
    assert any("8 of 8 pairs were disturbed, and all are counted" in one
               for one in experiment.conclusion)  # fmt: skip
    assert "(8 pairs)" in experiment.conclusion[0]


def test_that_each_run_is_kept_as_it_ends_and_progress_only_grows() -> None:
    listener = Listener()
    compared(noisy(0.02, 0.02, 0.05), pairs=4, listener=listener)
    runs = [sum(len(cell.runs) for cell in one.cells) for one in listener.kept_ones]
    assert runs == [*range(1, 9), 8]
    shares = [share for share, _, _ in listener.told]
    assert shares == sorted(shares)
    assert listener.told[0][1] == "Pair 1 of at most 4: A: threads=1"


def test_that_other_figures_are_told_beside_the_one_that_decides() -> None:
    def engine(config: EngineConfig) -> FakeEngine:
        return replace(noisy(0.03, 0.02)(config), owned_bytes=int(config.threads) << 30)

    experiment = compared(engine)
    beside = [plain(one) for one in experiment.conclusion[2:]]
    assert any(one.startswith("B is 100 % larger than A in memory") for one in beside)
    assert any("in total throughput" in one for one in beside)


# --- Going on ---------------------------------------------------------------------------------


def gone_on(kept: Experiment, port: FakePort, *, pairs: int = 12) -> Experiment:
    asked = Comparison(_A, _B, _TPOT, pairs, 1e6)
    experiment = resumed(kept, asked, SUBJECT, SMALL, _NAMES)
    return compare(
        port, asked, small_runner(), Listener(), experiment, clock=lambda: port.now_ns / 1e9
    )


@pytest.mark.parametrize("part", range(1, 9))
def test_that_a_comparison_stopped_after_any_part_comes_to_the_same_when_gone_on_with(
    part: int,
) -> None:
    whole = compared(noisy(0.03, 0.02, 0.0))
    assert len(whole.cells[0].runs) == 4
    port = FakePort(noisy(0.03, 0.02, 0.0))
    stopped = compared(port=port, listener=Listener(port.stop, part))
    cut = msgspec.json.decode(msgspec.json.encode(stopped), type=Experiment)
    finished = gone_on(
        msgspec.structs.replace(cut, state=State.CUT), FakePort(noisy(0.03, 0.02, 0.0))
    )
    assert finished == whole


def test_that_a_pair_of_which_only_one_was_run_is_run_anew() -> None:
    port = FakePort(noisy(0.03, 0.02, 0.0))
    stopped = compared(port=port, listener=Listener(port.stop, 3))
    assert [len(cell.runs) for cell in stopped.cells] == [1, 2]
    again = FakePort(noisy(0.03, 0.02, 0.0))
    gone_on(stopped, again)
    # B A of the second pair, then A B, and B A of the fourth.
    assert [config.threads for config in again.applied] == [2, 1, 2, 1]


def test_that_one_that_was_clear_is_not_measured_again() -> None:
    done = compared(noisy(0.03, 0.02, 0.0))
    port = FakePort(noisy(0.03, 0.02, 0.0))
    assert gone_on(done, port) == done
    assert port.applied == []


def test_that_more_pairs_than_before_go_on_where_the_others_ended() -> None:
    short = compared(noisy(0.02, 0.02, 0.10), pairs=4)
    longer = gone_on(short, FakePort(noisy(0.02, 0.02, 0.10)), pairs=6)
    assert [len(cell.runs) for cell in longer.cells] == [6, 6]
    assert [cell.runs[:4] for cell in longer.cells] == [cell.runs for cell in short.cells]
    assert "6 pairs" in longer.conclusion[1]


def test_that_what_does_not_belong_to_it_is_refused() -> None:
    kept = compared(noisy(0.03, 0.02, 0.0))
    asked = Comparison(_A, _B, _TPOT)
    with pytest.raises(DomainError, match="other combinations: A: threads=1; B: threads=2"):
        resumed(kept, asked, SUBJECT, SMALL, ("threads=1", "threads=3"))
    other = replace(asked, first=EngineConfig(model_path="/m.gguf", slots=4, threads=1))
    with pytest.raises(DomainError, match="--a, --b and --set"):
        resumed(kept, other, SUBJECT, SMALL, _NAMES)
    with pytest.raises(DomainError, match="another workload"):
        resumed(kept, asked, SUBJECT, msgspec.structs.replace(SMALL, requests=6), _NAMES)
    with pytest.raises(DomainError, match="another model: its file's hash"):
        resumed(
            kept, asked, msgspec.structs.replace(SUBJECT, model_sha256="cd" * 32), SMALL, _NAMES
        )
    sweep = msgspec.structs.replace(kept, kind=Kind.SWEEP)
    with pytest.raises(DomainError, match="is no comparison but a sweep"):
        resumed(sweep, asked, SUBJECT, SMALL, _NAMES)
