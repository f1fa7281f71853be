"""The drawing area that all live charts share: fixed time axis, steady value axis, markers.

Knows pyqtgraph. Curves are drawn in shares of the axis (0 to 1), so that Qt never meets an extreme
number and the view never has to be scaled again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QColor, QFontMetrics, QHelpEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QGraphicsGridLayout, QToolTip, QWidget

from engine_bridge.metrics.meters import WINDOW_S, Marker
from resources.theme import mixed
from resources.tokens import DARK, STEP_PX, Palette
from widgets.charts.line import Floats, drawable
from widgets.charts.scale import SteadyTop, ticks
from widgets.theme import small_font

# A hair inside the window: pyqtgraph leaves out a label whose tick rounds to outside.
_TIME_TICKS = (
    (-120.0, "−2 min"),
    (-90.0, "−90 s"),
    (-60.0, "−60 s"),
    (-30.0, "−30 s"),
    (0.0, "now"),
)
# Room above the top tick, so that its label and a line at the limit are whole.
_HEADROOM = 1.07
# Where a line runs that would lie beyond it: whole, and seen to be above every tick.
_EDGE = 1.04
LINE_PX = 1.5
"""Width of a line that shows a measurement."""

DOT_PX = 2 * STEP_PX
"""Size of a dot that stands for one event."""

# A label may reach so far beyond its axis, or pyqtgraph leaves it out.
_LABEL_REACH_PX = 10 * STEP_PX
# How near the pointer has to be, in pixels.
_NEAR_PX = 6

HoverText = Callable[[float, float], str]


def pen(colour: str, width: float = 1.0, style: Qt.PenStyle = Qt.PenStyle.SolidLine) -> QPen:
    """A pen whose width does not scale with the axes."""
    made = QPen(QColor(colour), width, style)
    made.setCosmetic(True)
    return made


class TimePlot(pg.GraphicsView):  # type: ignore[misc]  # pyqtgraph has no types
    """The last two minutes of some series. Cannot be zoomed: its window is its meaning."""

    def __init__(
        self, floor: float, unit_per_value: float = 1.0, parent: QWidget | None = None
    ) -> None:
        """Make an empty plot.

        Args:
            floor: The top of the axis is never below this, in units of the axis.
            unit_per_value: Units of the axis per unit of the data, e.g. 1000 for ms of seconds.
            parent: The parent widget.
        """
        super().__init__(parent)
        self._colours = DARK
        self._steady = SteadyTop(floor)
        self._unit_per_value = unit_per_value
        self._hover_text: HoverText = lambda time_s, share: ""
        self._markers: tuple[Marker, ...] = ()
        self._shown_top = 0.0
        self._is_blank = False
        self.enableMouse(False)
        # The frame around it takes the focus and says the chart's text; one stop is enough.
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.viewport().setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setFrameShape(self.Shape.NoFrame)
        self.setMinimumHeight(12 * STEP_PX)
        self._view = pg.ViewBox(enableMenu=False, enableMouse=False, defaultPadding=0)
        self._view.setRange(xRange=(-WINDOW_S, 0), yRange=(0, _HEADROOM), padding=0)
        self._view.disableAutoRange()
        self._left, self._bottom = pg.AxisItem("left"), pg.AxisItem("bottom")
        self._lay_out()
        self._grid = self.add_curve(-10)
        self._change_lines = self.add_curve(10)
        self._grid.setData([], [])
        self.show_time_labels(True)
        self._measure()
        self.set_palette(DARK)
        self._show_top()

    # --- What is in it ------------------------------------------------------------------

    def add_curve(self, z: float, is_broken: bool = False) -> pg.PlotCurveItem:
        """A curve above those of lower ``z``; draw it with ``draw``.

        Args:
            z: Place in the stack.
            is_broken: Whether its pen is dashed or dotted.
        """
        curve = pg.PlotCurveItem(connect="finite", antialias=False)
        # Lines piece by piece are the fastest, but each piece begins its dashes anew.
        curve.setSegmentedLineMode("off" if is_broken else "on")
        curve.setZValue(z)
        self._view.addItem(curve, ignoreBounds=True)
        return curve

    def add_dots(self, z: float) -> pg.ScatterPlotItem:
        """Dots whose places are given in seconds and shares of the axis."""
        dots = pg.ScatterPlotItem(pxMode=True, pen=None, symbol="o", size=DOT_PX)
        dots.setZValue(z)
        self._view.addItem(dots, ignoreBounds=True)
        return dots

    def add_level(self, z: float = 5) -> pg.InfiniteLine:
        """A horizontal line for a limit, hidden until ``place_level`` puts it somewhere."""
        line = pg.InfiniteLine(angle=0, movable=False)
        line.setZValue(z)
        line.hide()
        self._view.addItem(line, ignoreBounds=True)
        return line

    def draw(self, curve: pg.PlotCurveItem, times_s: Floats, values: Floats) -> None:
        """Show a series in a curve; ``follow`` first."""
        x, y = drawable(times_s, values, self._unit_per_value / self._steady.top)
        curve.setData(x, y, connect="finite", skipFiniteCheck=False)

    def place_level(self, line: pg.InfiniteLine, value: float | None) -> None:
        """Put a limit at ``value``; None, or one beyond the axis, hides it."""
        share = self.share(value) if value is not None and np.isfinite(value) else None
        is_inside = share is not None and 0 <= share <= _HEADROOM and not self._is_blank
        line.setVisible(is_inside)
        if is_inside:
            line.setValue(share)

    def share(self, value: float) -> float:
        """Where ``value`` stands on the axis: 0 at the bottom, 1 at the top tick."""
        return value * (self._unit_per_value / self._steady.top)

    @property
    def edge_value(self) -> float:
        """The value at the upper edge, just above the top tick; ``follow`` first."""
        return _EDGE * self._steady.top / self._unit_per_value

    def follow(self, highest: float | None, now_s: float) -> None:
        """Let the axis follow the highest value that is to be shown."""
        scaled = None if highest is None else highest * self._unit_per_value
        self._steady.follow(scaled, now_s)
        if self._steady.top != self._shown_top:
            self._show_top()

    def set_markers(self, markers: Sequence[Marker]) -> None:
        """Dashed lines where a setting changed."""
        self._markers = tuple(markers)
        x = np.repeat([marker.at_s for marker in markers], 3)
        y = np.tile([0.0, _HEADROOM, np.nan], len(markers))
        self._change_lines.setData(x, y, connect="finite")

    def set_hover_text(self, hover_text: HoverText) -> None:
        """What the hover card says at a time (seconds) and a share of the axis; empty for none."""
        self._hover_text = hover_text

    def show_time_labels(self, is_shown: bool) -> None:
        """Whether the labels of the time axis are shown; the axis itself always is."""
        self._bottom.setStyle(showValues=is_shown)
        self._measure()

    def set_blank(self, is_blank: bool) -> None:
        """Whether all but the axes is left out, since there is nothing to hold against them."""
        self._is_blank = is_blank
        self._change_lines.setVisible(not is_blank)
        self._show_top()

    def set_palette(self, palette: Palette) -> None:
        """Use these colours for everything but the series."""
        self._colours = palette
        self.setBackground(palette.panel)
        for axis in (self._left, self._bottom):
            axis.setPen(pen(palette.line))
            axis.setTextPen(pen(palette.muted))
        self._grid.setPen(pen(palette.line))
        change = mixed(palette.muted, palette.panel, 0.3)
        self._change_lines.setPen(pen(change, 1.0, Qt.PenStyle.DashLine))

    def axis_width(self) -> int:
        """Pixels left of the plot that the value axis takes."""
        return int(self._left.width())

    def axis_height(self) -> int:
        """Pixels below the plot that the time axis takes."""
        return int(self._bottom.height())

    # --- Qt -----------------------------------------------------------------------------

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to whatever scrolls around the chart."""
        event.ignore()

    def changeEvent(self, event: QEvent) -> None:
        """Measure the labels again in another font."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_bottom"):
            self._measure()

    def viewportEvent(self, event: QEvent) -> bool:
        """Show the hover card of the place under the pointer."""
        if isinstance(event, QHelpEvent):
            text = self.hover_text_at(event.pos())
            if text:
                QToolTip.showText(event.globalPos(), text, self.viewport())
            else:
                QToolTip.hideText()
            return True
        return bool(super().viewportEvent(event))

    @property
    def view(self) -> pg.ViewBox:
        """The area between the axes: seconds across, shares of the axis up."""
        return self._view

    def hover_text_at(self, place: QPoint) -> str:
        """What the card at a place of the viewport says, as HTML; empty outside the plot."""
        at = self._view.mapSceneToView(self.mapToScene(place))
        if not (-WINDOW_S <= at.x() <= 0 and 0 <= at.y() <= _HEADROOM):
            return ""
        reach_s = _NEAR_PX * self._view.viewPixelSize()[0]
        near = min(self._markers, key=lambda m: abs(m.at_s - at.x()), default=None)
        if near is not None and abs(near.at_s - at.x()) <= reach_s:
            text = f"{-near.at_s:.0f} s ago\n{near.text}"
        else:
            text = self._hover_text(at.x(), at.y())
        # Names of models and files come from outside: shown as text, whatever they hold.
        return "<br>".join(escape(line) for line in text.splitlines())

    def near(self) -> tuple[float, float]:
        """Seconds and shares of the axis that count as near the pointer."""
        width, height = self._view.viewPixelSize()
        return _NEAR_PX * width, _NEAR_PX * height

    # --- Inside -------------------------------------------------------------------------

    def _lay_out(self) -> None:
        """Axes left of and below the view; pyqtgraph's PlotItem would bring menus and buttons."""
        grid = QGraphicsGridLayout()
        grid.setSpacing(0)
        grid.setContentsMargins(0, 0, 4 * STEP_PX, 0)
        grid.addItem(self._left, 0, 0)
        grid.addItem(self._view, 0, 1)
        grid.addItem(self._bottom, 1, 1)
        whole = pg.GraphicsWidget()
        whole.setLayout(grid)
        self.setCentralWidget(whole)
        for axis in (self._left, self._bottom):
            axis.linkToView(self._view)
            axis.setZValue(0.5)
            axis.setStyle(
                tickLength=0, autoExpandTextSpace=False, hideOverlappingLabels=_LABEL_REACH_PX
            )
            axis.setStyle(tickTextOffset=STEP_PX)
        self._bottom.setTicks([list(_TIME_TICKS)])

    def _measure(self) -> None:
        font = small_font(self.font())
        metrics = QFontMetrics(font)
        for axis in (self._left, self._bottom):
            axis.setTickFont(font)
        # The widest label of any chart, so that the plots of all begin at the same place.
        self._left.setWidth(metrics.horizontalAdvance("00,000") + 2 * STEP_PX)
        has_labels = self._bottom.style["showValues"]
        # Without labels just the lower half of the value axis' 0.
        self._bottom.setHeight(metrics.height() + STEP_PX if has_labels else 2 * STEP_PX)

    def _show_top(self) -> None:
        self._shown_top = self._steady.top
        marks = [] if self._is_blank else ticks(self._shown_top)
        self._left.setTicks([[(0.0, "0"), *marks] if marks else []])
        x = np.tile([-WINDOW_S, 0.0, np.nan], len(marks))
        y = np.repeat([share for share, _ in marks], 3)
        self._grid.setData(x, y, connect="finite")
