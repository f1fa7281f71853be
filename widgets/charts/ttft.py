"""Time to first token: a dot for each request."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from PySide6.QtWidgets import QWidget

from engine_bridge.metrics.request_meter import RequestRecord, TtftView, request_lines
from widgets.charts.frame import NO_VALUE, ChartFrame
from widgets.charts.line import highest
from widgets.charts.picture import Level, Picture, Series
from widgets.charts.sheet import Events, Unit
from widgets.charts.time_view import TimeView
from widgets.charts.timeline import Timeline
from widgets.charts.words import number, seconds_number, seconds_text

_COLUMNS = (
    "TTFT [s]", "queue [s]", "prefill [s]", "paint [s]", "prompt [tok]", "reused [tok]", "TPOT [ms]"
)  # fmt: skip


class TtftChart(ChartFrame[TtftView]):
    """How long users waited for the first token."""

    def __init__(self, time_view: TimeView | None = None, parent: QWidget | None = None) -> None:
        """Make an empty chart, in a time of its own or shared with others."""
        super().__init__(
            "TTFT",
            Unit("s", 1.0),
            0.05,
            "A dot for each request appears here with its first token.",
            ("ttft", "goodput"),
            time_view=time_view,
            parent=parent,
        )
        self._view = TtftView()

    def picture(self, view: TtftView) -> Picture:
        """A dot for each request below the limit."""
        top, limit = highest(view.ttft_s), view.limit_s
        dots = Series("Requests", view.times_s, view.ttft_s, self.colours.accent, "dots")
        levels = () if limit is None else (Level("Limit", limit, self.colours.warning),)
        return Picture((dots,), levels, top if top is None else max(top, limit or 0.0))

    def absent(self, view: TtftView, timeline: Timeline) -> str:
        """When the newest request came, where its dot has left the stretch."""
        last = view.last
        if last is None or last.ttft_s is None or last.first_token_s is None:
            return ""
        when = timeline.ago(last.first_token_s)
        return f"No request in this stretch; the last was {when}: {seconds_text(last.ttft_s)}."

    def events(self, view: TtftView) -> Events:
        """Every request."""
        rows = [
            (time_s, tuple(_cells(record)))
            for time_s, record in zip(view.times_s.tolist(), view.records, strict=True)
        ]
        return Events(_COLUMNS, tuple(rows))

    def say(self, view: TtftView) -> None:
        """The newest request and what its wait was made of."""
        last = view.last
        value = NO_VALUE if last is None or last.ttft_s is None else seconds_text(last.ttft_s)
        parts = [] if last is None else _made_of(last)
        if view.goodput_req_s is not None and view.limit_s is not None:
            goodput = f"goodput {number(view.goodput_req_s)} req/s"
            parts.append(f"{goodput} at {seconds_text(view.limit_s)}")
        self.show_words(value, " · ".join(parts))

    def lines_at(self, time_s: float, share: float | None) -> list[str]:
        """The request whose dot is near."""
        view = self._view
        if not view.records:
            return []
        reach_s, reach = self.plot.near()
        away = np.abs(view.times_s - time_s) / reach_s
        if share is not None:
            away = np.hypot(away, (view.ttft_s * self.plot.share(1.0) - share) / reach)
        if not np.isfinite(away).any():
            return []
        place = int(np.nanargmin(away))
        return request_lines(view.records[place]) if away[place] <= 1 else []


def _cells(record: RequestRecord) -> Iterator[str]:
    seconds = (record.ttft_s, record.queue_s, record.prefill_s, record.paint_s)
    yield from ("" if each is None else f"{each:.3f}" for each in seconds)
    yield f"{record.prompt_tok:,}"
    yield f"{record.reused_tok:,}"
    tpot_s = None if record.timing is None else record.timing.tpot_s
    yield "" if tpot_s is None else number(1000 * tpot_s)


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
