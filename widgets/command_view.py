"""A command as selectable text: one line that scrolls sideways, or wrapped to show all of it."""

from __future__ import annotations

import textwrap

from PySide6.QtCore import QEvent, QMimeData, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QFontMetricsF,
    QGuiApplication,
    QPainter,
    QPaintEvent,
    QPalette,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy, QWidget

from resources.tokens import STEP_PX
from widgets.theme import set_role

# Beyond this many lines a wrapped command is scrolled.
_MAX_LINES, _MAX_OPTIONS = 6, 12
_FRAME_PX = 2
_MORE = "…"
# What stands for a line feed of the command itself, such as a grammar holds; the first of them
# that the command does not use.
_LINE_FEEDS = "↵⏎¶"


class CommandView(QPlainTextEdit):
    """Read-only monospace text.

    Signals:
        overflow_changed: Whether (bool) the command is longer than its line changed.
    """

    overflow_changed = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make an empty view of one line."""
        super().__init__(parent)
        self._command = self._listed = ""
        self._line_feed = _LINE_FEEDS[0]
        self._has_overflow = False
        self._is_wrapped = self._is_listed = False
        set_role(self, "command")
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.document().setDocumentMargin(STEP_PX)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Command line")
        self.setPlaceholderText("The command line appears here once a model is chosen.")

    def set_command(self, text: str, listed: str = "") -> None:
        """Show a command; what was selected or scrolled to stays where the text is the same.

        Args:
            text: It in one line.
            listed: It with a line for each option, as a shell takes it; empty for none.
        """
        if (text, listed) != (self._command, self._listed):
            self._command, self._listed = text, listed
            self._line_feed = next((mark for mark in _LINE_FEEDS if mark not in text), "")
            self._measure()

    def command(self) -> str:
        """The command as it is shown: in one line, or with a line for each option."""
        return self._listed if self._shows_list() else self._command

    def set_listed(self, is_listed: bool) -> None:
        """Give each option a line of its own, where all of the command shows."""
        self._is_listed = is_listed
        self._measure()

    def set_wrapped(self, is_wrapped: bool) -> None:
        """Show all of it on as many lines as it takes, or one line."""
        self._is_wrapped = is_wrapped
        policy = Qt.ScrollBarPolicy
        self.setVerticalScrollBarPolicy(
            policy.ScrollBarAsNeeded if is_wrapped else policy.ScrollBarAlwaysOff
        )
        self._measure()

    def is_wrapped(self) -> bool:
        """Whether all of it shows."""
        return self._is_wrapped

    def overflows(self) -> bool:
        """Whether one line is too short for the command."""
        return self._text_px() > self._room_px()

    def sizeHint(self) -> QSize:
        """One line, or as many as the wrapped command takes, up to a bound."""
        lines = min(self.blockCount(), _MAX_OPTIONS if self._shows_list() else _MAX_LINES)
        height = self.fontMetrics().lineSpacing() * lines + 2 * (STEP_PX + _FRAME_PX)
        return QSize(80 * STEP_PX, height)

    def minimumSizeHint(self) -> QSize:
        """Any width; the height of the lines."""
        return QSize(20 * STEP_PX, self.sizeHint().height())

    def createMimeDataFromSelection(self) -> QMimeData:
        """What is selected as it stands in the command, without the breaks made here."""
        data = QMimeData()
        selected = self.textCursor().selection().toPlainText()
        if not self._shows_list():
            selected = "".join(selected.split("\n"))
            if self._line_feed:
                selected = selected.replace(self._line_feed, "\n")
        data.setText(selected)
        return data

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll the one line sideways."""
        if self.is_wrapped():
            super().wheelEvent(event)
            return
        delta = event.angleDelta().y() or event.angleDelta().x()
        bar = self.horizontalScrollBar()
        bar.setValue(bar.value() - delta)
        event.accept()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the text, with an ellipsis over each end where it goes on."""
        super().paintEvent(event)
        if self.is_wrapped():
            return
        painter = QPainter(self.viewport())
        painter.setFont(self.font())
        for is_left, rect in self._more_marks():
            colours = QGuiApplication.palette()
            painter.fillRect(rect, colours.color(QPalette.ColorRole.Base))
            painter.setPen(colours.color(QPalette.ColorRole.PlaceholderText))
            side = Qt.AlignmentFlag.AlignLeft if is_left else Qt.AlignmentFlag.AlignRight
            painter.drawText(
                rect.adjusted(1, 0, -1, 0), side | Qt.AlignmentFlag.AlignVCenter, _MORE
            )
        painter.end()

    def more_at(self) -> tuple[bool, bool]:
        """Whether the one line goes on beyond its left end, and beyond its right end."""
        bar = self.horizontalScrollBar()
        is_folded = not self.is_wrapped()
        return is_folded and bar.value() > 0, is_folded and bar.value() < bar.maximum()

    def _more_marks(self) -> list[tuple[bool, QRect]]:
        """Whether it is the left one, and the room of each ellipsis."""
        # Within the border, that shows while the view has the focus.
        area = self.viewport().rect().adjusted(1, _FRAME_PX, -1, -_FRAME_PX)
        width = round(1.5 * self._character_px())
        left = QRect(area.left(), area.top(), width, area.height())
        # To the very edge: else a sliver of the next letter would stand behind the ellipsis.
        right = left.translated(self.viewport().width() - width - left.left(), 0)
        ends = zip((True, False), (left, right), self.more_at(), strict=True)
        return [(is_left, rect) for is_left, rect, is_more in ends if is_more]

    def resizeEvent(self, event: QResizeEvent) -> None:
        """It may fit now, or no more."""
        super().resizeEvent(event)
        self._measure()

    def changeEvent(self, event: QEvent) -> None:
        """Measure again in another font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._measure()

    def _measure(self) -> None:
        shown = "\n".join(self._lines())
        if shown != self.toPlainText():
            self.setPlainText(shown)
        self.updateGeometry()
        if self.overflows() != self._has_overflow:
            self._has_overflow = not self._has_overflow
            self.overflow_changed.emit(self._has_overflow)

    def _lines(self) -> list[str]:
        if not self._is_wrapped or not self._command:
            return [self._in_one_line()]
        if self._shows_list():
            return self._listed.split("\n")
        # Only at spaces, and with every character kept: "--flag" is one word, and quoted spaces
        # belong to a path.
        per_line = int(self._room_px() / max(1.0, self._character_px()))
        lines = textwrap.wrap(
            self._in_one_line(),
            max(1, per_line),
            expand_tabs=False,
            replace_whitespace=False,
            drop_whitespace=False,
            break_on_hyphens=False,
        )
        return _with_spaces_behind(lines)

    def _in_one_line(self) -> str:
        """The command, its own line feeds as a mark: they are no breaks made here."""
        return self._command.replace("\n", self._line_feed or " ")

    def _shows_list(self) -> bool:
        return self._is_wrapped and self._is_listed and bool(self._listed)

    def _text_px(self) -> int:
        return self.fontMetrics().horizontalAdvance(self._in_one_line())

    def _character_px(self) -> float:
        return QFontMetricsF(self.font()).horizontalAdvance("m")

    def _room_px(self) -> int:
        return max(0, self.width() - 2 * (STEP_PX + _FRAME_PX))


def _with_spaces_behind(lines: list[str]) -> list[str]:
    """``lines`` with the spaces between two of them at the end of the first, where none is seen."""
    result: list[str] = []
    for line in lines:
        text = line.lstrip(" ")
        if result:
            result[-1] += line[: len(line) - len(text)]
        result.append(text if result else line)
    return result
