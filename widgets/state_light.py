"""The engine's state as a dot and a word, in a slot of fixed width."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from engine_bridge.engine_state import EngineState
from resources.tokens import DARK, STEP_PX, Palette

_DOT_PX = 2 * STEP_PX
_NO_MODEL = "no model"


class StateLight(QWidget):
    """A filled dot while the engine can answer, a ring while it cannot yet, a cross once dead.

    An engine that runs without a model is a ring as well, and says so.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make a light that says ``starting``."""
        super().__init__(parent)
        self._colours = DARK
        self._state = EngineState.STARTING
        self._word = str(self._state)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.set_state(EngineState.STARTING, "")

    def state(self) -> EngineState:
        """The state shown."""
        return self._state

    def set_state(self, state: EngineState, detail: str, *, is_without_model: bool = False) -> None:
        """Show ``state``; ``detail`` is the tooltip, ``is_without_model`` is said instead."""
        self._state = state
        self._word = _NO_MODEL if is_without_model else str(state)
        self.setAccessibleName(f"Engine: {self._word}")
        self.setAccessibleDescription(detail)
        self.setToolTip(detail)
        self.update()

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self._colours = palette
        self.update()

    def sizeHint(self) -> QSize:
        """Room for the longest word."""
        metrics = self.fontMetrics()
        words = (_NO_MODEL, *map(str, EngineState))
        widest = max(metrics.horizontalAdvance(word) for word in words)
        return QSize(_DOT_PX + 2 * STEP_PX + widest, metrics.height() + STEP_PX)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The dot, then the word."""
        colours = self._colours
        is_full = self._state in (EngineState.READY, EngineState.BUSY) and self._word != _NO_MODEL
        colour = {
            EngineState.READY: colours.good,
            EngineState.BUSY: colours.accent,
            EngineState.DEAD: colours.warning,
        }.get(self._state, colours.muted)
        if self._word == _NO_MODEL:
            colour = colours.muted
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        centre, radius = QPointF(_DOT_PX / 2 + 1, self.height() / 2), _DOT_PX / 2
        painter.setPen(QPen(QColor(colour), 1.5))
        if self._state is EngineState.DEAD:
            arm = QPointF(radius - 1, radius - 1)
            painter.drawLine(centre - arm, centre + arm)
            arm.setY(-arm.y())
            painter.drawLine(centre - arm, centre + arm)
        else:
            if is_full:
                painter.setBrush(QColor(colour))
            painter.drawEllipse(centre, radius - 1, radius - 1)
        is_dead = self._state is EngineState.DEAD
        painter.setPen(QColor(colours.warning if is_dead else colours.muted))
        area = self.rect().adjusted(_DOT_PX + 2 * STEP_PX - 2, 0, 0, 0)
        painter.drawText(area, Qt.AlignmentFlag.AlignVCenter, self._word)

    def changeEvent(self, event: QEvent) -> None:
        """Measure again in another font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.updateGeometry()
