"""A chart at one moment as data: what tables and files are made of, on any thread. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine_bridge.metrics.definitions import percentile
from engine_bridge.metrics.meters import Marker
from widgets.charts.line import Floats
from widgets.charts.picture import Picture, Series
from widgets.charts.timeline import Timeline
from widgets.charts.words import number


@dataclass(frozen=True)
class Unit:
    """What a chart counts in.

    Attributes:
        name: As it is written behind a figure.
        per_value: Units per unit of the data, e.g. 1000 for ms of seconds.
    """

    name: str
    per_value: float


@dataclass(frozen=True)
class Events:
    """Rows of a table that are more than a value at a time.

    Attributes:
        columns: Headings, units included.
        rows: Seconds before the right edge, ascending, each with a text for every column.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[float, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Sheet:
    """Everything one chart shows.

    Attributes:
        title: Its name.
        value: The live value.
        note: What that is made of.
        unit: Of the values.
        picture: The series.
        timeline: The time axis.
        markers: Changes, seconds before the right edge.
        axis_top: The top tick, in ``unit``.
        events: What stands in the table a row each; None for the values of the series.
    """

    title: str
    value: str
    note: str
    unit: Unit
    picture: Picture
    timeline: Timeline
    markers: tuple[Marker, ...]
    axis_top: float
    events: Events | None = None


@dataclass(frozen=True)
class Figures:
    """One series in words; empty where the stretch has no value.

    Attributes:
        name: Of the series.
        count: Values in the stretch.
        texts: Last, lowest, median, 99th percentile and highest value.
    """

    name: str
    count: int
    texts: tuple[str, ...]


FIGURE_NAMES = ("Last", "Minimum", "Median", "p99", "Maximum")


def figures(sheet: Sheet) -> list[Figures]:
    """A line for each series, in the sheet's unit."""
    return [_figures(series, sheet) for series in sheet.picture.named()]


def _figures(series: Series, sheet: Sheet) -> Figures:
    shown = inside(series, sheet.timeline.length_s)
    if not shown.size:
        return Figures(series.name, 0, ("",) * len(FIGURE_NAMES))
    numbers = [
        float(shown[-1]),
        float(shown.min()),
        percentile(shown, 50) or 0.0,
        percentile(shown, 99) or 0.0,
        float(shown.max()),
    ]
    texts = [number(value) for value in scaled(np.array(numbers), sheet.unit).tolist()]
    return Figures(series.name, int(shown.size), tuple(texts))


def scaled(values: Floats, unit: Unit) -> Floats:
    """Values in a unit; what lies beyond all numbers then is infinite."""
    with np.errstate(over="ignore"):
        return values * unit.per_value


def inside(series: Series, length_s: float) -> Floats:
    """The finite values of a series within its window, without the neighbours beyond."""
    times, values = series.times_s, series.values
    return values[np.isfinite(values) & (times >= -length_s) & (times <= 0)]


def rows_of(sheet: Sheet) -> Events:
    """Everything in the stretch a row each: events, or what every series was at each moment."""
    if sheet.events is not None:
        return sheet.events
    named = sheet.picture.named()
    cells: dict[float, list[str]] = {}
    for place, series in enumerate(named):
        is_shown = np.isfinite(series.values) & (series.times_s <= 0)
        is_shown &= series.times_s >= -sheet.timeline.length_s
        values = scaled(series.values[is_shown], sheet.unit)
        for time_s, value in zip(series.times_s[is_shown].tolist(), values.tolist(), strict=True):
            row = cells.setdefault(round(time_s, 1), [""] * len(named))
            row[place] = number(value)
    return Events(
        tuple(series.name for series in named),
        tuple((time_s, tuple(cells[time_s])) for time_s in sorted(cells)),
    )


def stretch_text(timeline: Timeline) -> str:
    """From when to when, as the time of day with its date."""
    begin, end = timeline.day(-timeline.length_s), timeline.day(0.0)
    return f"{begin:%Y-%m-%d %H:%M:%S} to {end:%H:%M:%S}"


def table_text(sheet: Sheet) -> str:
    """The table as text, columns apart by tabs."""
    rows = [f"{sheet.title}, {sheet.unit.name}, {stretch_text(sheet.timeline)}"]
    rows.append("\t".join(("Series", *FIGURE_NAMES, "Values")))
    rows += ["\t".join((f.name, *f.texts, str(f.count))) for f in figures(sheet)]
    if sheet.picture.limit is not None:
        rows.append(sheet.picture.limit.name)
    for marker in sheet.markers:
        what = "; ".join(marker.text.splitlines())
        rows.append(f"{sheet.timeline.day(marker.at_s):%H:%M:%S}\t{what}")
    shown = rows_of(sheet)
    rows.append("\t".join(("Time", *shown.columns)))
    for time_s, texts in shown.rows:
        rows.append("\t".join((f"{sheet.timeline.day(time_s):%H:%M:%S}", *texts)))
    return "\n".join(rows)
