"""What all plots have in common: drawn anew only where something changed, and a card."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF
from PySide6.QtGui import QColor, QFont, QHelpEvent, QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import QApplication, QToolTip, QWidget

from resources.tokens import LIGHT
from widgets.charts import card
from widgets.charts.kept_plot import KeptPlot

pytestmark = pytest.mark.gui


class PlainPlot(KeptPlot):
    """Counts how often it was drawn; says where the pointer is on its left half."""

    def __init__(self) -> None:
        super().__init__()
        self.drawn = 0

    def card_at(self, place: QPointF) -> str:
        return f"at {place.x():.0f}" if place.x() < 100 else ""

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        layer = self._kept()
        painter = QPainter(self)
        painter.drawPixmap(0, 0, layer)
        self._paint_focus(painter, QRectF(10, 10, 100, 50))

    def _drawn(self) -> QPixmap:
        self.drawn += 1
        layer = QPixmap(self.size())
        layer.fill(QColor(self._colours.panel))
        return layer


@pytest.fixture
def plot(shown: Callable[[QWidget], None]) -> PlainPlot:
    made = PlainPlot()
    made.resize(200, 100)
    shown(made)
    made.repaint()
    made.drawn = 0
    return made


def colour_at(plot: KeptPlot, x: int, y: int) -> str:
    return plot.grab().toImage().pixelColor(x, y).name()


def test_that_it_is_drawn_once_for_as_long_as_nothing_changes(plot: PlainPlot) -> None:
    plot.grab()
    plot.set_focused(True)
    plot.grab()
    assert plot.drawn == 0


def test_that_another_size_font_or_palette_is_drawn_anew(plot: PlainPlot) -> None:
    plot.resize(220, 100)
    plot.grab()
    assert plot.drawn == 1
    plot.setFont(QFont(plot.font().family(), plot.font().pointSize() + 4))
    plot.grab()
    assert plot.drawn == 2
    plot.set_palette(LIGHT)
    assert colour_at(plot, 5, 5) == LIGHT.panel.lower()
    assert plot.drawn == 3


def test_that_a_line_around_the_plot_says_that_keys_go_to_it(plot: PlainPlot) -> None:
    plot.set_palette(LIGHT)
    assert colour_at(plot, 10, 30) == LIGHT.panel.lower()
    plot.set_focused(True)
    assert colour_at(plot, 10, 30) == LIGHT.accent.lower()


class Tips:
    """Stands for Qt's tips, of which one that was hidden stays for a while."""

    text = ""

    @staticmethod
    def font() -> QFont:
        return QToolTip.font()

    @classmethod
    def showText(cls, place: QPoint, text: str, widget: QWidget) -> None:  # noqa: N802
        cls.text = text

    @classmethod
    def hideText(cls) -> None:  # noqa: N802
        cls.text = ""


def test_that_a_card_stands_where_there_is_something_to_say(
    plot: PlainPlot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(card, "QToolTip", Tips)
    for place, said in ((QPoint(30, 20), "at 30"), (QPoint(150, 20), "")):
        event = QHelpEvent(QHelpEvent.Type.ToolTip, place, plot.mapToGlobal(place))
        assert QApplication.sendEvent(plot, event)
        assert Tips.text == said
