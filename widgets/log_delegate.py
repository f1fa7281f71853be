"""How one line of the log is drawn: time, level, source, text, and what a search found in it."""

from __future__ import annotations

from PySide6.QtCore import QObject, QPointF, QRectF, QSize
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from resources.theme import found_ground, mixed
from resources.tokens import DARK, STEP_PX, Palette
from widgets.log_line import LEVELS, LogLine
from widgets.log_model import Index, LineRole, LogModel

_TIME = "00:00:00.000"
_LONGEST_SOURCE = "engine stderr"
# How much of the accent lies behind a match; the text over it stays readable in both themes.


class LogDelegate(QStyledItemDelegate):
    """Draws ``LogLine``s in columns of one monospace font."""

    def __init__(self, model: LogModel, parent: QObject) -> None:
        """Draw the lines of ``model``."""
        super().__init__(parent)
        self._model = model
        self._colours = DARK
        self._font = QFont()
        self._measure()

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self._colours = palette

    def set_font(self, font: QFont) -> None:
        """Use this monospace font."""
        self._font = font
        self._measure()

    @property
    def line_height_px(self) -> int:
        """Height of every line."""
        return round(self._metrics.lineSpacing()) + STEP_PX // 2

    def line_width_px(self) -> int:
        """Width that the longest line takes."""
        widest = self._text_px + self._model.longest_characters * self._character_px
        return round(widest) + 2 * STEP_PX

    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:
        """The same for all lines."""
        return QSize(self.line_width_px(), self.line_height_px)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one line."""
        line = index.data(LineRole)
        if not isinstance(line, LogLine):
            return
        area = QRectF(option.rect)
        state = option.state
        is_selected = bool(state & QStyle.StateFlag.State_Selected)
        is_current = bool(state & QStyle.StateFlag.State_HasFocus)
        painter.save()
        painter.setFont(self._font)
        if is_selected or is_current:
            share = 0.22 if is_selected else 0.08
            painter.fillRect(area, QColor(mixed(self._colours.panel, self._colours.accent, share)))
        baseline = area.top() + STEP_PX / 4 + self._metrics.ascent()
        # On a selected line only the text's own ink can be read well enough.
        muted = self._colours.text if is_selected else self._colours.muted
        is_warning = line.level in ("warning", "error") and not is_selected
        level = self._colours.warning if is_warning else muted
        for x_px, colour, text in (
            (STEP_PX, muted, line.time_text()),
            (self._level_px, level, line.level),
            (self._source_px, muted, line.source),
        ):
            painter.setPen(QColor(colour))
            painter.drawText(QPointF(area.left() + x_px, baseline), text)
        left = area.left() + self._text_px
        is_found = self._paint_matches(painter, line, QPointF(left, area.top()), area.height())
        is_quiet = line.level == "debug" and not is_found
        text_colour = muted if is_quiet else self._colours.text
        painter.setPen(QColor(text_colour))
        painter.drawText(QPointF(left, baseline), line.text)
        painter.restore()

    def _paint_matches(
        self, painter: QPainter, line: LogLine, at: QPointF, height_px: float
    ) -> bool:
        """Mark what is searched for; whether there was any."""
        needle = self._model.needle
        folded = line.text.casefold()
        # A letter that grows when folded (ß) shifts what is behind it: then nothing is marked.
        if not needle or len(folded) != len(line.text):
            return False
        colour = QColor(found_ground(self._colours))
        begin = folded.find(needle)
        is_found = begin >= 0
        while begin >= 0:
            end = begin + len(needle)
            x_px = self._metrics.horizontalAdvance(line.text[:begin])
            width_px = self._metrics.horizontalAdvance(line.text[begin:end])
            painter.fillRect(QRectF(at.x() + x_px, at.y(), width_px, height_px), colour)
            begin = folded.find(needle, end)
        return is_found

    def _measure(self) -> None:
        self._metrics = QFontMetricsF(self._font)
        advance = self._metrics.horizontalAdvance
        self._character_px = advance("m")
        gap_px = 3 * STEP_PX
        self._level_px = STEP_PX + advance(_TIME) + gap_px
        self._source_px = self._level_px + max(map(advance, LEVELS)) + gap_px
        self._text_px = self._source_px + advance(_LONGEST_SOURCE) + gap_px
