"""Bars of cells: the whole pool, or one slot with its words."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QAccessible, QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from resources.theme import mixed
from resources.tokens import DARK, STEP_PX, Palette
from widgets.plain_tip import plain_tip
from widgets.slot_state import Lane, Pool, Stretch
from widgets.theme import set_role

POOL_PX, LANE_PX = 3 * STEP_PX, 2 * STEP_PX
_HATCH_PX = STEP_PX
# A token in a pool of a million would not be seen.
_LEAST_PX = 1.0
_GAP_PX = 2 * STEP_PX


def kept_colour(palette: Palette) -> str:
    """Of cells kept from earlier turns: the cache's, fainter."""
    return mixed(palette.kv, palette.raised, 0.55)


class PoolBar(QWidget):
    """The pool in proportion, each slot's cells at their place."""

    accessible_role = QAccessible.Role.StaticText

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make an empty bar."""
        super().__init__(parent)
        self._pool = Pool()
        self._colours = DARK
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.set_pool(self._pool)

    def set_pool(self, pool: Pool) -> None:
        """Show ``pool``."""
        self._pool = pool
        sentence = pool.sentence()
        if sentence != self.accessibleName():
            self.setAccessibleName(sentence)
            self.setToolTip(plain_tip(sentence))
        self.update()

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self._colours = palette
        self.update()

    def sizeHint(self) -> QSize:
        """As wide as there is room."""
        return QSize(40 * STEP_PX, POOL_PX)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Groove, cells, borders between slots."""
        painter = QPainter(self)
        area = QRectF(self.rect())
        paint_stretches(painter, area, self._pool.stretches(), self._colours)
        for share in self._pool.borders():
            x = area.left() + area.width() * share
            painter.fillRect(QRectF(x - 0.5, area.top(), 1, area.height()), _ink(self._colours))


class SlotLane(QWidget):
    """One slot: its words in a line, its bar below them."""

    accessible_role = QAccessible.Role.StaticText

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make a lane that shows nothing yet."""
        super().__init__(parent)
        self._lane: Lane | None = None
        self._colours = DARK
        set_role(self, "hint")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @property
    def lane(self) -> Lane | None:
        """What it shows."""
        return self._lane

    def set_lane(self, lane: Lane) -> None:
        """Show ``lane``."""
        if lane == self._lane:
            return
        self._lane = lane
        sentence = lane.sentence()
        self.setAccessibleName(sentence)
        self.setToolTip(plain_tip(sentence))
        self.update()

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self._colours = palette
        self.update()

    def sizeHint(self) -> QSize:
        """A line of text and a bar."""
        return QSize(40 * STEP_PX, self.fontMetrics().height() + STEP_PX // 2 + LANE_PX)

    def minimumSizeHint(self) -> QSize:
        """Any width will do."""
        return QSize(10 * STEP_PX, self.sizeHint().height())

    def changeEvent(self, event: QEvent) -> None:
        """Measure again in another font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.updateGeometry()

    def shown_texts(self) -> tuple[str, str]:
        """The name, shortened to the room that the figures leave, and the figures."""
        if self._lane is None:
            return "", ""
        figures = self._lane.figures()
        metrics = self.fontMetrics()
        room = self.width() - metrics.horizontalAdvance(figures) - _GAP_PX
        name = metrics.elidedText(self._lane.name(), Qt.TextElideMode.ElideRight, max(0, room))
        return name, figures

    def paintEvent(self, event: QPaintEvent) -> None:
        """Words, groove, cells, and the mark of the cap."""
        lane = self._lane
        if lane is None:
            return
        painter = QPainter(self)
        name, figures = self.shown_texts()
        line = QRectF(0, 0, self.width(), self.fontMetrics().height())
        middle = Qt.AlignmentFlag.AlignVCenter
        is_busy = lane.state in ("reading", "writing")
        painter.setPen(QColor(self._colours.text if lane.used_tok else self._colours.muted))
        painter.drawText(line, Qt.AlignmentFlag.AlignLeft | middle, name)
        painter.setPen(QColor(self._colours.text if is_busy else self._colours.muted))
        painter.drawText(line, Qt.AlignmentFlag.AlignRight | middle, figures)
        bar = QRectF(0, self.height() - LANE_PX, self.width(), LANE_PX)
        paint_stretches(painter, bar, lane.stretches(), self._colours)
        if lane.cap_share is not None:
            x = bar.left() + bar.width() * lane.cap_share
            painter.fillRect(QRectF(x - 1, bar.top() - 1, 2, LANE_PX + 1), _ink(self._colours))


def paint_stretches(
    painter: QPainter, area: QRectF, stretches: Sequence[Stretch], colours: Palette
) -> None:
    """A groove with pieces in it: filled where cells are full, hatched where none is to be had.

    Args:
        painter: Paints.
        area: Where.
        stretches: What, as shares of the width.
        colours: With which.
    """
    painter.fillRect(area, QColor(colours.raised))
    edge = QColor(colours.kv)
    fills = {"kept": kept_colour(colours), "new": colours.kv}
    for stretch in stretches:
        x = area.left() + area.width() * stretch.begin
        width = max(_LEAST_PX, area.width() * (stretch.end - stretch.begin))
        piece = QRectF(x, area.top(), width, area.height()) & area
        if stretch.kind in fills:
            painter.fillRect(piece, QColor(fills[stretch.kind]))
            # Fainter than three to one in a light theme: its end is marked by what is not.
            painter.fillRect(QRectF(piece.right() - 1, piece.top(), 1, piece.height()), edge)
        else:
            _hatch(painter, piece, colours, colours.others)
    painter.setPen(QPen(QColor(colours.line), 1))
    painter.drawRect(area.adjusted(0.5, 0.5, -0.5, -0.5))


def _hatch(painter: QPainter, area: QRectF, colours: Palette, colour: str) -> None:
    painter.save()
    painter.setClipRect(area, Qt.ClipOperation.IntersectClip)
    painter.fillRect(area, QColor(mixed(colours.raised, colour, 0.15)))
    painter.setPen(QPen(QColor(colour), 1))
    height = round(area.height())
    left, top = int(area.left()), int(area.top())
    for x in range(left - height - left % _HATCH_PX, int(area.right()) + 1, _HATCH_PX):
        painter.drawLine(x, top + height, x + height, top)
    painter.restore()


def _ink(colours: Palette) -> QColor:
    return QColor(colours.text)
