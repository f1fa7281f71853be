"""The roofline: points below their roofs, in words, by keyboard and in pixels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from msgspec import structs
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from engine_bridge.metrics.bandwidth_meter import Peak
from engine_bridge.metrics.ceiling import CeilingView
from resources.tokens import DARK, LIGHT, Palette
from tests.widgets.ceilings import ONE, TWO
from widgets.charts.log_axis import around
from widgets.charts.roofline import RooflineChart, picture_of
from widgets.charts.roofline_picture import RooflineGeometry

pytestmark = pytest.mark.gui
Shown = Callable[[QWidget], None]


@pytest.fixture
def chart(qtbot: QtBot, themed: QApplication) -> RooflineChart:
    made = RooflineChart()
    qtbot.addWidget(made)
    made.resize(430, 300)
    return made


def geometry_of(view: CeilingView) -> RooflineGeometry:
    x, y = picture_of(view).extent()
    return RooflineGeometry(QRectF(50, 20, 300, 200), around(x), around(y))


def test_that_no_point_lies_above_what_was_measured_to_bound_it() -> None:
    geometry, picture = geometry_of(TWO), picture_of(TWO)
    memory, compute = geometry.memory_roof(picture), geometry.compute_roof(picture)
    assert memory is not None
    assert compute is not None
    assert memory.p2() == compute.p1(), "both roofs meet at the corner"
    for point in picture.points:
        place = geometry.place(point.operations_per_byte, point.operations_per_s)
        assert place.y() >= compute.y1() - 1e-6
        if point.kind == "decode":
            # On the line of the memory's roof at this column.
            roof = geometry.y_of(point.operations_per_byte * 61.2e9)
            assert place.y() > roof


def test_that_batching_moves_decode_to_the_right() -> None:
    points = [point for point in picture_of(TWO).points if point.kind == "decode"]
    assert [point.label for point in points] == ["1", "2 streams", "4"]
    x = [point.operations_per_byte for point in points]
    assert x == sorted(x)
    assert [point.is_present for point in points] == [False, True, False]


def test_that_roofs_are_named_for_what_they_are() -> None:
    picture = picture_of(TWO)
    assert picture.memory_label == "memory 61.2 GB/s"
    assert picture.compute_label == "best prefill seen 461 Gop/s"
    assert [point.kind for point in picture.points[-2:]] == ["prefill", "best"]
    lower = replace(TWO, peak=replace(TWO.peak, is_lower_bound=True))
    assert picture_of(lower).memory_label == "memory at least 61.2 GB/s"


def test_that_a_roof_that_is_not_known_is_not_drawn() -> None:
    picture = picture_of(replace(ONE, peak=Peak()))
    geometry = geometry_of(replace(ONE, peak=Peak()))
    assert geometry.memory_roof(picture) is None
    assert geometry.compute_roof(picture) is None
    only_compute = replace(TWO, peak=Peak())
    roof = geometry_of(only_compute).compute_roof(picture_of(only_compute))
    assert roof is not None
    assert roof.x1() == 50


def test_that_an_empty_chart_says_what_will_appear(chart: RooflineChart, shown: Shown) -> None:
    shown(chart)
    assert chart._empty.isVisible()
    assert "Decoding then appears here" in chart.accessibleDescription()
    assert not chart.plot.picture.points
    assert chart.plot.card_at(QPointF(100, 100)) == ""
    chart.show_view(ONE)
    assert not chart._empty.isVisible()


def test_that_a_roof_says_what_it_is_where_the_pointer_rests(
    chart: RooflineChart, shown: Shown
) -> None:
    chart.show_view(TWO)
    shown(chart)
    geometry, picture = chart.plot.geometry_now, chart.plot.picture
    memory, compute = geometry.memory_roof(picture), geometry.compute_roof(picture)
    assert memory is not None
    assert compute is not None
    assert "What memory delivers: 61.2 GB/s" in chart.plot.card_at(memory.pointAt(0.1))
    assert "What compute delivers: 461 Gop/s" in chart.plot.card_at(compute.pointAt(0.5))
    # A point goes before a roof that is near, and away from both there is nothing to say.
    best = geometry.place(
        picture.points[-1].operations_per_byte, picture.points[-1].operations_per_s
    )
    assert chart.plot.card_at(best).startswith("Best prefill seen")
    assert chart.plot.card_at(compute.pointAt(0.5) + QPointF(0, 40)) == ""
    # Beyond its ends a roof is no line any more.
    assert geometry.roof_text(picture, compute.p2() + QPointF(20, 0), 8) == ""
    chart.show_view(replace(ONE, peak=Peak()))
    assert chart.plot.geometry_now.roof_text(chart.plot.picture, memory.pointAt(0.1), 1e6) == ""


def test_that_its_description_holds_every_point_and_both_roofs(chart: RooflineChart) -> None:
    chart.show_view(TWO)
    said = chart.accessibleDescription()
    for part in (
        "Decode, one stream: 118 Gop/s at 2.88 op/byte, MBU 67 %, 38 tok/s",
        "Decode, 4 streams",
        "Prefill: ",
        "Best prefill seen: 461 Gop/s",
        "memory 61.2 GB/s",
        "best prefill seen 461 Gop/s",
        "Left and Right",
    ):
        assert part in said
    assert chart.note() == "memory 61.2 GB/s · best prefill seen 461 Gop/s"


def test_that_keys_go_from_point_to_point(chart: RooflineChart, shown: Shown, qtbot: QtBot) -> None:
    chart.show_view(TWO)
    shown(chart)
    chart.setFocus()
    notes = []
    for _ in range(6):
        QTest.keyClick(chart, Qt.Key.Key_Right)
        notes.append(chart.note())
    assert notes[0].startswith("Decode, one stream")
    assert notes[4].startswith("Best prefill seen")
    assert notes[5] == notes[0]
    QTest.keyClick(chart, Qt.Key.Key_Left)
    assert chart.note() == notes[4]
    assert chart.accessibleDescription().startswith("Best prefill seen")
    chart.show_view(TWO)
    assert chart.note() == notes[4], "a new look does not take the choice away"
    QTest.keyClick(chart, Qt.Key.Key_Escape)
    assert chart.note().startswith("memory")
    chart.select(4)
    chart.show_view(ONE)
    assert chart.note().startswith("memory"), "that point is gone"


def test_that_the_pointer_near_a_point_is_told_about_it(chart: RooflineChart) -> None:
    chart.show_view(TWO)
    chart.grab()
    geometry = chart.plot.geometry_now
    point = chart.plot.picture.points[2]
    place = geometry.place(point.operations_per_byte, point.operations_per_s)
    assert "4 streams" in chart.plot.card_at(place + QPointF(3, -3))
    assert chart.plot.card_at(geometry.area.bottomLeft() + QPointF(20, -20)) == ""


@pytest.mark.parametrize("colours", [DARK, LIGHT])
def test_that_points_and_roofs_are_painted_in_the_colours_of_the_theme(
    chart: RooflineChart, colours: Palette
) -> None:
    chart.set_palette(colours)
    chart.show_view(TWO)
    image = chart.plot.grab().toImage()
    geometry = chart.plot.geometry_now
    ratio = image.devicePixelRatio()
    point = chart.plot.picture.points[1]
    place = geometry.place(point.operations_per_byte, point.operations_per_s) * ratio
    assert image.pixelColor(place.toPoint()) == QColor(colours.accent)
    assert image.pixelColor(1, image.height() - 1) == QColor(colours.panel)
    compute = geometry.compute_roof(chart.plot.picture)
    assert compute is not None
    row = round(compute.y1() * ratio)
    seen = {
        image.pixelColor(x, y).name() for x in range(image.width()) for y in (row - 1, row, row + 1)
    }
    assert QColor(colours.warning).name() in seen


def test_that_axes_stay_while_figures_move_a_little(chart: RooflineChart) -> None:
    chart.show_view(TWO)
    before = chart.plot.geometry_now
    slower = tuple(structs.replace(work, seconds=1.04 * work.seconds) for work in TWO.decoding)
    chart.show_view(replace(TWO, decoding=slower))
    after = chart.plot.geometry_now
    assert (before.x_axis, before.y_axis) == (after.x_axis, after.y_axis)
