"""A fader under mouse, keys, wheel and screen reader."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QScrollArea, QVBoxLayout, QWidget

from engine_bridge.settings.domain import IntDomain
from widgets.fader import UNITS, Fader
from widgets.fader_scale import FaderScale

pytestmark = pytest.mark.gui
STOPS = (512, 1024, 2048, 4096, 8192)
LEFT = Qt.MouseButton.LeftButton


class Recorder:
    """Writes down what a fader says."""

    def __init__(self, fader: Fader) -> None:
        self.said: list[tuple[str, int]] = []
        fader.stop_dragged.connect(lambda stop: self.said.append(("dragged", stop)))
        fader.stop_released.connect(lambda stop: self.said.append(("released", stop)))
        fader.stop_stepped.connect(lambda stop: self.said.append(("stepped", stop)))


@pytest.fixture
def fader(shown: Callable[[QWidget], None]) -> Fader:
    made = Fader(FaderScale.of_int(IntDomain(1, 100_000, STOPS)))
    made.resize(300, 20)
    shown(made)
    return made


def wheel(widget: QWidget, delta: int) -> QWheelEvent:
    centre = QPointF(widget.rect().center())
    event = QWheelEvent(
        centre,
        QPointF(widget.mapToGlobal(centre.toPoint())),
        QPoint(),
        QPoint(0, delta),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(widget, event)
    return event


def test_that_dragging_is_not_letting_go(fader: Fader) -> None:
    recorder = Recorder(fader)
    start, end = fader.handle_position(), fader.position_of(4096)
    QTest.mousePress(fader, LEFT, pos=start)
    for x in range(start.x(), end.x() + 1, 4):
        QTest.mouseMove(fader, QPoint(x, start.y()))
    QTest.mouseMove(fader, end)
    assert recorder.said == [("dragged", 1), ("dragged", 2), ("dragged", 3)]
    QTest.mouseRelease(fader, LEFT, pos=end)
    assert recorder.said[-1] == ("released", 3)
    assert fader.handle_position() == end


def test_that_a_press_beside_the_handle_brings_it_there(fader: Fader) -> None:
    recorder = Recorder(fader)
    QTest.mouseClick(fader, LEFT, pos=fader.position_of(2048) + QPoint(9, 0))
    assert recorder.said == [("dragged", 2), ("released", 2)]


def test_that_a_click_on_the_handle_never_snaps_a_value_between_stops(fader: Fader) -> None:
    fader.set_place(1.4)
    recorder = Recorder(fader)
    QTest.mouseClick(fader, LEFT, pos=fader.handle_position() + QPoint(2, 0))
    assert recorder.said == []
    assert fader.place() == pytest.approx(1.4)


def test_that_setting_a_place_is_silent(fader: Fader) -> None:
    recorder = Recorder(fader)
    fader.set_place(3)
    assert recorder.said == []


@pytest.mark.parametrize(
    ("key", "place", "stop"),
    [
        (Qt.Key.Key_Right, 1.0, 2),
        (Qt.Key.Key_Up, 1.0, 2),
        (Qt.Key.Key_Left, 1.0, 0),
        (Qt.Key.Key_Right, 1.4, 2),
        (Qt.Key.Key_Left, 1.4, 1),
        (Qt.Key.Key_Home, 3.0, 0),
        (Qt.Key.Key_End, 1.0, 4),
    ],
)
def test_that_keys_move_by_stops(fader: Fader, key: Qt.Key, place: float, stop: int) -> None:
    fader.setFocus()
    fader.set_place(place)
    recorder = Recorder(fader)
    QTest.keyClick(fader, key)
    assert recorder.said == [("stepped", stop)]


def test_that_a_key_at_the_end_says_nothing(fader: Fader) -> None:
    fader.setFocus()
    fader.set_place(4)
    recorder = Recorder(fader)
    QTest.keyClick(fader, Qt.Key.Key_Right)
    assert recorder.said == []


def test_that_the_wheel_is_left_to_the_panel_without_the_focus(fader: Fader) -> None:
    fader.clearFocus()
    recorder = Recorder(fader)
    assert not wheel(fader, -240).isAccepted()
    assert recorder.said == []
    fader.setFocus()
    assert wheel(fader, 120).isAccepted()
    assert recorder.said == [("stepped", 1)]


def test_that_the_wheel_scrolls_the_panel_below_the_pointer(
    shown: Callable[[QWidget], None],
) -> None:
    area, content = QScrollArea(), QWidget()
    faders = [Fader(FaderScale.of_int(IntDomain(1, 100_000, STOPS))) for _ in range(20)]
    layout = QVBoxLayout(content)
    for made in faders:
        layout.addWidget(made)
    area.setWidget(content)
    area.resize(300, 120)
    shown(area)
    area.setFocus()
    under = faders[2]
    at = under.mapTo(area, under.rect().center())
    QTest.wheelEvent(area.windowHandle(), QPointF(at), QPoint(0, -240))
    assert area.verticalScrollBar().value() > 0
    assert under.place() == 0
    assert not under.hasFocus()


def test_that_fine_wheel_steps_add_up(fader: Fader) -> None:
    fader.setFocus()
    recorder = Recorder(fader)
    for _ in range(7):
        wheel(fader, 30)
    assert recorder.said == [("stepped", 1)]


def test_that_a_screen_reader_can_move_it(fader: Fader) -> None:
    recorder = Recorder(fader)
    fader.setValue(round(2.2 * UNITS))
    assert recorder.said == [("stepped", 2)]
    assert fader.place() == 2


def test_that_it_paints_with_focus_ghost_and_disabled(fader: Fader) -> None:
    fader.clearFocus()
    plain = fader.grab().toImage()
    fader.set_ghost(3.0)
    marked = fader.grab().toImage()
    assert marked != plain
    fader.setFocus()
    focused = fader.grab().toImage()
    assert focused != marked
    fader.setEnabled(False)
    assert fader.grab().toImage() != focused
