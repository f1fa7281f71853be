"""A prediction in the charts of TTFT and TPOT."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from engine_bridge.metrics.ghost import NO_GHOST, Ghost
from engine_bridge.metrics.meters import LiveView
from engine_bridge.metrics.request_meter import TtftView
from resources.tokens import DARK
from tests.widgets.synthetic import SECOND, desk_at_work
from widgets.charts.timeline import Timeline
from widgets.charts.tpot import TpotChart
from widgets.charts.ttft import TtftChart

pytestmark = pytest.mark.gui

NOW_NS = 5000 * SECOND
GHOST = Ghost(0.9, (0.8, 1.0), "predicted 0.90 s ±12 %, now 0.38 s · for 812 tok")
Charts = tuple[TtftChart, TpotChart]


@pytest.fixture
def charts(qtbot: QtBot) -> Iterator[Charts]:
    made = (TtftChart(), TpotChart())
    for chart in made:
        qtbot.addWidget(chart)
        chart.resize(430, 190)
        chart.show()
    yield made
    for chart in made:
        chart.close()


def shown(charts: Charts, ghost: Ghost) -> LiveView:
    view = desk_at_work(NOW_NS).view(NOW_NS)
    ttft = dataclasses.replace(view.ttft, ghost=ghost)
    tpot = dataclasses.replace(view.tpot, ghost=ghost)
    charts[0].set_data(ttft, (), Timeline())
    charts[1].set_data(tpot, (), Timeline())
    return view


def test_that_a_prediction_is_a_level_with_its_band_in_sight_and_in_words(charts: Charts) -> None:
    shown(charts, GHOST)
    for chart in charts:
        levels = {level.name: level for level in chart.plot.picture.levels}
        assert levels["Predicted with the changes"].value == 0.9
        assert levels["Predicted with the changes"].colour == DARK.accent
        edges = [level.value for name, level in levels.items() if "end" in name]
        assert edges == [0.8, 1.0]
        assert chart.plot.share(1.0) <= 1.1
        assert chart.text().count(GHOST.text) == 1
    view = shown(charts, NO_GHOST)
    for chart in charts:
        assert chart.plot.picture.levels == ()
        assert "predicted" not in chart.text()
    assert view.ttft.ghost == NO_GHOST


def test_that_what_is_not_measured_is_said_and_nothing_drawn(charts: Charts) -> None:
    shown(charts, Ghost(text="predicted: not measured yet · no prompt was read with these drafts"))
    for chart in charts:
        assert chart.plot.picture.levels == ()
        assert "not measured yet" in chart.text()


def test_that_a_prediction_is_shown_where_no_request_is_in_sight(charts: Charts) -> None:
    chart, _ = charts
    chart.set_data(TtftView(ghost=GHOST), (), Timeline())
    assert chart.plot.picture.top is not None
    assert chart.text().startswith("–. predicted 0.90 s")


def test_that_a_very_wide_band_does_not_press_everything_else_flat(charts: Charts) -> None:
    chart, _ = charts
    wide = dataclasses.replace(GHOST, band_s=(0.1, 50.0))
    chart.set_data(TtftView(np.array([-9.0]), np.array([0.4]), ghost=wide), (), Timeline())
    assert chart.plot.top < 5
