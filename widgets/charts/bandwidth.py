"""Achieved bandwidth against the peak, and what that peak allows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from engine_bridge.metrics.bandwidth_meter import BandwidthView
from engine_bridge.metrics.meters import Marker
from resources.tokens import Palette
from widgets.charts.frame import NO_VALUE, ChartFrame
from widgets.charts.line import highest
from widgets.charts.plot import LINE_PX, TimePlot, pen
from widgets.charts.words import gb_per_s, number, tok_per_s

# A value older than this is shown as the last one, not as the present one.
_STALE_AFTER_S = 2.0


class BandwidthChart(ChartFrame):
    """Bytes that decode reads per second."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make an empty chart."""
        super().__init__(
            "Bandwidth",
            TimePlot(floor=1.0, unit_per_value=1e-9),
            "The bytes that decode reads appear here while a model writes.",
            ("bandwidth", "mbu", "ceiling"),
            parent=parent,
        )
        self._line = self.plot.add_curve(0)
        self._peak = self.plot.add_level()
        self._view = BandwidthView()
        self.plot.set_hover_text(self._hover_text)
        self.set_palette(self.colours)

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        super().set_palette(palette)
        self._line.setPen(pen(palette.accent, LINE_PX))
        self._peak.setPen(pen(palette.warning, 1.0, Qt.PenStyle.DotLine))

    def set_data(
        self, view: BandwidthView, markers: Sequence[Marker], now_s: float, has_words: bool = True
    ) -> None:
        """Draw a view.

        Args:
            view: What to draw; kept for the hover card.
            markers: Where settings changed.
            now_s: The time of the right edge, for an axis that shrinks slowly.
            has_words: Whether the texts are brought up to date too.
        """
        self._view = view
        top = highest(view.bytes_per_s)
        peak = view.peak_bytes_per_s
        self.plot.follow(top if peak is None else max(top or 0.0, peak), now_s)
        self.plot.draw(self._line, view.times_s, view.bytes_per_s)
        self.show_empty(top is None)
        self.plot.place_level(self._peak, peak)
        self.plot.set_markers(markers)
        if has_words:
            self._show_words(view)

    def _show_words(self, view: BandwidthView) -> None:
        last = view.last_bytes_per_s
        value = NO_VALUE if last is None else gb_per_s(last)
        is_stale = view.last_age_s > _STALE_AFTER_S
        self.show_words(value, " · ".join(_note(view, is_stale)), is_stale)

    def _hover_text(self, time_s: float, share: float) -> str:
        view = self._view
        finite = np.flatnonzero(np.isfinite(view.bytes_per_s))
        reach_s, _ = self.plot.near()
        if not finite.size:
            return ""
        place = finite[np.abs(view.times_s[finite] - time_s).argmin()]
        if abs(view.times_s[place] - time_s) > reach_s:
            return "no decoding at this time"
        achieved = float(view.bytes_per_s[place])
        rows = [f"{-view.times_s[place]:.0f} s ago", gb_per_s(achieved)]
        if view.peak_bytes_per_s:
            rows.append(f"MBU {100 * achieved / view.peak_bytes_per_s:.0f} %")
        return "\n".join(rows)


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
