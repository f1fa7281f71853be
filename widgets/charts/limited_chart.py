"""A chart with a limit: the line can be dragged, moved with keys, typed and taken away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from engine_bridge.metrics.meters import Marker
from widgets.charts.frame import ChartFrame
from widgets.charts.limit_dialog import LimitDialog
from widgets.charts.limit_grip import LimitGrip
from widgets.charts.limit_scale import LimitScale
from widgets.charts.picture import Level
from widgets.charts.time_view import TimeView
from widgets.charts.timeline import Timeline

_STEPS = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1}
_KEYS = "Alt+Up and Alt+Down move it, L asks for a number, Shift+L takes it away."
_KEYS_NONE = "No limit is set; L or Alt+Up sets one."
# A limit so many times above everything else would press that flat: it stays above the axis.
_REACH = 3.0


class _HasLimit(Protocol):
    @property
    def limit_s(self) -> float | None: ...


View = TypeVar("View", bound=_HasLimit)


class LimitedChart(ChartFrame[View]):
    """A chart of one figure that has a longest good value, if the user sets one.

    It shows the limit of the view it is given; whoever feeds it keeps the limit.

    Signals:
        limit_dragged: The limit (float) while the mouse moves it, seconds.
        limit_changed: The limit (float) as it was set; None for none.
    """

    limit_dragged = Signal(object)
    limit_changed = Signal(object)

    def __init__(
        self,
        scale: LimitScale,
        floor: float,
        empty_text: str,
        definitions: Sequence[str],
        *,
        time_view: TimeView | None = None,
        parent: QWidget | None = None,
    ) -> None:
        """Make an empty chart without a limit.

        Args:
            scale: Name and unit of the figure, and what its limit can be.
            floor: See ``ChartFrame``, as the other arguments.
            empty_text: What will appear and when.
            definitions: What the title explains.
            time_view: Shared with other charts; None for one of its own.
            parent: The parent widget.
        """
        super().__init__(
            scale.name,
            scale.unit,
            floor,
            empty_text,
            definitions,
            time_view=time_view,
            parent=parent,
        )
        self._scale = scale
        self.grip = LimitGrip(scale, self)
        self.grip.dragged.connect(self.limit_dragged)
        self.grip.dropped.connect(self.limit_changed)
        self.grip.opened.connect(self.ask_limit)
        self.plot.set_grip(self.grip)
        self._more.setToolTip(f"Limit, table and files of the {scale.name} chart")
        self.menu.add_limit()
        self.menu.limit_requested.connect(self.ask_limit)
        self.menu.no_limit_requested.connect(self.take_limit_away)
        self._show_note()

    def set_data(
        self,
        view: View,
        markers: Sequence[Marker],
        timeline: Timeline,
        has_words: bool = True,
    ) -> None:
        """Draw a view with its limit; see ``ChartFrame``."""
        is_other = view.limit_s != self.grip.value
        self.grip.set_value(view.limit_s)
        self.menu.set_has_limit(view.limit_s is not None)
        super().set_data(view, markers, timeline, has_words)
        if is_other:
            self._show_note()

    def limit_level(self, view: View) -> Level | None:
        """The line across; None without a limit."""
        if view.limit_s is None:
            return None
        return Level(f"Limit {self._scale.text(view.limit_s)}", view.limit_s, self.colours.warning)

    def top_with_limit(self, view: View, top: float | None) -> float | None:
        """What the axis has to reach, the limit included unless it is far above the rest."""
        if top is None or view.limit_s is None or view.limit_s > _REACH * top:
            return top
        return max(top, view.limit_s)

    def above_text(self, view: View, limit_s: float) -> str:
        """How much of what is shown is above the limit; empty where that says nothing."""
        return ""

    def text(self) -> str:
        """Everything the chart says, with its limit."""
        limit_s = self.grip.value
        if limit_s is None or not self._empty.isHidden():  # see empty_words
            return super().text()
        limit = f"Limit {self._scale.text(limit_s)}"
        words = ", ".join(filter(None, (limit, self.above_text(self._view, limit_s))))
        return f"{super().text().rstrip('.')}. {words}"

    def keys_text(self) -> str:
        """What the keyboard can do here."""
        return f"{_KEYS_NONE if self.grip.value is None else _KEYS} {super().keys_text()}"

    def empty_words(self, text: str) -> str:
        """A limit that was set without anything to hold against it is told as text."""
        limit_s = self.grip.value
        return text if limit_s is None else f"{text} Limit: {self._scale.text(limit_s)}."

    def ask_limit(self) -> None:
        """Ask for the limit as a number."""
        dialog = LimitDialog(self._scale, self.grip.value, self._first_limit(), self)
        dialog.limit_chosen.connect(self.limit_changed)
        dialog.open()

    def take_limit_away(self) -> None:
        """Have no limit any more."""
        self.limit_changed.emit(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move the limit, or give up dragging it; else navigate in time."""
        held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        direction = _STEPS.get(Qt.Key(event.key()))
        if held == Qt.KeyboardModifier.AltModifier and direction is not None:
            self._step(direction)
        elif event.key() != Qt.Key.Key_Escape or not self.grip.give_up():
            super().keyPressEvent(event)

    def _step(self, direction: int) -> None:
        limit_s = self.grip.value
        if self.grip.is_dragged:
            return
        if limit_s is None:
            self.limit_changed.emit(self._first_limit())
            return
        stepped = self._scale.stepped(limit_s, direction)
        if stepped != limit_s:
            self.limit_changed.emit(stepped)

    def _first_limit(self) -> float:
        """Where a limit begins: above what the chart shows."""
        return self._scale.first(self.plot.picture.top)
