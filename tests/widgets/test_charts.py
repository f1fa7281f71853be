"""The four charts by what they paint and what they say."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QImage
from pytestqt.qtbot import QtBot

from engine_bridge.metrics.bandwidth_meter import BandwidthView
from engine_bridge.metrics.memory_meter import MemoryParts, MemoryView
from engine_bridge.metrics.meters import Marker, Meters, TpotView
from engine_bridge.metrics.request_meter import RequestRecord, TtftView
from engine_bridge.metrics.stream_meter import StreamSeries
from engine_bridge.metrics.stretch import Stretch
from resources.theme import faded
from resources.tokens import DARK, LIGHT, Palette
from tests.widgets.synthetic import GIB, SECOND, desk_at_work
from widgets.charts.bandwidth import BandwidthChart
from widgets.charts.frame import ChartFrame
from widgets.charts.marks import changes
from widgets.charts.memory import MemoryChart
from widgets.charts.timeline import Timeline
from widgets.charts.tpot import TpotChart
from widgets.charts.ttft import TtftChart

pytestmark = pytest.mark.gui

NOW_NS = 5000 * SECOND
Floats = npt.NDArray[np.float64]
AnyChart = ChartFrame[Any]
Charts = dict[str, AnyChart]
NAMES = ("memory", "bandwidth", "ttft", "tpot")


@pytest.fixture
def charts(qtbot: QtBot) -> Iterator[Charts]:
    made: Charts = {
        "memory": MemoryChart(),
        "bandwidth": BandwidthChart(),
        "ttft": TtftChart(),
        "tpot": TpotChart(),
    }
    for chart in made.values():
        qtbot.addWidget(chart)
        chart.resize(430, 190)
        chart.show()
    yield made
    for chart in made.values():
        chart.close()


def at(now_s: float, length_s: float = 120.0) -> Timeline:
    """Two minutes up to a time, or another stretch."""
    return Timeline(Stretch(now_s, length_s), now_s)


def requests(count: int) -> tuple[RequestRecord, ...]:
    return tuple(RequestRecord(number, 0.0, 0.1, 0.4) for number in range(count))


def feed(
    chart: AnyChart, times_s: Floats, values: Floats, now_s: float = 0.0, length_s: float = 120.0
) -> None:
    """Show any series in any chart, values in the chart's own base unit."""
    timeline = at(now_s, length_s)
    if isinstance(chart, MemoryChart):
        stack = np.zeros((len(MemoryParts._fields), times_s.size))
        stack[0] = values
        view = MemoryView(times_s=times_s, stack=stack, predicted=values)
        chart.set_data(view, (), timeline)
    elif isinstance(chart, BandwidthChart):
        chart.set_data(BandwidthView(times_s, values), (), timeline)
    elif isinstance(chart, TtftChart):
        chart.set_data(TtftView(times_s, values, requests(times_s.size)), (), timeline)
    elif isinstance(chart, TpotChart):
        series = StreamSeries(0, times_s, values, times_s, values, True)
        chart.set_data(TpotView((series,)), (), timeline)


def painted(chart: AnyChart, colour: str) -> npt.NDArray[np.bool_]:
    """Which pixels of the plot have this colour, or nearly where an edge is smoothed.

    Returns:
        (rows, columns): at least seven tenths of the way from the panel to the colour. Bands
        have no smoothed edges, but greys that the edges of letters pass through: those exactly.
    """
    image = chart.plot.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    data = np.frombuffer(image.constBits(), dtype=np.uint8)
    pixels = data.reshape(image.height(), -1, 4)[:, :, 2::-1].astype(np.float64)
    panel, wanted = rgb(chart.colours.panel), rgb(colour)
    way = wanted - panel
    if isinstance(chart, MemoryChart) or not way.any():
        return np.asarray((pixels == wanted).all(axis=2))
    shares = (pixels - panel) @ way / (way @ way)
    aside = np.abs(pixels - panel - shares[:, :, np.newaxis] * way).max(axis=2)
    return np.asarray((aside <= 6) & (shares >= 0.7) & (shares <= 1.02))


def rgb(colour: str) -> Floats:
    ink = QColor(colour)
    return np.array([ink.red(), ink.green(), ink.blue()], dtype=np.float64)


def column_of(chart: AnyChart, time_s: float) -> int:
    """The pixel column of a time."""
    return int(chart.plot.geometry_now.x_of(time_s))


