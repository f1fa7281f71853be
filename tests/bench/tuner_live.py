"""The tuner on a running engine: is what it finds as good as the best of the recorded table?

It may choose among the settings of the table; what it ends with takes turns with each of the
table's three best.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from app.experiments.compare import Comparison, begun, compare, verdict_of
from app.experiments.experiment import Experiment, State, Subject
from app.experiments.keys import begun_at, new_key
from app.experiments.port import EnginePort, PortError
from app.experiments.port_bench import PortBench
from app.experiments.ranking import values_of
from app.experiments.reporter import Reporter
from app.experiments.runner import Runner
from app.experiments.spread import Ratio
from app.experiments.tune_goal import TuneGoal
from app.experiments.tune_result import best_cell
from app.experiments.tuner import tune
from app.experiments.verdict import Verdict
from engine_bridge.settings.config import EngineConfig
from tests.bench.tuner_recording import ShortRunner
from tests.bench.tuner_replay import found_config, goal_of
from tests.bench.tuner_table import MEASURE, WITHIN, Table, TableError

TOP = 3
PAIRS = 12
_PAIRS_S = 300.0
_SEED = 0


@dataclass(frozen=True)
class Budget:
    """How much is spent on telling the found one from one of the best.

    Attributes:
        pairs: Most pairs of runs.
        seconds: After so long no pair is begun.
    """

    pairs: int = PAIRS
    seconds: float = _PAIRS_S


def refuse_other_table(table: Table, here: Subject) -> None:
    """A table says what is best on its own machine, engine and model only.

    Raises:
        TableError: If one of them is another.
    """
    there = table.experiment.subject
    for what, recorded, present in (
        ("machine", there.machine, here.machine),
        ("engine", there.engine, here.engine),
        ("model", there.model_sha256, here.model_sha256),
    ):
        if recorded != present:
            raise TableError(
                f"The table was recorded on another {what}: {recorded}, and this is {present}. "
                "--only table records it anew."
            )


def live(
    port: EnginePort,
    table: Table,
    reporter: Reporter,
    *,
    budget: Budget | None = None,
    seed: int = _SEED,
) -> dict[str, Any]:
    """Tune once on ``port``, and hold what was found against the best of ``table``.

    Raises:
        PortError: If the tuner found nothing, or the engine is of no use.
    """
    goal, start = goal_of(table), table.start(seed)
    experiment = tuned(port, start, goal, reporter, ShortRunner(goal.workload))
    found = found_config(experiment)
    if found is None:
        raise PortError(f"The tuner found nothing. {experiment.failure}".rstrip())
    cell = best_cell(experiment)
    runs = [value for value in values_of(cell, MEASURE) if value] if cell is not None else []
    against = [
        _against(port, table, reporter, best=best, found=found, budget=budget or Budget())
        for best, _ in table.ranked[:TOP]
    ]
    return {
        "start": table.name_of(start),
        "found": table.name_of(found),
        "found_tok_s": median(runs) if runs else None,
        "table_share_of_best": table.share_of_best(found),
        "start_share_of_best": table.share_of_best(start),
        **_told(experiment, table),
        "against": against,
        "is_met": all(each["is_met"] for each in against),
    }


def tuned(
    port: EnginePort,
    start: EngineConfig,
    goal: TuneGoal,
    reporter: Reporter,
    runner: Runner | None = None,
) -> Experiment:
    """One tuning on an engine.

    Raises:
        PortError: If it did not come to its end.
    """
    bench = PortBench(port, goal, start.model_path, reporter, runner=runner)
    experiment = tune(bench, start, goal, reporter)
    if experiment.state is not State.DONE:
        raise PortError(f"The tuner did not come to an end. {experiment.failure}".rstrip())
    return experiment


def _against(
    port: EnginePort,
    table: Table,
    reporter: Reporter,
    *,
    best: EngineConfig,
    found: EngineConfig,
    budget: Budget,
) -> dict[str, Any]:
    """The found settings against one of the best; a ratio above 1 is better for the found ones."""
    name = table.name_of(best)
    if best == found:
        return {"best": name, "is_same": True, "ratio": 1.0, "interval": None, "is_met": True}
    goal = goal_of(table)
    asked = Comparison(best, found, MEASURE, budget.pairs, budget.seconds)
    experiment = begun(
        asked,
        table.experiment.subject,
        goal.workload,
        key=new_key(),
        begun_at=begun_at(),
        names=(name, table.name_of(found)),
    )
    compared = compare(port, asked, ShortRunner(goal.workload), reporter, experiment)
    if compared.state is not State.DONE:
        raise PortError(f"{name} could not be compared. {compared.failure}".rstrip())
    return {"best": name, "is_same": False, **_judged(verdict_of(compared.cells, MEASURE))}


def _judged(verdict: Verdict) -> dict[str, Any]:
    gain = verdict.gain
    return {
        "ratio": None if gain is None else gain.value,
        "interval": None if gain is None else _interval(gain),
        "pairs": 0 if gain is None else gain.pairs,
        "sentence": verdict.sentence,
        # The interval holds −3 %, or all of it is better than that.
        "is_met": gain is not None and math.isfinite(gain.high) and gain.high >= WITHIN,
        "is_clearly_met": gain is not None and gain.low >= WITHIN,
    }


def _interval(gain: Ratio) -> list[float] | None:
    return [gain.low, gain.high] if math.isfinite(gain.high) else None


def _told(experiment: Experiment, table: Table) -> dict[str, Any]:
    measured = [cell for cell in experiment.cells if cell.runs]
    runs = sum(len(cell.runs) for cell in measured)
    return {
        "measurements": runs,
        "share_of_measurements": runs / table.runs,
        "configurations": len(measured),
        "disturbed_runs": sum(bool(said) for cell in measured for said in cell.disturbed),
        "steps": [
            {"name": cell.name, "notes": list(cell.notes), "skipped": cell.skipped}
            for cell in experiment.cells
        ],
        "conclusion": list(experiment.conclusion),
    }


def lines(figures: Mapping[str, Any]) -> list[str]:
    """For people."""
    found = [
        f"began with {figures['start']} ({100 * figures['start_share_of_best']:.1f} % of the best)",
        f"found {figures['found']} with {figures['measurements']} runs of "
        f"{figures['configurations']} configurations; in the table it has "
        f"{100 * figures['table_share_of_best']:.1f} % of the best",
        *figures["conclusion"],
    ]
    return [
        *found,
        *(f"  against {each['best']}: {_against_words(each)}" for each in figures["against"]),
        f"target: the interval against each of the {TOP} best holds −3 % or lies above it: "
        f"{'met' if figures['is_met'] else 'MISSED'}",
    ]


def _against_words(each: Mapping[str, Any]) -> str:
    if each["is_same"]:
        return "the same settings"
    if each["interval"] is None:
        return f"{each['sentence']} missed"
    low, high = each["interval"]
    verdict = "met" if each["is_met"] else "missed"
    if each["is_met"] and each["ratio"] < WITHIN:
        verdict += ", but the interval is wide: more pairs on a quieter machine would tell more"
    return f"{each['ratio']:.3f} [{low:.3f}, {high:.3f}], {each['pairs']} pairs: {verdict}"
