"""Achieved bandwidth against the peak, and what that peak allows."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from engine_bridge.metrics.bandwidth_meter import BandwidthView
from widgets.charts.frame import NO_VALUE, ChartFrame
from widgets.charts.line import highest
from widgets.charts.picture import Level, Picture, Series, value_near
from widgets.charts.plot import LINE_PX
from widgets.charts.sheet import Unit
from widgets.charts.time_view import TimeView
from widgets.charts.words import gb_per_s, number, tok_per_s

# A value older than this is shown as the last one, not as the present one.
_STALE_AFTER_S = 2.0


class BandwidthChart(ChartFrame[BandwidthView]):
    """Bytes that decode reads per second."""

    def __init__(self, time_view: TimeView | None = None, parent: QWidget | None = None) -> None:
        """Make an empty chart, in a time of its own or shared with others."""
        super().__init__(
            "Bandwidth",
            Unit("GB/s", 1e-9),
            1.0,
            "The bytes that decode reads appear here while a model writes.",
            ("bandwidth", "mbu", "ceiling"),
            time_view=time_view,
            parent=parent,
        )
        self._view = BandwidthView()

    def picture(self, view: BandwidthView) -> Picture:
        """The achieved line below its peak."""
        top = highest(view.bytes_per_s)
        peak = view.peak_bytes_per_s
        colour = self.colours.accent
        line = Series("Achieved", view.times_s, view.bytes_per_s, colour, width_px=LINE_PX)
        levels = () if peak is None else (Level("Peak", peak, self.colours.warning),)
        return Picture((line,), levels, top if top is None else max(top, peak or 0.0))

    def say(self, view: BandwidthView) -> None:
        """The newest figure and its share of the peak."""
        last = view.last_bytes_per_s
        value = NO_VALUE if last is None else gb_per_s(last)
        is_stale = view.last_age_s > _STALE_AFTER_S
        self.show_words(value, " · ".join(_note(view, is_stale)), is_stale)

    def lines_at(self, time_s: float, share: float | None) -> list[str]:
        """Bandwidth at a time."""
        if not self.plot.picture.series:
            return []
        reach_s, _ = self.plot.near()
        achieved = value_near(self.plot.picture.series[0], time_s, reach_s)
        if achieved is None:
            return ["no decoding at this time"]
        peak = self._view.peak_bytes_per_s
        return [gb_per_s(achieved), *([f"MBU {100 * achieved / peak:.0f} %"] if peak else [])]


def _note(view: BandwidthView, is_stale: bool) -> list[str]:
    """Parts of the muted line; a share of the peak belongs to the present only."""
    parts = []
    if view.peak_bytes_per_s is None:
        parts.append(view.peak_how or "peak not measured yet")
    else:
        how = f" ({view.peak_how})" if view.peak_how else ""
        peak = f"{gb_per_s(view.peak_bytes_per_s)}{how}"
        if view.mbu is None or is_stale:
            parts.append(f"peak {peak}")
        else:
            parts.append(f"MBU {100 * view.mbu:.0f} % of {peak}")
    if view.ceiling_steps_per_s is not None:
        parts.append(f"ceiling {tok_per_s(view.ceiling_steps_per_s)} a stream")
    elif view.step_bytes is not None:
        parts.append(f"{number(view.step_bytes / 1e9)} GB a step")
    return parts