def place_of(chart: AnyChart, time_s: float, share: float) -> QPointF:
    geometry = chart.plot.geometry_now
    return QPointF(geometry.x_of(time_s), geometry.y_of(share))


def series_colour(name: str, palette: Palette = DARK) -> str:
    return palette.others if name == "memory" else palette.accent


TIMES = np.linspace(-100.0, -10.0, 10)
UNIT = {"memory": float(GIB), "bandwidth": 1e9, "ttft": 1.0, "tpot": 0.01}
SERIES: dict[str, tuple[Floats, Floats]] = {
    "NaN": (TIMES, np.full(10, np.nan)),
    "infinite": (TIMES, np.array([np.inf, -np.inf] * 5)),
    "mixed": (TIMES, np.array([1.0, np.nan, np.inf, 2.0, -np.inf, 3.0, 3.0, np.nan, 1e300, 1.0])),
    "equal": (TIMES, np.full(10, 4.0)),
    "zero": (TIMES, np.zeros(10)),
    "negative": (TIMES, np.full(10, -5.0)),
    "one point": (TIMES[:1], np.array([2.0])),
    "none": (np.zeros(0), np.zeros(0)),
    "huge": (TIMES, np.full(10, 1e300)),
    "largest": (TIMES, np.full(10, np.finfo(np.float64).max)),
    "tiny": (TIMES, np.full(10, 1e-300)),
    "bad times": (np.array([np.nan, np.inf, -50.0]), np.ones(3)),
}


@pytest.mark.parametrize("series", SERIES)
@pytest.mark.parametrize("name", NAMES)
def test_that_no_series_breaks_a_chart(charts: Charts, name: str, series: str) -> None:
    times_s, values = SERIES[series]
    chart = charts[name]
    for length_s in (120.0, 1.0, 3600.0, 120.0):  # S53: far in, far out and reset
        feed(chart, times_s, values * 1.0, length_s=length_s)
        chart.grab()
        assert np.isfinite(chart.plot.top)
        for share in (0.0, 0.5, 1.0):
            chart.plot.card_at(place_of(chart, -share * length_s, share))
    feed(chart, TIMES, np.full(10, UNIT[name]), now_s=1.0)  # and it goes on
    chart.grab()


@pytest.mark.parametrize("name", NAMES)
def test_that_one_point_can_be_seen(charts: Charts, name: str) -> None:
    feed(charts[name], np.array([-60.0]), np.array([UNIT[name]]))
    columns = np.flatnonzero(painted(charts[name], series_colour(name)).any(axis=0))
    assert columns.size >= 2
    assert abs(columns.mean() - column_of(charts[name], -60.0)) <= 2


@pytest.mark.parametrize("name", ["memory", "bandwidth", "tpot"])
@pytest.mark.parametrize("gap", [np.nan, np.inf, -np.inf])
def test_that_gaps_stay_gaps(charts: Charts, name: str, gap: float) -> None:
    times_s = np.linspace(-119.0, -1.0, 60)
    values = np.full(60, UNIT[name])
    values[20:40] = gap
    feed(charts[name], times_s, values)
    columns = np.asarray(painted(charts[name], series_colour(name)).any(axis=0))
    assert columns[column_of(charts[name], -118) : column_of(charts[name], -84)].mean() > 0.5
    # An end of its own at each side: the mark of the newest point is no part of the gap.
    assert not columns[column_of(charts[name], -77) : column_of(charts[name], -43)].any()


@pytest.mark.parametrize("name", ["bandwidth", "ttft", "tpot"])
def test_that_one_infinite_value_does_not_flatten_the_rest(charts: Charts, name: str) -> None:
    values = np.full(10, UNIT[name])
    values[5] = np.inf
    feed(charts[name], TIMES, values)
    rows = np.flatnonzero(painted(charts[name], series_colour(name)).any(axis=1))
    assert rows.min() < charts[name].plot.height() * 0.6


@pytest.mark.parametrize("name", NAMES)
def test_that_an_empty_chart_says_what_will_appear(charts: Charts, name: str) -> None:
    chart = charts[name]
    assert "appear" in chart.text()
    assert "appear" in chart.accessibleDescription()
    assert chart.accessibleName().endswith("chart")
    assert chart.focusPolicy() & Qt.FocusPolicy.TabFocus
    feed(chart, TIMES, np.full(10, UNIT[name]))
    assert "appear" not in chart.accessibleDescription()
    feed(chart, np.zeros(0), np.zeros(0))
    assert "appear" in chart.accessibleDescription()


