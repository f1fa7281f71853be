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
    """

    title: str
    value: str
    note: str
    unit: Unit
    picture: Picture
    timeline: Timeline
    markers: tuple[Marker, ...]
    axis_top: float


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


def stretch_text(timeline: Timeline) -> str:
    """From when to when, as the time of day with its date."""
    begin, end = timeline.day(-timeline.length_s), timeline.day(0.0)
    return f"{begin:%Y-%m-%d %H:%M:%S} to {end:%H:%M:%S}"


def table_text(sheet: Sheet) -> str:
    """The table as text, columns apart by tabs."""
    rows = [f"{sheet.title}, {sheet.unit.name}, {stretch_text(sheet.timeline)}"]
    rows.append("\t".join(("Series", *FIGURE_NAMES, "Values")))
    rows += ["\t".join((f.name, *f.texts, str(f.count))) for f in figures(sheet)]
    for marker in sheet.markers:
        what = "; ".join(marker.text.splitlines())
        rows.append(f"{sheet.timeline.day(marker.at_s):%H:%M:%S}\t{what}")
    return "\n".join(rows)
