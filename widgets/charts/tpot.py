"""Time per token of every stream, and the percentiles of its gaps between steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from PySide6.QtWidgets import QWidget

from engine_bridge.metrics.definitions import percentile
from engine_bridge.metrics.meters import TpotView
from engine_bridge.metrics.stream_meter import StreamSeries
from resources.theme import faded
from widgets.charts.frame import NO_VALUE
from widgets.charts.ghost import ghost_levels, top_with_ghost
from widgets.charts.key import level_entries
from widgets.charts.limit_scale import TPOT_LIMIT
from widgets.charts.limited_chart import LimitedChart
from widgets.charts.picture import Mark, Picture, Series, value_near
from widgets.charts.plot import LINE_PX
from widgets.charts.spikes import spikes_of, usual_top
from widgets.charts.time_view import TimeView
from widgets.charts.timeline import Timeline
from widgets.charts.words import milliseconds, number, seconds_text, tok_per_s
from widgets.legend_line import Entry

# More lines than this cannot be told apart; the figures still count every stream.
_LINES = 12
# Where there are many, thick lines hide each other.
_THICK_LINES = 4
# A stream is known by colour and by the mark at the end of its line; glyphs for the legend.
_MARKS: tuple[tuple[Mark, str], ...] = (
    ("circle", "●"),
    ("square", "■"),
    ("triangle", "▲"),
    ("diamond", "◆"),
    ("triangle down", "▼"),
    ("star", "★"),
)
# Gaps at p99 can be a hundred times TPOT, while a prompt is read, and a single one stays in them
# for a hundred steps: the axis is made for TPOT, and follows usual gaps up to this many times as
# far.
_ITL_REACH = 2.0
_ABOVE_AXIS = " (p99 above the axis)"


class TpotChart(LimitedChart[TpotView]):
    """How fast the text flows, stream by stream."""

    def __init__(self, time_view: TimeView | None = None, parent: QWidget | None = None) -> None:
        """Make an empty chart, in a time of its own or shared with others."""
        super().__init__(
            TPOT_LIMIT,
            2.0,
            "A line for each slot appears here while it writes; dashed, the gaps at p99.",
            ("tpot", "itl", "stream_speed", "throughput"),
            time_view=time_view,
            parent=parent,
        )
        self._view = TpotView()

    def picture(self, view: TpotView) -> Picture:
        """Two lines a stream, TPOT over its gaps; what is beyond the axis runs along its edge."""
        shown = view.streams[:_LINES]
        gaps, tpots = tuple(self._gaps(shown)), tuple(self._tpots(shown))
        top = top_with_ghost(self.top_with_limit(view, _axis_top(shown)), view.ghost)
        # Words in the faint ink of gaps could not be read.
        inked = (replace(g, colour=t.colour) for g, t in zip(gaps, tpots, strict=True))
        told = (*inked, *tpots)
        spikes = () if top is None else spikes_of(told, top, _spike_text, self.colours.panel)
        ghost = ghost_levels(view.ghost, self.colours)
        return Picture((*gaps, *tpots), ghost, top, self.limit_level(view), spikes)

    def text(self) -> str:
        """Everything the chart says, and how high it goes beyond its axis."""
        spike = next(iter(self.plot.picture.spikes), None)
        if spike is None or spike.value <= self.plot.edge_value or not self._empty.isHidden():
            return super().text()
        return f"{super().text().rstrip('.')}. Above the axis: up to {spike.text}"

    def _gaps(self, streams: Sequence[StreamSeries]) -> Iterator[Series]:
        panel = self.colours.panel
        for stream in streams:
            faint = faded(self._colour(stream.slot), panel, 0.35, panel)
            name = f"Slot {stream.slot + 1} p99 ITL"
            yield Series(name, stream.itl_times_s, stream.itl_p99_s, faint, is_broken=True)

    def _tpots(self, streams: Sequence[StreamSeries]) -> Iterator[Series]:
        for place, stream in enumerate(streams):
            yield Series(
                f"Slot {stream.slot + 1} TPOT",
                stream.times_s,
                stream.tpot_s,
                self._colour(stream.slot),
                width_px=LINE_PX if place < _THICK_LINES else 1.0,
                mark=_MARKS[stream.slot % len(_MARKS)][0],
                is_judged=True,
            )

    def _colour(self, slot: int) -> str:
        streams = self.colours.streams
        return streams[slot % len(streams)]

    def absent(self, view: TpotView, timeline: Timeline) -> str:
        """What the last text took, where it has left the stretch."""
        if not view.has_past:
            return ""
        last = view.last_tpot_s
        took = "" if last is None else f"; the last took {milliseconds(last)} a token"
        return f"No text in this stretch{took}."

    def say(self, view: TpotView) -> None:
        """The median of the active streams, and what all of them deliver."""
        tpot = view.tpot_s if view.tpot_s is not None else view.last_tpot_s
        parts = [view.ghost.text] if view.ghost.text else []
        # Speeds first: they are what most look for, and the gaps stand above the charts too.
        if view.stream_tok_s is not None:
            parts.append(f"{tok_per_s(view.stream_tok_s)} per user")
        if view.throughput_tok_s is not None:
            parts.append(f"{tok_per_s(view.throughput_tok_s)} in total")
        if view.itl_p99_s is not None:
            is_above = bool(view.streams) and view.itl_p99_s > self.plot.edge_value
            # The figures above the charts are those of the whole time shown.
            parts.append(f"answer's ITL {_percentiles(view)}{_ABOVE_AXIS if is_above else ''}")
        if view.span_s is not None:
            parts.append(f"over {seconds_text(view.span_s)}")
        if len(view.streams) > _LINES:
            parts.append(f"{len(view.streams) - _LINES} more streams not drawn")
        legend = [
            Entry(
                f"{_MARKS[series.slot % len(_MARKS)][1]} {series.slot + 1}",
                ink=self._colour(series.slot),
            )
            for series in view.streams[:_LINES]
        ]
        if any(series.itl_p99_s.size for series in view.streams[:_LINES]):
            legend.append(Entry("╍ p99 ITL"))
        legend += level_entries(self.plot.picture)
        value = NO_VALUE if tpot is None else milliseconds(tpot)
        self.show_words(value, " · ".join(parts), view.tpot_s is None, legend)

    def lines_at(self, time_s: float, share: float | None) -> list[str]:
        """What every stream did at a time; for the crosshair in one line."""
        near = self._near(time_s)
        if share is not None:
            return [
                f"slot {slot}: TPOT {milliseconds(tpot)}"
                + ("" if itl is None else f", p99 ITL {milliseconds(itl)}")
                + (f", {tok_per_s(1 / tpot)}" if tpot > 0 else "")
                for slot, tpot, itl in near
            ]
        if not near:
            return []
        tpots = ", ".join(f"{slot}: {number(1000 * tpot)}" for slot, tpot, _ in near)
        gaps = [itl for _, _, itl in near if itl is not None]
        worst = [f"p99 ITL up to {milliseconds(max(gaps))}"] if gaps else []
        return [f"TPOT by slot {tpots} ms", *worst]

    def _near(self, time_s: float) -> list[tuple[int, float, float | None]]:
        """Number, TPOT and gaps of the slots that delivered near a time."""
        # Gaps have a row a second: the nearest may be further away than the pointer is wide.
        reach_s = max(self.plot.near()[0], 1.0)
        series = {each.name: each for each in self.plot.picture.series}
        found = []
        for stream in self._view.streams[:_LINES]:
            name = f"Slot {stream.slot + 1}"
            tpot = value_near(series[f"{name} TPOT"], time_s, reach_s)
            if tpot is not None:
                itl = value_near(series[f"{name} p99 ITL"], time_s, 2 * reach_s)
                found.append((stream.slot + 1, tpot, itl))
        return found


def _percentiles(view: TpotView) -> str:
    """``p50 17.1, p95 18.4, p99 31.0 ms``: the unit once, at the end."""
    known = (("p50", view.itl_p50_s), ("p95", view.itl_p95_s), ("p99", view.itl_p99_s))
    told = (f"{name} {number(1000 * value)}" for name, value in known if value is not None)
    return ", ".join(told) + " ms"


def _axis_top(streams: Sequence[StreamSeries]) -> float | None:
    """What the axis has to reach, seconds: the usual TPOT, and gaps that are not far above it."""
    top = usual_top([series.tpot_s for series in streams])
    shown = [series.itl_p99_s for series in streams]
    gaps = percentile(np.concatenate(shown), 50) if shown else None
    if top is None or gaps is None:
        return top if gaps is None else gaps
    return max(top, min(gaps, _ITL_REACH * top))


def _spike_text(series: Series, value_s: float) -> str:
    """``226 ms``, of gaps ``p99 226 ms``."""
    return f"p99 {milliseconds(value_s)}" if series.is_broken else milliseconds(value_s)
