"""Every mark of every chart has a key: in the tooltips all of it, in the header what fits.

A newcomer asked what the orange band was.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from engine_bridge.metrics.ghost import Ghost
from engine_bridge.metrics.meters import LiveView
from resources.tokens import DARK, LIGHT, Palette
from tests.widgets.synthetic import SECOND, desk_at_work
from widgets.charts.bandwidth import BandwidthChart
from widgets.charts.key import Sign, signs_of
from widgets.charts.memory import MemoryChart
from widgets.charts.picture import Picture, Series
from widgets.charts.timeline import Timeline
from widgets.charts.tpot import TpotChart
from widgets.charts.ttft import TtftChart

pytestmark = pytest.mark.gui

NOW_NS = 5000 * SECOND
GHOST = Ghost(0.5, (0.4, 0.6), "predicted 0.50 s")
Charts = tuple[MemoryChart, BandwidthChart, TtftChart, TpotChart]


@pytest.fixture
def charts(qtbot: QtBot) -> Iterator[Charts]:
    made = (MemoryChart(), BandwidthChart(), TtftChart(), TpotChart())
    for chart in made:
        qtbot.addWidget(chart)
        chart.resize(430, 190)
        chart.show()
    yield made
    for chart in made:
        chart.close()


def show(charts: Charts, *, limit_s: float | None = None, ghost: Ghost | None = None) -> LiveView:
    view = desk_at_work(NOW_NS).view(NOW_NS)
    memory, bandwidth, ttft, tpot = charts
    shown_ttft = dataclasses.replace(view.ttft, limit_s=limit_s, ghost=ghost or view.ttft.ghost)
    tpot_limit = None if limit_s is None else limit_s / 100
    shown_tpot = dataclasses.replace(view.tpot, limit_s=tpot_limit)
    memory.set_data(view.memory, view.markers, Timeline())
    bandwidth.set_data(view.bandwidth, view.markers, Timeline())
    ttft.set_data(shown_ttft, view.markers, Timeline())
    tpot.set_data(shown_tpot, view.markers, Timeline())
    return view


def key(chart: MemoryChart | BandwidthChart | TtftChart | TpotChart) -> dict[str, str]:
    """Names with their colours, as the title's tooltip tells them."""
    rows = re.findall(r"color:(#\w+)'>[^<]+</td><td>([^<]+)</td>", chart._title.toolTip())
    return {name: colour for colour, name in rows}


@pytest.mark.parametrize("colours", [DARK, LIGHT], ids=["dark", "light"])
def test_that_whatever_is_drawn_is_in_the_key(charts: Charts, colours: Palette) -> None:
    for chart in charts:
        chart.set_palette(colours)
    show(charts, limit_s=0.3, ghost=GHOST)
    for chart in charts:
        told, picture = key(chart), chart.plot.picture
        for series in picture.named():
            if np.isfinite(series.values).any():
                assert told[series.name] == series.colour
        for level in picture.lines_across:
            if level.value <= chart.plot.edge_value:
                assert told[level.name] == level.colour
        assert told, "nothing is drawn without a key"
        assert any("a change" in name for name in told) == bool(chart.plot.markers)


def test_that_the_orange_of_what_is_above_a_limit_is_explained(charts: Charts) -> None:
    _, _, ttft, tpot = charts
    show(charts, limit_s=0.0001)
    assert key(ttft)["above the limit"] == DARK.warning
    assert key(tpot)["thicker, in this colour: above the limit"] == DARK.warning
    show(charts, limit_s=1000.0)
    for chart in (ttft, tpot):
        assert not any("above" in name for name in key(chart))


def test_that_bands_of_the_memory_chart_are_told_as_they_are_stacked(charts: Charts) -> None:
    memory = charts[0]
    show(charts)
    bands = [s.name for s in memory.plot.picture.series if s.look == "area"]
    told = [name for name in key(memory) if name in bands]
    assert told == [name for name in reversed(bands) if name in told]
    assert len(told) > 2


def test_that_a_gap_names_no_band_that_is_not_there() -> None:
    times_s = np.array([-2.0, -1.0, 0.0])
    there = Series("KV cache", times_s, np.array([2.0, np.nan, 2.0]), DARK.kv, "area")
    absent = Series("draft", times_s, np.array([0.0, np.nan, 0.0]), DARK.draft, "area")
    picture = Picture((there, absent))
    told = [sign.name for sign in signs_of(picture, 4.0, has_changes=False, colours=DARK)]
    assert told == ["KV cache"]


def test_that_a_line_beyond_the_axis_is_not_in_the_key(charts: Charts) -> None:
    memory = charts[0]
    show(charts)
    picture = memory.plot.picture
    [capacity] = [level for level in picture.levels if level.name == "Capacity"]
    low = signs_of(picture, capacity.value / 2, has_changes=False, colours=DARK)
    high = signs_of(picture, capacity.value, has_changes=False, colours=DARK)
    assert set(high) - set(low) == {Sign("┈", capacity.colour, "Capacity")}


def test_that_the_header_names_the_lines(charts: Charts) -> None:
    _, bandwidth, ttft, tpot = charts
    show(charts, limit_s=0.3, ghost=GHOST)
    assert bandwidth._legend.text() == "━ achieved · ┈ peak"
    assert ttft._legend.text() == "● requests · ┈ predicted · ┈ limit"
    assert tpot._legend.text().endswith("╍ p99 ITL · ┈ limit")
    assert "Peak" in bandwidth._legend.toolTip()
