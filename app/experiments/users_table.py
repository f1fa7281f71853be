"""Simulated users as text: a line for each number of them or rate, the curve as a table. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import msgspec

from app.experiments.experiment import Cell, Experiment
from app.experiments.extra_figures import extra_label
from app.experiments.measures import BY_FIGURE, Measure, Unit
from app.experiments.proportion import Proportion
from app.experiments.scales import NO_VALUE, Scale, cell_values, common_scale, scale_of
from app.experiments.spread import summary
from app.experiments.subject_text import kept_workload, subject_lines
from app.experiments.tables import (
    DISTURBED,
    definition_lines,
    disturbance_lines,
    keys_of,
    limits_lines,
)
from app.experiments.text_layout import text_table, wrapped
from app.experiments.users_cell import (
    DEFINITIONS,
    LONG_PROMPTS,
    QUEUE,
    QUEUE_SHARE,
    RATE,
    USERS,
    kept_of,
)
from app.experiments.workload import Material
from app.experiments.workload_words import summary as workload_summary

# Title of the column by the figure; units stand in a line below, or nothing would fit.
_TITLES = {
    "goodput_req_s": "goodput",
    "ttft_p95_s": "TTFT p95",
    "itl_p99_s": "ITL p99",
    "user_tok_s": "user",
    "total_tok_s": "total",
}
_QUEUE = Measure(QUEUE, extra_label(QUEUE), Unit.SECONDS, is_more_better=False)


def users_lines(experiment: Experiment, *, explain: bool = False) -> list[str]:
    """All there is to say of simulated users.

    Args:
        experiment: Finished, stopped or failed.
        explain: Whether each figure's definition is added.
    """
    cells = [cell for cell in experiment.cells if cell.runs]
    curve = [cell for cell in cells if LONG_PROMPTS not in cell.extra]
    parts = [[experiment.title] if experiment.title else []]
    if curve:
        limits = limits_lines(experiment, keys_of(curve))
        parts.append([*_table(curve), *(["", *limits] if limits else [])])
    parts.append([line for said in experiment.conclusion for line in wrapped(said)])
    parts.append(disturbance_lines(cells))
    parts.append(_notes(cells))
    if explain:
        parts.append(_explained())
    work = wrapped(work_words(experiment), mark="workload   ") if work_words(experiment) else []
    parts.append([*work, *subject_lines(_without_workload(experiment))])
    lines: list[str] = []
    for part in filter(None, parts):
        lines += ["", *part] if lines else part
    return lines


def users_columns(cells: Sequence[Cell]) -> list[tuple[str, str, list[str]]]:
    """Title, unit and texts of each column that has something in it; the first holds the names."""
    columns = [_name_column(cells)]
    if any(kept_of(cell) is not None for cell in cells):
        kept = [kept_of(cell) for cell in cells]
        columns += [
            ("kept", "%", [NO_VALUE if each is None else _percent(each) for each in kept]),
            ("between", "%", [NO_VALUE if each is None else _between(each) for each in kept]),
            ("of", "", [NO_VALUE if each is None else f"{each.of:,}" for each in kept]),
        ]
    for key, title in _TITLES.items():
        measure = BY_FIGURE[key]
        if any(cell_values(cell, key) for cell in cells):
            scale = _short(common_scale(measure, cells))
            values = [_median(cell, measure) for cell in cells]
            columns.append((title, scale.unit, [scale.text(value) for value in values]))
        if key == "ttft_p95_s":
            columns += _queue_columns(cells)
    return columns


def work_words(experiment: Experiment) -> str:
    """What each user did: how many there were, or how often they asked, the table says."""
    workload = kept_workload(experiment)
    if workload is None or workload.material is Material.CONVERSATION:  # its words are not kept
        return ""
    rates = [cell.extra[RATE] for cell in experiment.cells if RATE in cell.extra]
    if rates:
        workload = msgspec.structs.replace(workload, rate_req_s=rates[0])
    return workload_summary(workload, counts=False)


# --- Inside -----------------------------------------------------------------------------


def _table(cells: Sequence[Cell]) -> list[str]:
    columns = users_columns(cells)
    rows = [[texts[at] for _, _, texts in columns] for at in range(len(cells))]
    return text_table([title for title, _, _ in columns], [[u for _, u, _ in columns], *rows])


def _name_column(cells: Sequence[Cell]) -> tuple[str, str, list[str]]:
    marks = [f" {DISTURBED}" * any(cell.disturbed) for cell in cells]
    title, unit, names = "", "", [cell.name for cell in cells]
    for key, of_key, unit_of_key in ((USERS, "users", ""), (RATE, "rate", "req/s")):
        if all(key in cell.extra for cell in cells):
            title, unit = of_key, unit_of_key
            names = [f"{cell.extra[key]:,g}" for cell in cells]
    return title, unit, [name + mark for name, mark in zip(names, marks, strict=True)]


def _short(scale: Scale) -> Scale:
    """One digit less than usual, or the table would be wider than a terminal."""
    return replace(scale, digits=max(0, scale.digits - 1))


def _queue_columns(cells: Sequence[Cell]) -> list[tuple[str, str, list[str]]]:
    waited = [cell.extra.get(QUEUE) for cell in cells]
    # Where nobody waits for a slot, a request still waits for the end of a step.
    longest_s = max((value for value in waited if value is not None), default=0.0)
    scale = _short(scale_of(_QUEUE, longest_s))
    shares = [cell.extra.get(QUEUE_SHARE) for cell in cells]
    return [
        ("queue", scale.unit, [scale.text(value) for value in waited]),
        ("", "%", [NO_VALUE if share is None else f"{100 * share:.0f}" for share in shares]),
    ]


def _median(cell: Cell, measure: Measure) -> float | None:
    short = summary(cell_values(cell, measure.key))
    return None if short is None else short.median


def _percent(kept: Proportion) -> str:
    # A share that is not all must not be told as if it were.
    percent = round(100 * kept.share)
    return str(min(percent, 99) if kept.count < kept.of else percent)


def _between(kept: Proportion) -> str:
    """Rounded so that the interval does not get smaller."""
    return f"{math.floor(100 * kept.low)}–{math.ceil(100 * kept.high)}"


def _notes(cells: Sequence[Cell]) -> list[str]:
    """What belongs to one number of users; some say themselves to which."""
    return [
        line
        for cell in cells
        for note in cell.notes
        for line in wrapped(note if note.startswith(cell.name) else f"{cell.name}: {note}")
    ]


def _explained() -> list[str]:
    lines = [
        line for name, text in DEFINITIONS.items() for line in wrapped(f"{name}: {text}", mark="  ")
    ]
    return lines + definition_lines(list(_TITLES))


def _without_workload(experiment: Experiment) -> Experiment:
    return msgspec.structs.replace(experiment, workload="")
