"""Rare spikes run off the axis of TPOT and are told there; what lasts is on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from PySide6.QtGui import QFontMetricsF
from pytestqt.qtbot import QtBot

from engine_bridge.metrics.meters import TpotView
from engine_bridge.metrics.stream_meter import StreamSeries
from resources.tokens import DARK
from tests.widgets.test_charts import at, painted, place_of
from widgets.charts.brush import spike_places
from widgets.charts.picture import Series, Spike
from widgets.charts.spikes import spikes_of, usual_top
from widgets.charts.tpot import TpotChart
from widgets.theme import small_font

pytestmark = pytest.mark.gui
Floats = npt.NDArray[np.float64]
# Ten values a second for a minute.
TIMES = np.linspace(-60.0, -0.1, 600)


def steady(level: float = 0.025) -> Floats:
    return np.full(TIMES.size, level)


def with_spike(count: int, height: float, begin: int = 200) -> Floats:
    values = steady()
    values[begin : begin + count] = height
    return values


@pytest.fixture
def chart(qtbot: QtBot) -> Iterator[TpotChart]:
    made = TpotChart()
    qtbot.addWidget(made)
    made.resize(430, 190)
    made.show()
    yield made
    made.close()


def show(chart: TpotChart, tpot: Floats, itl: Floats | None = None, now_s: float = 0.0) -> None:
    gaps = np.full(tpot.size, np.nan) if itl is None else itl
    stream = StreamSeries(0, TIMES[: tpot.size], tpot, TIMES[: tpot.size], gaps, True)
    chart.set_data(TpotView((stream,), 0.025), (), at(now_s))


def test_that_an_axis_is_made_for_what_lasts() -> None:
    assert usual_top([steady()]) == 0.025
    assert usual_top([with_spike(8, 0.226)]) == pytest.approx(0.035)
    # Four seconds are no spike, nor is what a stream does all the time beside a faster one.
    assert usual_top([with_spike(40, 0.1)]) == 0.1
    assert usual_top([steady(), steady(0.2)]) == 0.2
    # A little above the usual is shown whole.
    assert usual_top([with_spike(8, 0.03)]) == 0.03


def test_that_many_short_answers_count_as_what_lasts_does() -> None:
    short = steady()
    for begin in range(0, 600, 20):
        short[begin : begin + 8] = 0.08
        short[begin + 8] = np.nan
    assert usual_top([short]) == 0.08


def test_that_few_values_and_none_are_shown_whole() -> None:
    assert usual_top([]) is None
    assert usual_top([np.array([np.nan, np.inf])]) is None
    assert usual_top([np.array([0.2, 0.02, 0.02])]) == 0.2
    # Gaps and infinite values are nothing that an axis could reach.
    spiked = with_spike(8, np.inf)
    spiked[100:110] = np.nan
    assert usual_top([spiked]) == 0.025


def test_that_each_stretch_above_has_one_spike_the_highest_first() -> None:
    values = with_spike(5, 0.2, 100)
    values[300:304] = (0.1, 0.4, 0.3, 0.1)
    series = Series("Slot 1 TPOT", TIMES, values, DARK.accent)
    found = spikes_of([series], 0.05, lambda _, value: f"{value:.1f}", DARK.panel)
    assert [spike.text for spike in found] == ["0.4", "0.2"]
    assert found[0].time_s == TIMES[301]
    assert spikes_of([series], 0.5, lambda _, value: "", DARK.panel) == ()


def test_that_a_rare_spike_does_not_press_tpot_flat_and_is_told_at_the_edge(
    chart: TpotChart,
) -> None:
    show(chart, with_spike(8, 0.226))
    rows = np.flatnonzero(painted(chart, DARK.accent).any(axis=1))
    assert chart.plot.share(0.025) >= 0.5
    assert rows.max() - rows.min() > 20
    assert "Above the axis: up to 226 ms" in chart.text()
    metrics = QFontMetricsF(small_font(chart.plot.font()))
    [(place, text, spike)] = spike_places(
        chart.plot.picture.spikes, chart.plot.geometry_now, metrics
    )
    assert text == "↑ 226 ms"
    assert chart.plot.geometry_now.area.contains(place)
    # Beside the line, of which all is seen.
    assert 0 < place.left() - place_of(chart, spike.time_s, 0).x() <= 8
    inked = painted(chart, DARK.accent)
    inside = inked[int(place.top()) : int(place.bottom()), int(place.left()) : int(place.right())]
    # Letters, and not the line that runs through them.
    assert 10 < inside.sum() < inside.size / 2


def test_that_a_spike_of_the_gaps_says_what_it_is(chart: TpotChart) -> None:
    gaps = steady(0.03)
    gaps[200:300] = 0.25
    show(chart, steady(), gaps)
    assert chart.plot.share(0.025) >= 0.4
    assert [spike.text for spike in chart.plot.picture.spikes] == ["p99 250 ms"]
    assert "up to p99 250 ms" in chart.text()


def test_that_a_gap_that_fades_slowly_from_p99_does_not_press_tpot_flat(chart: TpotChart) -> None:
    """A single slow step stays in the percentile for a hundred steps."""
    gaps = np.linspace(0.085, 0.045, TIMES.size)
    tpot = steady(0.035)
    tpot[:6] = np.linspace(0.085, 0.035, 6)
    show(chart, tpot, gaps)
    assert chart.plot.share(0.035) >= 0.4
    assert chart.plot.share(0.085) > 1.04
    assert "up to 85.0 ms" in chart.text() or "up to p99 85.0 ms" in chart.text()


def test_that_what_is_on_the_axis_is_no_spike(chart: TpotChart) -> None:
    show(chart, with_spike(8, 0.03))
    assert chart.plot.picture.spikes == ()
    assert "Above the axis" not in chart.text()
    # An axis that is still as high as before shows all of it.
    show(chart, steady(0.2))
    show(chart, with_spike(8, 0.15))
    assert chart.plot.top >= 200
    assert chart.plot.picture.spikes != ()
    assert "Above the axis" not in chart.text()


def test_that_words_of_spikes_do_not_cover_each_other(chart: TpotChart) -> None:
    show(chart, steady())
    spikes = tuple(
        Spike(time_s, value, f"{1000 * value:.0f} ms", DARK.accent, DARK.panel)
        for time_s, value in ((-60.0, 0.4), (-57.0, 0.3), (-1.0, 0.2), (-500.0, 0.9))
    )
    metrics = QFontMetricsF(small_font(chart.plot.font()))
    told = spike_places(spikes, chart.plot.geometry_now, metrics)
    assert [text for _, text, _ in told] == ["↑ 400 ms", "↑ 300 ms", "↑ 200 ms"]
    columns = [place_of(chart, spike.time_s, 0).x() for _, _, spike in told]
    # Away from the line beside it, and left of a line at the right edge.
    assert told[0][0].right() < columns[0] < columns[1] < told[1][0].left()
    assert told[2][0].right() < columns[2]
    # Three in a row leave no room for the one in the middle.
    near = [replace(spike, time_s=-60.0 - 2 * n) for n, spike in enumerate(spikes[:3])]
    told = spike_places(near, chart.plot.geometry_now, metrics)
    assert len(told) == 2
    assert not told[0][0].intersects(told[1][0])
    assert all(chart.plot.geometry_now.area.contains(place) for place, _, _ in told)
