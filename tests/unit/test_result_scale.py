"""Axes of result charts, and which point is near or next."""

from __future__ import annotations

import math

import pytest
from PySide6.QtCore import QPointF, QRectF

from widgets.experiments.result_geometry import (
    Geometry,
    next_spot,
    other_line,
    scales_of,
    spots_of,
)
from widgets.experiments.result_scale import horizontal, number_text, round_ticks, vertical
from widgets.experiments.result_sheet import Axis, Line, Mark, Plot, Point


def test_that_few_whole_numbers_have_a_tick_each() -> None:
    scale = horizontal(Axis("Slots", is_log=True, starts_at_zero=False), [1, 2, 4, 16, 4])
    assert [text for _, text in scale.ticks] == ["1", "2", "4", "16"]
    # Doublings are equally far apart, and no point touches an axis.
    assert scale.share(2) - scale.share(1) == pytest.approx(scale.share(4) - scale.share(2))
    assert 0 < scale.share(1) < scale.share(16) < 1


def test_that_many_or_broken_numbers_have_round_ticks() -> None:
    many = horizontal(Axis("Run", starts_at_zero=False), [float(n) for n in range(1, 41)])
    assert [text for _, text in many.ticks] == ["0", "10", "20", "30", "40"]
    broken = horizontal(Axis("Memory", "MiB", starts_at_zero=False), [391.2, 512.9])
    assert [text for _, text in broken.ticks] == ["400", "450", "500"]
    wide = horizontal(Axis("tok", is_log=True, starts_at_zero=False), [70.5, 31000.0])
    assert [text for _, text in wide.ticks] == ["100", "1,000", "10,000"]


def test_that_names_stand_in_their_order() -> None:
    scale = horizontal(Axis("K cache", names=("f16", "q8_0")), [0.0, 1.0])
    assert scale.ticks == ((0.0, "f16"), (1.0, "q8_0"))
    assert scale.share(0.0) == pytest.approx(0.25)


def test_that_a_vertical_axis_begins_at_zero_unless_told_otherwise() -> None:
    scale = vertical(Axis("Speed"), [52.0, 141.0])
    assert scale.share(0.0) == 0.0
    assert [text for _, text in scale.ticks] == ["0", "50", "100", "150"]
    assert scale.share(150.0) < 1.0
    close = vertical(Axis("Speed", starts_at_zero=False), [52.0, 52.1])
    # What scatters by a thousandth does not fill the plot.
    assert close.share(52.1) - close.share(52.0) < 0.03


def test_that_what_is_below_zero_is_on_the_axis() -> None:
    scale = vertical(Axis("KLD"), [-0.01, 0.05])
    assert scale.share(-0.01) >= 0
    assert any(value == 0 for value, _ in scale.ticks)


@pytest.mark.parametrize("values", [[], [5.0], [0.0], [0.0, 0.0], [float("nan")], [1e300, 2.0]])
def test_that_any_values_make_an_axis(values: list[float]) -> None:
    for scale in (
        vertical(Axis("y"), values),
        vertical(Axis("y", starts_at_zero=False), values),
        horizontal(Axis("x", starts_at_zero=False), values),
        horizontal(Axis("x", is_log=True, starts_at_zero=False), values),
    ):
        assert scale.low < scale.high
        for value in values:
            if not math.isnan(value):
                assert -0.01 <= scale.share(value) <= 1.01


@pytest.mark.parametrize(
    ("value", "text"),
    [(4096, "4,096"), (0.5, "0.5"), (1234.5, "1,234"), (12.345, "12.35"), (3, "3")],
)
def test_that_numbers_are_short(value: float, text: str) -> None:
    assert number_text(value) == text


def test_that_ticks_have_the_digits_of_their_step() -> None:
    assert [text for _, text in round_ticks(0.0, 0.012, is_whole=True)] == [
        "0.0000", "0.0025", "0.0050", "0.0075", "0.0100", "0.0125",
    ]  # fmt: skip
    assert [text for _, text in round_ticks(980.0, 1020.0)] == [
        "980",
        "990",
        "1,000",
        "1,010",
        "1,020",
    ]


PLOT = Plot(
    "Speed",
    Axis("Slots", is_log=True, starts_at_zero=False),
    Axis("Speed", "tok/s"),
    (
        Line("best", (Point(9, 1.0, 50.0),), has_marks=False),
        Line("f16", (Point(0, 1.0, 50.0, 49.0, 51.0), Point(1, 4.0, 130.0))),
        Line("q8_0", (Point(2, 1.0, 46.0), Point(3, 4.0, 120.0))),
    ),
    (Mark(8.0, "knee", is_upright=True), Mark(200.0, "limit")),
)


def test_that_bars_and_marks_are_on_the_axes() -> None:
    x, y = scales_of(PLOT)
    assert x.share(8.0) <= 1
    assert y.share(200.0) <= 1


def test_that_points_are_gone_through_from_left_to_right() -> None:
    spots = spots_of(PLOT)
    assert [spot.point.cell for spot in spots] == [0, 2, 1, 3], "what has no marks is no spot"
    assert next_spot(spots, None, 1) == 0
    assert next_spot(spots, None, -1) == 3
    assert next_spot(spots, 3, 1) == 0
    assert next_spot((), None, 1) is None
    assert other_line(spots, 1, 1) == 0, "straight up"
    assert other_line(spots, 2, -1) == 3, "straight down"
    assert other_line(spots, 2, 1) == 2, "nothing is above the highest"
    assert other_line(spots, None, 1) == 0


def test_that_the_nearest_point_is_found_within_reach() -> None:
    geometry = Geometry(QRectF(50, 20, 300, 200), *scales_of(PLOT))
    spots = spots_of(PLOT)
    at = geometry.place(spots[2].point)
    assert geometry.nearest(spots, at + QPointF(4, -4), 16) == 2
    assert geometry.nearest(spots, at + QPointF(40, 60), 16) is None
    assert geometry.nearest((), at, 16) is None
