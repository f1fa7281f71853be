"""Where the points of a result chart lie, which one is near, and which comes next. Pure but for Qt.

Points are counted through all lines of a plot in the order in which keys go through them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QLineF, QPointF, QRectF

from widgets.experiments.result_scale import Scale, horizontal, vertical
from widgets.experiments.result_sheet import Plot, Point


@dataclass(frozen=True)
class Spot:
    """One point that can be picked.

    Attributes:
        line: Number of its line in the plot.
        point: The point.
    """

    line: int
    point: Point


def spots_of(plot: Plot) -> tuple[Spot, ...]:
    """All points that can be picked, from left to right, those above each other by their lines."""
    found = [
        Spot(number, point)
        for number, line in enumerate(plot.lines)
        if line.has_marks
        for point in line.points
    ]
    return tuple(sorted(found, key=lambda spot: (spot.point.x, spot.line)))


def scales_of(plot: Plot) -> tuple[Scale, Scale]:
    """Both axes of a plot: points, bars and marks are on them."""
    points = [point for line in plot.lines for point in line.points]
    x = [point.x for point in points] + [mark.at for mark in plot.marks if mark.is_upright]
    y = [point.y for point in points]
    y += [end for point in points for end in (point.low, point.high) if end is not None]
    y += [mark.at for mark in plot.marks if not mark.is_upright]
    return horizontal(plot.x, x), vertical(plot.y, y)


@dataclass(frozen=True)
class Geometry:
    """The map from values to pixels.

    Attributes:
        area: The plot between its axes.
        x: The horizontal axis.
        y: The vertical one.
    """

    area: QRectF
    x: Scale
    y: Scale

    def x_of(self, value: float) -> float:
        """Column."""
        return self.area.left() + self.area.width() * self.x.share(value)

    def y_of(self, value: float) -> float:
        """Row."""
        return self.area.bottom() - self.area.height() * self.y.share(value)

    def place(self, point: Point) -> QPointF:
        """Where a point lies."""
        return QPointF(self.x_of(point.x), self.y_of(point.y))

    def nearest(self, spots: Sequence[Spot], place: QPointF, reach_px: float) -> int | None:
        """The spot nearest to a place, by its number; None where none is within reach."""
        away = [QLineF(place, self.place(spot.point)).length() for spot in spots]
        found = min(range(len(away)), key=lambda number: away[number], default=None)
        return found if found is not None and away[found] <= reach_px else None


def next_spot(spots: Sequence[Spot], number: int | None, step: int) -> int | None:
    """The spot to the right (``step`` 1) or left (−1) of one; round at the ends."""
    if not spots:
        return None
    if number is None:
        return 0 if step > 0 else len(spots) - 1
    return (number + step) % len(spots)


def other_line(spots: Sequence[Spot], number: int | None, step: int) -> int | None:
    """The spot of the next line above (``step`` 1) or below (−1), as near as there is one."""
    if number is None or number >= len(spots):
        return next_spot(spots, None, 1)
    here = spots[number].point
    beyond = [
        at for at, spot in enumerate(spots)
        if at != number and (spot.point.y - here.y) * step > 0
    ]  # fmt: skip
    return min(
        beyond,
        key=lambda at: (abs(spots[at].point.x - here.x), abs(spots[at].point.y - here.y)),
        default=number,
    )
