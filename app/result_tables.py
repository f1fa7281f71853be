"""The table of an experiment: its columns with their units, a row for each configuration. Pure.

The same figures as the command line prints, by the same words and digits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

from app.experiments.experiment import Cell, Experiment, Kind
from app.experiments.measures import ALLOCATED, BY_FIGURE, Measure
from app.experiments.quality_words import quality_rows
from app.experiments.ranking import allocated_bytes_of
from app.experiments.run_figures import DEFINITIONS
from app.experiments.scales import (
    NO_VALUE,
    cell_values,
    common_scale,
    label_of,
    scale_of,
    with_spread,
)
from app.experiments.sweep_conclusion import PARETO
from app.experiments.tables import DISTURBED, extra_row, keys_of
from app.experiments.users_table import users_columns
from app.result_axes import Varied, varied_of
from app.result_points import short_of, standings_of
from app.result_settings import config_to_apply, settings_words
from app.result_tune import outcome_of
from widgets.experiments.result_sheet import Column, Field, Row

SETTING = "set:"
"""Begins the names of columns that hold settings."""

_MOST_SETTINGS = 4
CHOICE = "◆"
"""Stands behind a configuration that is worth a choice, as in the command line's table."""

# Figures with a column where there are several configurations, those that say most first.
_KEYS = (
    "total_tok_s", "user_tok_s", "ttft_s", "itl_p99_s", "goodput_req_s", "acceptance", "mbu",
    "owned_bytes",
)  # fmt: skip
# Which of them give way where there is no room, those of the highest rank first.
_RANKS = {
    "runs": 8, "mbu": 7, "acceptance": 6, "itl_p99_s": 5, "goodput_req_s": 4, "ttft_s": 3,
    "owned_bytes": 2, "user_tok_s": 1,
}  # fmt: skip
_SHORT = {"total_tok_s": "Total", "user_tok_s": "Per user", "owned_bytes": "Memory"}
_NAME = Column("name", "Configuration", is_number=False)
_NUMBER = re.compile(r"[-−]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?")
_QUALITY = {
    "mean KLD": "nats",
    "KLD, 99 % below": "nats",
    "same top, %": "%",
    "perplexity": "",
    "  / the base's": "",
    "facts recalled": "",
    "KV cache": "",
    "TPOT / the base's": "",
}
_QUALITY_TITLES = {
    "mean KLD": "Mean KLD",
    "KLD, 99 % below": "KLD p99",
    "same top, %": "Same top",
    "perplexity": "Perplexity",
    "  / the base's": "PPL ratio",
    "facts recalled": "Recalled",
    "TPOT / the base's": "TPOT ratio",
}
_QUALITY_TIPS = {
    "mean KLD": (
        "Kullback-Leibler divergence of the next-token distribution from the base's: 0 where they "
        "are the same; ± one standard error."
    ),
    "same top, %": "Share of tokens at which both find the same token most likely.",
    "  / the base's": "Perplexity divided by that of the base; ± one standard error.",
    "TPOT / the base's": "Times of steps that took turns, divided; between: the 95 % interval.",
}
_MEMORY = "owned_bytes"
_ALLOCATED_TIP = "What the engine said that it allocated, mapped weights left out."
_MIB = 2**20

Table = tuple[tuple[Column, ...], tuple[Row, ...]]


def name_columns(columns: Sequence[Column]) -> int:
    """How many columns tell rows apart."""
    return max(1, sum(column.key.startswith(SETTING) for column in columns))


def table_of(experiment: Experiment) -> Table:
    """Columns and rows; both empty where there is nothing to tell."""
    if experiment.kind is Kind.QUALITY:
        return _quality_table(experiment)
    if experiment.kind is Kind.USERS:
        return _users_table(experiment)
    if is_of_figures(experiment):
        return _figures_table(experiment)
    return _cells_table(experiment)


def shared_notes(experiment: Experiment) -> tuple[str, ...]:
    """What is said of every configuration that was measured, and so of none in particular."""
    measured = [cell for cell in experiment.cells if cell.runs or cell.extra]
    first = measured[0].notes if measured else ()
    return tuple(note for note in first if all(note in cell.notes for cell in measured))


def is_of_figures(experiment: Experiment) -> bool:
    """Whether its table has a row for each figure of the only configuration."""
    return (
        experiment.kind not in (Kind.QUALITY, Kind.USERS)
        and len(experiment.cells) == 1
        and bool(experiment.cells[0].runs)
    )


