"""A tuning as text: what was tried in which order, the best settings, and their command line."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from app.experiments.experiment import Cell, Experiment
from app.experiments.grid import Plan
from app.experiments.measures import BY_FIGURE
from app.experiments.subject_text import subject_lines
from app.experiments.tables import definition_lines
from app.experiments.text_layout import wrapped
from app.experiments.tune_goal import TuneGoal
from app.experiments.tune_objective import ANSWERED, Level, objective_of
from app.experiments.tune_result import KEPT, best_cell, changes_between, config_of, is_before
from app.experiments.tune_words import purpose_words
from app.export.targets import TARGETS
from app.planning import PlanningError, plan_in_throwaway_process
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.table import BY_KEY

_TARGET = "llama-server"
_INDENT = "  "


def tune_lines(
    experiment: Experiment,
    start: EngineConfig,
    goal: TuneGoal,
    *,
    explain: bool = False,
    plan: Plan = plan_in_throwaway_process,
) -> list[str]:
    """All there is to say of a tuning.

    Args:
        experiment: Finished, stopped or failed.
        start: The settings before.
        goal: What was asked for.
        explain: Whether it is added how the settings were chosen.
        plan: Plans the best, for what its command line leaves to the engine.
    """
    parts = [[experiment.title] if experiment.title else [], _tries(experiment.cells)]
    parts.append([line for said in experiment.conclusion for line in wrapped(said)])
    best = best_cell(experiment)
    if best is not None:
        config = config_of(best, start.model_path)
        parts += [_changes(start, config), _command(config, plan)]
    if explain:
        parts.append(_explained(goal))
    parts.append(subject_lines(experiment))
    lines: list[str] = []
    for part in filter(None, parts):
        lines += ["", *part] if lines else part
    return lines


def tune_object(
    experiment: Experiment,
    start: EngineConfig,
    *,
    plan: Plan = plan_in_throwaway_process,
) -> dict[str, object]:
    """A tuning for other programs: the experiment, and how llama-server runs with the best.

    Args:
        experiment: Finished, stopped or failed.
        start: The settings before.
        plan: Plans the best, for what its command line leaves to the engine.

    Returns:
        The fields of the experiment and ``command_line``, which is empty where there is none;
        ``command_line_note`` says why then.
    """
    best, text, why_not = best_cell(experiment), "", ""
    if best is None:
        why_not = "Nothing was measured that could be the best."
    else:
        text, notes = _written(config_of(best, start.model_path), plan)
        why_not = "" if text else " ".join(notes)
    built: dict[str, object] = msgspec.to_builtins(experiment)
    return built | {"command_line": text, "command_line_note": why_not}


# --- Inside -----------------------------------------------------------------------------


def _tries(cells: Sequence[Cell]) -> list[str]:
    """Each sentence once, in the order in which configurations were tried."""
    lines: list[str] = []
    for cell in cells:
        mark = "+ " if cell.extra.get(KEPT) else "  " if is_before(cell) else "- "
        notes = cell.notes
        if is_before(cell) and cell.skipped:  # a try's own note says why
            notes = (*notes, f"They cannot run: {cell.skipped}")
        for note in notes:
            lines += wrapped(note, mark=mark)
    return lines


def _changes(start: EngineConfig, best: EngineConfig) -> list[str]:
    changes = changes_between(start, best)
    if not changes:
        return ["No setting is changed."]
    return [
        "Settings changed:",
        *(
            f"{_INDENT}--set {key}={BY_KEY[key].domain.format(after)}"
            for key, (_, after) in changes.items()
        ),
    ]


def _command(config: EngineConfig, plan: Plan) -> list[str]:
    text, why_not = _written(config, plan)
    return ["Command line:", text] if text else list(why_not)


def _written(config: EngineConfig, plan: Plan) -> tuple[str, Sequence[str]]:
    """The command line of llama-server; empty with sentences why there is none."""
    try:
        answer = plan(config)
    except PlanningError as error:
        return "", [f"Its command line could not be written: {error}"]
    export = TARGETS[_TARGET](config, answer.plan.effective, answer.model)
    return export.text, export.notes


def _explained(goal: TuneGoal) -> list[str]:
    levels = [level for level in objective_of(goal).levels if level.measure.key != ANSWERED.key]
    return [
        *wrapped(f"Chosen for {purpose_words(goal)} by {_told(levels)}."),
        *definition_lines(
            [level.measure.key for level in levels if level.measure.key in BY_FIGURE]
        ),
    ]


def _told(levels: Sequence[Level]) -> str:
    names = [level.measure.label for level in levels]
    if names == ["time of a typical turn"]:
        return (
            "the time of a typical turn, which is TTFT + mean tokens of an answer × TPOT: from "
            "sending a question to the last word of the answer"
        )
    return ", then ".join(names)
