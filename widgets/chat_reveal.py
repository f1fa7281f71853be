"""Brings one message of a conversation into view and marks words in it, once it is built."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer

from resources.tokens import STEP_PX, Palette
from widgets.chat_scroll import ConversationScroll
from widgets.message_answer import AnswerView
from widgets.message_marks import Find, Place, mark, unmark
from widgets.message_row import Message, MessageRow
from widgets.message_selection import SelectionGroup
from widgets.message_user import UserMessage

# Layouts are done in two or three turns of the event loop; no reason to go on for ever.
_MOST_TURNS = 50


class Reveal(QObject):
    """What is looked for in a conversation, and the marks that stand there."""

    def __init__(
        self,
        area: ConversationScroll,
        selection: SelectionGroup,
        palette: Palette,
        parent: QObject,
    ) -> None:
        """Look for nothing.

        Args:
            area: The messages.
            selection: Knows the texts of each.
            palette: Colours.
            parent: Owner.
        """
        super().__init__(parent)
        self._area = area
        self._selection = selection
        self._palette = palette
        self._find: Find | None = None
        self._marked = 0  # number of the message
        self.goal = 0
        """Number of the message that is still to be brought into view; 0 for none."""
        self._is_opened = False
        self._reached_px = -1
        self._turns = 0
        self._heard: MessageRow | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._on_timer_timeout)
        area.rows_released.connect(self.look)

    def show(self, turn_id: int, find: Find) -> None:
        """Bring message ``turn_id`` into view as soon as it stands there, and mark in it."""
        self.clear()
        self._marked = self.goal = turn_id
        self._find = find
        self._is_opened = False
        self._reached_px = -1
        self._turns = 0
        self.look()

    def clear(self) -> None:
        """Look for nothing, and take the marks away."""
        row = self._row()
        if row is not None and row.live is not None:
            unmark(self._selection.parts_of(row.live))
        self._marked = self.goal = 0
        self._find = None

    def look(self) -> None:
        """Something was built or laid out: the message may be there now."""
        if self._find is not None:
            self._timer.start()

    def set_palette(self, palette: Palette) -> None:
        """Change colours."""
        self._palette = palette
        self.look()

    def _row(self) -> MessageRow | None:
        rows = self._area.rows
        return next((row for row in rows if self._marked == row.branch.turn_id > 0), None)

    def _on_timer_timeout(self) -> None:
        row = self._row()
        if row is None or self._find is None:
            return
        if self.goal:
            self._listen_to(row)
            row.wake()
        if row.live is None or not row.live.is_settled or row.is_held:
            if self.goal:  # on the way there: what is below is of no interest
                self._area.show_place(row.y())
            return
        place = mark(self._selection.parts_of(row.live), self._find, self._palette)
        if place is None and self.goal and not self._is_opened and _unfold(row.live):
            self._is_opened = True
            self.look()
        elif self.goal:
            self._go_to(row, place)

    def _listen_to(self, row: MessageRow) -> None:
        if row is not self._heard:
            self._heard = row
            row.settled.connect(self.look)

    def _go_to(self, row: MessageRow, place: Place | None) -> None:
        """Scroll there, and again until nothing moves any more: layouts come in later turns."""
        top_px, end_px = row.y(), row.y() + row.height()
        if place is not None:
            top_px = place.part.viewport().mapTo(self._area.column, place.point).y()
        is_laid_out = top_px < end_px and top_px == self._reached_px
        self._reached_px = top_px
        # Not beyond a message that has yet to grow: it would be given up as out of view.
        self._area.show_place(min(top_px, end_px) - self._area.viewport().height() // 3)
        self._turns += 1
        if is_laid_out or self._turns > _MOST_TURNS:
            self.goal = 0
        else:
            self.look()
        if place is not None:
            _show_right(place)


def _show_right(place: Place) -> None:
    """Scroll sideways where the mark is beyond the right edge."""
    beyond_px = place.end_px + STEP_PX - place.part.viewport().width()
    if beyond_px > 0:
        bar = place.part.horizontalScrollBar()
        bar.setValue(bar.value() + beyond_px)


def _unfold(message: Message) -> bool:
    """Open what is folded in a message; whether there was something."""
    if isinstance(message, UserMessage):
        return message.unfold()
    if isinstance(message, AnswerView) and message.thought is not None:
        return message.thought.unfold()
    return False
