"""What the mouse and the touchpad do to the charts' time."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QApplication

from resources.tokens import STEP_PX
from widgets.charts.geometry import Geometry
from widgets.charts.time_view import TimeView

# A notch of the wheel: in Qt's eighths of a degree, what it does to the length, and how far it
# pans.
_NOTCH, _ZOOM, _PAN = 120, 0.8, 0.1


class TimePointer:
    """Turns events over one plot into moves."""

    def __init__(self, time_view: TimeView) -> None:
        """Steer ``time_view``."""
        self._time_view = time_view
        self._pressed_at: QPointF | None = None
        self._dragged_to: QPointF | None = None

    def turn(self, event: QWheelEvent, geometry: Geometry) -> None:
        """Zoom around the pointer; sideways, or with Shift, pan."""
        turn, pixels = event.angleDelta(), event.pixelDelta()
        sideways = turn.x() if abs(turn.x()) > abs(turn.y()) else 0
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            sideways = sideways or turn.y()
        if sideways:
            # A touchpad knows pixels.
            share = pixels.x() / geometry.area.width() if pixels.x() else _PAN * sideways / _NOTCH
            self._time_view.pan(-share * geometry.length_s)
        elif turn.y():
            self._time_view.zoom(_ZOOM ** (turn.y() / _NOTCH), _share(event.position(), geometry))
        event.accept()

    def press(self, event: QMouseEvent) -> None:
        """Perhaps a drag begins."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._pressed_at = event.position()
        event.accept()

    def move(self, event: QMouseEvent, geometry: Geometry) -> None:
        """Pan while dragged; the crosshair is below the pointer."""
        at = event.position()
        if self._pressed_at is not None and self._dragged_to is None:
            moved = (at - self._pressed_at).manhattanLength()
            if moved >= QApplication.startDragDistance():  # less is a click by a hand that shakes
                self._dragged_to = self._pressed_at
        if self._dragged_to is not None and at.x() != self._dragged_to.x():
            self._time_view.pan((self._dragged_to.x() - at.x()) / geometry.px_per_s)
            self._dragged_to = at
        is_inside = geometry.area.adjusted(-1, -2 * STEP_PX, 1, 1).contains(at)
        self._time_view.point_at(_share(at, geometry) if is_inside else None)

    def release(self) -> None:
        """No drag any more."""
        self._pressed_at = self._dragged_to = None

    def leave(self) -> None:
        """Take the crosshair away."""
        self._time_view.point_at(None)


def _share(place: QPointF, geometry: Geometry) -> float:
    area = geometry.area
    return min(1.0, max(0.0, (place.x() - area.left()) / area.width()))
