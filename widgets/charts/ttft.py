"""Time to first token: a dot for each request, a triangle above the limit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from PySide6.QtWidgets import QWidget

from engine_bridge.metrics.request_meter import RequestRecord, TtftView, request_lines
from widgets.charts.frame import NO_VALUE
from widgets.charts.ghost import ghost_levels, top_with_ghost
from widgets.charts.key import entry_of, level_entries
from widgets.charts.limit_scale import TTFT_LIMIT
from widgets.charts.limited_chart import LimitedChart
from widgets.charts.line import highest
from widgets.charts.picture import Picture, Series
from widgets.charts.sheet import Events
from widgets.charts.time_view import TimeView
from widgets.charts.timeline import Timeline
from widgets.charts.words import number, seconds_number, seconds_text

_COLUMNS = (
    "TTFT [s]", "queue [s]", "prefill [s]", "pipe [s]", "paint [s]", "prompt [tok]", "reused [tok]",
    "TPOT [ms]",
)  # fmt: skip


class TtftChart(LimitedChart[TtftView]):
    """How long users waited for the first token."""

    def __init__(self, time_view: TimeView | None = None, parent: QWidget | None = None) -> None:
        """Make an empty chart, in a time of its own or shared with others."""
        super().__init__(
            TTFT_LIMIT,
            0.05,
            "A dot for each request appears here with its first token.",
            ("ttft", "goodput"),
            time_view=time_view,
            parent=parent,
        )
        self._view = TtftView()

    def picture(self, view: TtftView) -> Picture:
        """A dot for each request, and the limit."""
        ink = self.colours.accent
        dots = Series("Requests", view.times_s, view.ttft_s, ink, "dots", is_judged=True)
        top = self.top_with_limit(view, highest(view.ttft_s))
        ghost = ghost_levels(view.ghost, self.colours)
        return Picture((dots,), ghost, top_with_ghost(top, view.ghost), self.limit_level(view))

    def above_text(self, view: TtftView, limit_s: float) -> str:
        """How many of the dots are above the limit."""
        count = view.ttft_s.size
        above = int((view.ttft_s > limit_s).sum())
        return f"{above} of {count} requests above it" if count else ""

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
        parts = [*filter(None, [view.ghost.text]), *([] if last is None else _made_of(last))]
        if view.goodput_req_s is not None:
            parts.append(f"goodput {number(view.goodput_req_s)} req/s")
        picture = self.plot.picture
        dots = [entry_of(series) for series in picture.series if series.values.size]
        legend = [*dots, *level_entries(picture)]
        self.show_words(value, " · ".join(parts), legend=legend)

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
    seconds = (
        record.ttft_s, record.queue_s, record.prefill_s, record.pipe_s, record.paint_s,
    )  # fmt: skip
    yield from ("" if each is None else f"{each:.3f}" for each in seconds)
    yield f"{record.prompt_tok:,}"
    yield f"{record.reused_tok:,}"
    tpot_s = None if record.timing is None else record.timing.tpot_s
    yield "" if tpot_s is None else number(1000 * tpot_s)


def _made_of(record: RequestRecord) -> list[str]:
    """``queue 0.001 + prefill 0.82 s``, which is TTFT, and ``then pipe …``, which is not."""
    parts = [_sum(("queue", record.queue_s), ("prefill", record.prefill_s))]
    after = _sum(("pipe", record.pipe_s), ("paint", record.paint_s))
    return [*filter(None, parts), *([f"then {after}"] if after else [])]


def _sum(*named: tuple[str, float | None]) -> str:
    """``pipe 0.002 + paint 0.014 s``, as far as it is known."""
    known = [f"{name} {seconds_number(seconds)}" for name, seconds in named if seconds is not None]
    return f"{' + '.join(known)} s" if known else ""