def working(charts: Charts, meters: Meters | None = None) -> Meters:
    meters = meters or desk_at_work(NOW_NS)
    view = meters.view(NOW_NS)
    memory, bandwidth, ttft, tpot = (charts[name] for name in NAMES)
    assert isinstance(memory, MemoryChart)
    assert isinstance(bandwidth, BandwidthChart)
    assert isinstance(ttft, TtftChart)
    assert isinstance(tpot, TpotChart)
    memory.set_data(view.memory, view.markers, at(0.0))
    bandwidth.set_data(view.bandwidth, view.markers, at(0.0))
    ttft.set_data(view.ttft, view.markers, at(0.0))
    tpot.set_data(view.tpot, view.markers, at(0.0))
    return meters


def test_that_each_chart_says_its_value_and_what_it_is_made_of(charts: Charts) -> None:
    working(charts)
    assert charts["memory"].text().startswith("System memory: 6.24 of 23.5 GiB")
    assert "unexplained +0.04 GiB" in charts["memory"].text()
    assert "weights 1.70" in charts["memory"].text()
    assert "% of 61.2 GB/s · ceiling" in charts["bandwidth"].text()
    # Paint is after the first token: no part of the sum that is TTFT.
    made_of = re.search(
        r"([\d.]+) s.*queue ([\d.]+) \+ prefill ([\d.]+) s · then pipe [\d.]+ \+ paint [\d.]+ s",
        charts["ttft"].text(),
    )
    assert made_of is not None, charts["ttft"].text()
    ttft_s, queue_s, prefill_s = map(float, made_of.groups())
    assert queue_s + prefill_s == pytest.approx(ttft_s, abs=0.02)
    assert "per user" in charts["tpot"].text()
    assert "in total" in charts["tpot"].text()
    assert charts["tpot"].text() in charts["tpot"].accessibleDescription()


@pytest.mark.parametrize("palette", [DARK, LIGHT], ids=lambda palette: palette.name)
def test_that_every_series_is_painted_in_its_role(charts: Charts, palette: Palette) -> None:
    for chart in charts.values():
        chart.set_palette(palette)
    meters = desk_at_work(NOW_NS)
    meters.set_limits(0.8, 0.03)
    working(charts, meters)
    for colour in (palette.others, palette.weights, palette.kv, palette.compute):
        assert painted(charts["memory"], colour).any()
    for name in ("bandwidth", "ttft"):
        assert painted(charts[name], palette.accent).sum() > 50
        assert painted(charts[name], palette.warning).any()
    for colour in palette.streams[:4]:
        assert painted(charts["tpot"], colour).any()
    assert painted(charts["ttft"], palette.panel).mean() > 0.5


def test_that_the_stack_reaches_what_is_used(charts: Charts) -> None:
    working(charts)
    chart = charts["memory"]
    column = column_of(chart, -2.0)
    used_row = place_of(chart, -2.0, chart.plot.share(6.24 * GIB)).y()
    filled = painted(chart, DARK.others) | painted(chart, DARK.kv) | painted(chart, DARK.weights)
    assert np.flatnonzero(filled[:, column]).min() == pytest.approx(used_row, abs=6)


def of_used(used: float, capacity: float) -> MemoryView:
    stack = np.zeros((len(MemoryParts._fields), 10))
    stack[0] = used
    return MemoryView(
        name="System memory", times_s=TIMES, stack=stack, predicted=np.full(10, np.nan),
        capacity=capacity, parts=MemoryParts(used, 0, 0, 0, 0, 0, 0), used=used,
    )  # fmt: skip


@pytest.mark.parametrize("share", [0.02, 0.13, 0.3, 0.5])
def test_that_the_memory_axis_follows_what_is_used(charts: Charts, share: float) -> None:
    chart = charts["memory"]
    assert isinstance(chart, MemoryChart)
    chart.set_data(of_used(share * 64 * GIB, 64.0 * GIB), (), at(0.0))
    assert painted(chart, DARK.others).any(axis=1).sum() > chart.plot.height() * 0.4
    assert not painted(chart, DARK.warning).any()
    assert "of 64.0 GiB" in chart.text()


