"""The tuner's bench on a port: what it measures, what it asks the planner, what it survives."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from app.experiments.experiment import State
from app.experiments.lengths import Fixed
from app.experiments.model_hash import ModelHashes
from app.experiments.port import ConfigRefusedError, EngineGoneError, StoppedError
from app.experiments.port_bench import PlanBeside, PortBench
from app.experiments.tune_goal import VARIANTS, Purpose, TuneGoal
from app.experiments.tune_result import best_cell, config_of
from app.experiments.tune_steps import Cores
from app.experiments.tuner import tune
from app.planning import PlanAnswer
from engine_bridge.memory_plan import DeviceBytes, MemoryPlan
from engine_bridge.protocol import Generate
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import DomainError
from tests.tiny_model import write_tiny_llama
from tests.unit.experiments.fake_port import FakeEngine, FakePort
from tests.unit.experiments.made_up import SMALL, Listener, plan_that_fits, small_runner

_WORK = msgspec.structs.replace(SMALL, users=1, answer_tok=Fixed(16))


@pytest.fixture(scope="module")
def model_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_llama(tmp_path_factory.mktemp("model") / "tiny.gguf")


def roomy(config: EngineConfig, running: MemoryPlan | None = None) -> PlanAnswer:
    return plan_that_fits(config)


def bench_on(
    port: FakePort,
    model_path: Path,
    *,
    goal: TuneGoal | None = None,
    plan: PlanBeside = roomy,
) -> PortBench:
    goal = goal or TuneGoal(Purpose.CHAT, _WORK)
    return PortBench(
        port, goal, str(model_path), Listener(), plan=plan,
        hashes=ModelHashes(model_path.with_suffix(".json")),
        runner=small_runner(goal.run_workload),
    )  # fmt: skip


def test_that_a_run_is_measured_after_a_warm_up_with_what_the_engine_made_of_it(
    model_path: Path,
) -> None:
    port = FakePort()
    bench = bench_on(port, model_path)
    config = EngineConfig(model_path=str(model_path), slots=2)
    assert bench.cell(config).effective == {}
    run = bench.measure(config)
    assert (run.requests, run.failed) == (4, 0)
    assert run.tpot_s == pytest.approx(0.02)
    assert bench.disturbed() == ""
    asked = [command for command in port.sent if isinstance(command, Generate)]
    assert len(asked) > 4  # a warm-up before, which is thrown away
    cell = bench.cell(config)
    assert (cell.name, cell.config, cell.runs, cell.notes) == ("slots=2", {"slots": 2}, (), ())
    assert bench.subject().model_sha256
    assert bench.model is not None
    assert not bench.has_board


def test_that_a_configuration_in_force_is_not_applied_again(model_path: Path) -> None:
    port = FakePort()
    bench = bench_on(port, model_path)
    config = EngineConfig(model_path=str(model_path))
    bench.measure(config)
    bench.measure(config, variant=1)
    assert len(port.applied) == 1


def test_that_other_variants_are_other_texts(model_path: Path) -> None:
    port = FakePort()
    bench = bench_on(port, model_path)
    config = EngineConfig(model_path=str(model_path))
    texts = []
    for variant in (0, 0, 1):
        before = len(port.sent)
        bench.measure(config, variant)
        texts.append([one.messages for one in port.sent[before:] if isinstance(one, Generate)][-4:])
    assert texts[0] == texts[1] != texts[2]


def test_that_a_refusal_leaves_what_runs_known_and_a_death_nothing(model_path: Path) -> None:
    def engine(config: EngineConfig) -> FakeEngine:
        return FakeEngine(
            refusal="Too many slots." if config.slots == 8 else "", kills=config.slots == 16
        )

    asked: list[MemoryPlan | None] = []

    def plan(config: EngineConfig, running: MemoryPlan | None = None) -> PlanAnswer:
        asked.append(running)
        return plan_that_fits(config)

    bench = bench_on(FakePort(engine), model_path, plan=plan)
    config = EngineConfig(model_path=str(model_path), slots=1)
    assert bench.fits(config) == ""
    bench.measure(config)
    with pytest.raises(ConfigRefusedError, match="Too many slots"):
        bench.measure(config.with_values({"slots": 8}))
    bench.fits(config.with_values({"slots": 2}))
    with pytest.raises(EngineGoneError):
        bench.measure(config.with_values({"slots": 16}))
    bench.fits(config.with_values({"slots": 3}))
    assert [running is not None for running in asked] == [False, True, False]
    assert bench.measure(config).requests == 4  # by another engine


def test_that_a_run_in_which_nothing_was_answered_is_a_refusal(model_path: Path) -> None:
    port = FakePort(FakeEngine(refuses=lambda one: "" if one.as_completion else "No room."))
    bench = bench_on(port, model_path)
    with pytest.raises(ConfigRefusedError):
        bench.measure(EngineConfig(model_path=str(model_path)))


def test_that_the_planner_the_margin_and_the_work_decide_what_fits(model_path: Path) -> None:
    def plan(config: EngineConfig, running: MemoryPlan | None = None) -> PlanAnswer:
        answer = plan_that_fits(config)
        device = DeviceBytes("CUDA0", 0, config.slots << 28, 0, free=3 << 28, total=4 << 28)
        changed = msgspec.structs.replace(answer.plan, devices=(device,), fits=config.slots <= 3)
        return msgspec.structs.replace(answer, plan=changed)

    goal = TuneGoal(Purpose.BATCH, SMALL, users=2, margin_bytes=1 << 28)
    bench = bench_on(FakePort(), model_path, goal=goal, plan=plan)
    base = EngineConfig(model_path=str(model_path))
    assert bench.fits(base.with_values({"slots": 2})) == ""
    assert "less than the margin" in bench.fits(base.with_values({"slots": 3}))
    assert bench.fits(base.with_values({"slots": 4})) == "It does not fit in memory."
    short = bench.fits(base.with_values({"slots": 2, "ctx_per_slot_tok": 256}))
    assert short == "" or "a slot" in short


def test_that_a_stop_is_heard_while_it_is_planned(model_path: Path) -> None:
    port = FakePort()
    bench = bench_on(port, model_path)
    port.stop()
    with pytest.raises(StoppedError):
        bench.fits(EngineConfig(model_path=str(model_path)))


def test_that_a_file_that_is_no_model_is_a_sentence(tmp_path: Path) -> None:
    file = tmp_path / "not.gguf"
    file.write_bytes(b"\0" * 64)
    with pytest.raises(DomainError):
        bench_on(FakePort(), file)


def test_that_tuning_on_a_port_finds_what_is_faster_within_the_noise(model_path: Path) -> None:
    def engine(config: EngineConfig) -> FakeEngine:
        step_s = 0.012 if config.threads == 1 else 0.02
        is_drafting = "ngram-simple" in config.spec_types
        return FakeEngine(
            step_s=lambda streams: step_s * (1.3 if is_drafting else 1.0),
            drafted=4 if is_drafting else 0,
            accepted=2 if is_drafting else 0,
            noise=0.05,
        )

    port = FakePort(engine, seed=3)
    goal = TuneGoal(Purpose.CHAT, _WORK)
    bench = bench_on(port, model_path, goal=goal)
    start = EngineConfig(model_path=str(model_path))
    experiment = tune(bench, start, goal, Listener(), cores=Cores(2, 2))
    assert experiment.state is State.DONE, experiment.failure
    best = best_cell(experiment)
    assert best is not None
    found = config_of(best, str(model_path))
    assert (found.threads, found.spec_types[:1]) == (1, ("ngram-simple",))
    assert experiment.subject.model_sha256
    assert sum(len(cell.runs) for cell in experiment.cells) <= goal.measurements
    assert VARIANTS > 1
