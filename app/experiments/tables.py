"""Results as text for a terminal of 80 columns: aligned, with units, without escape codes. Pure.

``experiment_lines`` tells any experiment; the parts it is made of serve whoever tells it otherwise.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor, log10

import msgspec

from app.experiments.experiment import Cell, Experiment, Figures, Kind
from app.experiments.extra_figures import extra_label
from app.experiments.measures import BY_FIGURE, MEASURES, Measure, Unit
from app.experiments.run_figures import DEFINITIONS
from app.experiments.spread import LEAST_RUNS, Summary, summary
from app.experiments.workload import Material, Workload
from app.experiments.workload_words import summary as workload_summary
from engine_bridge.settings.domain import Value

WIDTH = 80
NO_VALUE = "–"
DISTURBED = "*"
"""Stands behind a run, or a configuration with such a run, that something disturbed."""

_GAP = "  "
_RATES = (("_bytes_per_s", 1e-9, "GB/s"), ("_tok_s", 1.0, "tok/s"))
_SIGNIFICANT = 4
# What tells runs of one configuration apart at a glance; the figures themselves stand above.
_RUN_KEYS = ("ttft_s", "tpot_s", "itl_p99_s", "total_tok_s", "duration_s")
CELL_KEYS = ("ttft_s", "tpot_s", "total_tok_s", "owned_bytes")
"""What a table with a line for each configuration shows, unless asked otherwise."""


@dataclass(frozen=True)
class Scale:
    """How the values of one row or column are written, so that they can be compared at sight.

    Attributes:
        factor: What a value is multiplied by.
        unit: What it is counted in then; may be empty.
        digits: Digits behind the point.
    """

    factor: float
    unit: str
    digits: int

    def text(self, value: float | None) -> str:
        """``value`` without its unit; a dash for None."""
        return NO_VALUE if value is None else f"{value * self.factor:,.{self.digits}f}"


def scale_of(measure: Measure, value: float) -> Scale:
    """How values of the size of ``value`` are written: about four significant digits."""
    factor, unit = _unit(measure.unit, abs(value))
    return Scale(factor, unit, _digits(abs(value) * factor))


def value_text(measure: Measure, value: float | None) -> str:
    """One value with its unit: ``123.4 ms``; a dash for None."""
    if value is None:
        return NO_VALUE
    scale = scale_of(measure, value)
    return f"{scale.text(value)} {scale.unit}".rstrip()


def label_of(measure: Measure) -> str:
    """The measure's name at the beginning of a line."""
    return measure.label[:1].upper() + measure.label[1:]