def test_that_the_capacity_is_drawn_once_it_is_near(charts: Charts) -> None:
    chart = charts["memory"]
    assert isinstance(chart, MemoryChart)
    chart.set_data(of_used(52.0 * GIB, 64.0 * GIB), (), at(0.0))
    capacity_row = place_of(chart, -2.0, chart.plot.share(64 * GIB)).y()
    limit_rows = np.flatnonzero(painted(chart, DARK.warning).any(axis=1))
    assert limit_rows.min() == pytest.approx(capacity_row, abs=1)


def test_that_the_memory_axis_shrinks_slowly(charts: Charts) -> None:
    chart = charts["memory"]
    assert isinstance(chart, MemoryChart)
    chart.set_data(of_used(52.0 * GIB, 64.0 * GIB), (), at(0.0))
    wide = chart.plot.share(GIB)
    chart.set_data(of_used(2.0 * GIB, 64.0 * GIB), (), at(1.0))
    assert chart.plot.share(GIB) == wide
    chart.set_data(of_used(2.0 * GIB, 64.0 * GIB), (), at(12.0))
    assert chart.plot.share(GIB) > 10 * wide


def test_that_a_candidate_is_said_and_drawn(charts: Charts) -> None:
    meters = working(charts)
    assert not painted(charts["memory"], DARK.accent).any()
    larger = meters.view(NOW_NS).memory
    chart = charts["memory"]
    assert isinstance(chart, MemoryChart)
    chart.set_data(dataclasses.replace(larger, candidate=8.1 * GIB), (), at(0.0))
    assert "6.24 → 8.10 of 23.5 GiB" in chart.text()
    assert painted(chart, DARK.accent).any()


def test_that_a_small_stack_on_a_large_machine_is_not_flattened(charts: Charts) -> None:
    chart = charts["memory"]
    assert isinstance(chart, MemoryChart)
    chart.set_data(of_used(GIB, 512.0 * GIB), (), at(0.0))
    assert painted(chart, DARK.others).any(axis=1).sum() > chart.plot.height() * 0.4
    assert "1.00 of 512 GiB" in chart.text()


def test_that_an_idle_value_is_named_as_the_last_one(charts: Charts) -> None:
    chart = charts["bandwidth"]
    assert isinstance(chart, BandwidthChart)
    view = BandwidthView(
        TIMES, np.full(10, 40e9), 60e9, "read", last_bytes_per_s=40e9, last_age_s=30.0, mbu=2 / 3
    )
    chart.set_data(view, (), at(0.0))
    assert "last measured" in chart.text()
    assert chart._value.text() == "last 40.0 GB/s"
    assert "MBU" not in chart._note.full_text()
    assert "peak 60.0 GB/s · read" in chart._note.full_text()
    chart.set_data(dataclasses.replace(view, last_age_s=0.1), (), at(0.0))
    assert "last" not in chart.text()
    assert chart._value.text() == "40.0 GB/s"
    assert "MBU 67 %" in chart._note.full_text()


def test_that_a_peak_says_how_and_when_it_was_measured(charts: Charts) -> None:
    """Newcomer 11: a figure of a busy machine was shown as a fact."""
    chart = charts["bandwidth"]
    assert isinstance(chart, BandwidthChart)
    view = BandwidthView(
        TIMES, np.full(10, 40e9), 60e9, "read by 2 threads", last_bytes_per_s=40e9,
        last_age_s=0.1, mbu=2 / 3, peak_age_s=30.0, peak_runs=5, peak_spread=0.04,
    )  # fmt: skip
    timeline = Timeline(Stretch(0.0, 120.0), 100.0)
    chart.set_data(view, (), timeline)
    at_clock = datetime.fromtimestamp(70.0).strftime("%H:%M")
    assert f"measured at {at_clock}, best of 5, spread 4 %" in chart.text()
    assert "lower bound" not in chart.text()
    chart.set_data(dataclasses.replace(view, is_lower_bound=True), (), timeline)
    assert "MBU 67 % of at least 60.0 GB/s" in chart.text()
    assert "busy machine, lower bound" in chart.text()


