"""Time per token of every stream, and the 99th percentile of its gaps between steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget

from engine_bridge.metrics.meters import Marker, TpotView
from engine_bridge.metrics.stream_meter import StreamSeries
from resources.theme import mixed
from resources.tokens import Palette
from widgets.charts.frame import NO_VALUE, ChartFrame
from widgets.charts.line import highest
from widgets.charts.plot import DOT_PX, LINE_PX, TimePlot, pen
from widgets.charts.words import milliseconds, tok_per_s
from widgets.legend_line import Entry

# More lines than this cannot be told apart; the figures still count every stream.
_LINES = 12
# Thick lines cost twice the time; where there are many they also hide each other.
_THICK_LINES = 4
# A stream is known by colour and by the mark at the end of its line; glyphs for the legend.
_MARKS = ("o", "s", "t1", "d", "t", "star")
_GLYPHS = ("●", "■", "▲", "◆", "▼", "★")
# Gaps at p99 can be a hundred times TPOT, while a prompt is read: the axis is made for TPOT, and
# follows them up to this many times as far.
_ITL_REACH = 3.0


class _Lines(NamedTuple):
    """The two curves of a stream."""

    tpot: pg.PlotCurveItem
    itl: pg.PlotCurveItem


class TpotChart(ChartFrame):
    """How fast the text flows, stream by stream."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make an empty chart."""
        super().__init__(
            "TPOT",
            TimePlot(floor=2.0, unit_per_value=1000.0),
            "A line for each slot appears here while it writes; dashed, the gaps at p99.",
            ("tpot", "itl", "stream_speed", "throughput"),
            parent=parent,
        )
        self._lines: list[_Lines] = []
        self._slots: tuple[int, ...] = ()
        self._ends = self.plot.add_dots(4)
        self._limit = self.plot.add_level()
        self._view = TpotView()
        self.plot.set_hover_text(self._hover_text)
        self.set_palette(self.colours)

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        super().set_palette(palette)
        self._paint_lines()
        self._limit.setPen(pen(palette.warning, 1.0, Qt.PenStyle.DotLine))

    def set_data(
        self, view: TpotView, markers: Sequence[Marker], now_s: float, has_words: bool = True
    ) -> None:
        """Draw a view.

        Args:
            view: What to draw; kept for the hover card.
            markers: Where settings changed.
            now_s: The time of the right edge, for an axis that shrinks slowly.
            has_words: Whether the texts are brought up to date too.
        """
        self._view = view
        shown = view.streams[:_LINES]
        top = _axis_top(shown)
        limit = view.limit_s
        self.plot.follow(top if limit is None else max(top or 0.0, limit), now_s)
        self._draw_streams(shown)
        self.show_empty(top is None)
        self.plot.place_level(self._limit, limit)
        self.plot.set_markers(markers)
        if has_words:
            self._show_words(view)

    def _draw_streams(self, streams: Sequence[StreamSeries]) -> None:
        while len(self._lines) < len(streams):
            self._lines.append(
                _Lines(self.plot.add_curve(2), self.plot.add_curve(1, is_broken=True))
            )
        slots = tuple(series.slot for series in streams)
        if slots != self._slots:
            self._slots = slots
            self._paint_lines()
        nothing = np.zeros(0)
        spots = []
        for place, lines in enumerate(self._lines):
            if place >= len(streams):
                self.plot.draw(lines.tpot, nothing, nothing)
                self.plot.draw(lines.itl, nothing, nothing)
                continue
            series = streams[place]
            self.plot.draw(lines.tpot, series.times_s, series.tpot_s)
            # Gaps beyond the axis run along its upper edge; their figure is in the words.
            itl = np.minimum(series.itl_p99_s, self.plot.edge_value)
            self.plot.draw(lines.itl, series.itl_times_s, itl)
            finite = np.flatnonzero(np.isfinite(series.tpot_s))
            if finite.size:
                spots.append(self._spot(series, int(finite[-1])))
        self._ends.setData(spots)

    def _spot(self, series: StreamSeries, place: int) -> dict[str, object]:
        return {
            "pos": (series.times_s[place], self.plot.share(float(series.tpot_s[place]))),
            "symbol": _MARKS[series.slot % len(_MARKS)],
            "brush": QColor(self._colour(series.slot)),
            "size": DOT_PX,
        }

    def _paint_lines(self) -> None:
        for place, (slot, lines) in enumerate(zip(self._slots, self._lines, strict=False)):
            colour = self._colour(slot)
            faint = mixed(colour, self.colours.panel, 0.35)
            lines.tpot.setPen(pen(colour, LINE_PX if place < _THICK_LINES else 1.0))
            lines.itl.setPen(pen(faint, 1.0, Qt.PenStyle.DashLine))

    def _colour(self, slot: int) -> str:
        streams = self.colours.streams
        return streams[slot % len(streams)]

    def _show_words(self, view: TpotView) -> None:
        tpot = view.tpot_s if view.tpot_s is not None else view.last_tpot_s
        parts = []
        if view.itl_p99_s is not None:
            is_above = view.itl_p99_s > self.plot.edge_value
            where = " (above the axis)" if is_above else ""
            parts.append(f"p99 ITL {milliseconds(view.itl_p99_s)}{where}")
        if view.stream_tok_s is not None:
            which = ", median" if view.active > 1 else ""
            parts.append(f"{tok_per_s(view.stream_tok_s)} per user{which}")
        if view.throughput_tok_s is not None:
            parts.append(f"{tok_per_s(view.throughput_tok_s)} in total")
        if len(view.streams) > _LINES:
            parts.append(f"{len(view.streams) - _LINES} more streams not drawn")
        legend = [
            Entry(
                f"{_GLYPHS[series.slot % len(_GLYPHS)]} {series.slot + 1}",
                ink=self._colour(series.slot),
            )
            for series in view.streams[:_LINES]
        ]
        value = NO_VALUE if tpot is None else milliseconds(tpot)
        self.show_words(value, " · ".join(parts), view.tpot_s is None, legend)

    def _hover_text(self, time_s: float, share: float) -> str:
        rows = []
        reach_s, _ = self.plot.near()
        for series in self._view.streams[:_LINES]:
            finite = np.flatnonzero(np.isfinite(series.tpot_s))
            if not finite.size:
                continue
            place = finite[np.abs(series.times_s[finite] - time_s).argmin()]
            if abs(series.times_s[place] - time_s) > max(reach_s, 1.0):
                continue
            tpot = float(series.tpot_s[place])
            row = f"slot {series.slot + 1}: TPOT {milliseconds(tpot)}"
            itl = series.itl_p99_s[np.isfinite(series.itl_p99_s)]
            near = series.itl_times_s[np.isfinite(series.itl_p99_s)]
            if itl.size:
                row += f", p99 ITL {milliseconds(float(itl[np.abs(near - time_s).argmin()]))}"
            rows.append(row + (f", {tok_per_s(1 / tpot)}" if tpot > 0 else ""))
        return "\n".join(rows)


def _axis_top(streams: Sequence[StreamSeries]) -> float | None:
    """What the axis has to reach, seconds: every TPOT, and gaps that are not far above them."""
    top = highest(*(series.tpot_s for series in streams))
    gaps = highest(*(series.itl_p99_s for series in streams))
    if top is None or gaps is None:
        return top if gaps is None else gaps
    return max(top, gaps) if gaps / _ITL_REACH <= top else _ITL_REACH * top
