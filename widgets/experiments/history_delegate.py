"""How one experiment of the history's list is painted. Paints only what is in sight."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from resources.tokens import DARK, STEP_PX, Palette
from widgets.conversation_list_days import moment_words
from widgets.experiments.history_entry import HistoryEntry
from widgets.experiments.history_model import ENTRY_ROLE, HistoryModel, state_words
from widgets.experiments.kind_words import kind_name
from widgets.painted_rows import paint_ground
from widgets.theme import small_font

# No line shows more, however wide the window.
_MOST_CHARACTERS = 400
_BETWEEN = "  ·  "
DISTURBED = "* disturbed"
# What a person may have to look into.
_WARNED = ("failed", "cut")
_LINE = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine | Qt.TextFlag.TextDontClip


class HistoryDelegate(QStyledItemDelegate):
    """Two lines an experiment: title and figure; kind, state, model, tags and time."""

    def __init__(self, model: HistoryModel, parent: QWidget) -> None:
        """Paint rows of ``model``, in the colours of the dark theme until told otherwise."""
        super().__init__(parent)
        self._model = model
        self._palette = DARK

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self._palette = palette

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        """The same for all; any width will do."""
        body = QFontMetrics(option.font).height()
        small = QFontMetrics(small_font(option.font)).height()
        return QSize(0, body + small + 4 * STEP_PX)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Paint an experiment."""
        entry = index.data(ENTRY_ROLE)
        if not isinstance(entry, HistoryEntry):
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
        paint_ground(painter, option, self._palette)
        rect: QRect = option.rect
        inner = rect.adjusted(3 * STEP_PX, 2 * STEP_PX - 2, -3 * STEP_PX, -2 * STEP_PX + 2)
        faint = self._palette.text if is_selected else self._palette.muted
        self._paint_first(painter, inner, entry, option.font)
        self._paint_second(painter, inner, entry, small_font(option.font), faint)
        painter.restore()

    # --- Inside -----------------------------------------------------------------------------

    def _paint_first(
        self, painter: QPainter, inner: QRect, entry: HistoryEntry, font: QFont
    ) -> None:
        """The title, and at the right the figure."""
        strong = QFont(font)
        strong.setWeight(QFont.Weight.DemiBold)
        line = QRect(inner.left(), inner.top(), inner.width(), QFontMetrics(font).height())
        ink = self._palette.text
        used = _paint_right(painter, line, entry.short_figure or entry.figure, strong, ink)
        title = line.adjusted(0, 0, -used, 0)
        _paint_left(painter, title, _one_line(entry.title) or kind_name(entry.kind), font, ink)

    def _paint_second(
        self, painter: QPainter, inner: QRect, entry: HistoryEntry, font: QFont, faint: str
    ) -> None:
        """Kind, state, model, tags and note; at the right when."""
        height = QFontMetrics(font).height()
        line = QRect(inner.left(), inner.bottom() + 1 - height, inner.width(), height)
        when = moment_words(entry.begun_s, self._model.now_s)
        used = _paint_right(painter, line, when, font, faint)
        line = line.adjusted(0, 0, -used, 0)
        used = _paint_left(painter, line, kind_name(entry.kind), font, faint)
        state = state_words(entry)
        if state:
            is_warned = entry.is_unkept or entry.state in _WARNED
            ink = self._palette.warning if is_warned else self._palette.text
            used += _paint_left(painter, line.adjusted(used, 0, 0, 0), _BETWEEN, font, faint)
            used += _paint_left(painter, line.adjusted(used, 0, 0, 0), state, font, ink)
        if entry.disturbed_runs:
            used += _paint_left(painter, line.adjusted(used, 0, 0, 0), _BETWEEN, font, faint)
            place = line.adjusted(used, 0, 0, 0)
            used += _paint_left(painter, place, DISTURBED, font, self._palette.warning)
        rest = [entry.model, *(f"#{tag}" for tag in entry.tags), entry.note]
        words = "".join(f"{_BETWEEN}{_one_line(part)}" for part in rest if part)
        _paint_left(painter, line.adjusted(used, 0, 0, 0), words, font, faint)


# --- Inside -------------------------------------------------------------------------------------


def _one_line(text: str) -> str:
    return " ".join(text[:_MOST_CHARACTERS].split())


def _paint_left(painter: QPainter, place: QRect, words: str, font: QFont, colour: str) -> int:
    """Paint what has room; returns its width, px."""
    metrics = QFontMetrics(font)
    shown = metrics.elidedText(words, Qt.TextElideMode.ElideRight, max(0, place.width()))
    painter.setFont(font)
    painter.setPen(QColor(colour))
    painter.drawText(place, Qt.AlignmentFlag.AlignLeft | _LINE, shown)
    return metrics.horizontalAdvance(shown)


def _paint_right(painter: QPainter, place: QRect, words: str, font: QFont, colour: str) -> int:
    """Paint at the right, in half of the line at most; returns its width with the gap, px."""
    if not words:
        return 0
    metrics = QFontMetrics(font)
    shown = metrics.elidedText(words, Qt.TextElideMode.ElideRight, place.width() // 2)
    width = metrics.horizontalAdvance(shown)
    painter.setFont(font)
    painter.setPen(QColor(colour))
    right = QRect(place.right() + 1 - width, place.top(), width, place.height())
    painter.drawText(right, Qt.AlignmentFlag.AlignLeft | _LINE, shown)
    return width + 3 * STEP_PX
