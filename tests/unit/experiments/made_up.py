"""What tests of sweeps and comparisons share: small work, a still machine, a listener, cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.experiments.conditions import Conditions
from app.experiments.experiment import Cell, Experiment, Figures, Subject
from app.experiments.lengths import Fixed
from app.experiments.machine_state import MachineState
from app.experiments.runner import WorkloadRunner
from app.experiments.workload import Material, Workload
from app.planning import PlanAnswer
from engine_bridge.memory_plan import BytesByUse, DeviceBytes, EffectiveConfig, MemoryPlan
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.problem import Problem
from tests.unit.fake_client import model_facts

SUBJECT = Subject("a machine", "an engine", "Toy", "/m.gguf", "ab" * 32, 10)
SMALL = Workload(
    name="small",
    material=Material.PROSE,
    prompt_tok=Fixed(64),
    answer_tok=Fixed(12),
    requests=4,
    users=2,
)


@dataclass(frozen=True)
class NoLimits:
    """A workload as far as figures look at it: its limits, by default none."""

    ttft_slo_s: float | None = None
    tpot_slo_s: float | None = None


class _StillReader:
    def __init__(self, engine_pid: int) -> None:
        self._now_s = 0.0

    def read(self) -> MachineState:
        self._now_s += 1.0
        return MachineState(at_s=self._now_s, busy_s=0.0, ours_s=0.0)

    def close(self) -> None:
        pass


def still(engine_pid: int) -> Conditions:
    """Conditions of a machine on which nothing else happens."""
    return Conditions(engine_pid, open_reader=_StillReader, cores=4)


def small_runner(workload: Workload = SMALL) -> WorkloadRunner:
    """Plays ``workload`` on a still machine."""
    return WorkloadRunner(workload, watch=still)


class Listener:
    """A reporter that remembers, and may stop a port after so many kept parts.

    Attributes:
        told: Share, sentence and time left of every progress.
        kept_ones: Every experiment that was kept.
    """

    def __init__(self, stop: Callable[[], None] | None = None, after: int | None = None) -> None:
        self.told: list[tuple[float, str, float | None]] = []
        self.kept_ones: list[Experiment] = []
        self._stop = stop
        self._after = after

    def progressed(self, share: float, sentence: str, left_s: float | None) -> None:
        """Remember it."""
        self.told.append((share, sentence, left_s))

    def kept(self, experiment: Experiment) -> None:
        """Remember it, and stop if it is time."""
        self.kept_ones.append(experiment)
        if self._stop is not None and len(self.kept_ones) == self._after:
            self._stop()


def cell_of(name: str, total_tok_s: Sequence[float], **others: Sequence[float | None]) -> Cell:
    """A cell whose runs have these figures."""
    runs = tuple(
        Figures(
            total_tok_s=value,
            requests=1,
            **{key: values[number] for key, values in others.items()},  # type: ignore[arg-type]
        )
        for number, value in enumerate(total_tok_s)
    )
    return Cell(name, runs=runs, disturbed=("",) * len(runs))


def plan_that_fits(config: EngineConfig) -> PlanAnswer:
    """A plan in which everything fits, with slots as large as was asked for."""
    return PlanAnswer(_plan(config, fits=True), model_facts())


def plan_up_to(most_slots: int) -> Callable[[EngineConfig], PlanAnswer]:
    """Plans in which no more than so many slots fit on the board."""

    def plan(config: EngineConfig) -> PlanAnswer:
        return PlanAnswer(_plan(config, fits=config.slots <= most_slots), model_facts())

    return plan


def _plan(config: EngineConfig, *, fits: bool) -> MemoryPlan:
    effective = EffectiveConfig(
        ctx_per_slot_tok=config.slot_cap_tok, slots=config.slots, kv_unified=config.kv_unified,
        ctx_total_tok=config.pool_tok, flash_attn="on", n_gpu_layers=0,
        batch_tok=config.batch_tok, ubatch_tok=config.ubatch_tok, threads=2, threads_batch=2,
        outputs_max=config.outputs_max,
    )  # fmt: skip
    short = Problem(
        ("slots",), "CUDA0 does not suffice: 9.0 GiB are needed, so 1.0 GiB are missing."
    )
    return MemoryPlan(
        BytesByUse(),
        (DeviceBytes("CUDA0", 1, 1, 1),),
        effective,
        fits,
        () if fits else (short,),
        0.1,
    )
