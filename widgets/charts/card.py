"""The card beside the pointer over a chart: goes on with the time, and hides no other chart."""

from __future__ import annotations

from collections.abc import Callable
from html import unescape

from PySide6.QtCore import QPoint, QPointF, QSize
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QToolTip, QWidget

from resources.tokens import STEP_PX

# The card's own frame, and how far from the pointer it stands.
_MARGIN_PX, _ASIDE_PX = 4 * STEP_PX, 3 * STEP_PX
# Qt puts a tip so far from where it is asked for.
_TIP_OFFSET = QPoint(2, 16)


class Card:
    """What there is to say at the pointer's place, as a tooltip of Qt."""

    def __init__(self, plot: QWidget, text_at: Callable[[QPointF], str]) -> None:
        """Show nothing yet.

        Args:
            plot: The widget it belongs to.
            text_at: What it says at a place of ``plot``, as HTML; empty for nothing.
        """
        self._plot = plot
        self._text_at = text_at
        self._place: QPoint | None = None

    def show(self, place: QPoint) -> None:
        """The pointer rests at ``place``."""
        text = self._text_at(QPointF(place))
        if text:
            self._place = place
            self._show(place, text)
        else:
            self._place = None
            QToolTip.hideText()

    def renew(self) -> None:
        """Other data is drawn: what is said below the pointer is of the same moment."""
        if self._place is None:
            return
        text = self._text_at(QPointF(self._place)) if QToolTip.isVisible() else ""
        if text:
            self._show(self._place, text)
        else:
            self.leave()

    def pointer_moved(self, place: QPoint) -> None:
        """What was said is not true of another place."""
        if self._place is not None and place != self._place:
            self.leave()

    def leave(self) -> None:
        """The pointer went, or there is nothing to say any more."""
        if self._place is not None:
            self._place = None
            QToolTip.hideText()

    def _show(self, place: QPoint, text: str) -> None:
        lines = [unescape(line) for line in text.split("<br>")]
        metrics = QFontMetrics(QToolTip.font())
        width = max(map(metrics.horizontalAdvance, lines)) + _MARGIN_PX
        height = metrics.lineSpacing() * len(lines) + _MARGIN_PX
        top_left = card_place(place, QSize(width, height), self._plot.size())
        corner = self._plot.mapToGlobal(top_left) - _TIP_OFFSET
        if corner.x() + width > self._plot.screen().availableGeometry().right():
            # Qt would move it over the pointer, which then would leave the plot.
            corner.setX(self._plot.mapToGlobal(place).x() - width - _ASIDE_PX)
        QToolTip.showText(corner, text, self._plot)


def card_place(pointer: QPoint, card: QSize, plot: QSize) -> QPoint:
    """Upper left corner of a card: right of the pointer, and not below the plot.

    What lies below is another chart's title; above is this chart's own.
    """
    top = min(pointer.y(), plot.height() - card.height())
    return QPoint(pointer.x() + _ASIDE_PX, top)
