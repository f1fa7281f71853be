"""Where times and values lie: the plot between the axes, in device-independent pixels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QRectF

from widgets.charts.line import Floats

HEADROOM = 1.07
"""Top of the plot in shares of the axis, so that the top tick's label and a limit are whole."""

EDGE = 1.04
"""Where a line runs that would lie beyond the axis: whole, and seen to be above every tick."""


@dataclass(frozen=True)
class Geometry:
    """The map from seconds and values to pixels.

    Attributes:
        area: The plot between the axes.
        length_s: Length of the time axis; its right edge is 0.
        share_per_value: Shares of the value axis per unit of the data.
    """

    area: QRectF
    length_s: float
    share_per_value: float

    @property
    def px_per_s(self) -> float:
        """Pixels that a second is wide."""
        return self.area.width() / self.length_s

    def x(self, times_s: Floats) -> Floats:
        """Columns of times."""
        return np.asarray(self.area.right() + times_s * self.px_per_s)

    def y(self, values: Floats) -> Floats:
        """Rows of values: NaN where not finite, at the edge where beyond it."""
        shares = np.where(np.isfinite(values), values, np.nan) * self.share_per_value
        return self.area.bottom() - shares.clip(0.0, EDGE) * (self.area.height() / HEADROOM)

    def x_of(self, time_s: float) -> float:
        """Column of a time."""
        return self.area.right() + time_s * self.px_per_s

    def y_of(self, share: float) -> float:
        """Row of a share of the axis."""
        return self.area.bottom() - share * self.area.height() / HEADROOM

    def time_at(self, x: float) -> float:
        """Seconds before the right edge at a column."""
        return (x - self.area.right()) / self.px_per_s

    def share_at(self, y: float) -> float:
        """Share of the axis at a row."""
        return (self.area.bottom() - y) * HEADROOM / max(1.0, self.area.height())

    @property
    def edge_value(self) -> float:
        """The value where lines run that would lie beyond the axis."""
        return EDGE / self.share_per_value
