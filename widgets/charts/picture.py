"""What a chart draws, whoever draws it: the window, a file, a table. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from widgets.charts.line import Floats

Look = Literal["line", "area", "dots"]
Mark = Literal["", "circle", "square", "triangle", "diamond", "triangle down", "star"]


@dataclass(frozen=True)
class Series:
    """One series in the base unit of its chart.

    Attributes:
        name: For legends, tables and columns.
        times_s: (n,) seconds before the right edge, ascending.
        values: (n,); what is not finite is a gap.
        colour: ``#RRGGBB``.
        look: A line, a band that is stacked on those before it, or a dot for each value.
        width_px: Of a line.
        is_broken: Whether a line is dashed.
        is_dotted: Whether a line is dotted, as predictions are.
        mark: Shape at the newest value of a line.
        is_judged: Whether values above the limit of the picture look different.
    """

    name: str
    times_s: Floats
    values: Floats
    colour: str
    look: Look = "line"
    width_px: float = 1.0
    is_broken: bool = False
    is_dotted: bool = False
    mark: Mark = ""
    is_judged: bool = False


@dataclass(frozen=True)
class Level:
    """A limit or a prediction: a dotted line across."""

    name: str
    value: float
    colour: str


@dataclass(frozen=True)
class Spike:
    """A value so rare and so high that the axis is not made for it: told where its line runs off.

    Attributes:
        time_s: When, seconds before the right edge.
        value: How high, as the series.
        text: What is said there, with its unit.
        colour: Of the words, ``#RRGGBB``.
        ground: What they stand on, ``#RRGGBB``.
    """

    time_s: float
    value: float
    text: str
    colour: str
    ground: str


@dataclass(frozen=True)
class Picture:
    """Everything inside the axes.

    Attributes:
        series: In the order in which they are painted.
        levels: Dotted lines across.
        limit: The longest good value, which judges series; None where the user set none.
        top: What the axis has to reach; None where nothing is shown.
        spikes: What may lie beyond it, the highest first.
    """

    series: tuple[Series, ...] = ()
    levels: tuple[Level, ...] = ()
    top: float | None = None
    limit: Level | None = None
    spikes: tuple[Spike, ...] = ()

    @property
    def lines_across(self) -> tuple[Level, ...]:
        """All levels, the limit the last."""
        return self.levels if self.limit is None else (*self.levels, self.limit)

    def named(self) -> list[Series]:
        """The series that have something to say, the most telling first."""
        # A gap is no value, and no band of one either.
        telling = [s for s in self.series if s.look != "area" or np.any(s.values > 0)]
        return sorted(telling, key=lambda series: series.is_broken)


def value_near(series: Series, time_s: float, reach_s: float) -> float | None:
    """The finite value nearest to a time; None where none is within reach."""
    finite = np.flatnonzero(np.isfinite(series.values) & np.isfinite(series.times_s))
    if not finite.size:
        return None
    away_s = np.abs(series.times_s[finite] - time_s)
    place = int(away_s.argmin())
    return float(series.values[finite[place]]) if away_s[place] <= reach_s else None
