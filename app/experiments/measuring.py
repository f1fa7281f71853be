"""One run of a workload on what a port runs: played, watched, and put into figures.

And the configuration as a cell that such runs go into.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from app.experiments.conditions import Conditions
from app.experiments.experiment import Cell, Figures
from app.experiments.measures import ALLOCATED
from app.experiments.peak_source import peak_of, peak_sentence
from app.experiments.play import play
from app.experiments.player import Progressed
from app.experiments.port import EnginePort
from app.experiments.run_figures import figures_of
from app.experiments.run_record import RunRecord
from app.experiments.script import Script
from app.experiments.workload import Workload
from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.protocol import Applied
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import Value
from engine_bridge.settings.table import BY_KEY

_OF_THE_MODEL = "model_path"


@dataclass(frozen=True)
class Measured:
    """One run.

    Attributes:
        record: What happened.
        figures: The same in figures.
        disturbed: Sentences on what disturbed it, one behind the other; empty for a quiet run.
    """

    record: RunRecord
    figures: Figures
    disturbed: str = ""


def measured_run(
    port: EnginePort,
    scripts: Sequence[Script],
    workload: Workload,
    conditions: Conditions,
    *,
    peak_bytes_per_s: float | None,
    progressed: Progressed | None = None,
) -> Measured:
    """Play ``scripts`` once.

    Args:
        port: The engine, at rest.
        scripts: Made of ``workload`` for the model that runs.
        workload: How many users there are, and the limits.
        conditions: Watches; entered.
        peak_bytes_per_s: What MBU is a share of, see ``peak_of``; None where it is not known.
        progressed: Told how many requests have ended, and how many there are.

    Raises:
        EngineGoneError: If the engine died.
        StoppedError: If the user stopped the experiment.
    """
    conditions.begin()
    record = play(port, scripts, workload.users, progressed=progressed)
    disturbances = (*conditions.end(), *record.disturbances)
    record = msgspec.structs.replace(
        record, disturbances=disturbances, peak_bytes_per_s=peak_bytes_per_s or 0.0
    )
    return Measured(record, figures_of(record, workload), " ".join(disturbances))


def configured_cell(port: EnginePort, config: EngineConfig, applied: Applied) -> Cell:
    """A cell of ``config`` without runs: what the engine made of it, allocated, and may reach."""
    peak = peak_of(port, applied)
    allocated = applied.memory.bytes
    extra = {
        ALLOCATED: float(allocated.total - allocated.weights_mapped),
        "mapped_weights_bytes": float(allocated.weights_mapped),
        "peak_bandwidth_bytes_per_s": peak.bytes_per_s or 0.0,
    }
    return Cell(
        name=name_of(config),
        config=changed_values(config),
        effective=made_values(config, applied.effective),
        extra={name: value for name, value in extra.items() if value > 0},
        notes=(peak_sentence(peak),),
    )


def changed_values(config: EngineConfig) -> dict[str, Value]:
    """Settings that differ from the defaults; the model's file is told apart from them."""
    keys = config.changed_from(EngineConfig())
    return {key: getattr(config, key) for key in keys if key != _OF_THE_MODEL}


def name_of(config: EngineConfig) -> str:
    """``slots=4, cache_type_k=q8_0``; ``defaults`` where nothing was changed."""
    words = [
        f"{key}={BY_KEY[key].domain.format(value)}" for key, value in changed_values(config).items()
    ]
    return ", ".join(words) or "defaults"


def made_values(config: EngineConfig, effective: EffectiveConfig) -> dict[str, Value]:
    """What the engine made of settings where that is not what was asked for, ``auto`` included."""
    made: Mapping[str, Value] = msgspec.structs.asdict(effective)
    differing = {
        key: value for key, value in made.items() if key in BY_KEY and value != getattr(config, key)
    }
    return differing | effective.placed


def request_note(runs: Sequence[Measured]) -> str:
    """How many requests did not end as asked for, and why the first did not; empty if all did."""
    failed = sum(run.figures.failed for run in runs)
    if not failed:
        return ""
    total = failed + sum(run.figures.requests for run in runs)
    details = (request.detail for run in runs for request in run.record.requests)
    why = next((detail for detail in details if detail), "")
    noun = "request" if total == 1 else "requests"
    return f"{failed:,} of {total:,} {noun} did not end as asked for. {why}".rstrip()
