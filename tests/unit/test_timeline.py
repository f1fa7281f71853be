"""What the time axis says."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine_bridge.metrics.stretch import Stretch
from widgets.charts.timeline import Timeline

NOON = datetime(2026, 11, 29, 12, 0, 0).timestamp()


def timeline(length_s: float, is_following: bool = True, until_s: float = 500.0) -> Timeline:
    return Timeline(Stretch(until_s, length_s), until_s, is_following, NOON - 500.0)


def texts(line: Timeline, room: int) -> list[str]:
    return [text for _, text in line.labels(room)]


def test_that_labels_count_back_from_now_while_following() -> None:
    assert texts(timeline(120), 5) == ["−2 min", "−90 s", "−60 s", "−30 s", "now"]
    assert texts(timeline(600), 3) == ["−10 min", "−5 min", "now"]
    assert texts(timeline(1), 3)[-1] == "now"


def test_that_labels_are_the_time_of_day_otherwise() -> None:
    assert texts(timeline(120, is_following=False), 5) == [
        "11:58:00", "11:58:30", "11:59:00", "11:59:30", "12:00:00",
    ]  # fmt: skip
    assert texts(timeline(3600), 5) == ["11:00", "11:15", "11:30", "11:45", "12:00"]
    assert texts(timeline(1, is_following=False), 3) == ["11:59:59.0", "11:59:59.5", "12:00:00.0"]


@given(
    length_s=st.floats(1, 3600),
    room=st.integers(0, 12),
    is_following=st.booleans(),
    until_s=st.floats(0, 1e6),
)
def test_that_labels_fit_and_lie_on_the_axis(
    length_s: float, room: int, is_following: bool, until_s: float
) -> None:
    labels = timeline(length_s, is_following, until_s).labels(room)
    assert len(labels) <= max(2, room) + 1
    assert all(-length_s - 1e-6 <= place <= 1e-6 for place, _ in labels)
    assert len({text for _, text in labels}) == len(labels)


@pytest.mark.parametrize(
    ("time_s", "said"),
    [(-34.0, "34 s ago"), (-0.5, "0.5 s ago"), (-397.0, "6 min 37 s ago"), (-119.0, "119 s ago")],
)
def test_that_a_moment_is_said_as_people_say_it(time_s: float, said: str) -> None:
    assert timeline(600).moment(time_s) == said
    assert timeline(600, is_following=False).moment(-60.0) == "11:59:00"


def test_that_a_moment_has_its_date_and_zone_for_files() -> None:
    day = timeline(120).day(-60.0)
    assert day.tzinfo is not None
    assert day.timestamp() == pytest.approx(NOON - 60)
