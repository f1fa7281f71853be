"""Time to first token: a dot for each request."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget

from engine_bridge.metrics.meters import Marker
from engine_bridge.metrics.request_meter import RequestRecord, TtftView
from resources.tokens import Palette
from widgets.charts.frame import NO_VALUE, ChartFrame
from widgets.charts.line import highest
from widgets.charts.plot import TimePlot, pen
from widgets.charts.words import number, seconds_number, seconds_text


class TtftChart(ChartFrame):
    """How long users waited for the first token."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make an empty chart."""
        super().__init__(
            "TTFT",
            TimePlot(floor=0.05),
            "A dot for each request appears here with its first token.",
            ("ttft", "goodput"),
            parent=parent,
        )
        self._dots = self.plot.add_dots(0)
        self._limit = self.plot.add_level()
        self._view = TtftView()
        self.plot.set_hover_text(self._hover_text)
        self.set_palette(self.colours)

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        super().set_palette(palette)
        self._dots.setBrush(QColor(palette.accent))
        self._limit.setPen(pen(palette.warning, 1.0, Qt.PenStyle.DotLine))

    def set_data(
        self, view: TtftView, markers: Sequence[Marker], now_s: float, has_words: bool = True
    ) -> None:
        """Draw a view.

        Args:
            view: What to draw; kept for the hover card.
            markers: Where settings changed.
            now_s: The time of the right edge, for an axis that shrinks slowly.
            has_words: Whether the texts are brought up to date too.
        """
        self._view = view
        top = highest(view.ttft_s)
        limit = view.limit_s
        self.plot.follow(top if limit is None else max(top or 0.0, limit), now_s)
        finite = np.isfinite(view.times_s) & np.isfinite(view.ttft_s)
        shares = [self.plot.share(float(ttft)) for ttft in view.ttft_s[finite]]
        self._dots.setData(view.times_s[finite], shares)
        self.show_empty(top is None)
        self.plot.place_level(self._limit, limit)
        self.plot.set_markers(markers)
        if has_words:
            self._show_words(view)

    def _show_words(self, view: TtftView) -> None:
        last = view.last
        value = NO_VALUE if last is None or last.ttft_s is None else seconds_text(last.ttft_s)
        parts = [] if last is None else _made_of(last)
        if view.goodput_req_s is not None and view.limit_s is not None:
            goodput = f"goodput {number(view.goodput_req_s)} req/s"
            parts.append(f"{goodput} at {seconds_text(view.limit_s)}")
        self.show_words(value, " · ".join(parts))

    def _hover_text(self, time_s: float, share: float) -> str:
        view = self._view
        if not view.times_s.size:
            return ""
        reach_s, reach = self.plot.near()
        away = np.hypot(
            (view.times_s - time_s) / reach_s, (view.ttft_s * self.plot.share(1.0) - share) / reach
        )
        place = int(np.nanargmin(away)) if np.isfinite(away).any() else -1
        return view.texts[place] if place >= 0 and away[place] <= 1 and view.texts else ""


def _made_of(record: RequestRecord) -> list[str]:
    """``queue 0.00``, ``prefill 0.29``, ``paint 0.01 s``: the unit once, at the end."""
    known = [
        (name, seconds)
        for name, seconds in (
            ("queue", record.queue_s),
            ("prefill", record.prefill_s),
            ("paint", record.paint_s),
        )
        if seconds is not None
    ]
    parts = [f"{name} {seconds_number(seconds)}" for name, seconds in known]
    return [*parts[:-1], f"{parts[-1]} s"] if parts else []