def test_that_a_point_keeps_the_peak_that_was_in_force(charts: Charts) -> None:
    chart = charts["bandwidth"]
    assert isinstance(chart, BandwidthChart)
    view = BandwidthView(
        TIMES, np.full(10, 20e9), 80e9, peak_times_s=np.array([-70.0, -30.0, -30.0, 0.0]),
        peaks=np.array([40e9, 40e9, 80e9, 80e9]),
    )  # fmt: skip
    chart.set_data(view, (), at(0.0))
    near = [float(time) for time in TIMES]
    early, middle, late = near[0], min(near, key=lambda t: abs(t + 50)), near[-1]
    assert "MBU 50 % of 40.0 GB/s" in chart.lines_at(middle, None)
    assert "MBU 25 % of 80.0 GB/s" in chart.lines_at(late, None)
    assert early >= -70 or "peak not known then" in chart.lines_at(early, None)


def test_that_gaps_far_above_tpot_do_not_flatten_it(charts: Charts) -> None:
    chart = charts["tpot"]
    assert isinstance(chart, TpotChart)
    tpot, itl = np.full(10, 0.029), np.full(10, 8.0)
    view = TpotView((StreamSeries(0, TIMES, tpot, TIMES, itl, True),), 0.029, itl_p99_s=8.0)
    chart.set_data(view, (), at(0.0))
    rows = np.flatnonzero(painted(chart, DARK.accent).any(axis=1))
    assert rows.min() < chart.plot.height() * 0.75
    dashed = painted(chart, faded(DARK.accent, DARK.panel, 0.35, DARK.panel))
    above = int(place_of(chart, -50.0, 1.0).y())
    assert dashed[:above].any()
    assert "ITL p99 8,000 ms (p99 above the axis)" in chart.text()


def test_that_gaps_near_tpot_have_their_place_on_the_axis(charts: Charts) -> None:
    chart = charts["tpot"]
    assert isinstance(chart, TpotChart)
    tpot, itl = np.full(10, 0.029), np.full(10, 0.05)
    view = TpotView((StreamSeries(0, TIMES, tpot, TIMES, itl, True),), 0.029, itl_p99_s=0.05)
    chart.set_data(view, (), at(0.0))
    assert "ITL p99 50.0 ms" in chart.text()
    assert "above the axis" not in chart.text()
    assert chart.plot.share(0.05) <= 1.0


def test_that_a_change_is_marked_and_explained_where_the_pointer_is(charts: Charts) -> None:
    working(charts)
    for chart in charts.values():
        card = chart.plot.card_at(place_of(chart, -46.0, 0.9))
        assert "Context per slot: 4,096 → 8,192" in card
        assert "new context" in card
        assert chart.plot.card_at(QPointF(2, 2)) == ""


def test_that_changes_close_to_each_other_share_a_handle() -> None:
    markers = [Marker(at_s, f"Slots: {at_s}") for at_s in (-100.0, -60.0, -59.0, -58.0, -10.0)]
    shown = changes(markers, 3.0)
    assert [len(change.markers) for change in shown] == [1, 3, 1]
    assert shown[1].lines() == ["Slots: -60.0", "Slots: -59.0", "Slots: -58.0"]
    assert [len(change.markers) for change in changes(markers, 100.0)] == [1] * 5
    assert changes([], 3.0) == []


def test_that_a_handle_says_how_many_changes_it_stands_for(charts: Charts) -> None:
    chart = charts["bandwidth"]
    assert isinstance(chart, BandwidthChart)
    view = BandwidthView(TIMES, np.full(10, 4e9))
    pictures = []
    for count in (1, 4):
        markers = [Marker(-60.0 + n / 10, f"Slots: {n}") for n in range(count)]
        chart.set_data(view, markers, at(0.0))
        pictures.append(painted(chart, DARK.muted)[: int(place_of(chart, 0, 1.07).y())].sum())
        card = hover(chart, -60.0, 1.06)
        assert all(f"Slots: {n}" in card for n in range(count))
    assert pictures[1] > pictures[0] > 0


def hover(chart: AnyChart, time_s: float, share: float) -> str:
    text: str = chart.plot.card_at(place_of(chart, time_s, share))
    return text


def test_that_hover_cards_tell_the_figures_of_a_moment(charts: Charts) -> None:
    working(charts)
    memory = hover(charts["memory"], -10.0, 0.5)
    assert "KV 2.10" in memory
    assert "predicted 6.2" in memory
    assert "MBU" in hover(charts["bandwidth"], -20.0, 0.5)
    assert "no decoding" in hover(charts["bandwidth"], -11.0, 0.5)
    assert "slot 4: TPOT" in hover(charts["tpot"], -20.0, 0.5)
    assert "p99 ITL" in hover(charts["tpot"], -20.0, 0.5)


