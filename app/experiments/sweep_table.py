"""A sweep as text: every combination with both speeds, their intervals and its memory. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from app.experiments.experiment import Cell, Experiment
from app.experiments.measures import BY_FIGURE, Measure
from app.experiments.ranking import values_of
from app.experiments.spread import Summary, summary
from app.experiments.sweep_conclusion import PARETO
from app.experiments.tables import (
    DISTURBED,
    NO_VALUE,
    WIDTH,
    Scale,
    common_scale,
    definition_lines,
    disturbance_lines,
    label_of,
    skipped_lines,
    spread_sentence,
    subject_lines,
    text_table,
    wrapped,
)

_SPEEDS = ("user_tok_s", "total_tok_s")
_MEMORY = "owned_bytes"
_CHOICE = "◆"


def sweep_lines(experiment: Experiment, measure: Measure, *, explain: bool = False) -> list[str]:
    """All there is to say of a sweep.

    Args:
        experiment: Finished, stopped or failed.
        measure: By what the best was chosen; it has a column of its own if it is none of the usual.
        explain: Whether each figure's definition is added.
    """
    cells = [cell for cell in experiment.cells if cell.runs]
    keys = [*([] if measure.key in (*_SPEEDS, _MEMORY) else [measure.key]), *_SPEEDS, _MEMORY]
    parts = [[experiment.title] if experiment.title else []]
    if cells:
        parts += [_table(cells, keys), _legend(cells)]
    parts += [[line for said in experiment.conclusion for line in wrapped(said)]]
    parts += [disturbance_lines(cells), skipped_lines(experiment.cells), _notes(experiment.cells)]
    if cells:
        parts += [wrapped(spread_sentence(cells))]
    if explain:
        parts += [definition_lines(keys)]
    parts += [subject_lines(experiment)]
    lines: list[str] = []
    for part in filter(None, parts):
        lines += ["", *part] if lines else part
    return lines


# --- Inside -----------------------------------------------------------------------------


def _table(cells: Sequence[Cell], keys: Sequence[str]) -> list[str]:
    """The names stand last, or each above its figures where they are too long for that."""
    shown = [(BY_FIGURE[key], common_scale(BY_FIGURE[key], cells)) for key in keys]
    head = [""]
    for measure, scale in shown:
        head += [f"{_short(measure)} {scale.unit}".rstrip()]
        head += [] if measure.key == _MEMORY else ["between"]
    head += ["runs"]
    rows = [_row(cell, shown) for cell in cells]
    names = [cell.name + f" {DISTURBED}" * any(cell.disturbed) for cell in cells]
    beside = [[*row, name] for row, name in zip(rows, names, strict=True)]
    table = text_table([*head, ""], beside, left=(0, len(head)))
    if max(map(len, table)) <= WIDTH:
        return table
    first, *figures = text_table(head, rows)
    lines = [first]
    for name, line in zip(names, figures, strict=True):
        lines += [*wrapped(name), line]
    return lines


def _short(measure: Measure) -> str:
    return {"user_tok_s": "User", "total_tok_s": "Total", _MEMORY: "Memory"}.get(
        measure.key, label_of(measure)
    )


def _row(cell: Cell, shown: Sequence[tuple[Measure, Scale]]) -> list[str]:
    row = [_CHOICE if cell.extra.get(PARETO) else ""]
    for measure, scale in shown:
        short = summary(values_of(cell, measure))
        row += [NO_VALUE if short is None else scale.text(short.median)]
        row += [] if measure.key == _MEMORY else [_interval(short, scale)]
    return [*row, str(len(cell.runs))]


def _interval(short: Summary | None, scale: Scale) -> str:
    if short is None or short.low is None or short.high is None:
        return NO_VALUE
    return f"{scale.text(short.low)}–{scale.text(short.high)}"


def _legend(cells: Sequence[Cell]) -> list[str]:
    lines = []
    if any(cell.extra.get(PARETO) for cell in cells):
        lines += wrapped(
            "no other is better in speed per user, total throughput or memory and worse in none",
            mark=f"{_CHOICE} ",
        )
    if any(summary(values_of(cell, BY_FIGURE["total_tok_s"])) for cell in cells):
        lines += wrapped("“between” is the 95 % interval of the median.")
    return lines


def _notes(cells: Sequence[Cell]) -> list[str]:
    return [
        line for cell in cells for note in cell.notes for line in wrapped(f"{cell.name}: {note}")
    ]