# --- One configuration: a row for each figure -------------------------------------------


def _figures_table(experiment: Experiment) -> Table:
    cell = experiment.cells[0]
    columns = (
        Column("figure", "Figure", is_number=False),
        Column("median", "Median"),
        Column("spread", "±", tip="1.4826 × the median distance of the runs from their median."),
        Column("lowest", "Lowest", rank=1),
        Column("highest", "Highest", rank=1),
        Column("unit", "Unit", is_number=False),
    )
    made = _Rows(experiment)
    rows = []
    for key in keys_of([cell]):
        measure = BY_FIGURE[key]
        short = short_of(cell, key)
        if short is None:
            continue
        scale = scale_of(measure, short.median)
        known = [value for value in cell_values(cell, key) if value is not None]
        told = (short.median, short.spread, min(known), max(known))
        texts = list(map(scale.text, told))
        if short.runs == 1:
            texts[1:] = [NO_VALUE] * 3
        fields = [label_of(measure), *texts, scale.unit]
        rows.append(made.row(0, [Field(each, _number(each)) for each in fields]))
    for name, value in cell.extra.items():
        label, text, *_, unit = extra_row(name, value)
        fields = [label, text, NO_VALUE, NO_VALUE, NO_VALUE, unit]
        rows.append(made.row(0, [Field(each, _number(each)) for each in fields]))
    return columns, tuple(rows)


# --- Several configurations: a row for each ---------------------------------------------


def _cells_table(experiment: Experiment) -> Table:
    cells = experiment.cells
    measured = [cell for cell in cells if cell.runs]
    known = keys_of(measured)
    measures = [BY_FIGURE[key] for key in _KEYS if key in known]
    columns, makers = _name_columns(experiment)
    if experiment.kind is Kind.TUNE:
        columns.append(Column("outcome", "Outcome", is_number=False))
        makers.append(lambda place, cell: Field(outcome_of(experiment, cell)))
    for measure in measures:
        column, maker = _figure_column(experiment, measure, measured)
        if measure.key == _MEMORY and allocated_bytes_of(measured):
            column, maker = _memory_column(measured)
        columns.append(column)
        makers.append(maker)
    columns.append(Column("runs", "Runs", rank=_RANKS["runs"]))
    makers.append(lambda place, cell: Field(f"{len(cell.runs)}", float(len(cell.runs))))
    made = _Rows(experiment)
    rows = tuple(
        made.row(place, [make(place, cell) for make in makers]) for place, cell in enumerate(cells)
    )
    return tuple(columns), rows


_Maker = Callable[[int, Cell], Field]


def _figure_column(
    experiment: Experiment, measure: Measure, measured: Sequence[Cell]
) -> tuple[Column, _Maker]:
    scale = common_scale(measure, measured)
    standings = standings_of(experiment, measure)
    if 2 * list(standings.values()).count("worse") < len(standings):
        standings = {}  # where most are alike none stands out
    title = _SHORT.get(measure.key, label_of(measure))
    about, rank = DEFINITIONS.get(measure.key, ""), _RANKS.get(measure.key, 0)
    column = Column(measure.key, title, scale.unit, about, rank=rank)

    def field(place: int, cell: Cell) -> Field:
        short = short_of(cell, measure.key)
        number = None if short is None else short.median
        return Field(with_spread(short, scale), number, standings.get(place, ""))

    return column, field


def _name_columns(experiment: Experiment) -> tuple[list[Column], list[_Maker]]:
    """What tells configurations apart: of a sweep a column for each setting, if they are few."""
    varied = varied_of(dict(enumerate(experiment.cells)))
    if experiment.kind is not Kind.SWEEP or not 0 < len(varied) <= _MOST_SETTINGS:
        return [_NAME], [_name]
    columns: list[Column] = []
    makers: list[_Maker] = []
    for number, one in enumerate(varied):
        is_number = one.numbers is not None
        columns.append(Column(f"{SETTING}{one.name}", one.label, one.unit, is_number=is_number))
        makers.append(partial(_setting, one, number == 0))
    return columns, makers


def _setting(varied: Varied, is_first: bool, place: int, cell: Cell) -> Field:
    numbers = varied.numbers
    signs = _signs(cell) if is_first else ""
    number = None if numbers is None else numbers[place]
    return Field(f"{varied.value_words(place)}{signs}", number)


