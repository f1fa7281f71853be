"""The conversation as a column that scrolls, and stays where the user has scrolled to."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from PySide6.QtCore import QCoreApplication, QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QPushButton, QScrollArea, QVBoxLayout, QWidget

from resources.chat_tokens import COLUMN_MAX_PX
from resources.tokens import STEP_PX
from widgets.message_row import MessageRow
from widgets.message_selection import SelectionGroup

# Within this the user counts as being at the end: less than a line of text.
_END_PX = 3 * STEP_PX
# A conversation of this many messages is light enough to be kept whole.
ALWAYS_LIVE = 16
# Messages further than this from the viewport are given up; well beyond where they are built, so
# that scrolling to and fro does not build the same one again and again.
_PARK_PAGES = 4
# Building one message takes some milliseconds; after this the event loop gets its turn.
_WAKE_S = 0.012


def column_margin(width_px: int) -> int:
    """What is left on each side of the readable column in ``width_px``, at least 0."""
    return max(0, (width_px - COLUMN_MAX_PX) // 2)


class ConversationScroll(QScrollArea):
    """Follows new text as long as the end is in view.

    Signals:
        end_left: Whether (bool) the user is away from the end.
        top_neared: The beginning of the column is less than a page away.
        rows_released: Messages that were built have found their heights and places.
    """

    end_left = Signal(bool)
    top_neared = Signal()
    rows_released = Signal()

    def __init__(self, selection: SelectionGroup, parent: QWidget | None = None) -> None:
        """Create an empty column.

        Args:
            selection: Of the conversation.
            parent: Owner.
        """
        super().__init__(parent)
        self._selection = selection
        self.rows: list[MessageRow] = []
        self._is_following = True
        self._settled_rows: list[MessageRow] = []
        self._tend_timer = self._turn_timer(self._tend)
        self._release_timer = self._turn_timer(self._release_settled)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Conversation")
        self.column = QWidget()
        """What scrolls."""
        self.column.setProperty("role", "scrolled")
        self._layout = QVBoxLayout(self.column)
        self._layout.setSpacing(3 * STEP_PX)
        self._layout.addStretch(1)
        self.setWidget(self.column)
        self.jump_button = QPushButton("Jump to the end", self)
        self.jump_button.setToolTip("Follow the new text again")
        self.jump_button.hide()
        self.jump_button.clicked.connect(self.jump_to_end)
        bar = self.verticalScrollBar()
        bar.rangeChanged.connect(self._on_range_changed)
        bar.valueChanged.connect(self._on_value_changed)
        self._set_margins()

    def _turn_timer(self, work: Callable[[], None]) -> QTimer:
        """A timer that does ``work`` once, in the next turn of the event loop."""
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(0)
        timer.timeout.connect(work)
        return timer

    @property
    def is_following(self) -> bool:
        """Whether new text is scrolled into view."""
        return self._is_following

    def add(self, widget: QWidget) -> None:
        """Put ``widget`` at the end of the column."""
        self._layout.insertWidget(self._layout.count() - 1, widget)

    def add_row(self, row: MessageRow) -> None:
        """Put a message at the end of the column."""
        self.rows.append(row)
        row.settled.connect(lambda: self._on_row_settled(row))
        self.add(row)
        row.show()  # now, not with the next layout: whether text comes in view is asked before

    def add_rows(self, rows: Sequence[MessageRow]) -> None:
        """Put messages at the end, laid out once."""
        with self._laid_out_once():
            for row in rows:
                self.add_row(row)

    def put_rows_first(self, rows: Sequence[MessageRow]) -> None:
        """Put earlier messages before all others; what is in view stays where it is."""
        bar = self.verticalScrollBar()
        before_px = 0 if self._is_following else self.column.sizeHint().height()
        with self._laid_out_once():
            for place, row in enumerate(rows):
                row.settled.connect(lambda row=row: self._on_row_settled(row))
                self._layout.insertWidget(place, row)
                row.show()
        self.rows[:0] = rows
        if not self._is_following:
            self._layout.activate()
            QCoreApplication.sendEvent(self.column, QEvent(QEvent.Type.LayoutRequest))
            bar.setValue(bar.value() + self.column.sizeHint().height() - before_px)

    @contextmanager
    def _laid_out_once(self) -> Iterator[None]:
        """Else Qt lays the whole column out for every row that is shown."""
        self._layout.setEnabled(False)
        try:
            yield
        finally:
            self._layout.setEnabled(True)
            self._layout.update()

    def clear_rows(self) -> None:
        """Take all messages away."""
        self.remove_rows_from(0)

    def remove_rows_from(self, place: int) -> None:
        """Take away the message at ``place`` and all after it."""
        gone = self.rows[place:]
        del self.rows[place:]
        self._settled_rows = [row for row in self._settled_rows if row not in gone]
        for row in reversed(gone):
            if row.live is not None:
                self._selection.remove_owner(row.live)
            self.remove(row)

    def remove(self, widget: QWidget) -> None:
        """Take ``widget`` out and delete it."""
        self._layout.removeWidget(widget)
        widget.hide()
        widget.deleteLater()

    def jump_to_end(self) -> None:
        """Show the end and follow it from now on."""
        self._set_following(True)
        bar = self.verticalScrollBar()
        bar.setValue(bar.maximum())

    def stop_following(self) -> None:
        """Stay here, whatever comes; there is something that the user looks at."""
        if self.verticalScrollBar().maximum() > 0:
            self._set_following(False)

    def show_place(self, y_px: int) -> None:
        """Scroll to ``y_px`` of the column, and stay there."""
        self.stop_following()
        self.verticalScrollBar().setValue(y_px)

    def page(self, *, is_down: bool) -> None:
        """Scroll by a page."""
        bar = self.verticalScrollBar()
        bar.setValue(bar.value() + (1 if is_down else -1) * bar.pageStep())

    def _set_following(self, is_following: bool) -> None:
        if is_following == self._is_following:
            return
        self._is_following = is_following
        self.jump_button.setVisible(not is_following)
        # A strip of its own: above the text it would cover figures and buttons.
        strip_px = 0 if is_following else self.jump_button.sizeHint().height() + STEP_PX
        self.setViewportMargins(0, 0, 0, strip_px)
        self._place_button()
        self.end_left.emit(not is_following)

    def _tend(self) -> None:
        """Build the messages near the viewport, give up those far away."""
        if self._selection.is_dragging() or not self.isVisible():
            return
        is_light = len(self.rows) <= ALWAYS_LIVE
        top, page = self.verticalScrollBar().value(), self.viewport().height()
        started_s = time.perf_counter()
        waiting: MessageRow | None = None
        # From the end: that is where the user looks when a conversation is opened.
        for index, row in reversed(list(enumerate(self.rows))):
            # How far out of view it is, negative within.
            away_px = max(top - (row.y() + row.height()), row.y() - (top + page))
            is_kept = is_light or index >= len(self.rows) - 2
            if row.live is None and away_px < 0 and time.perf_counter() < started_s + _WAKE_S:
                row.wake()
            elif row.live is None and (away_px < page or is_kept):
                waiting = waiting or row
            elif away_px > _PARK_PAGES * page and not is_kept and not self._is_selected(row):
                gone = row.park()
                if gone is not None:
                    self._selection.remove_owner(gone)
        if waiting is not None:  # one a turn: what is in view comes first, and events come between
            waiting.wake()
            self._tend_timer.start()

    def _is_selected(self, row: MessageRow) -> bool:
        return row.live is not None and self._selection.has_selection(row.live)

    def _on_row_settled(self, row: MessageRow) -> None:
        if row.is_held:
            # Its parts find their heights with the layout that is due; measured after that.
            self._settled_rows.append(row)
            self._release_timer.start()

    def _release_settled(self) -> None:
        """Give rebuilt messages their own height; what is in view stays where it is."""
        bar = self.verticalScrollBar()
        anchor = next((r for r in self.rows if r.y() + r.height() > bar.value()), None)
        offset_px = anchor.y() - bar.value() if anchor is not None else 0
        for row in self._settled_rows:
            row.release()
        self._settled_rows.clear()
        self._layout.activate()
        QCoreApplication.sendEvent(self.column, QEvent(QEvent.Type.LayoutRequest))
        if anchor is not None and not self._is_following:
            bar.setValue(anchor.y() - offset_px)
        self.rows_released.emit()

    def _on_range_changed(self, _low: int, high: int) -> None:
        self._tend_timer.start()
        if self._is_following:
            self.verticalScrollBar().setValue(high)
        elif high == 0:
            self._set_following(True)

    def _on_value_changed(self, value: int) -> None:
        self._tend_timer.start()
        if value < self.verticalScrollBar().pageStep():
            self.top_neared.emit()
        self._set_following(value >= self.verticalScrollBar().maximum() - _END_PX)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Home and End go to the ends; the rest is the scroll area's."""
        bar = self.verticalScrollBar()
        if event.key() == Qt.Key.Key_End:
            self.jump_to_end()
        elif event.key() == Qt.Key.Key_Home:
            bar.setValue(bar.minimum())
        else:
            super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        """What came while the conversation was hidden is built now."""
        super().showEvent(event)
        self._tend_timer.start()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the column readable and the button in its place."""
        super().resizeEvent(event)
        self._set_margins()
        self._place_button()

    def _set_margins(self) -> None:
        # Measured with the scroll bar's room always taken: its coming must not move the text.
        left = column_margin(self.width()) + STEP_PX
        right = max(STEP_PX, left - (self.width() - self.viewport().width()))
        self._layout.setContentsMargins(left, STEP_PX, right, 2 * STEP_PX)

    def _place_button(self) -> None:
        button = self.jump_button
        button.resize(button.sizeHint())
        area = self.viewport().geometry()
        button.move(area.center().x() - button.width() // 2, area.bottom() + 1 + STEP_PX)
        button.raise_()