def test_that_a_dot_tells_its_request(charts: Charts) -> None:
    chart = charts["ttft"]
    assert isinstance(chart, TtftChart)
    record = RequestRecord(1, 0.0, 0.1, 0.4)
    chart.set_data(TtftView(np.array([-60.0]), np.array([0.4]), (record,), record), (), at(0.0))
    assert "TTFT 0.400 s" in hover(chart, -60.0, chart.plot.share(0.4))
    assert hover(chart, -30.0, 0.5) == ""


def test_that_names_from_outside_are_shown_as_text(charts: Charts) -> None:
    chart = charts["bandwidth"]
    assert isinstance(chart, BandwidthChart)
    markers = (Marker(-60.0, "Loaded <img src='http://x'>"),)
    chart.set_data(BandwidthView(TIMES, np.full(10, 4e9)), markers, at(0.0))
    assert "<img" not in hover(chart, -60.0, 0.5)
    assert "&lt;img" in hover(chart, -60.0, 0.5)
    memory = charts["memory"]
    assert isinstance(memory, MemoryChart)
    memory.set_title("GPU memory", "<b>board</b>")
    assert "<b>" not in memory.findChildren(type(memory._title))[0].toolTip()


def test_that_colours_follow_the_slot_and_not_its_place(charts: Charts) -> None:
    chart = charts["tpot"]
    assert isinstance(chart, TpotChart)
    values = np.full(10, 0.01)
    both = tuple(StreamSeries(s, TIMES, values, TIMES, values, True) for s in (0, 1))
    chart.set_data(TpotView(both), (), at(0.0))
    chart.set_data(TpotView(both[1:]), (), at(0.0))
    assert painted(chart, DARK.streams[1]).any()
    assert not painted(chart, DARK.streams[0]).any()


def test_that_more_streams_than_lines_are_counted_in_words(charts: Charts) -> None:
    chart = charts["tpot"]
    assert isinstance(chart, TpotChart)
    values = np.full(10, 0.01)
    many = tuple(StreamSeries(s, TIMES, values, TIMES, values, True) for s in range(20))
    chart.set_data(TpotView(many), (), at(0.0))
    assert "8 more streams not drawn" in chart.text()


def test_that_all_charts_begin_at_the_same_place(charts: Charts) -> None:
    working(charts)
    lefts = {column_of(chart, -120.0) for chart in charts.values()}
    assert len(lefts) == 1


def test_that_an_empty_chart_shows_neither_limits_nor_changes(charts: Charts) -> None:
    chart = charts["bandwidth"]
    assert isinstance(chart, BandwidthChart)
    markers = (Marker(-60.0, "Slots: 1 → 2"),)
    chart.set_data(BandwidthView(peak_bytes_per_s=40e9), markers, at(0.0))
    axes = painted(chart, DARK.panel).mean()
    assert not painted(chart, DARK.warning).any()
    view = BandwidthView(
        TIMES, np.full(10, 4e9), 40e9, peak_times_s=np.array([-60.0, 0.0]), peaks=np.full(2, 40e9)
    )
    chart.set_data(view, markers, at(0.0))
    assert painted(chart, DARK.warning).any()
    assert painted(chart, DARK.panel).mean() < axes


def test_that_the_widest_tick_is_not_left_out(charts: Charts) -> None:
    chart = charts["tpot"]
    feed(chart, TIMES, np.full(10, 9.0))  # 9,000 ms: the axis ends at 10,000
    ink = ~painted(chart, DARK.panel)[:, : chart.plot.axis_width() - 2]
    top_row = int(place_of(chart, -60.0, 1.0).y())
    assert ink[max(0, top_row - 6) : top_row + 6].any()


def test_that_the_definition_is_in_the_tooltip(charts: Charts, qtbot: QtBot) -> None:
    tips: Callable[[AnyChart], str] = lambda chart: chart._title.toolTip()  # noqa: E731
    assert "queue" in tips(charts["ttft"])
    assert "(n − 1)" in tips(charts["tpot"])
    working(charts)
    assert "System memory" in tips(charts["memory"])
    assert "plan accounts for" in tips(charts["memory"])
