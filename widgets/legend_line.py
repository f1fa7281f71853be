"""A muted line of entries, each with a swatch of its series' colour where it has one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from resources.tokens import STEP_PX
from widgets.theme import set_role

_SWATCH_PX = 2 * STEP_PX
_GAP_PX = 2 * STEP_PX


@dataclass(frozen=True)
class Entry:
    """One entry of a legend.

    Attributes:
        text: Its words.
        colour: Of its swatch, ``#RRGGBB``; None for none.
        ink: Of its words where they are not muted, ``#RRGGBB``.
        brief: Fewer words, for where all of them do not fit; empty for none.
    """

    text: str
    colour: str | None = None
    ink: str | None = None
    brief: str = ""


class LegendLine(QWidget):
    """One line; where not all entries fit, some are brief, or left out from the end and counted.

    The tooltip has them all.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make an empty line."""
        super().__init__(parent)
        self._entries: tuple[Entry, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        set_role(self, "hint")

    def set_entries(self, entries: Sequence[Entry]) -> None:
        """Show ``entries``."""
        if tuple(entries) == self._entries:
            return
        self._entries = tuple(entries)
        self.setAccessibleName(self.text())
        self.setToolTip(self.text())
        self.update()

    def text(self) -> str:
        """The entries as plain text."""
        return " · ".join(entry.text for entry in self._entries)

    def sizeHint(self) -> QSize:
        """One line of text, as wide as there is room."""
        return QSize(40 * STEP_PX, self.fontMetrics().height())

    def needed_px(self) -> int:
        """Width with which all entries are shown whole."""
        metrics = self.fontMetrics()
        swatches = sum(_SWATCH_PX + STEP_PX for entry in self._entries if entry.colour)
        words = sum(metrics.horizontalAdvance(entry.text) for entry in self._entries)
        return words + swatches + _GAP_PX * max(0, len(self._entries) - 1)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Swatches and words from the left."""
        painter = QPainter(self)
        muted = self.palette().windowText().color()
        metrics, x = self.fontMetrics(), 0
        entries = self.shown_entries()
        fitting = self._fitting(entries)
        for entry in entries[:fitting]:
            if entry.colour is not None:
                top = (self.height() - _SWATCH_PX) / 2
                swatch = QRectF(x, top, _SWATCH_PX, _SWATCH_PX)
                painter.fillRect(swatch, QColor(entry.colour))
                x += _SWATCH_PX + STEP_PX
            painter.setPen(QColor(entry.ink) if entry.ink else muted)
            area = QRectF(x, 0, max(0, self.width() - x), self.height())
            painter.drawText(area, Qt.AlignmentFlag.AlignVCenter, entry.text)
            x += metrics.horizontalAdvance(entry.text) + _GAP_PX
        if fitting < len(self._entries):
            painter.setPen(muted)
            area = QRectF(x, 0, max(0, self.width() - x), self.height())
            left = f"+{len(self._entries) - fitting}"
            painter.drawText(area, Qt.AlignmentFlag.AlignVCenter, left)

    def fitting(self) -> int:
        """How many entries are shown, from the first."""
        return self._fitting(self.shown_entries())

    def shown_entries(self) -> tuple[Entry, ...]:
        """The entries, in their brief words where not all of them fit."""
        if self._fitting(self._entries) == len(self._entries):
            return self._entries
        return tuple(replace(entry, text=entry.brief or entry.text) for entry in self._entries)

    def _fitting(self, entries: Sequence[Entry]) -> int:
        metrics = self.fontMetrics()
        swatch = _SWATCH_PX + STEP_PX
        more = metrics.horizontalAdvance(f"+{len(entries)}")
        x = shown = 0
        for number, entry in enumerate(entries, 1):
            x += metrics.horizontalAdvance(entry.text) + (swatch if entry.colour else 0)
            is_last = number == len(entries)
            if x + (0 if is_last else _GAP_PX + more) <= self.width():
                shown = number
            x += _GAP_PX
        return shown

    def changeEvent(self, event: QEvent) -> None:
        """Measure again in another font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.updateGeometry()
