"""The limit of a chart under the mouse: near its line it can be taken, dragged and let go."""

from __future__ import annotations

from enum import Enum

from PySide6.QtCore import QObject, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QMouseEvent, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QApplication

from resources.tokens import STEP_PX, Palette
from widgets.charts.geometry import HEADROOM, Geometry
from widgets.charts.limit_scale import LimitScale

# So near to the line the pointer takes it: less than to a dot, which has a card to show.
_NEAR_PX = STEP_PX + 1
# The handle stands in the margin right of the plot.
_HANDLE_PX, _ASIDE_PX = 2 * STEP_PX, STEP_PX // 2
_HOW = "Drag it, or press Alt+Up and Alt+Down.\nL asks for a number, Shift+L takes it away."
_HOW_NONE = "No limit.\nDrag this down to set one, or press L."


class _Hold(Enum):
    """What the mouse does with the line: nothing, has pressed on it, drags it."""

    NOT = 0
    PRESSED = 1
    DRAGGED = 2


class LimitGrip(QObject):
    """A limit as it can be seen and moved over one plot.

    Signals:
        dragged: Another value (float) while the mouse holds the line.
        dropped: The value (float) at which it was let go; None where a first drag was given up.
        opened: A double click: a number is wanted.
        changed: It looks different.
    """

    dragged = Signal(object)
    dropped = Signal(object)
    opened = Signal()
    changed = Signal()

    def __init__(self, scale: LimitScale, parent: QObject) -> None:
        """Show that there is no limit yet."""
        super().__init__(parent)
        self._scale = scale
        self._value: float | None = None
        self._before: float | None = None
        self._hold = _Hold.NOT
        self._is_near = False
        self._pressed_at = self._pointer = QPointF()
        self._beside_px = 0.0

    @property
    def value(self) -> float | None:
        """The limit, in the unit of the data; None for none."""
        return self._value

    @property
    def is_dragged(self) -> bool:
        """Whether the mouse moves it."""
        return self._hold is _Hold.DRAGGED

    @property
    def is_near(self) -> bool:
        """Whether the pointer is where it would take it."""
        return self._is_near or self._hold is not _Hold.NOT

    def set_value(self, value: float | None) -> None:
        """Show another limit; while the mouse holds it, the mouse is right."""
        if not self.is_dragged and value != self._value:
            self._value = value
            self.changed.emit()

    # --- Mouse ----------------------------------------------------------------------------

    def press(self, event: QMouseEvent, geometry: Geometry) -> bool:
        """Whether a press of the mouse takes the line."""
        if event.button() != Qt.MouseButton.LeftButton or not self.hits(event.position(), geometry):
            return False
        self._hold, self._before = _Hold.PRESSED, self._value
        self._pressed_at = event.position()
        # The line stays where it is below the pointer; nothing jumps when the drag begins.
        self._beside_px = self._row(geometry) - event.position().y()
        self.changed.emit()
        return True

    def move(self, event: QMouseEvent, geometry: Geometry) -> bool:
        """Whether the mouse holds the line; then the line follows it."""
        self._pointer = event.position()
        if self._hold is _Hold.NOT:
            self._note_near(self.hits(event.position(), geometry))
            return False
        if not event.buttons() & Qt.MouseButton.LeftButton:  # it was let go elsewhere
            self.release()
            return False
        away_px = abs(event.position().y() - self._pressed_at.y())
        if away_px >= QApplication.startDragDistance():  # less is a click by a hand that shakes
            self._hold = _Hold.DRAGGED
        if self.is_dragged:
            row = event.position().y() + self._beside_px
            self._drag_to(geometry.share_at(row) / geometry.share_per_value)
        return True

    def release(self) -> None:
        """Let the line go where it is."""
        was_dragged = self.is_dragged
        self._hold = _Hold.NOT
        self.changed.emit()
        if was_dragged:
            self.dropped.emit(self._value)

    def give_up(self) -> bool:
        """Put a dragged line back; whether there was one."""
        if not self.is_dragged:
            return False
        self._value = self._before
        self.release()
        return True

    def leave(self) -> None:
        """The pointer left the plot."""
        self._note_near(False)

    def hits(self, place: QPointF, geometry: Geometry) -> bool:
        """Whether the pointer is near the line; where there is none, near its handle."""
        area = geometry.area
        left = area.left() if self._is_across(geometry) else area.right() - _ASIDE_PX
        is_beside = left <= place.x() <= area.right() + 4 * STEP_PX
        return is_beside and abs(place.y() - self._row(geometry)) <= _NEAR_PX

    def tag_px(self, geometry: Geometry) -> float | None:
        """Row of the middle of the tag in the axis; None while there is none in it."""
        return None if self._value is None or self.is_dragged else self._row(geometry)

    def tip_at(self, place: QPointF, geometry: Geometry) -> str:
        """What the card near the line says, a line each; empty elsewhere."""
        if not self.hits(place, geometry):
            return ""
        if self._value is None:
            return _HOW_NONE
        return f"Limit of {self._scale.name}: {self._scale.text(self._value)}.\n{_HOW}"

    def _drag_to(self, value: float) -> None:
        rounded = self._scale.rounded(max(value, self._scale.lowest))
        self.changed.emit()
        if rounded != self._value:
            self._value = rounded
            self.dragged.emit(rounded)

    def _note_near(self, is_near: bool) -> None:
        if is_near != self._is_near:
            self._is_near = is_near
            self.changed.emit()

    def _is_across(self, geometry: Geometry) -> bool:
        """Whether its line is seen: there is one, and it is not above the plot."""
        return self._value is not None and self._value * geometry.share_per_value <= HEADROOM

    def _row(self, geometry: Geometry) -> float:
        """Where the line or its handle is; at the upper edge without a line in the plot."""
        if self._value is None or not self._is_across(geometry):
            return geometry.y_of(geometry.share_per_value * geometry.edge_value)
        return geometry.y_of(geometry.share_per_value * self._value)

    # --- Painting -------------------------------------------------------------------------

    def paint(self, painter: QPainter, geometry: Geometry, palette: Palette) -> None:
        """The handle, and the value at the line."""
        row = self._row(geometry)
        ink = QColor(palette.text if self.is_near else palette.warning)
        if self._value is None and not self.is_near:
            ink = QColor(palette.muted)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(ink, 1.0))
        painter.setBrush(Qt.BrushStyle.NoBrush if self._value is None else ink)
        left = geometry.area.right() + STEP_PX
        painter.drawPolygon(
            QPolygonF(
                [
                    QPointF(left, row),
                    QPointF(left + _HANDLE_PX, row - STEP_PX),
                    QPointF(left + _HANDLE_PX, row + STEP_PX),
                ]
            )
        )
        if self._value is not None:
            self._paint_value(painter, geometry, palette, row)
        painter.restore()

    def _paint_value(
        self, painter: QPainter, geometry: Geometry, palette: Palette, row: float
    ) -> None:
        """The value as a tag in the axis, over no data; while it is dragged beside the pointer."""
        assert self._value is not None
        where = "" if self._is_across(geometry) else " ↑"
        text = f"{self._scale.text(self._value)}{where}"
        metrics, area = QFontMetricsF(painter.font()), geometry.area
        tag = QRectF(0, 0, metrics.horizontalAdvance(text) + 2 * STEP_PX, metrics.height())
        tag.moveRight(area.left() - 1)
        tag.moveLeft(max(1.0, tag.left()))  # a wide one reaches into the plot
        tag.moveTop(row - tag.height() / 2)
        if self.is_dragged:
            # Where the eyes are, and not below the hand.
            tag.moveRight(max(self._pointer.x() - 2 * STEP_PX, area.left() + tag.width()))
            tag.moveBottom(row - 2 if row - 2 - tag.height() > area.top() else row + tag.height())
        ground = QColor(palette.text if self.is_near else palette.warning)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ground)
        painter.drawRoundedRect(tag, STEP_PX / 2, STEP_PX / 2)
        painter.setPen(QColor(palette.panel))
        painter.drawText(tag, Qt.AlignmentFlag.AlignCenter, text)
