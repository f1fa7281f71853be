"""The third part of the tour: details, predictions, limits, and the pages of the live column."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.tour_step import Step
from app.window import Window
from widgets.charts.limited_chart import LimitedChart
from widgets.charts.table_dialog import TableDialog
from widgets.chat_view import ChatView
from widgets.message_details import DetailsView

# A question and the beginning of a text, as in the first part. Predictions are learnt from prompts:
# these are of several lengths.
_STORY = (
    "The lighthouse of Saint Alban stands on a rock that the sea covers twice a day. Every evening "
    "its keeper, whose name was Marta, climbed the hundred and twelve steps, cleaned the glass, "
    "filled the lamp and wrote down the wind. She had done so for nineteen years, and",
    "One autumn the mail boat brought a letter without a sender: a drawing of a ship with "
    "three masts, and below it a date: the last night of October. Marta knew every ship that "
    "passed the rock, and none of them had three masts any more. She pinned the drawing to the "
    "wall beside the barometer and went about her work, but every morning she looked at it first, "
    "and every morning it seemed to her that the ship had come a little nearer to the edge of the "
    "paper. On the thirtieth of October the wind turned to the north. She",
    "The night of the thirty-first was so clear that she could count the lights of the villages on "
    "the coast. She lit the lamp at five, as always, and set a second chair beside her own. At "
    "nine the fishing boats were in, all eleven of them. At ten a fog bank stood in the west, no "
    "higher than a wall. At eleven it had not moved, and the sea in front of it lay as smooth as "
    "oil. Then, a few minutes before midnight, a bell rang out there, twice, and after a pause a "
    "third time. She had read of such bells in the books of the keepers before her: the third "
    "stroke asks whether somebody is awake. Marta took the signal lamp from its hook, opened the "
    "shutter three times, and waited. Out of the fog came, without a sail set and without a sound, "
    "the bow of a ship with three masts, and at its rail stood a man who held up a lantern and "
    "called her by her name. She called back that the harbour was two miles to the east, and that "
    "the channel was narrow at this hour of the tide. The man laughed and answered that he had not "
    "come for the harbour. He had come, he said,",
)
# A cache type whose speed nobody has measured yet when the fader gets there.
_DRAGGED, _DRAGGED_TO = "cache_type_k", "q8_0"
# Where on their axes the limits of TTFT and TPOT are dragged to, as shares.
_LIMIT_SHARES = (0.45, 0.55)


class LiveTour:
    """What the wait was made of, what it would be, how long it may be, and what bounds it."""

    def __init__(self, window: Window) -> None:
        """Prepare the steps for ``window``, in which a model runs and the log is open."""
        self._window = window
        self._desk = window.desk
        self._left: list[str] = []

    def steps(self) -> list[Step]:
        """The steps in their order."""
        window = self._window
        return [
            Step("14-details", self._ask, self._is_answered, self._fault_of_details,
                 timeout_s=300, end=self._fold_details),
            Step("15-ghosts", self._drag_cache, self._is_foretold, self._fault_of_ghosts,
                 end=self._drag_cache_back),
            Step("16-limits", self._drag_limits, self._has_limits, self._fault_of_limits,
                 end=self._drop_limit),
            Step("17-ceiling", self._do("live.ceiling"), self._is_ceiling_known,
                 self._fault_of_ceiling, timeout_s=120),
            Step("18-room", self._do("live.room"), self._is_room_known, self._fault_of_room,
                 timeout_s=120),
            Step("19-table", self._ask_table, lambda: self._table() is not None,
                 self._fault_of_table, shown=self._table, end=self._close_table),
            Step("20-advisor", self._unfold_advisor, window.draft_advisor.view.isVisible,
                 self._fault_of_advisor, end=partial(window.draft_advisor.section.set_open, False)),
            Step("21-keys", self._do("help.keys"), lambda: self._keys() is not None,
                 lambda: "", shown=self._keys, end=self._close_keys),
        ]  # fmt: skip

    # --- Details ------------------------------------------------------------------------

    def _ask(self) -> None:
        """Ask one thing after the other; the next one when the one before was answered."""
        for panel in ("log", "conversations"):
            if self._window.docks.is_shown(panel):
                self._run(f"panel.{panel}")
        self._window.chat.set_current(self._window.chat_wiring.open_conversation())
        self._window.show_chat()
        self._left = list(_STORY)

    def _is_answered(self) -> bool:
        if self._desk.chats.answering_count():
            return False
        if self._left:
            self._chat().submit(self._left.pop(0))
            return False
        answer = self._chat().rows.last_answer()
        if answer is None:
            return False
        answer.footer.details_button.setChecked(True)
        self._chat().messages_area.jump_to_end()
        return True

    def _fault_of_details(self) -> str:
        answer = self._chat().rows.last_answer()
        views = [] if answer is None else answer.footer.findChildren(DetailsView)
        if not any(view.isVisible() and "prefill" in view.text() for view in views):
            return "the details of the answer do not tell of its prefill"
        return ""

    def _fold_details(self) -> None:
        answer = self._chat().rows.last_answer()
        if answer is not None:
            answer.footer.details_button.setChecked(False)

    # --- Predictions --------------------------------------------------------------------

    def _drag_cache(self) -> None:
        """Hold a fader at a value that does not run, as a person who wonders does."""
        self._run("live.charts")
        fader = self._window.tune.row(_DRAGGED).fader
        self._window.tune.ensureWidgetVisible(fader)
        start, end = fader.handle_position(), fader.position_of(_DRAGGED_TO)
        QTest.mousePress(fader, Qt.MouseButton.LeftButton, pos=start)
        QTest.mouseMove(fader, QPoint((start.x() + end.x()) // 2, start.y()))
        QTest.mouseMove(fader, QPoint(end.x(), start.y()))

    def _is_foretold(self) -> bool:
        meters = self._desk.meters.requests
        return bool(meters.ttft_ghost.text and meters.tpot_ghost.text)

    def _fault_of_ghosts(self) -> str:
        self._window.live.redraw()
        for chart in (self._window.live.ttft, self._window.live.tpot):
            if "predicted" not in chart.text():
                return f"{chart.accessibleName()} does not tell what is predicted, or why not"
        return ""

    def _drag_cache_back(self) -> None:
        fader = self._window.tune.row(_DRAGGED).fader
        place = fader.position_of(getattr(self._desk.session.wanted, _DRAGGED))
        QTest.mouseMove(fader, place)
        QTest.mouseRelease(fader, Qt.MouseButton.LeftButton, pos=place)

    # --- Limits -------------------------------------------------------------------------

    def _drag_limits(self) -> None:
        """Drag both limits down; the second stays in the hand for the picture."""
        live = self._window.live
        _press_and_drag(live.ttft, _LIMIT_SHARES[0])
        _let_go(live.ttft)
        _press_and_drag(live.tpot, _LIMIT_SHARES[1])

    def _has_limits(self) -> bool:
        """Whether both are set, and nothing tells of the fader before any more."""
        session = self._desk.session
        is_settled = session.candidate == session.wanted and not session.is_planning
        return is_settled and None not in self._window.live.limits

    def _fault_of_limits(self) -> str:
        charts = (self._window.live.ttft, self._window.live.tpot)
        if any("Limit" not in chart.text() for chart in charts):
            return "a limit that was dragged is not told"
        return ""

    def _drop_limit(self) -> None:
        _let_go(self._window.live.tpot)

    # --- Pages --------------------------------------------------------------------------

    def _is_ceiling_known(self) -> bool:
        view = self._window.gauges.ceiling_wiring.view()
        # The peak is measured in a quiet moment; where it cannot be known that is told.
        return view.present is not None and bool(view.peak.bytes_per_s or view.peak.how)

    def _fault_of_ceiling(self) -> str:
        panel = self._window.gauges.ceiling
        if not panel.chart.plot.picture.points:
            return "the roofline has no point though a model has written"
        return "" if "steps/s" in panel.text() else "the ceiling says no speed"

    def _is_room_known(self) -> bool:
        return self._window.gauges.room_wiring.finder.is_current

    def _fault_of_room(self) -> str:
        room = self._window.gauges.room
        if not room.slots.lanes:
            return "no slot is shown"
        return "" if "measured" in room.memory.text() else "memory by use is not shown"

    # --- Windows ------------------------------------------------------------------------

    def _ask_table(self) -> None:
        self._run("live.charts")
        self._window.live.show_table(self._window.live.ttft)

    def _table(self) -> QWidget | None:
        return self._window.live.findChild(TableDialog)

    def _fault_of_table(self) -> str:
        table = self._window.live.findChild(TableDialog)
        rows = 0 if table is None else table.rows.model().rowCount()
        return "" if rows else "the table has no row though requests were answered"

    def _close_table(self) -> None:
        table = self._table()
        if table is not None:
            table.close()

    def _unfold_advisor(self) -> None:
        self._window.draft_advisor.section.set_open(True)
        self._window.tune.ensureWidgetVisible(self._window.draft_advisor.section)

    def _fault_of_advisor(self) -> str:
        return "" if self._window.draft_advisor.view.text() else "the draft advisor says nothing"

    def _keys(self) -> QWidget | None:
        keys = self._window.help.keys
        return keys if keys is not None and keys.isVisible() else None

    def _close_keys(self) -> None:
        keys = self._keys()
        if keys is not None:
            keys.close()

    # --- Inside -------------------------------------------------------------------------

    def _chat(self) -> ChatView:
        return self._window.chat.conversation(self._window.chat.current_id())

    def _do(self, name: str) -> Callable[[], None]:
        return partial(self._run, name)

    def _run(self, name: str) -> None:
        self._window.actions_of_window.run(name)


def _press_and_drag(chart: LimitedChart[Any], share: float) -> None:
    """Take the limit of ``chart`` where it stands and hold it at a share of the axis."""
    geometry = chart.plot.geometry_now
    limit_s = chart.grip.value
    top = geometry.share_per_value * geometry.edge_value
    row = geometry.y_of(top if limit_s is None else geometry.share_per_value * limit_s)
    start = QPointF(geometry.area.right() + 1, row)
    end = QPointF(start.x() - geometry.area.width() / 4, geometry.y_of(share))
    _mouse(chart, QEvent.Type.MouseButtonPress, start)
    for place in ((start + end) / 2, end):
        _mouse(chart, QEvent.Type.MouseMove, place)


def _let_go(chart: LimitedChart[Any]) -> None:
    _mouse(chart, QEvent.Type.MouseButtonRelease, QPointF())


def _mouse(chart: LimitedChart[Any], kind: QEvent.Type, place: QPointF) -> None:
    """An event of the left button; ``QTest`` says of a move that no button is down."""
    left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
    is_release, is_move = kind == QEvent.Type.MouseButtonRelease, kind == QEvent.Type.MouseMove
    event = QMouseEvent(
        kind, place, QPointF(chart.plot.mapToGlobal(place)), none if is_move else left,
        none if is_release else left, Qt.KeyboardModifier.NoModifier,
    )  # fmt: skip
    QApplication.sendEvent(chart.plot, event)
