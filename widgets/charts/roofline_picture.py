"""What a roofline shows, and where it lies between its axes. Pure but for Qt's points."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QLineF, QPointF, QRectF

from engine_bridge.metrics.roofline import roof_operations_per_s
from widgets.charts.log_axis import LogAxis

Kind = Literal["decode", "prefill", "best"]


@dataclass(frozen=True)
class RooflinePoint:
    """Steps of one kind.

    Attributes:
        kind: Decoding, the last prompts, or the best ones.
        label: Stands beside it.
        operations_per_byte: How far right, above 0.
        operations_per_s: How far up, above 0.
        text: All about it, a sentence without its full stop.
        is_present: Whether this is what runs now.
    """

    kind: Kind
    label: str
    operations_per_byte: float
    operations_per_s: float
    text: str
    is_present: bool = False


@dataclass(frozen=True)
class RooflinePicture:
    """Points below their roofs.

    Attributes:
        points: Decoding by number of streams, then prompts.
        memory_bytes_per_s: The slanted roof; None where it is not known.
        memory_label: Stands along it.
        compute_operations_per_s: The flat roof; None where it is not known.
        compute_label: Stands above it.
        memory_text: All about the slanted roof, a sentence or two.
        compute_text: All about the flat one.
    """

    points: tuple[RooflinePoint, ...] = ()
    memory_bytes_per_s: float | None = None
    memory_label: str = ""
    compute_operations_per_s: float | None = None
    compute_label: str = ""
    memory_text: str = ""
    compute_text: str = ""

    def extent(self) -> tuple[list[float], list[float]]:
        """Operations a byte and a second that have to be seen; empty without points."""
        x = [point.operations_per_byte for point in self.points]
        y = [point.operations_per_s for point in self.points]
        if not x:
            return [], []
        memory, compute = self.memory_bytes_per_s, self.compute_operations_per_s
        if compute is not None:
            y.append(compute)
        if memory is not None:
            # The roof above the leftmost point: how far it is from it is what the chart is for.
            roof = roof_operations_per_s(min(x), memory, compute)
            y.append(roof or max(y))
        if memory is not None and compute is not None:
            x.append(compute / memory)
        return x, y


@dataclass(frozen=True)
class RooflineGeometry:
    """The map from operations to pixels.

    Attributes:
        area: The plot between the axes.
        x_axis: Operations a byte.
        y_axis: Operations a second.
    """

    area: QRectF
    x_axis: LogAxis
    y_axis: LogAxis

    def place(self, operations_per_byte: float, operations_per_s: float) -> QPointF:
        """Where a point lies; both above 0."""
        return QPointF(self.x_of(operations_per_byte), self.y_of(operations_per_s))

    def x_of(self, operations_per_byte: float) -> float:
        """Column."""
        return self.area.left() + self.area.width() * self.x_axis.share(operations_per_byte)

    def y_of(self, operations_per_s: float) -> float:
        """Row."""
        return self.area.bottom() - self.area.height() * self.y_axis.share(operations_per_s)

    def memory_roof(self, picture: RooflinePicture) -> QLineF | None:
        """The slanted roof as far as it is seen, from left to right; None without one."""
        memory = picture.memory_bytes_per_s
        if memory is None:
            return None
        top = picture.compute_operations_per_s or self.y_axis.high
        left = max(self.x_axis.low, self.y_axis.low / memory)
        right = min(self.x_axis.high, min(top, self.y_axis.high) / memory)
        if left >= right:
            return None
        return QLineF(self.place(left, left * memory), self.place(right, right * memory))

    def compute_roof(self, picture: RooflinePicture) -> QLineF | None:
        """The flat roof, from the corner to the right edge; None without one."""
        compute, memory = picture.compute_operations_per_s, picture.memory_bytes_per_s
        if compute is None:
            return None
        corner = self.x_axis.low if memory is None else compute / memory
        left = min(max(corner, self.x_axis.low), self.x_axis.high)
        return QLineF(self.place(left, compute), self.place(self.x_axis.high, compute))

    def nearest(self, picture: RooflinePicture, place: QPointF, reach_px: float) -> int | None:
        """The point nearest to a place, by its number; None where none is within reach."""
        away = [
            QLineF(place, self.place(point.operations_per_byte, point.operations_per_s)).length()
            for point in picture.points
        ]
        found = min(range(len(away)), key=lambda number: away[number], default=None)
        return found if found is not None and away[found] <= reach_px else None

    def roof_text(self, picture: RooflinePicture, place: QPointF, reach_px: float) -> str:
        """What there is to say of the roof at a place; empty where none is within reach."""
        roofs = (
            (self.memory_roof(picture), picture.memory_text),
            (self.compute_roof(picture), picture.compute_text),
        )
        away = [(_away_px(roof, place), text) for roof, text in roofs if roof is not None]
        nearest, text = min(away, default=(math.inf, ""))
        return text if nearest <= reach_px else ""


def _away_px(line: QLineF, place: QPointF) -> float:
    """How far a place is from a line between its ends."""
    along, to = line.p2() - line.p1(), place - line.p1()
    length = QPointF.dotProduct(along, along)
    share = QPointF.dotProduct(to, along) / length if length > 0 else 0.0
    return QLineF(place, line.p1() + along * min(1.0, max(0.0, share))).length()
