"""The engine of the window as an experiment's port: the live charts show what happens.

Lives in the GUI thread, and is used from the experiment's: commands go over as posted calls, events
come back through a queue, so that neither thread waits for the other. The user's chats go on
meanwhile, which is told as a disturbance; settings that the user changes end the experiment, for
what it measures would not be what it says.
"""

from __future__ import annotations

import itertools
import queue
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from PySide6.QtCore import QObject, Qt, Signal

from app.experiments.held_settings import HeldSettings
from app.experiments.port import ConfigRefusedError, EngineGoneError, PortError, StoppedError
from app.experiments.window_change import WindowChange
from app.kept_settings import KeptSettings
from app.session import Session
from engine_bridge.client import EngineClient
from engine_bridge.engine_state import DeathReason
from engine_bridge.protocol import (
    Applied,
    Apply,
    BandwidthMeasured,
    Command,
    ContextShifted,
    Event,
    Generate,
    Hello,
    Load,
    MemoryMeasured,
    Refused,
    RequestFinished,
    RequestQueued,
    RequestStarted,
    StepsMeasured,
    TokensDelivered,
)
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.problem import Problem

# Far above the numbers of the session and of chats, below those of saved slots; counted on from one
# experiment to the next, since the engine stays.
_numbers = itertools.count(1_000_000_000)
# An experiment that reads its events at all reads them faster than an engine writes them.
_MOST_EVENTS = 65_536
_SLICE_S = 0.1
_PEAK_S = 20.0
# A model of many GiB may have to be loaded again.
_GIVING_BACK_S = 600.0
STOPPED = "The experiment was stopped."
_CHANGED = (
    "The engine's settings or its model were changed in the window, so the experiment was ended: "
    "its figures would not be those of its own settings. Start it again."
)
_CLOSED = "The window was closed."
_OVERRUN = "The experiment did not keep up with the engine and was ended. Start it again."
# Refusals of loads and changes have the session's numbers, which are small.
_OF_REQUESTS = (
    RequestQueued, RequestStarted, TokensDelivered, ContextShifted, RequestFinished, Refused,
)  # fmt: skip
_OF_ALL = (StepsMeasured, MemoryMeasured, BandwidthMeasured)

_T = TypeVar("_T")


