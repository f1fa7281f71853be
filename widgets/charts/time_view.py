"""Which stretch of time the charts show, and where their crosshair stands: one for all of them."""

from __future__ import annotations

import math
import time

from PySide6.QtCore import QObject, Signal

from engine_bridge.metrics.history import HISTORY_S
from engine_bridge.metrics.meters import WINDOW_S
from engine_bridge.metrics.stretch import Stretch
from widgets.charts.timeline import Timeline

SHORTEST_S, LONGEST_S = 1.0, HISTORY_S
"""Limits of the zoom."""

# So near to the right edge the wheel zooms around the present, and following goes on.
_AT_EDGE = 0.9
# Lines are thinned to their extremes in so many pixels: half the cost, and nobody sees it.
_BUCKET_PX = 2.0


class TimeView(QObject):
    """Time navigation. Follows the present, or is held where the user left it.

    Signals:
        moved: Another stretch is shown, or following began or ended.
        cursor_moved: The crosshair moved, appeared or went.
    """

    moved = Signal()
    cursor_moved = Signal()

    def __init__(self, parent: QObject | None = None, wall_s: float | None = None) -> None:
        """Follow the last two minutes.

        Args:
            parent: The parent.
            wall_s: Time of day (seconds since 1970) − the meters' clock; None to look.
        """
        super().__init__(parent)
        self._wall_s = time.time() - time.perf_counter() if wall_s is None else wall_s
        self._length_s = WINDOW_S
        self._held_until_s: float | None = None
        self._now_s = 0.0
        self._first_s: float | None = None
        self._cursor_s: float | None = None
        self._pointer_share: float | None = None

    @property
    def is_following(self) -> bool:
        """Whether the right edge is the present."""
        return self._held_until_s is None

    @property
    def length_s(self) -> float:
        """Length of the stretch."""
        return self._length_s

    @property
    def until_s(self) -> float:
        """Right edge, seconds of the meters' clock."""
        return self._now_s if self._held_until_s is None else self._held_until_s

    def note_present(self, now_s: float, first_s: float | None) -> None:
        """Tell the time, and since when something was measured."""
        self._now_s, self._first_s = now_s, first_s

    def timeline(self, width_px: float) -> Timeline:
        """The time axis for charts ``width_px`` wide; it moves on by whole pixels."""
        px_s = self._length_s / max(1.0, width_px)
        until_s = self.until_s
        if self.is_following:
            until_s = math.ceil(until_s / px_s) * px_s
        stretch = Stretch(until_s, self._length_s, _BUCKET_PX * px_s)
        return Timeline(stretch, self._now_s, self.is_following, self._wall_s)

    # --- Going elsewhere ------------------------------------------------------------------

    def show_length(self, length_s: float) -> None:
        """Show so many seconds, up to the same right edge."""
        self._place(self._held_until_s, length_s)

    def zoom(self, factor: float, share: float = 1.0) -> None:
        """Show a longer (``factor`` above 1) or shorter stretch.

        Args:
            factor: On the length.
            share: Where time stands still, from the left edge, 0, to the right, 1.
        """
        length_s = min(LONGEST_S, max(SHORTEST_S, self._length_s * factor))
        if self.is_following and (share >= _AT_EDGE or factor > 1):
            self._place(None, length_s)
            return
        at_s = self.until_s - (1 - share) * self._length_s
        self._place(at_s + (1 - share) * length_s, length_s)

    def pan(self, seconds: float) -> None:
        """Go later, or earlier where negative; arriving at the present follows it."""
        until_s = self.until_s + seconds
        if seconds > 0 and until_s >= self._now_s:
            self.follow()
        else:
            self._place(until_s, self._length_s)

    def follow(self) -> None:
        """Go to the present and follow it."""
        self._place(None, self._length_s)

    def hold(self) -> None:
        """Stand still; what is measured goes on being recorded."""
        self._place(self.until_s, self._length_s)

    def toggle(self) -> None:
        """Pause or follow."""
        if self.is_following:
            self.hold()
        else:
            self.follow()

    def go_to_begin(self) -> None:
        """Go to the oldest that is kept."""
        self._place(-math.inf, self._length_s)

    def reset(self) -> None:
        """Follow the last two minutes again."""
        self._place(None, WINDOW_S)

    def _place(self, held_until_s: float | None, length_s: float) -> None:
        length_s = min(LONGEST_S, max(SHORTEST_S, length_s))
        if held_until_s is not None:
            begin_s = self._now_s if self._first_s is None else self._first_s
            oldest_s = max(begin_s, self._now_s - HISTORY_S) + length_s
            held_until_s = min(max(held_until_s, oldest_s), self._now_s)
        if (held_until_s, length_s) != (self._held_until_s, self._length_s):
            self._held_until_s, self._length_s = held_until_s, length_s
            self.moved.emit()

    # --- Crosshair ------------------------------------------------------------------------

    @property
    def cursor_s(self) -> float | None:
        """Where the crosshair stands, seconds of the meters' clock; None where there is none."""
        if self._pointer_share is not None:
            return self.until_s - (1 - self._pointer_share) * self._length_s
        return self._cursor_s

    def cursor_in(self, stretch: Stretch) -> float | None:
        """Where the crosshair stands in what is drawn, seconds before the right edge.

        None where it does not stand in it. Below a pointer that is exactly the pointer's place,
        which moves on by whole pixels as the drawing does.
        """
        if self._pointer_share is not None:
            return (self._pointer_share - 1) * stretch.length_s
        if self._cursor_s is None or not stretch.holds(self._cursor_s):
            return None
        return self._cursor_s - stretch.until_s

    def point_at(self, share: float | None) -> None:
        """The pointer is over a chart: the crosshair stays below it while time goes on.

        Args:
            share: From the left edge, 0, to the right, 1; None when it left.
        """
        if share != self._pointer_share:
            self._pointer_share = share
            self._cursor_s = None
            self.cursor_moved.emit()

    def put_cursor(self, time_s: float | None) -> None:
        """Put the crosshair at a time, seconds of the meters' clock; None takes it away."""
        self._pointer_share = None
        self._cursor_s = time_s
        if time_s is not None and not self._holds(time_s):
            self._place(time_s + self._length_s / 2, self._length_s)
        self.cursor_moved.emit()

    def move_cursor(self, share: float) -> None:
        """Move the crosshair by a share of the window; one that is not there appears at its end."""
        cursor_s = self.cursor_s
        if cursor_s is None or not self._holds(cursor_s):
            self.put_cursor(self.until_s)
            return
        since_s = self.until_s - self._length_s
        self.put_cursor(min(max(cursor_s + share * self._length_s, since_s), self.until_s))

    def _holds(self, time_s: float) -> bool:
        return self.until_s - self._length_s <= time_s <= self.until_s
