"""What every drawing area of the charts does: kept as it was drawn, with a card at the pointer."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QHelpEvent, QPainter, QPen, QPixmap, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from resources.tokens import DARK, Palette
from widgets.charts.card import Card
from widgets.theme import small_font


class KeptPlot(QWidget):
    """A drawing area that is drawn anew only where something of it changed.

    Signals:
        pressed: A mouse button went down on it: the frame around it takes the focus.
    """

    pressed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make it without a drawing."""
        super().__init__(parent)
        self._colours = DARK
        self._is_focused = False
        self._layer: QPixmap | None = None
        self._card = Card(self, self.card_at)
        # The frame around it takes the focus and says the chart's text; one stop is enough.
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setMouseTracking(True)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def set_palette(self, palette: Palette) -> None:
        """Use these colours for everything but the series."""
        self._colours = palette
        self._renew()

    def set_focused(self, is_focused: bool) -> None:
        """Whether keys go to this chart: shown by a line around its plot."""
        self._is_focused = is_focused
        self.update()

    def card_at(self, place: QPointF) -> str:
        """What the card at a place says, as HTML; empty for none."""
        raise NotImplementedError

    # --- Qt -----------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Draw anew."""
        super().resizeEvent(event)
        self._renew()

    def changeEvent(self, event: QEvent) -> None:
        """Measure the labels again in another font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._measure_again()

    def event(self, event: QEvent) -> bool:
        """Show the hover card of the place under the pointer."""
        if isinstance(event, QHelpEvent):
            self._card.show(event.pos())
            return True
        return super().event(event)

    # --- Painting -----------------------------------------------------------------------

    def _renew(self) -> None:
        self._layer = None
        self.update()

    def _measure_again(self) -> None:
        """Labels may take other room."""
        self._renew()

    def _metrics(self) -> QFontMetricsF:
        return QFontMetricsF(small_font(self.font()))

    def _drawn(self) -> QPixmap:
        """What is kept until something changes."""
        raise NotImplementedError

    def _kept(self) -> QPixmap:
        """The drawing as it was made last, made now where there is none."""
        if self._layer is None:
            self._layer = self._drawn()
        return self._layer

    def _paint_focus(self, painter: QPainter, area: QRectF) -> None:
        """The line around the plot while keys go to this chart."""
        if self._is_focused:
            painter.setPen(QPen(QColor(self._colours.accent)))
            painter.drawRect(area.adjusted(0, 0, 1, 0))
