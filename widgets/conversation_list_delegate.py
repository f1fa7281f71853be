"""How one row of the conversation list is painted, and how its title is edited.

Paints only what is in sight; there is no widget per row but the one in which a title is typed.
"""

from __future__ import annotations

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
)
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QPainter,
    QTextCharFormat,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import QLineEdit, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from resources.theme import found_ground
from resources.tokens import DARK, STEP_PX, Palette
from widgets.conversation_list_days import time_words
from widgets.conversation_list_model import ROW_ROLE, ConversationListModel, ListedConversation
from widgets.painted_rows import paint_ground
from widgets.theme import small_font

_BAR_PX = 3
_DOT_PX = 2 * STEP_PX
# The text before a hit that is kept, where the hit would else lie outside of a narrow list.
_LEAD_CHARACTERS = 12
# No line shows more, however wide the window.
_MOST_CHARACTERS = 400


class ConversationDelegate(QStyledItemDelegate):
    """Two lines a conversation, a small heading a day.

    A bar at the left marks what is open in a tab, a dot what is being written.
    """

    def __init__(self, model: ConversationListModel, parent: QWidget) -> None:
        """Paint rows of ``model``, in the colours of the dark theme until told otherwise."""
        super().__init__(parent)
        self._model = model
        self._palette = DARK
        self._sizes: tuple[int, int] | None = None

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self._palette = palette

    def forget_sizes(self) -> None:
        """The font changed: measure again."""
        self._sizes = None

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        """Heights of the font's making; any width will do."""
        if self._sizes is None:
            font = option.font
            body, small = QFontMetrics(font).height(), QFontMetrics(small_font(font)).height()
            self._sizes = (body + small + 3 * STEP_PX, small + 3 * STEP_PX)
        # Asked for every row at once: the way through the model's roles would cost twice as much.
        return QSize(0, self._sizes[self._model.is_heading(index.row())])

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Paint a heading or a conversation."""
        row = index.data(ROW_ROLE)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if isinstance(row, ListedConversation):
            self._paint_row(painter, option, row)
        else:
            self._paint_heading(painter, option, str(row))
        painter.restore()

    # --- Editing ----------------------------------------------------------------------------

    def createEditor(
        self,
        parent: QWidget,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> QWidget:
        """A field for the title."""
        editor = QLineEdit(parent)
        editor.setAccessibleName("Title of the conversation")
        editor.setAccessibleDescription("Return keeps it, Escape leaves it as it was.")
        editor.setPlaceholderText("First words of the conversation")
        return editor

    def updateEditorGeometry(
        self,
        editor: QWidget,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Over the whole row: the field needs a frame and the title its width."""
        rect: QRect = option.rect
        editor.setGeometry(rect.adjusted(STEP_PX, STEP_PX, -STEP_PX, -STEP_PX))

    # --- Painting ---------------------------------------------------------------------------

    def _paint_heading(self, painter: QPainter, option: QStyleOptionViewItem, text: str) -> None:
        rect: QRect = option.rect
        painter.setFont(_strong(small_font(option.font)))
        painter.setPen(QColor(self._palette.muted))
        inner = rect.adjusted(2 * STEP_PX + _BAR_PX, 0, -STEP_PX, -STEP_PX // 2)
        painter.drawText(inner, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom, text)

    def _paint_row(
        self, painter: QPainter, option: QStyleOptionViewItem, row: ListedConversation
    ) -> None:
        model = self._model
        p, font = self._palette, option.font
        rect: QRect = option.rect
        is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
        paint_ground(painter, option, p)
        if model.is_open(row.id):
            bar = QRectF(rect.left() + STEP_PX / 2, rect.top() + 2 * STEP_PX, _BAR_PX, 0)
            bar.setBottom(rect.bottom() - 2 * STEP_PX + 1)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(p.accent))
            painter.drawRoundedRect(bar, _BAR_PX / 2, _BAR_PX / 2)
        inner = rect.adjusted(2 * STEP_PX + _BAR_PX, STEP_PX + 1, -2 * STEP_PX, -STEP_PX)
        faint = p.text if is_selected else p.muted
        when = time_words(row.changed_s, model.now_s)
        right = self._paint_time(painter, inner, when, small_font(font), faint)
        if model.is_streaming(row.id):
            right -= _DOT_PX + STEP_PX
            top = inner.top() + (QFontMetrics(font).height() - _DOT_PX) / 2
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(p.accent))
            painter.drawEllipse(QRectF(right, top, _DOT_PX, _DOT_PX))
        self._paint_title(painter, inner, row.title, font, right - STEP_PX)
        self._paint_words(painter, inner, row, small_font(font), faint)

    def _paint_time(
        self,
        painter: QPainter,
        inner: QRect,
        words: str,
        font: QFont,
        colour: str,
    ) -> int:
        """Paint the time at the right; returns where it begins."""
        width = QFontMetrics(font).horizontalAdvance(words)
        painter.setFont(font)
        painter.setPen(QColor(colour))
        place = QRect(inner.right() - width, inner.top(), width + 1, QFontMetrics(font).height())
        # Both stand on one line of writing.
        place.translate(0, 1)
        painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop, words)
        return inner.right() - width

    def _paint_title(
        self, painter: QPainter, inner: QRect, title: str, font: QFont, right: int
    ) -> None:
        metrics = QFontMetrics(font)
        place = QRect(inner.left(), inner.top(), max(0, right - inner.left()), metrics.height())
        shown = metrics.elidedText(_one_line(title), Qt.TextElideMode.ElideRight, place.width())
        painter.setFont(font)
        painter.setPen(QColor(self._palette.text))
        painter.drawText(
            place,
            Qt.AlignmentFlag.AlignLeft
            | Qt.AlignmentFlag.AlignTop
            | Qt.TextFlag.TextSingleLine
            | Qt.TextFlag.TextDontClip,
            shown,
        )

    def _paint_words(
        self, painter: QPainter, inner: QRect, row: ListedConversation, font: QFont, colour: str
    ) -> None:
        metrics = QFontMetrics(font)
        words, marks = _in_sight(_one_line(row.words), row.marks, metrics, inner.width())
        text = metrics.elidedText(words, Qt.TextElideMode.ElideRight, inner.width())
        layout = QTextLayout(text, font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.NoWrap)
        layout.setTextOption(option)
        layout.setFormats(
            [
                self._mark(utf16_length(text[:begin]), utf16_length(text[:end]))
                for begin, end in marks
                if end <= len(text)
            ]
        )
        layout.beginLayout()
        line = layout.createLine()
        if line.isValid():
            line.setLineWidth(inner.width())
        layout.endLayout()
        painter.setPen(QColor(colour))
        painter.setClipRect(inner)
        layout.draw(painter, QPointF(inner.left(), inner.bottom() + 1 - metrics.height()))

    def _mark(self, begin: int, end: int) -> QTextLayout.FormatRange:
        strong = QTextCharFormat()
        strong.setFontWeight(QFont.Weight.Bold)
        strong.setForeground(QColor(self._palette.text))
        strong.setBackground(QColor(found_ground(self._palette)))
        mark = QTextLayout.FormatRange()
        mark.start, mark.length, mark.format = begin, end - begin, strong
        return mark


def utf16_length(text: str) -> int:
    """Length as Qt counts: an emoji is two."""
    return len(text) + sum(character > "\uffff" for character in text)


def _strong(font: QFont) -> QFont:
    strong = QFont(font)
    strong.setWeight(QFont.Weight.DemiBold)
    return strong


def _one_line(text: str) -> str:
    """Line feeds and tabs as spaces, character by character, so that marks keep their places."""
    return text[:_MOST_CHARACTERS].translate(_BREAKS)


_BREAKS = dict.fromkeys(map(ord, "\n\r\t\v\f\u2028\u2029\0"), " ")


def _in_sight(
    words: str, marks: tuple[tuple[int, int], ...], metrics: QFontMetrics, width_px: int
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """``words`` without so much of their beginning that the first mark can be seen."""
    marks = tuple((b, e) for b, e in marks if 0 <= b < e <= len(words))
    if not marks or metrics.horizontalAdvance(words[: marks[0][1]]) <= width_px * 3 // 4:
        return words, marks
    cut = max(0, marks[0][0] - _LEAD_CHARACTERS)
    if cut == 0:
        return words, marks
    shift = 1 - cut
    return "…" + words[cut:], tuple((b + shift, e + shift) for b, e in marks)
