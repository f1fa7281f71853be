"""An on/off switch."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QCheckBox, QSizePolicy, QWidget

from resources.theme import mixed
from resources.tokens import DARK, STEP_PX, Palette

_TRACK_PX = QSize(8 * STEP_PX, 4 * STEP_PX)
# The track's height by the height of a line of type; in usual type it is the one above.
_TRACK_SHARE = 0.95
_RING_PX = 3


class Toggle(QCheckBox):
    """A switch; a check box underneath, so that screen readers know what it is."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make a switch that is off."""
        super().__init__(parent)
        self._colours = DARK
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self._colours = palette
        self.update()

    def sizeHint(self) -> QSize:
        """The track and its focus ring."""
        return self._track() + QSize(2 * _RING_PX, 2 * _RING_PX)

    def changeEvent(self, event: QEvent) -> None:
        """Larger type, larger switch."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.updateGeometry()

    def _track(self) -> QSize:
        height = max(_TRACK_PX.height(), round(self.fontMetrics().height() * _TRACK_SHARE))
        return QSize(2 * height, height)

    def hitButton(self, pos: QPoint) -> bool:
        """All of it can be pressed."""
        return self.rect().contains(pos)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Track and knob; off and on differ by place, fill and outline, not by hue alone."""
        colours, is_on = self._colours, self.isChecked()
        faint = mixed(colours.muted, colours.panel, 0.5)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        track = QRectF(
            _RING_PX + 0.5, _RING_PX + 0.5, self._track().width() - 1, self._track().height() - 1
        )
        radius = track.height() / 2
        if self.hasFocus():
            painter.setPen(QPen(QColor(colours.accent), 1.5))
            grown = track.adjusted(-2.5, -2.5, 2.5, 2.5)
            painter.drawRoundedRect(grown, radius + 2.5, radius + 2.5)
        accent = colours.accent if self.isEnabled() else faint
        painter.setPen(QPen(QColor(accent if is_on else faint), 1))
        painter.setBrush(QColor(accent if is_on else colours.raised))
        painter.drawRoundedRect(track, radius, radius)
        painter.setPen(Qt.PenStyle.NoPen)
        knob = colours.text if self.isEnabled() else faint
        painter.setBrush(QColor(colours.on_accent if is_on else knob))
        x = track.right() - radius if is_on else track.left() + radius
        painter.drawEllipse(QPointF(x, track.center().y()), radius - 3, radius - 3)
