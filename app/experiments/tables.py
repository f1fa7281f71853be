"""Results as text for a terminal: tables of runs and of configurations, and all of one experiment.

``experiment_lines`` tells any experiment; the parts it is made of serve whoever tells it otherwise.
Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.experiments.experiment import Cell, Experiment
from app.experiments.extra_figures import extra_label
from app.experiments.measures import BY_FIGURE, MEASURES, Measure, Unit
from app.experiments.run_figures import DEFINITIONS
from app.experiments.scales import (
    cell_values,
    common_scale,
    digits_of,
    label_of,
    scale_of,
    unit_of,
    with_spread,
)
from app.experiments.spread import LEAST_RUNS, Summary, summary
from app.experiments.subject_text import limits_of, subject_lines
from app.experiments.text_layout import WIDTH, text_table, wrapped

DISTURBED = "*"
"""Stands behind a run, or a configuration with such a run, that something disturbed."""

_RATES = (
    ("_bytes_per_s", 1e-9, "GB/s"), ("_tok_s", 1.0, "tok/s"), ("_req_s", 1.0, "req/s"),
)  # fmt: skip
# What tells runs of one configuration apart at a glance; the figures themselves stand above.
_RUN_KEYS = ("ttft_s", "tpot_s", "itl_p99_s", "total_tok_s", "duration_s")
CELL_KEYS = ("ttft_s", "tpot_s", "total_tok_s", "owned_bytes")
"""What a table with a line for each configuration shows, unless asked otherwise."""
PROBE_KEYS = ("ttft_s", "tpot_s", "itl_p99_s", "total_tok_s")
"""The same of a server, whose memory nobody sees from outside."""

_GOODPUT = "goodput_req_s"
# Say nothing without the limits that they are counted by.
_LIMITED = (_GOODPUT, "kept_share")


def experiment_lines(
    experiment: Experiment, *, keys: Sequence[str] = CELL_KEYS, explain: bool = False
) -> list[str]:
    """All there is to say of ``experiment``: its figures, what disturbed it, on what it was done.

    Args:
        experiment: Finished, stopped or failed.
        keys: Figures with a column, where it has several configurations.
        explain: Whether each figure's definition is added.
    """
    measured = [cell for cell in experiment.cells if cell.runs]
    shown: list[str] = []
    lines = [experiment.title, ""] if experiment.title else []
    if len(measured) == 1:
        shown = keys_of(measured)
        table = summary_table(measured[0], limits_of(experiment))
        lines += [*table, "", *runs_table(measured[0])]
    elif measured:
        shown = [key for key in keys if key in keys_of(measured)]
        lines += cells_table(measured, shown)
        lines += _paragraph(limits_lines(experiment, shown))
    lines += _paragraph(disturbance_lines(measured))
    lines += _paragraph(skipped_lines(experiment.cells))
    lines += _paragraph(_note_lines(experiment.cells, is_named=len(experiment.cells) > 1))
    lines += _paragraph([line for said in experiment.conclusion for line in wrapped(said)])
    if shown:
        lines += _paragraph(wrapped(spread_sentence(measured)))
    if explain:
        lines += _paragraph(definition_lines(shown))
    return [*lines, "", *subject_lines(experiment)]


def summary_table(cell: Cell, limits: str = "") -> list[str]:
    """A line for each figure of one configuration: median, spread, lowest and highest run.

    Args:
        cell: With at least one run.
        limits: What a good request had to keep; stands below the goodput.
    """
    rows = []
    for measure in MEASURES:
        values = cell_values(cell, measure.key)
        short = summary(values)
        if short is not None:
            rows.append(_summary_row(measure, short, [v for v in values if v is not None]))
            if measure.key == _GOODPUT and limits:
                rows.append([f"  {limits}", *[""] * 5])
    rows += [extra_row(name, value) for name, value in cell.extra.items()]
    runs = len(cell.runs)
    if runs == 1:
        return text_table(("", "1 run", ""), [[*row[:2], *row[-1:]] for row in rows],
                          left=(0, 2))  # fmt: skip
    head = ("", "median", "±", "lowest", "highest", "")
    return text_table(head, rows, left=(0, 5))


def runs_table(cell: Cell) -> list[str]:
    """A line for each run, in the order in which they were measured; disturbed ones are marked."""
    shown = [measure for key in _RUN_KEYS if cell_values(cell, (measure := BY_FIGURE[key]).key)]
    scales = [common_scale(measure, [cell]) for measure in shown]
    head = ["run"] + [f"{m.label} {s.unit}".rstrip() for m, s in zip(shown, scales, strict=True)]
    counts = [
        f"{run.requests}" + (f" + {run.failed} failed" * bool(run.failed)) for run in cell.runs
    ]
    rows = []
    for number, run in enumerate(cell.runs, start=1):
        mark = DISTURBED if _disturbance(cell, number - 1) else ""
        values = [
            scale.text(getattr(run, measure.key))
            for measure, scale in zip(shown, scales, strict=True)
        ]
        rows.append([f"{number}{mark}", *values, counts[number - 1]])
    return text_table([*head, "requests"], rows)


def cells_table(cells: Sequence[Cell], keys: Sequence[str]) -> list[str]:
    """A line for each configuration that was measured, a column for each figure."""
    shown = [BY_FIGURE[key] for key in keys]
    scales = [common_scale(measure, cells) for measure in shown]
    head = [""] + [f"{label_of(m)} {s.unit}".rstrip() for m, s in zip(shown, scales, strict=True)]
    rows = []
    for cell in cells:
        mark = f" {DISTURBED}" if any(cell.disturbed) else ""
        texts = [
            with_spread(summary(cell_values(cell, measure.key)), scale)
            for measure, scale in zip(shown, scales, strict=True)
        ]
        rows.append([cell.name + mark, *texts])
    table = text_table([*head, "runs"], [
        [*row, str(len(cell.runs))] for row, cell in zip(rows, cells, strict=True)
    ])  # fmt: skip
    return table if max(map(len, table)) <= WIDTH else _names_above(head, rows)


def limits_lines(experiment: Experiment, keys: Sequence[str]) -> list[str]:
    """What goodput is counted by, where a table shows it; empty without limits."""
    limits = limits_of(experiment)
    if not limits or not any(key in _LIMITED for key in keys):
        return []
    return wrapped(f"Goodput counts requests that kept {limits}.")


def disturbance_lines(cells: Sequence[Cell]) -> list[str]:
    """What disturbed runs, a sentence each, behind the mark that the tables show."""
    lines = []
    for cell in cells:
        where = f"{cell.name}, " if len(cells) > 1 and cell.name else ""
        for number, sentence in enumerate(cell.disturbed, start=1):
            if sentence:
                lines += wrapped(f"{where}run {number}: {sentence}", mark=f"{DISTURBED} ")
    return lines


def skipped_lines(cells: Sequence[Cell]) -> list[str]:
    """What was not measured, and why."""
    return [
        line
        for cell in cells
        if cell.skipped
        for line in wrapped(f"{cell.name}: {cell.skipped}", mark="skipped ")
    ]


def definition_lines(keys: Sequence[str]) -> list[str]:
    """What each figure means."""
    return [
        line
        for measure in MEASURES
        if measure.key in keys
        for line in wrapped(f"{label_of(measure)}: {DEFINITIONS[measure.key]}", mark="  ")
    ]


def keys_of(cells: Sequence[Cell]) -> list[str]:
    """Figures that at least one run of ``cells`` has, in the order in which they are shown."""
    return [m.key for m in MEASURES if any(cell_values(cell, m.key) for cell in cells)]


def spread_sentence(cells: Sequence[Cell]) -> str:
    """What ± means in the tables of ``cells``."""
    if all(len(cell.runs) == 1 for cell in cells):
        return "A single run shows no spread: whether a difference is one cannot be told from it."
    sentence = (
        "± is the spread of the runs: 1.4826 × the median distance from their median. "
        "A difference smaller than that is none."
    )
    if max(len(cell.runs) for cell in cells) < LEAST_RUNS:
        sentence += f" Fewer than {LEAST_RUNS} runs show too little of it."
    return sentence


def extra_row(name: str, value: float) -> list[str]:
    """A figure of one kind of experiment; its unit ends its name."""
    for ending, factor, rate in _RATES:
        if name.endswith(ending):
            return [extra_label(name), f"{value * factor:,.1f}", "", "", "", rate]
    for ending, unit in (("_bytes", Unit.BYTES), ("_s", Unit.SECONDS)):
        if name.endswith(ending):
            factor, shown = unit_of(unit, abs(value))
            text = f"{value * factor:,.{digits_of(abs(value) * factor)}f}"
            return [extra_label(name), text, "", "", "", shown]
    return [extra_label(name), f"{value:.4g}", "", "", "", ""]


# --- Inside -----------------------------------------------------------------------------


def _summary_row(measure: Measure, short: Summary, known: Sequence[float]) -> list[str]:
    scale = scale_of(measure, short.median)
    return [
        label_of(measure),
        scale.text(short.median),
        scale.text(short.spread),
        scale.text(min(known)),
        scale.text(max(known)),
        scale.unit,
    ]


def _names_above(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Where names are so long that no table is as narrow: each stands above its figures."""
    body = text_table(["", *head[1:]], [["", *row[1:]] for row in rows])
    lines = [body[0]]
    for row, figures in zip(rows, body[1:], strict=True):
        lines += [*wrapped(row[0]), figures]
    return lines


def _disturbance(cell: Cell, place: int) -> str:
    return cell.disturbed[place] if place < len(cell.disturbed) else ""


def _note_lines(cells: Sequence[Cell], *, is_named: bool) -> list[str]:
    return [
        line
        for cell in cells
        for note in cell.notes
        for line in wrapped(f"{cell.name}: {note}" if is_named and cell.name else note)
    ]


def _paragraph(lines: Sequence[str]) -> list[str]:
    return ["", *lines] if lines else []