def text_table(
    head: Sequence[str], rows: Sequence[Sequence[str]], *, left: Sequence[int] = (0,)
) -> list[str]:
    """Rows with aligned columns, nothing behind the last sign of a line.

    Args:
        head: Title of each column; all empty for none.
        rows: As many texts each; one too short is filled up with empty ones.
        left: Columns whose texts begin at the left; the others end at the right.
    """
    columns = len(head)
    filled = [[*row, *[""] * (columns - len(row))] for row in rows]
    lines = [list(head), *filled] if any(head) else filled
    widths = [max((len(line[at]) for line in lines), default=0) for at in range(columns)]
    return [
        _GAP.join(
            text.ljust(width) if at in left else text.rjust(width)
            for at, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]


def wrapped(text: str, *, mark: str = "", width: int = WIDTH) -> list[str]:
    """``text`` broken into lines; ``mark`` stands before the first, the others are indented."""
    return textwrap.wrap(
        text, width, initial_indent=mark, subsequent_indent=" " * len(mark),
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


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
        lines += [*summary_table(measured[0]), "", *runs_table(measured[0])]
    elif measured:
        shown = [key for key in keys if key in keys_of(measured)]
        lines += cells_table(measured, shown)
    lines += _paragraph(disturbance_lines(measured))
    lines += _paragraph(skipped_lines(experiment.cells))
    lines += _paragraph(_note_lines(experiment.cells, is_named=len(experiment.cells) > 1))
    lines += _paragraph([line for said in experiment.conclusion for line in wrapped(said)])
    if shown:
        lines += _paragraph(wrapped(spread_sentence(measured)))
    if explain:
        lines += _paragraph(definition_lines(shown))
    return [*lines, "", *subject_lines(experiment)]


def summary_table(cell: Cell) -> list[str]:
    """A line for each figure of one configuration: median, spread, lowest and highest run."""
    rows = []
    for measure in MEASURES:
        values = cell_values(cell, measure.key)
        short = summary(values)
        if short is not None:
            rows.append(_summary_row(measure, short, [v for v in values if v is not None]))
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


def subject_lines(experiment: Experiment) -> list[str]:
    """On what, with which settings and with what work it was done."""
    subject = experiment.subject
    model = subject.model
    if subject.model_sha256:
        model = f"{model}, sha256 {subject.model_sha256[:16]}…"
    told = {
        "workload": _workload_text(experiment.workload),
        "model": model,
        "engine": subject.engine,
        "machine": subject.machine,
    }
    if experiment.kind is not Kind.PROBE:  # a server's are unknown
        cells = experiment.cells
        told["settings"] = settings_text(_common(cells)) or "defaults" * (len(cells) == 1)
        told["effective"] = settings_text(cells[0].effective) if len(cells) == 1 else ""
    return [
        line for name, text in told.items() if text for line in wrapped(text, mark=f"{name:<11}")
    ]


def _common(cells: Sequence[Cell]) -> dict[str, Value]:
    """What was set for all of them; what differs is in their names."""
    first = cells[0].config if cells else {}
    return {
        key: value
        for key, value in first.items()
        if all(cell.config.get(key) == value for cell in cells)
    }


def settings_text(values: Mapping[str, object]) -> str:
    """Settings as ``key=value``, the model's file left out: it is told as the model."""
    return ", ".join(
        f"{key}={_plain(value)}" for key, value in values.items() if key != "model_path"
    )


def cell_values(cell: Cell, key: str) -> list[float | None]:
    """The figure of each run; empty where none has it."""
    values = [getattr(run, key) for run in cell.runs]
    return values if any(value is not None for value in values) else []


def keys_of(cells: Sequence[Cell]) -> list[str]:
    """Figures that at least one run of ``cells`` has, in the order in which they are shown."""
    return [m.key for m in MEASURES if any(cell_values(cell, m.key) for cell in cells)]


def common_scale(measure: Measure, cells: Sequence[Cell]) -> Scale:
    """How the figure is written for all of ``cells``, so that they can be compared at sight."""
    known = [v for cell in cells for v in cell_values(cell, measure.key) if v is not None]
    return scale_of(measure, max(known, key=abs, default=0.0))


def with_spread(short: Summary | None, scale: Scale) -> str:
    """``123.4 ± 2.1`` without the unit; a dash where nothing was measured."""
    if short is None:
        return NO_VALUE
    if short.runs == 1:
        return scale.text(short.median)
    return f"{scale.text(short.median)} ± {scale.text(short.spread)}"


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
            factor, shown = _unit(unit, abs(value))
            text = f"{value * factor:,.{_digits(abs(value) * factor)}f}"
            return [extra_label(name), text, "", "", "", shown]
    return [extra_label(name), f"{value:.4g}", "", "", "", ""]


def figures_line(figures: Figures, keys: Sequence[str] = CELL_KEYS) -> str:
    """A run in one line, for a progress message: ``TTFT 123 ms · TPOT 20.1 ms``."""
    told = [
        f"{BY_FIGURE[key].label} {value_text(BY_FIGURE[key], getattr(figures, key))}"
        for key in keys
        if getattr(figures, key) is not None
    ]
    return " · ".join(told)


# --- Inside -----------------------------------------------------------------------------


def _workload_text(stored: str) -> str:
    """A workload in words; empty where there was none, or its words are not kept."""
    try:
        workload = msgspec.json.decode(stored, type=Workload)
    except msgspec.DecodeError:
        return ""
    return "" if workload.material is Material.CONVERSATION else workload_summary(workload)


def _unit(unit: Unit, size: float) -> tuple[float, str]:
    match unit:
        case Unit.SECONDS:
            return (1.0, "s") if size >= 1 else (1e3, "ms")
        case Unit.BYTES:
            return (1 / 2**30, "GiB") if size >= 2**30 else (1 / 2**20, "MiB")
        case Unit.SHARE:
            return 100.0, "%"
        case Unit.COUNT:
            return 1.0, ""
    return 1.0, str(unit)


def _digits(value: float) -> int:
    if value <= 0:
        return 0
    return min(3, max(0, _SIGNIFICANT - 1 - floor(log10(value))))


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


def _plain(value: object) -> str:
    if isinstance(value, list | tuple):
        return ",".join(str(item) for item in value) or "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)
