"""One plot of a result: axes, lines, points with error bars; points can be picked."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QColor,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
)
from PySide6.QtWidgets import QWidget

from resources.tokens import STEP_PX
from widgets.charts.kept_plot import KeptPlot
from widgets.experiments.result_geometry import (
    Geometry,
    Spot,
    next_spot,
    other_line,
    scales_of,
    spots_of,
)
from widgets.experiments.result_marks import RADIUS_PX
from widgets.experiments.result_painter import ResultPainter
from widgets.experiments.result_sheet import Axis, Plot
from widgets.theme import small_font

_NEAR_PX = 4 * STEP_PX
_NO_AXIS = Axis("")
_MOST_SAID = 40
_LEAST = QSize(50 * STEP_PX, 46 * STEP_PX)
_KEYS = "Arrow keys go from point to point, Escape leaves them."


class ResultPlot(KeptPlot):
    """A plot; clicks and arrow keys pick its points.

    Signals:
        cell_picked: Number (int) of the configuration of the point that was picked; -1 for none.
    """

    cell_picked = Signal(int)
    accessible_role = QAccessible.Role.Chart

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make an empty plot."""
        super().__init__(parent)
        self._plot: Plot | None = None
        self._spots: tuple[Spot, ...] = ()
        self._scales = scales_of(Plot("", _NO_AXIS, _NO_AXIS, ()))
        self._cell: int | None = None
        self._has_choice = False
        self._axis_px = 0.0
        self._at: int | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumSize(_LEAST)

    # --- What is in it ------------------------------------------------------------------

    @property
    def plot(self) -> Plot | None:
        """What is shown; None for nothing."""
        return self._plot

    @property
    def spots(self) -> tuple[Spot, ...]:
        """Its points that can be picked, in the order in which keys go through them."""
        return self._spots

    @property
    def spot(self) -> Spot | None:
        """The point that was picked in it; None for none, or one that was picked elsewhere."""
        return None if self._at is None else self._spots[self._at]

    @property
    def geometry_now(self) -> Geometry:
        """Where everything lies now."""
        area = self._painter().area(QRectF(self.rect()))
        return Geometry(area, *self._scales)

    def show_plot(self, plot: Plot) -> None:
        """Show other points; the one that was picked stays, where it is still there."""
        if plot == self._plot:
            return
        self._plot = plot
        self._spots = spots_of(plot)
        # Rings around all points would tell nothing apart.
        self._has_choice = len({spot.point.cell for spot in self._spots}) > 1
        self._scales = scales_of(plot)
        self._at = None
        self.setAccessibleName(f"{plot.title}, {plot.y.words} against {plot.x.words}")
        self._describe()
        self._renew()
        self._card.renew()

    def needed_axis_px(self) -> float:
        """Width of the widest label of its vertical axis."""
        return self._painter().axis_px()

    def set_axis_px(self, axis_px: float) -> None:
        """Give the labels of the vertical axis so much room, or more if they need it."""
        if axis_px != self._axis_px:
            self._axis_px = axis_px
            self._renew()

    def set_cell(self, cell: int | None) -> None:
        """Put rings around the points of a configuration, by its number; None around none."""
        if cell != self._cell:
            self._cell = cell
            if self._at is not None and self._spots[self._at].point.cell != cell:
                self._at = None
            self._describe()
            self.update()

    def card_at(self, place: QPointF) -> str:
        """What the card at a place says, as HTML; empty away from points."""
        number = self.geometry_now.nearest(self._spots, place, _NEAR_PX)
        if number is None:
            return ""
        lines = self._spots[number].point.text.splitlines()
        return "<br>".join(escape(line) for line in lines)

    def _describe(self) -> None:
        here = [self._spots[self._at].point.text] if self._at is not None else []
        # Of hundreds of points nobody listens to all: the table has them.
        told = [spot.point.text for spot in self._spots[:_MOST_SAID]]
        said = ". ".join(text.replace("\n", ", ") for text in (*here, *told))
        self.setAccessibleDescription(f"{said}. {_KEYS}" if said else "")

    def _pick(self, number: int | None) -> None:
        self._at = number
        cell = None if number is None else self._spots[number].point.cell
        self._cell = cell
        self._describe()
        self.update()
        self.cell_picked.emit(-1 if cell is None else cell)

    # --- Qt -----------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        """Room for a curve."""
        return QSize(70 * STEP_PX, 58 * STEP_PX)

    def paintEvent(self, event: QPaintEvent) -> None:
        """What was drawn last, and what is picked."""
        layer = self._kept()
        painter = QPainter(self)
        painter.drawPixmap(0, 0, layer)
        geometry = self.geometry_now
        self._paint_focus(painter, geometry.area)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for number, spot in enumerate(self._spots):
            if spot.point.cell == self._cell and (self._has_choice or number == self._at):
                # Of the runs of one configuration one is meant, all the others are of it too.
                is_meant = self._at is None or number == self._at
                pen = QPen(QColor(self._colours.text if is_meant else self._colours.muted), 1.5)
                painter.setPen(pen)
                painter.setBrush(Qt.BrushStyle.NoBrush)
                radius = RADIUS_PX + STEP_PX
                painter.drawEllipse(geometry.place(spot.point), radius, radius)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Pick the point that is near."""
        if event.button() != Qt.MouseButton.LeftButton:
            super().mousePressEvent(event)
            return
        number = self.geometry_now.nearest(self._spots, event.position(), _NEAR_PX)
        if number is not None:
            self._pick(number)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Say where one can click; what was said is not true of another place."""
        near = self.geometry_now.nearest(self._spots, event.position(), _NEAR_PX)
        shape = Qt.CursorShape.ArrowCursor if near is None else Qt.CursorShape.PointingHandCursor
        if self.cursor().shape() != shape:
            self.setCursor(shape)
        self._card.pointer_moved(event.position().toPoint())

    def leaveEvent(self, event: QEvent) -> None:
        """Take the card away."""
        self._card.leave()
        super().leaveEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go from point to point."""
        key = Qt.Key(event.key())
        number = self._at if self._at is not None else self._first_of_cell()
        if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            super().keyPressEvent(event)
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right) and self._spots:
            self._pick(next_spot(self._spots, number, 1 if key == Qt.Key.Key_Right else -1))
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down) and self._spots:
            self._pick(other_line(self._spots, number, 1 if key == Qt.Key.Key_Up else -1))
        elif key == Qt.Key.Key_Escape and self._cell is not None:
            self._pick(None)
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show where the keys go."""
        super().focusInEvent(event)
        self.set_focused(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """The keys go elsewhere."""
        super().focusOutEvent(event)
        self.set_focused(False)

    # --- Painting -----------------------------------------------------------------------

    def _first_of_cell(self) -> int | None:
        return next(
            (at for at, spot in enumerate(self._spots) if spot.point.cell == self._cell), None
        )

    def _painter(self) -> ResultPainter:
        return ResultPainter(self._colours, self._metrics(), self._scales, self._axis_px)

    def _drawn(self) -> QPixmap:
        ratio = self.devicePixelRatioF()
        layer = QPixmap(self.size() * ratio)
        layer.setDevicePixelRatio(ratio)
        layer.fill(QColor(self._colours.panel))
        if self._plot is not None:
            painter = QPainter(layer)
            painter.setFont(small_font(self.font()))
            self._painter().paint(painter, self.geometry_now, self._plot)
            painter.end()
        return layer