def _memory_column(measured: Sequence[Cell]) -> tuple[Column, _Maker]:
    """What the engine allocated, which no run changes."""
    scale = scale_of(BY_FIGURE[_MEMORY], max(allocated_bytes_of(measured)))

    def field(_place: int, cell: Cell) -> Field:
        number = cell.extra.get(ALLOCATED)
        return Field(scale.text(number), number)

    rank = _RANKS[_MEMORY]
    return Column(_MEMORY, _SHORT[_MEMORY], scale.unit, _ALLOCATED_TIP, rank=rank), field


def _name(_place: int, cell: Cell) -> Field:
    return Field(f"{cell.name}{_signs(cell)}")


def _signs(cell: Cell) -> str:
    sign = f" {CHOICE}" if cell.extra.get(PARETO) else ""
    return sign + f" {DISTURBED}" * any(cell.disturbed)


# --- Simulated users, KV caches ---------------------------------------------------------


def _users_table(experiment: Experiment) -> Table:
    shown = [(place, cell) for place, cell in enumerate(experiment.cells) if cell.runs]
    if not shown:
        return _cells_table(experiment) if experiment.cells else ((), ())
    told = users_columns([cell for _, cell in shown])
    columns = []
    for number, (own, unit, _) in enumerate(told):
        # The second of two columns under one title has none of its own.
        named = own or (f"{told[number - 1][0]} share" if number else "Configuration")
        key = f"{named} {unit}".strip()
        title = named[:1].upper() + named[1:]
        columns.append(Column(key, title, unit, is_number=number > 0, rank=_rank(number)))
    made = _Rows(experiment)
    rows = tuple(
        made.row(place, [Field(texts[at], _number(texts[at])) for _, _, texts in told])
        for at, (place, _) in enumerate(shown)
    )
    if columns and all(row.fields[0].number is not None for row in rows):
        first = columns[0]
        columns[0] = Column(first.key, first.title, first.unit, first.tip, is_number=True)
    return tuple(columns), rows


def _quality_table(experiment: Experiment) -> Table:
    told = [(label, texts) for label, texts in quality_rows(experiment.cells) if label in _QUALITY]
    columns = [Column("name", "K/V cache", is_number=False)]
    for column, (label, _) in enumerate(told, start=1):
        title, tip = _QUALITY_TITLES.get(label, label), _QUALITY_TIPS.get(label, "")
        unit = _QUALITY[label]
        columns.append(Column(label.strip(), title, unit, tip, rank=_rank(column)))
    made, rows = _Rows(experiment), []
    for place, cell in enumerate(experiment.cells):
        fields = [Field(cell.name)]
        for label, texts in told:
            number = _number(texts[place])
            if label == "KV cache" and "kv_bytes" in cell.extra:  # written in unlike units
                number = cell.extra["kv_bytes"] / _MIB
            fields.append(Field(texts[place], number))
        rows.append(made.row(place, fields))
    return tuple(columns), tuple(rows)


# --- Inside -----------------------------------------------------------------------------


class _Rows:
    """Makes the rows of one experiment."""

    def __init__(self, experiment: Experiment) -> None:
        self._experiment = experiment
        self._shared = shared_notes(experiment)

    def row(self, place: int, fields: Sequence[Field]) -> Row:
        """A row of the configuration of that number."""
        cell = self._experiment.cells[place]
        return Row(
            place,
            cell.name,
            tuple(fields),
            skipped="" if cell.runs else cell.skipped,
            disturbed=tuple(
                f"Run {number}: {sentence}"
                for number, sentence in enumerate(cell.disturbed, start=1)
                if sentence
            ),
            notes=self._notes(cell),
            settings=settings_words(cell),
            config=config_to_apply(self._experiment.kind, place, cell),
        )

    def _notes(self, cell: Cell) -> tuple[str, ...]:
        own = tuple(note for note in cell.notes if note not in self._shared)
        return (*own, cell.skipped) if cell.runs and cell.skipped else own


def _rank(place: int) -> int:
    """Of columns that stand in the order of what they say, the last ones give way first."""
    return max(0, place - 1)


def _number(text: str) -> float | None:
    """The number that a text begins with; None where it begins with none."""
    found = _NUMBER.match(text)
    return None if found is None else float(found[0].replace(",", "").replace("−", "-"))