class WindowPort(QObject):
    """An ``EnginePort`` to the window's engine. Made in the GUI thread, once it runs a model.

    Of its methods ``stop`` may be called from any thread, ``shut`` from the GUI thread, all others
    from the experiment's thread alone. The user's settings are in force again after ``close``.
    """

    _posted = Signal(object)

    def __init__(
        self,
        client: EngineClient,
        session: Session,
        kept: KeptSettings | None = None,
        peak_bytes_per_s: float = 0.0,
        parent: QObject | None = None,
    ) -> None:
        """Remember the user's settings and listen.

        Args:
            client: The engine's.
            session: The way to its settings.
            kept: What remembers settings for the next start: not those of an experiment.
            peak_bytes_per_s: Peak bandwidth as far as it is known.
            parent: Owner.
        """
        super().__init__(parent)
        self._client = client
        self._session = session
        self._kept = kept
        self._peak_bytes_per_s = peak_bytes_per_s
        self.is_peak_lower_bound = False
        runs = None if session.applied is None else session.applied.config
        self._users = HeldSettings(runs, session.wanted)
        self._peaks: dict[int, float] = {}  # by threads
        if session.applied is not None:
            self._peaks[session.applied.effective.threads] = peak_bytes_per_s
        self._first = next(_numbers)
        self._events: queue.Queue[Event] = queue.Queue(_MOST_EVENTS)
        self._answers: queue.SimpleQueue[object] = queue.SimpleQueue()
        self._given_back = threading.Event()
        self._is_giving_back = self._is_shut = self._has_left = False
        self._is_stopping = self._has_said_stop = False
        self._gone = self._fault = ""
        self._config = runs  # what the experiment runs
        self._foreign: set[int] = set()  # requests of chats since the last question
        self._posted.connect(self._on_posted, Qt.ConnectionType.QueuedConnection)
        self._change = WindowChange(client, session, self)
        self._change.ended.connect(self._on_change_ended)
        self._change.overruled.connect(self._on_overruled)
        client.event_received.connect(self._on_event_received)
        client.engine_died.connect(self._on_engine_died)
        session.applied_changed.connect(self._on_applied_changed)
        session.wanted_changed.connect(self._on_wanted_changed)
        if kept is not None:
            kept.hold(is_trying_out=True)

    # --- What a port does ---------------------------------------------------------------

    @property
    def hello(self) -> Hello:
        """How the running or the latest engine introduced itself."""
        hello = self._client.hello
        assert hello is not None
        return hello

    @property
    def pid(self) -> int:
        """The engine's process; 0 without one."""
        return self._client.pid

    @property
    def now_ns(self) -> int:
        """The time by the engine's clock: processes of one machine share it."""
        return time.perf_counter_ns()

    @property
    def peak_bytes_per_s(self) -> float:
        """Peak read bandwidth as it was measured last; 0 if it was not."""
        return self._peak_bytes_per_s

    def next_id(self) -> int:
        """A number that neither the window nor an experiment before has used."""
        return next(_numbers)

    def stop(self) -> None:
        """Make the next wait, or the one under way, raise ``StoppedError``; no new work after."""
        self._is_stopping = True

    def take_disturbances(self) -> tuple[str, ...]:
        """What the engine did for the user's chats since this was asked last."""
        taken, self._foreign = self._foreign, set()
        if not taken:
            return ()
        requests = "a request" if len(taken) == 1 else f"{len(taken):,} requests"
        return (f"The engine answered {requests} of the window's chats meanwhile.",)

    def apply(self, config: EngineConfig) -> Applied:
        """Run ``config`` through the session, as the user's Apply does.

        Raises:
            ConfigRefusedError: If it is refused; the engine goes on with what it had.
            EngineGoneError: If the engine died of it; the next call starts another.
            StoppedError: If ``stop`` was called.
        """
        self._refuse_work()
        self._forget_what_came()
        self._gone = self._fault = ""
        self._posted.emit(partial(self._change.begin, config))
        try:
            applied = self._answer()
        except StoppedError:
            self._posted.emit(self._change.give_up)
            raise
        self._await_peak(applied.effective.threads)
        return applied

    def send(self, command: Command) -> None:
        """Send a command.

        Raises:
            EngineGoneError: If the engine died.
            StoppedError: If it would be new work and ``stop`` was called.
        """
        if isinstance(command, Generate | Load | Apply):
            self._refuse_work()
        if self._gone:
            raise EngineGoneError(self._gone)
        self._posted.emit(partial(self._send, command))

    def next_event(self, timeout_s: float) -> Event | None:
        """The next event in order, None if none comes in ``timeout_s``.

        Raises:
            EngineGoneError: If the engine died.
            StoppedError: If ``stop`` was called; once.
            PortError: If the user changed settings or the model.
        """
        deadline_s = time.monotonic() + timeout_s
        while True:
            self._stop_if_told()
            if self._is_shut:
                raise EngineGoneError(_CLOSED)  # nobody waits for what is given up in good order
            if self._fault:
                raise PortError(self._fault)
            # Before the queue: what the engine said before it died still counts.
            gone = self._gone
            left_s = deadline_s - time.monotonic()
            event = _taken(self._events, 0.0 if gone else min(left_s, _SLICE_S))
            if event is not None:
                return event
            if gone:
                raise EngineGoneError(gone)
            if left_s <= 0:
                return None

    def close(self) -> None:
        """Bring the user's settings back and wait until they are in force; again does nothing."""
        self._posted.emit(self._give_back)
        deadline_s = time.monotonic() + _GIVING_BACK_S
        while not (self._is_shut or self._given_back.wait(_SLICE_S)):
            if time.monotonic() >= deadline_s:
                return

    def shut(self) -> None:
        """The window closes: stop, and wait for nothing. Called in the GUI thread."""
        self._is_stopping = self._is_shut = True
        self._leave()

    # --- In the experiment's thread -----------------------------------------------------

    def _refuse_work(self) -> None:
        if self._is_stopping:
            self._has_said_stop = True
            raise StoppedError(STOPPED)

    def _forget_what_came(self) -> None:
        while _taken(self._events, 0.0) is not None:
            pass
        while _taken(self._answers, 0.0) is not None:
            pass

    def _answer(self) -> Applied:
        while True:
            self._stop_if_told()
            if self._fault:
                raise PortError(self._fault)
            match _taken(self._answers, _SLICE_S):
                case Applied() as applied:
                    return applied
                case Problem() as problem:
                    raise ConfigRefusedError(problem)
                case str() as sentence:
                    raise EngineGoneError(sentence)
                case _:
                    pass

    def _stop_if_told(self) -> None:
        if self._is_stopping and not self._has_said_stop:
            self._refuse_work()

    def _await_peak(self, threads: int) -> None:
        """Wait until the peak of a new number of threads is measured, which takes a second."""
        deadline_s = time.monotonic() + _PEAK_S
        while threads not in self._peaks and (left_s := deadline_s - time.monotonic()) > 0:
            self.next_event(min(left_s, 1.0))
        known = self._peaks.setdefault(threads, 0.0)
        self._peak_bytes_per_s = known or self._peak_bytes_per_s

    # --- In the GUI thread --------------------------------------------------------------

    def _on_posted(self, call: Callable[[], None]) -> None:
        if not self._is_shut:
            call()

    def _send(self, command: Command) -> None:
        if not self._client.send(command) and isinstance(command, Generate):
            problem = Problem((), self._client.refusal)
            self._put(Refused("generate", command.request_id, problem))

    def _put(self, event: Event) -> None:
        try:
            self._events.put_nowait(event)
        except queue.Full:
            self._fault = _OVERRUN

    def _on_event_received(self, event: Event) -> None:
        if isinstance(event, BandwidthMeasured):
            self._peaks[event.threads] = self._peak_bytes_per_s = event.peak_bytes_per_s
            self.is_peak_lower_bound = event.is_lower_bound
        if isinstance(event, _OF_ALL):
            self._put(event)
        elif isinstance(event, _OF_REQUESTS):
            if event.request_id >= self._first:
                self._put(event)
            elif isinstance(event, TokensDelivered | RequestStarted):
                self._foreign.add(event.request_id)

    def _on_engine_died(self, reason: DeathReason) -> None:
        self._peaks.clear()  # another process measures anew
        self._gone = reason.cause

    def _on_change_ended(self, result: object) -> None:
        if self._is_giving_back:
            self._go_on_giving_back(result)
            return
        if isinstance(result, Applied):
            self._config = result.config
        self._answers.put(result)

    def _on_applied_changed(self, applied: Applied | None) -> None:
        if self._change.is_under_way or self._is_giving_back or self._is_stopping:
            return
        if applied is None or applied.config != self._config:
            self._fault = _CHANGED
        is_loading = self._session.work == "load"  # by the user, while the experiment's came
        if applied is not None and self._config is not None and not is_loading:
            self._users.note_applied(self._config, applied.config)
            self._users.follow_model(applied.config)

    def _on_wanted_changed(self, wanted: EngineConfig) -> None:
        self._users.note_wanted(wanted, is_own=self._change.is_acting)

    def _on_overruled(self) -> None:
        """The user opened a model while the experiment was changing settings."""
        self._fault = _CHANGED
        if self._session.tried is not None:
            self._users.follow_model(self._session.tried)

    def _give_back(self) -> None:
        if self._is_giving_back or self._is_shut:
            return
        self._is_giving_back = True
        if self._users.config is None or self._session.applied is None:
            self._finish_giving_back()
        else:
            self._change.begin(self._users.config)

    def _go_on_giving_back(self, result: object) -> None:
        """The user's model may have been refused: then it is the one that runs."""
        applied, users = self._session.applied, self._users
        has_other = applied is not None and users.follow_model(applied.config)
        if isinstance(result, Problem) and has_other and users.config is not None:
            self._change.begin(users.config)
        else:
            self._finish_giving_back()

    def _finish_giving_back(self) -> None:
        if self._given_back.is_set():
            return
        # What waited for the user's Apply waits for it again.
        self._session.try_out(self._users.wanted)
        self._leave()
        if self._kept is not None:
            self._kept.note_wanted(self._session.wanted)
        self._given_back.set()

    def _leave(self) -> None:
        """Listen no more; what is wanted from now on is the user's."""
        if self._has_left:
            return
        self._has_left = True
        if self._kept is not None:
            self._kept.hold(is_trying_out=False)
        self._change.give_up()
        self._client.event_received.disconnect(self._on_event_received)
        self._client.engine_died.disconnect(self._on_engine_died)
        self._session.applied_changed.disconnect(self._on_applied_changed)
        self._session.wanted_changed.disconnect(self._on_wanted_changed)


def _taken(waiting: queue.Queue[_T] | queue.SimpleQueue[_T], timeout_s: float) -> _T | None:
    """The oldest of those who wait, None if none comes in time."""
    try:
        return waiting.get(timeout=timeout_s) if timeout_s > 0 else waiting.get_nowait()
    except queue.Empty:
        return None
