"""Begins an experiment of simulated users, or goes on with one that was stopped or cut. Pure."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from app.experiments.experiment import Cell, Experiment, Kind, State, Subject
from app.experiments.measuring import changed_values, name_of
from app.experiments.resume import (
    refuse_other_kind,
    refuse_other_settings,
    refuse_other_subject,
    refuse_other_workload,
)
from app.experiments.users_cell import LONG_PROMPTS, RATE, USERS, cell_load
from app.experiments.users_plan import UsersPlan
from app.experiments.workload_file import kept_json
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import DomainError


def begun(
    plan: UsersPlan, config: EngineConfig, subject: Subject, *, key: str, begun_at: str
) -> Experiment:
    """The experiment before its first run."""
    return Experiment(
        key=key,
        kind=Kind.USERS,
        begun_at=begun_at,
        state=State.RUNNING,
        title=_title(plan, config, subject),
        subject=subject,
        workload=kept_json(plan.workload),
    )


def resumed(
    kept: Experiment, plan: UsersPlan, config: EngineConfig, subject: Subject
) -> Experiment:
    """``kept`` as an experiment to go on with; other loads than before are welcome.

    Args:
        kept: What was measured.
        plan: What is asked for now.
        config: The settings that are asked for now.
        subject: What it would be measured on now.

    Raises:
        DomainError: In a sentence, where the runs would not belong together.
    """
    refuse_other_words(kept, plan, config)
    refuse_other_subject(kept, subject)
    whole = plan if plan.is_search else _with_loads(plan, tuple(loads_of(kept)))
    return msgspec.structs.replace(
        kept, state=State.RUNNING, title=_title(whole, config, subject), conclusion=(),
        failure="",
    )  # fmt: skip


def refuse_other_words(kept: Experiment, plan: UsersPlan, config: EngineConfig) -> None:
    """Refuse to go on with ``kept`` where something else is asked for.

    Raises:
        DomainError: In a sentence.
    """
    refuse_other_kind(kept, Kind.USERS)
    refuse_other_workload(kept, plan.workload)
    refuse_other_settings(kept, changed_values(config))
    other = USERS if plan.is_open else RATE
    if any(other in cell.extra for cell in kept.cells):
        before, now = ("users who wait", "a rate") if plan.is_open else ("a rate", "users who wait")
        raise DomainError(f"{kept.key} was measured with {before}, and this asks for {now}.")


def loads_of(experiment: Experiment) -> dict[float, Cell]:
    """Its cells by their load, but for the one with long prompts."""
    found = {}
    for cell in experiment.cells:
        load = cell_load(cell.extra)
        if load is not None and cell.runs and LONG_PROMPTS not in cell.extra:
            found[load] = cell
    return found


def long_cell_of(experiment: Experiment) -> Cell | None:
    """Its cell with long prompts; None if it has none."""
    return next((cell for cell in experiment.cells if LONG_PROMPTS in cell.extra), None)


# --- Inside -----------------------------------------------------------------------------


def _title(plan: UsersPlan, config: EngineConfig, subject: Subject) -> str:
    """With the settings: the same users on others are another experiment."""
    settings = [name_of(config)] if changed_values(config) else []
    return ", ".join([subject.model, plan.workload.name, plan.title, *settings])


def _with_loads(plan: UsersPlan, loads: tuple[float, ...]) -> UsersPlan:
    if plan.is_open:
        return replace(plan, rates=(*plan.loads, *loads))
    return replace(plan, numbers=tuple(round(load) for load in (*plan.loads, *loads)))
