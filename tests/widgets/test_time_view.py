"""Navigation in time: where the charts stand, what moves them, and what never does."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from pytestqt.qtbot import QtBot

from widgets.charts.time_keys import steer
from widgets.charts.time_view import LONGEST_S, SHORTEST_S, TimeView

pytestmark = pytest.mark.gui

NOW_S = 10_000.0


@pytest.fixture
def view(qapp: object) -> TimeView:
    made = TimeView(wall_s=0.0)
    made.note_present(NOW_S, NOW_S - 2 * LONGEST_S)
    return made


def edges(view: TimeView) -> tuple[float, float]:
    stretch = view.timeline(400.0).stretch
    return stretch.since_s, stretch.until_s


def follows(view: TimeView) -> bool:
    return view.is_following


def press(
    view: TimeView,
    key: Qt.Key,
    held: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier,
) -> int | None:
    return steer(view, QKeyEvent(QEvent.Type.KeyPress, key, held))


def test_that_it_follows_the_last_two_minutes(view: TimeView) -> None:
    since_s, until_s = edges(view)
    assert until_s - since_s == pytest.approx(120.0)
    assert NOW_S <= until_s <= NOW_S + 120 / 400
    view.note_present(NOW_S + 50, 0.0)
    assert edges(view)[1] >= NOW_S + 50


def test_that_time_moves_on_by_whole_pixels(view: TimeView) -> None:
    rights = set()
    for tenth in range(100):
        view.note_present(NOW_S + tenth / 10, 0.0)
        rights.add(edges(view)[1])
    assert len(rights) <= 10 / (120 / 400) + 2


@pytest.mark.parametrize("share", [0.0, 0.3, 0.8])
def test_that_zooming_in_keeps_the_place_under_the_pointer(view: TimeView, share: float) -> None:
    view.hold()
    since_s, until_s = edges(view)
    at_s = since_s + share * (until_s - since_s)
    view.zoom(0.5, share)
    since_s, until_s = edges(view)
    assert until_s - since_s == pytest.approx(60.0)
    assert since_s + share * (until_s - since_s) == pytest.approx(at_s)


def test_that_zooming_into_the_past_stops_following(view: TimeView) -> None:
    view.zoom(0.5, 0.2)
    assert not follows(view)
    view.reset()
    assert follows(view)
    view.zoom(0.5, 0.95)  # beside the present the present is meant
    assert follows(view)


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_that_the_zoom_has_limits(view: TimeView, share: float) -> None:
    for factor, length_s in ((0.01, SHORTEST_S), (100.0, LONGEST_S)):
        for _ in range(20):
            view.zoom(factor, share)
        since_s, until_s = edges(view)
        assert until_s - since_s == pytest.approx(length_s)
        assert until_s <= NOW_S + LONGEST_S / 400
    view.reset()
    assert view.length_s == 120.0
    assert follows(view)


def test_that_panning_back_holds_and_arriving_at_the_present_follows(view: TimeView) -> None:
    view.pan(-30.0)
    assert not follows(view)
    assert edges(view)[1] == pytest.approx(NOW_S - 30)
    view.note_present(NOW_S + 5, 0.0)
    assert edges(view)[1] == pytest.approx(NOW_S - 30)
    view.pan(100.0)
    assert follows(view)


def test_that_nobody_gets_lost_before_the_beginning_or_after_the_present(view: TimeView) -> None:
    view.pan(-1e9)
    assert edges(view)[0] == pytest.approx(NOW_S - LONGEST_S)
    view.note_present(NOW_S, NOW_S - 300)  # measured for five minutes only
    view.pan(-1e9)
    assert edges(view)[0] == pytest.approx(NOW_S - 300)
    view.show_length(3600.0)
    assert edges(view)[1] == pytest.approx(NOW_S)


def test_that_pausing_stands_still(view: TimeView) -> None:
    view.hold()
    before = edges(view)
    view.note_present(NOW_S + 77, 0.0)
    assert edges(view) == before
    view.toggle()
    assert follows(view)


def test_that_moves_are_told_once(qtbot: QtBot, view: TimeView) -> None:
    with qtbot.waitSignal(view.moved):
        view.pan(-10)
    view.hold()  # it is held already
    with qtbot.assertNotEmitted(view.moved):
        view.hold()
        view.pan(0.0)


def test_that_the_crosshair_stays_below_the_pointer_and_at_a_moment_otherwise(
    view: TimeView,
) -> None:
    view.point_at(0.5)
    assert view.cursor_s == pytest.approx(NOW_S - 60)
    view.note_present(NOW_S + 10, 0.0)
    assert view.cursor_s == pytest.approx(NOW_S - 50)
    view.put_cursor(NOW_S - 40)
    view.note_present(NOW_S + 20, 0.0)
    assert view.cursor_s == NOW_S - 40
    view.point_at(0.1)
    view.point_at(None)
    assert view.cursor_s is None


def test_that_a_crosshair_outside_brings_the_window_to_it(view: TimeView) -> None:
    view.put_cursor(NOW_S - 1000)
    since_s, until_s = edges(view)
    assert since_s < NOW_S - 1000 < until_s
    assert not follows(view)


def test_that_every_key_does_its_part(view: TimeView) -> None:
    assert press(view, Qt.Key.Key_Left) == 0
    assert edges(view)[1] == pytest.approx(NOW_S - 12)
    press(view, Qt.Key.Key_Right)
    assert follows(view)
    press(view, Qt.Key.Key_Plus)
    assert view.length_s == pytest.approx(96)
    press(view, Qt.Key.Key_Minus)
    assert view.length_s == pytest.approx(120)
    press(view, Qt.Key.Key_Space)
    assert not follows(view)
    press(view, Qt.Key.Key_Home)
    assert edges(view)[0] == pytest.approx(NOW_S - LONGEST_S)
    press(view, Qt.Key.Key_End)
    assert follows(view)
    press(view, Qt.Key.Key_Minus)
    press(view, Qt.Key.Key_0)
    assert view.length_s == 120.0


def test_that_keys_move_the_crosshair_and_take_it_away(view: TimeView) -> None:
    shift = Qt.KeyboardModifier.ShiftModifier
    press(view, Qt.Key.Key_Left, shift)
    assert view.cursor_s == pytest.approx(NOW_S)
    for _ in range(300):
        press(view, Qt.Key.Key_Left, shift)
    assert view.cursor_s == pytest.approx(NOW_S - 120)  # it stays in the window
    assert press(view, Qt.Key.Key_Escape) == 0
    assert view.cursor_s is None
    assert press(view, Qt.Key.Key_Escape) is None  # then it belongs to others


def test_that_changes_are_asked_for_and_other_keys_left_alone(view: TimeView) -> None:
    control = Qt.KeyboardModifier.ControlModifier
    assert press(view, Qt.Key.Key_Left, control) == -1
    assert press(view, Qt.Key.Key_Right, control) == 1
    assert press(view, Qt.Key.Key_Plus, control) is None  # the program's font size
    assert press(view, Qt.Key.Key_A) is None
    assert press(view, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier) is None
