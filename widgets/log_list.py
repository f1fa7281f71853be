"""The list of the log: follows its end, copies what is selected, says what it waits for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from PySide6.QtCore import QEvent, QItemSelectionRange, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from resources.tokens import DARK, MONO_FAMILIES, PANEL_PADDING_PX, SMALL_SCALE, Palette
from widgets.log_delegate import LogDelegate
from widgets.log_model import LogModel

_LINES_WANTED, _LEAST_LINES = 9, 6


class LogList(QTableView):
    """Lines under each other; its end stays in sight until someone scrolls up.

    A table of one column: a list of Qt's looks at every line again whenever one comes, which takes
    50 ms of 20,000.

    Signals:
        following_changed: Whether (bool) the end stays in sight.
    """

    following_changed = Signal(bool)

    def __init__(self, model: LogModel, parent: QWidget | None = None) -> None:
        """Show the lines of ``model``."""
        super().__init__(parent)
        self._lines = model
        self._colours = DARK
        self._is_following = True
        self._is_moving = False
        self._waiting_for = ""
        self._delegate = LogDelegate(model, self)
        self.setModel(model)
        self.setItemDelegate(self._delegate)
        self.horizontalHeader().hide()
        self.verticalHeader().hide()
        for header in (self.horizontalHeader(), self.verticalHeader()):
            header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setCornerButtonEnabled(False)
        self.setCornerWidget(QWidget())
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setTextElideMode(Qt.TextElideMode.ElideNone)
        self.setAccessibleName("Log")
        self.setAccessibleDescription("What the engine and TuneDeck said, the newest line last")
        model.rowsAboutToBeInserted.connect(self._on_about_to_move)
        model.rowsInserted.connect(self._on_moved)
        model.rowsAboutToBeRemoved.connect(self._on_about_to_move)
        model.lines_dropped.connect(self._on_lines_dropped)
        model.modelReset.connect(self._on_moved)
        self.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        self.verticalScrollBar().rangeChanged.connect(self._on_moved)
        self._use_mono()

    @property
    def is_following(self) -> bool:
        """Whether the end stays in sight."""
        return self._is_following

    def follow(self, is_following: bool) -> None:
        """Keep the end in sight from now on, or stay where we are."""
        if is_following != self._is_following:
            self._is_following = is_following
            self.following_changed.emit(is_following)
        if is_following:
            self._to_end()

    def show_row(self, row: int) -> None:
        """Choose the line in ``row``, bring it into the middle and stay there."""
        index = self._lines.index(row)
        begin = self.horizontalScrollBar().value()
        self.setCurrentIndex(index)
        self.scrollTo(index, QAbstractItemView.ScrollHint.PositionAtCenter)
        self.horizontalScrollBar().setValue(begin)
        self.follow(False)

    def set_waiting_for(self, text: str) -> None:
        """What an empty list says."""
        self._waiting_for = text
        self.viewport().update()

    def copy(self) -> None:
        """Put the selected lines on the clipboard, in their order."""
        # A list at run time, which PySide's stubs do not say; an index a line would take 40 ms.
        ranges = cast(Iterable[QItemSelectionRange], self.selectionModel().selection())
        rows = sorted(row for r in ranges for row in range(r.top(), r.bottom() + 1))
        if rows:
            text = "\n".join(self._lines.line(row).whole_text() for row in rows)
            QGuiApplication.clipboard().setText(text)

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self._colours = palette
        self._delegate.set_palette(palette)
        self.viewport().update()

    def sizeHint(self) -> QSize:
        """Room for some lines and no more: the log stands below what it tells of."""
        return QSize(super().sizeHint().width(), _LINES_WANTED * self._delegate.line_height_px)

    def minimumSizeHint(self) -> QSize:
        """Room for a few lines."""
        return QSize(
            super().minimumSizeHint().width(), _LEAST_LINES * self._delegate.line_height_px
        )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy by the system's keys; the rest moves in the list."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
            event.accept()
            return
        super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the lines, or what will stand here."""
        super().paintEvent(event)
        if self._lines.rowCount() or not self._waiting_for:
            return
        painter = QPainter(self.viewport())
        painter.setPen(QColor(self._colours.muted))
        gap = PANEL_PADDING_PX
        area = self.viewport().rect().adjusted(gap, gap, -gap, -gap)
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(area, int(flags), self._waiting_for)
        painter.end()

    def changeEvent(self, event: QEvent) -> None:
        """Measure again in another font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._use_mono()

    def _use_mono(self) -> None:
        font = QFont(self.font())
        font.setFamilies(list(MONO_FAMILIES))
        font.setPointSizeF(font.pointSizeF() * SMALL_SCALE)
        self._delegate.set_font(font)
        header = self.verticalHeader()
        header.setMinimumSectionSize(1)
        header.setDefaultSectionSize(self._delegate.line_height_px)
        self._fit_width()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A short line still takes all of the width."""
        super().resizeEvent(event)
        self._fit_width()
        if self._is_following:
            self._to_end()

    def _fit_width(self) -> None:
        width = max(self.viewport().width(), self._delegate.line_width_px())
        if width != self.columnWidth(0):
            self.setColumnWidth(0, width)

    # --- Following ------------------------------------------------------------------------

    def _on_about_to_move(self, *_: object) -> None:
        # What Qt does to the scroll bar while lines come and go is nobody's wish.
        self._is_moving = True

    def _on_moved(self, *_: object) -> None:
        self._fit_width()
        self._is_moving = False
        if self._is_following:
            self._to_end()

    def _on_lines_dropped(self, count: int) -> None:
        """Keep the lines that are read where they are."""
        if not self._is_following:
            bar = self.verticalScrollBar()
            self._move_to(bar.value() - count * self.verticalHeader().defaultSectionSize())
        self._is_moving = False

    def _on_scrolled(self, value: int) -> None:
        if not self._is_moving:
            self.follow(value >= self.verticalScrollBar().maximum())

    def _to_end(self) -> None:
        self._move_to(self.verticalScrollBar().maximum())

    def _move_to(self, value: int) -> None:
        self._is_moving = True
        self.verticalScrollBar().setValue(value)
        self._is_moving = False
