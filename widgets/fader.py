"""A horizontal fader that rests on stops and tells dragging from letting go.

Knows its scale and its colours; must not know settings.
"""

from __future__ import annotations

import math

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QSlider, QWidget

from resources.theme import mixed
from resources.tokens import DARK, STEP_PX, Palette
from widgets.fader_scale import FaderScale

# Integer slider units per stop: fine enough that an interpolated place is right to the pixel.
UNITS = 1000
_HANDLE_RADIUS_PX = 7
_GROOVE_PX = STEP_PX
# Beyond this many stops their ticks would touch.
_MAX_TICKS = 24
# A press on the handle drags it only after this, so that a mere click never snaps a value.
_DRAG_THRESHOLD_PX = 3
_WHEEL_NOTCH = 120


class Fader(QSlider):
    """A slider over stops.

    ``QSlider`` underneath keeps the role, the value interface and the focus behaviour that
    screen readers expect; painting and input are its own.

    Signals:
        stop_dragged: The stop (int) under the handle while it is dragged.
        stop_released: The stop (int) where the handle was let go.
        stop_stepped: The stop (int) reached by key, wheel or a screen reader.
    """

    stop_dragged = Signal(int)
    stop_released = Signal(int)
    stop_stepped = Signal(int)

    def __init__(self, scale: FaderScale, parent: QWidget | None = None) -> None:
        """Make a fader on ``scale``, at its first stop."""
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._scale = scale
        self._colours = DARK
        self._ghost: float | None = None
        self._press_x: float | None = None
        self._grip_px = 0.0
        self._is_setting = False
        self._dragged_to: int | None = None
        self._wheel_rest = 0
        self._spoken = ""
        # Not WheelFocus: turning the wheel over it scrolls the panel.
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setSingleStep(UNITS)
        self.valueChanged.connect(self._on_value_changed)
        self.set_scale(scale)

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self._colours = palette
        self.update()

    @property
    def scale(self) -> FaderScale:
        """The stops it rests on."""
        return self._scale

    def set_scale(self, scale: FaderScale) -> None:
        """Rest on the stops of ``scale``; the handle's place has to be set again."""
        self._scale = scale
        count = len(scale.stops)
        self._is_setting = True
        self.setRange(0, max(0, count - 1) * UNITS)
        self.setPageStep(max(1, count // 8) * UNITS)
        self._is_setting = False
        self.update()

    def set_spoken(self, text: str) -> None:
        """Say the value in words, with its unit, for a screen reader."""
        self._spoken = text

    def spoken(self) -> str:
        """The value in words."""
        return self._spoken

    def handle_position(self) -> QPoint:
        """Middle of the handle, in the widget's pixels."""
        return QPointF(self._x_of(self.place()), self.height() / 2).toPoint()

    def position_of(self, value: object) -> QPoint:
        """Where the handle's middle would be for ``value``, in the widget's pixels."""
        return QPointF(self._x_of(self._scale.place_of(value)), self.height() / 2).toPoint()

    def set_place(self, place: float) -> None:
        """Put the handle at ``place``, in stops, without a signal of this class."""
        self._is_setting = True
        self.setValue(round(place * UNITS))
        self._is_setting = False

    def place(self) -> float:
        """Where the handle is, in stops."""
        return self.value() / UNITS

    def set_ghost(self, place: float | None) -> None:
        """Mark ``place`` (what the engine runs now), or nothing."""
        if place != self._ghost:
            self._ghost = place
            self.update()

    def sizeHint(self) -> QSize:
        """Wide enough to aim at, as high as the handle with its focus ring."""
        return QSize(40 * STEP_PX, 5 * STEP_PX)

    def minimumSizeHint(self) -> QSize:
        """Narrower only where the window is."""
        return QSize(20 * STEP_PX, 5 * STEP_PX)

    # --- Input -----------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take the handle, or bring it to the stop nearest to the press."""
        if event.button() != Qt.MouseButton.LeftButton:
            event.ignore()
            return
        x = event.position().x()
        self._press_x, self._dragged_to = x, None
        self._grip_px = x - self._x_of(self.place())
        self.setSliderDown(True)
        if abs(self._grip_px) > _HANDLE_RADIUS_PX:
            self._grip_px = 0.0
            self._press_x = None
            self._drag_to(x)
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Follow the pointer from stop to stop."""
        if not self.isSliderDown():
            event.ignore()
            return
        x = event.position().x()
        if self._press_x is not None and abs(x - self._press_x) < _DRAG_THRESHOLD_PX:
            return
        self._press_x = None
        self._drag_to(x - self._grip_px)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Commit where the handle was dragged to."""
        if event.button() != Qt.MouseButton.LeftButton or not self.isSliderDown():
            event.ignore()
            return
        self.setSliderDown(False)
        self.update()
        if self._dragged_to is not None:
            self.stop_released.emit(self._dragged_to)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows move by a stop, page keys by an eighth, Home and End to the ends."""
        page = self.pageStep() // UNITS
        steps = {
            Qt.Key.Key_Left: -1,
            Qt.Key.Key_Down: -1,
            Qt.Key.Key_Right: 1,
            Qt.Key.Key_Up: 1,
            Qt.Key.Key_PageDown: -page,
            Qt.Key.Key_PageUp: page,
            Qt.Key.Key_Home: -self.maximum(),
            Qt.Key.Key_End: self.maximum(),
        }.get(Qt.Key(event.key()))
        if steps is None or event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()
            return
        self._step(steps)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Step only with the focus; else let the panel scroll."""
        if not self.hasFocus():
            event.ignore()
            return
        self._wheel_rest += event.angleDelta().y()
        notches = int(self._wheel_rest / _WHEEL_NOTCH)
        self._wheel_rest -= notches * _WHEEL_NOTCH
        if notches:
            self._step(notches)
        event.accept()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the focus and forget a half-turned wheel notch."""
        self._wheel_rest = 0
        super().focusInEvent(event)

    def _step(self, steps: int) -> None:
        place = self.place()
        start = math.floor(place) if steps > 0 else math.ceil(place)
        stop = min(max(start + steps, 0), self.maximum() // UNITS)
        if stop != place:
            self.set_place(stop)
            self.stop_stepped.emit(stop)

    def _drag_to(self, x: float) -> None:
        span = max(1, self.width() - 2 * _HANDLE_RADIUS_PX)
        last = self.maximum() // UNITS
        stop = min(max(round((x - _HANDLE_RADIUS_PX) / span * last), 0), last)
        if stop != self._dragged_to and stop != self.place():
            self._dragged_to = stop
            self.set_place(stop)
            self.stop_dragged.emit(stop)

    def _on_value_changed(self, value: int) -> None:
        # Neither set_place nor a drag: a screen reader moved it through the value interface.
        if not self._is_setting:
            stop = round(value / UNITS)
            self.set_place(stop)
            self.stop_stepped.emit(stop)

    # --- Painting ----------------------------------------------------------------------------

    def _x_of(self, place: float) -> float:
        share = place * UNITS / max(1, self.maximum())
        return _HANDLE_RADIUS_PX + share * (self.width() - 2 * _HANDLE_RADIUS_PX)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Groove, ticks, what runs now, and the handle."""
        colours = self._colours
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        middle, x = self.height() / 2, self._x_of(self.place())
        is_on = self.isEnabled()
        accent = colours.accent if is_on else mixed(colours.muted, colours.panel, 0.6)
        handle = colours.text if is_on else mixed(colours.muted, colours.panel, 0.4)
        _pill(painter, 0, self.width(), middle, colours.line)
        _pill(painter, 0, x, middle, accent)
        self._paint_ticks(painter, middle, x)
        if self._ghost is not None and abs(self._x_of(self._ghost) - x) > 1:
            ghost = QRectF(self._x_of(self._ghost) - 1, middle - 6, 2, 12)
            painter.fillRect(ghost, QColor(colours.muted))
        if self.hasFocus():
            painter.setBrush(QColor(colours.panel))
            painter.setPen(QPen(QColor(colours.accent), 2))
            painter.drawEllipse(QPointF(x, middle), _HANDLE_RADIUS_PX + 2, _HANDLE_RADIUS_PX + 2)
            painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(handle))
        radius = _HANDLE_RADIUS_PX - (1 if self.hasFocus() else 0)
        painter.drawEllipse(QPointF(x, middle), radius, radius)

    def _paint_ticks(self, painter: QPainter, middle: float, handle_x: float) -> None:
        count = self.maximum() // UNITS + 1
        if not 2 < count <= _MAX_TICKS:
            return
        on_groove = QColor(mixed(self._colours.line, self._colours.muted, 0.6))
        on_fill = QColor(mixed(self._colours.accent, self._colours.panel, 0.5))
        for stop in range(count):
            x = self._x_of(stop)
            painter.setBrush(on_fill if x < handle_x else on_groove)
            painter.drawEllipse(QPointF(x, middle), 1, 1)

    def changeEvent(self, event: QEvent) -> None:
        """Repaint when enabled or disabled."""
        if event.type() == QEvent.Type.EnabledChange:
            self.update()
        super().changeEvent(event)


def _pill(painter: QPainter, left: float, right: float, middle: float, colour: str) -> None:
    painter.setBrush(QColor(colour))
    half = _GROOVE_PX / 2
    painter.drawRoundedRect(QRectF(left, middle - half, right - left, _GROOVE_PX), half, half)
