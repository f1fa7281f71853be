"""Achieved bandwidth against the peak, and what that peak allows."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from engine_bridge.metrics.bandwidth_meter import LIVE_S, BandwidthView
from widgets.charts.frame import NO_VALUE, ChartFrame
from widgets.charts.key import entry_of
from widgets.charts.line import highest
from widgets.charts.picture import Picture, Series, value_near
from widgets.charts.plot import LINE_PX
from widgets.charts.sheet import Unit
from widgets.charts.time_view import TimeView
from widgets.charts.timeline import Timeline
from widgets.charts.words import gb_per_s, number


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
        colour = self.colours.accent
        line = Series("Achieved", view.times_s, view.bytes_per_s, colour, width_px=LINE_PX)
        # From when it was known on: what was drawn before keeps the peak that was in force.
        limit = Series("Peak", view.peak_times_s, view.peaks, self.colours.warning, is_dotted=True)
        highest_peak = highest(view.peaks) or 0.0
        return Picture((line, limit), (), top if top is None else max(top, highest_peak))

    def absent(self, view: BandwidthView, timeline: Timeline) -> str:
        """When something was decoded last, where that has left the stretch."""
        if view.last_bytes_per_s is None:
            return ""
        when = timeline.ago(timeline.now_s - view.last_age_s)
        return (
            f"No decoding in this stretch; the last was {when}: {gb_per_s(view.last_bytes_per_s)}."
        )

    def say(self, view: BandwidthView) -> None:
        """The newest figure and its share of the peak."""
        last = view.last_bytes_per_s
        value = NO_VALUE if last is None else gb_per_s(last)
        is_stale = view.last_age_s > LIVE_S
        parts = [*_note(view, is_stale), *self._measured(view)]
        legend = [entry_of(series) for series in self.plot.picture.series if series.values.size]
        self.show_words(value, " · ".join(parts), is_stale, legend)

    def _measured(self, view: BandwidthView) -> list[str]:
        """How the peak is known, and when that was found out."""
        parts = []
        if view.is_lower_bound:
            parts.append("busy machine, lower bound")
        if view.peak_age_s is not None and view.peak_bytes_per_s is not None:
            at = self.plot.timeline.clock(view.peak_age_s)
            parts.append(
                f"measured at {at}, best of {view.peak_runs}, spread {100 * view.peak_spread:.0f} %"
            )
        if view.peak_bytes_per_s is not None and view.peak_how:
            parts.append(view.peak_how)
        return parts

    def lines_at(self, time_s: float, share: float | None) -> list[str]:
        """Bandwidth at a time."""
        if not self.plot.picture.series:
            return []
        reach_s, _ = self.plot.near()
        achieved = value_near(self.plot.picture.series[0], time_s, reach_s)
        if achieved is None:
            return ["no decoding at this time"]
        peak = self._view.peak_at(time_s)
        if peak is None:
            return [gb_per_s(achieved), "peak not known then"]
        return [gb_per_s(achieved), f"MBU {100 * achieved / peak:.0f} % of {gb_per_s(peak)}"]


def _note(view: BandwidthView, is_stale: bool) -> list[str]:
    """Parts of the muted line; a share of the peak belongs to the present only."""
    parts = []
    if view.peak_bytes_per_s is None:
        parts.append(view.peak_how or "peak not measured yet")
    else:
        least = "at least " if view.is_lower_bound else ""
        peak = f"{least}{gb_per_s(view.peak_bytes_per_s)}"
        if view.mbu is None or is_stale:
            parts.append(f"peak {peak}")
        else:
            parts.append(f"MBU {100 * view.mbu:.0f} % of {peak}")
    if view.ceiling_steps_per_s is not None:
        least = "at least " if view.is_lower_bound else ""
        parts.append(f"ceiling {least}{number(view.ceiling_steps_per_s)} steps/s")
    elif view.step_bytes and view.last_bytes_per_s is not None:
        # What a step reads is told on the page Ceiling: sizes are binary on this one.
        parts.append(f"{number(view.last_bytes_per_s / view.step_bytes)} steps/s")
    return parts
