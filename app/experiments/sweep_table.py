"""A sweep as text: every combination with both speeds, their intervals and its memory. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from app.experiments.experiment import Cell, Experiment
from app.experiments.measures import BY_FIGURE, Measure
from app.experiments.ranking import allocated_bytes_of, values_of
from app.experiments.scales import NO_VALUE, Scale, common_scale, label_of, scale_of
from app.experiments.spread import LEAST_RUNS, Summary, summary
from app.experiments.subject_text import subject_lines
from app.experiments.sweep_conclusion import PARETO
from app.experiments.sweep_resume import MEASURE
from app.experiments.tables import DISTURBED, definition_lines, limits_lines
from app.experiments.text_layout import WIDTH, text_table, wrapped

_SPEEDS = ("user_tok_s", "total_tok_s")
_MEMORY = "owned_bytes"
_CHOICE = "◆"
# The JSON has them all; of a busy machine they are as many as there are runs.
_MOST_DISTURBED = 6

_Column = tuple[str, list[str]]


def sweep_lines(experiment: Experiment, *, explain: bool = False) -> list[str]:
    """All there is to say of a sweep.

    Args:
        experiment: Finished, stopped or failed; the figure by which the best was chosen has a
            column of its own if it is none of the usual.
        explain: Whether each figure's definition is added.
    """
    cells = [cell for cell in experiment.cells if cell.runs]
    chosen_by = str(experiment.asked.get(MEASURE))  # one of another version may be unknown here
    is_unusual = chosen_by in BY_FIGURE and chosen_by not in (*_SPEEDS, _MEMORY)
    keys = [*([chosen_by] if is_unusual else []), *_SPEEDS]
    parts = [[experiment.title] if experiment.title else []]
    if cells:
        parts += [_table(cells, keys), [*_legend(cells), *limits_lines(experiment, keys)]]
    parts += [[line for said in experiment.conclusion for line in wrapped(said)]]
    parts += [_disturbances(cells), _skipped(experiment.cells), _notes(experiment.cells)]
    if explain:
        parts += [definition_lines([*keys, _MEMORY])]
    parts += [subject_lines(experiment)]
    lines: list[str] = []
    for part in filter(None, parts):
        lines += ["", *part] if lines else part
    return lines


# --- Inside -----------------------------------------------------------------------------


def _table(cells: Sequence[Cell], keys: Sequence[str]) -> list[str]:
    """The names stand last, or each above its figures where they are too long for that."""
    columns: list[_Column] = [("", [_CHOICE if c.extra.get(PARETO) else "" for c in cells])]
    for key in keys:
        columns += _columns(cells, BY_FIGURE[key])
    columns += [_memory(cells), ("runs", [str(len(cell.runs)) for cell in cells])]
    head = [title for title, _ in columns]
    rows = [[texts[at] for _, texts in columns] for at in range(len(cells))]
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


def _columns(cells: Sequence[Cell], measure: Measure) -> list[_Column]:
    """The medians of a figure, and their intervals where there are some."""
    scale = common_scale(measure, cells)
    title = {"user_tok_s": "User", "total_tok_s": "Total"}.get(measure.key, label_of(measure))
    shorts = [summary(values_of(cell, measure)) for cell in cells]
    medians = [NO_VALUE if short is None else scale.text(short.median) for short in shorts]
    columns = [(f"{title} {scale.unit}".rstrip(), medians)]
    if _has_intervals(cells):
        columns.append(("between", [_interval(short, scale) for short in shorts]))
    return columns


def _memory(cells: Sequence[Cell]) -> _Column:
    """What the engine allocated, which no run changes; where it did not say, what was measured."""
    measure = BY_FIGURE[_MEMORY]
    allocated = allocated_bytes_of(cells)
    if allocated:
        scale = scale_of(measure, max(allocated))
        return f"Memory {scale.unit}", [scale.text(value) for value in allocated]
    scale = common_scale(measure, cells)
    shorts = [summary(values_of(cell, measure)) for cell in cells]
    texts = [NO_VALUE if short is None else scale.text(short.median) for short in shorts]
    return f"Memory {scale.unit}", texts


def _has_intervals(cells: Sequence[Cell]) -> bool:
    return any(len(cell.runs) >= LEAST_RUNS for cell in cells)


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
    told = "Medians; combinations are compared by their runs of the same round."
    if _has_intervals(cells):
        told += " Between: the 95 % interval of the median."
    if allocated_bytes_of(cells):
        told += " Memory: what the engine allocated, without mapped weights."
    return lines + wrapped(told)


def _disturbances(cells: Sequence[Cell]) -> list[str]:
    told = [
        f"{cell.name}, run {number}: {sentence}"
        for cell in cells
        for number, sentence in enumerate(cell.disturbed, start=1)
        if sentence
    ]
    lines = [
        line for said in told[:_MOST_DISTURBED] for line in wrapped(said, mark=f"{DISTURBED} ")
    ]
    more = len(told) - _MOST_DISTURBED
    if more > 0:
        lines += wrapped(f"and {more:,} more runs were disturbed.", mark=f"{DISTURBED} ")
    return lines


def _skipped(cells: Sequence[Cell]) -> list[str]:
    """What was not measured by the reason, which several often share."""
    names: dict[str, list[str]] = {}
    for cell in cells:
        if cell.skipped:
            names.setdefault(cell.skipped, []).append(cell.name)
    return [
        line
        for reason, skipped in names.items()
        for line in wrapped(f"{'; '.join(skipped)}: {reason}", mark="skipped ")
    ]


def _notes(cells: Sequence[Cell]) -> list[str]:
    return [
        line for cell in cells for note in cell.notes for line in wrapped(f"{cell.name}: {note}")
    ]
