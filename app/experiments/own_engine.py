"""An engine process of an experiment's own, for the command line: started, watched, ended.

Says of a dead engine what the window would say. An engine that died is replaced with the next
``apply``, so that a sweep survives a configuration that ends the engine.
"""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from app.experiments.own_process import OwnProcess, engine_arguments
from app.experiments.port import ConfigRefusedError, EngineGoneError, PortError, StoppedError
from engine_bridge.client_limits import ClientLimits
from engine_bridge.engine_life import CommandRefusedError, EngineLife, Stage
from engine_bridge.event_reader import BrokenEngineError
from engine_bridge.own_failure import last_words
from engine_bridge.protocol import (
    Applied,
    Apply,
    BandwidthMeasured,
    CancelLoad,
    Command,
    Event,
    Generate,
    Hello,
    Load,
    LoadProgressed,
    Refused,
    Shutdown,
    Unloaded,
    encode,
)
from engine_bridge.settings.config import EngineConfig

# A stop is noticed after so long at most.
_SLICE_S = 0.1
# How often it is looked whether the engine still moves.
_LOOK_S = 1.0
# Reading the peak takes the engine about a second; one that cannot read it says so in its log only.
_PEAK_S = 20.0
# How long the engine may take to end in good order: it frees its memory.
_FAREWELL_S = 3.0
STOPPED = "The experiment was stopped."
# Nobody is there to judge a silence, so a longer one than in the window is borne.
_LIMITS = ClientLimits(stall_after_s=60.0)


class OwnEngine:
    """An ``EnginePort`` to a process started here; a context manager, for it must be closed.

    Only ``stop`` may be called from another thread or a signal handler. The thread that makes it
    (or calls ``apply`` after a death) must live as long as the engine, which ends with it.

    Attributes:
        peak_bytes_per_s: Peak read bandwidth at the threads of the present configuration, as the
            engine measured it last; 0 before that.
        is_peak_lower_bound: Whether other programs took the cores meanwhile: it may be higher.

    Args:
        arguments: What starts the engine.
        limits: What is borne of it.
        awaits_peak: Whether ``apply`` waits until the peak of a new number of threads is measured,
            about a second: else that would take memory bandwidth from the first run.

    Raises:
        EngineGoneError: If it cannot be started.
    """

    def __init__(
        self,
        arguments: Sequence[str] | None = None,
        limits: ClientLimits = _LIMITS,
        *,
        awaits_peak: bool = True,
    ) -> None:
        """Start the process and wait for its greeting."""
        self.peak_bytes_per_s = 0.0
        self.is_peak_lower_bound = False
        self._arguments = arguments or engine_arguments()
        self._limits = limits
        self._awaits_peak = awaits_peak
        self._numbers = itertools.count(1)
        self._is_stopping = self._has_said_stop = False
        self._process: OwnProcess | None = None
        self._gone = "The engine is not running."
        self._hello: Hello | None = None
        self._looked_s = 0.0
        self._loaded = ""  # the file of the model that runs, empty without one
        self._peaks: dict[int, float] = {}  # of this process, by threads
        self._life = EngineLife(limits)
        self._begin()

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the process."""
        self.close()

    # --- What a port does ---------------------------------------------------------------

    @property
    def hello(self) -> Hello:
        """How the running or the latest engine introduced itself."""
        assert self._hello is not None
        return self._hello

    @property
    def pid(self) -> int:
        """Its process; 0 while there is none."""
        return 0 if self._process is None else self._process.pid

    @property
    def now_ns(self) -> int:
        """The time by the engine's clock: processes of one machine share it."""
        return time.perf_counter_ns()

    def next_id(self) -> int:
        """Count on."""
        return next(self._numbers)

    def stop(self) -> None:
        """Make the next wait, or the one under way, raise ``StoppedError``; no new work after."""
        self._is_stopping = True

    def take_disturbances(self) -> tuple[str, ...]:
        """None: nobody else uses this engine."""
        return ()

    def apply(self, config: EngineConfig) -> Applied:
        """Run ``config``; starts an engine where the one before died.

        Raises:
            ConfigRefusedError: If it is refused; the engine goes on with what it had.
            EngineGoneError: If the engine died of it.
            StoppedError: If ``stop`` was called.
            PortError: If ``config`` cannot be sent.
        """
        self._refuse_work()
        if self._process is None:
            self._begin()
        try:
            while self._receive(0.0) is not None:  # a model may be gone that was there
                pass
            applied = self._change(config)
            if self._awaits_peak:
                self._await_peak(applied.effective.threads)
        except StoppedError:
            with contextlib.suppress(PortError):
                self.send(CancelLoad())
            raise
        known = self._peaks.get(applied.effective.threads)
        self.peak_bytes_per_s = known or self.peak_bytes_per_s
        return applied

    def send(self, command: Command) -> None:
        """Send a command.

        Raises:
            EngineGoneError: If the engine died.
            StoppedError: If it would be new work and ``stop`` was called.
            PortError: If it cannot be sent.
        """
        if isinstance(command, Generate | Load | Apply):
            self._refuse_work()
        process = self._living()
        try:
            line = self._life.line_of(command, process.unsent_bytes)
        except CommandRefusedError as error:
            raise PortError(str(error)) from None
        process.send(line)
        self._life.sent(command)

    def next_event(self, timeout_s: float) -> Event | None:
        """The next event in order, None if none comes in ``timeout_s``.

        Raises:
            EngineGoneError: If the engine died, or hangs and was ended for it.
            StoppedError: If ``stop`` was called; once.
        """
        return self._receive(timeout_s)

    def close(self) -> None:
        """End the process in good order, or at once if it does not; again does nothing."""
        process, self._process = self._process, None
        if process is None:
            return
        self._life.stage = Stage.ENDING
        self._gone = "The engine was ended."
        try:
            process.send(encode(Shutdown()))
        finally:
            process.leave(_FAREWELL_S)

    # --- Life and death -----------------------------------------------------------------

    def _begin(self) -> None:
        """Start a process and wait for its greeting."""
        self._life = EngineLife(self._limits)
        self._life.stage = Stage.RUNNING
        self._loaded, self._peaks = "", {}
        try:
            self._process = OwnProcess(self._arguments, self._take_stderr)
        except OSError as error:
            death = self._life.not_started(self._arguments[0], str(error))
            raise EngineGoneError(death.sentence) from None
        self._life.was_born(self._process.pid)
        try:
            while not isinstance(self._receive(_LOOK_S), Hello):
                pass
        except BaseException:
            self._kill()
            raise

    def _take_stderr(self, chunk: bytes) -> None:
        """Called in the thread that reads stderr; nobody else looks before that thread is over."""
        self._life.stderr.feed(chunk)
        self._life.note_progress()

    def _living(self) -> OwnProcess:
        if self._process is None:
            raise EngineGoneError(self._gone)
        return self._process

    def _kill(self) -> None:
        process, self._process = self._process, None
        self._life.reader.clear()
        if process is not None:
            process.kill()

    def _bury(self, process: OwnProcess) -> EngineGoneError:
        """Its output is at its end: the error that says why."""
        status = process.wait(self._limits.grace_s)
        self._kill()
        if status is None:  # it closed its output and lives on
            death = self._life.broken("The engine no longer speaks.")
        else:
            self._life.exit_code, self._life.is_crash = abs(status), status < 0
            death = self._life.ended()
        self._life.stage = Stage.OVER
        # What only the window has: conversations, and a button to restart.
        self._gone = death.cause
        return EngineGoneError(self._gone)

    def _break(self, error: BrokenEngineError) -> EngineGoneError:
        """It does not keep to the protocol: the error that says so."""
        self._kill()
        return self._lost(self._life.broken(str(error)).sentence)

    def _lost(self, sentence: str) -> EngineGoneError:
        """It was ended from here: the error that says why, with its last words."""
        self._life.stage = Stage.OVER
        self._gone = sentence + last_words("\n".join(self._life.stderr.lines()))
        return EngineGoneError(self._gone)

    def _look(self, process: OwnProcess) -> None:
        """Bury an engine that is gone, end one that has work and does not move."""
        now_s = time.monotonic()
        if now_s - self._looked_s < _LOOK_S:
            return
        self._looked_s = now_s
        if process.wait(0.0) is not None:  # something it started still holds its pipe
            raise self._bury(process)
        if self._life.is_stalled():
            sentence = f"{self._life.stall_sentence()} It was ended."
            self._kill()
            raise self._lost(sentence)

    # --- Inside -------------------------------------------------------------------------

    def _refuse_work(self) -> None:
        if self._is_stopping:
            self._has_said_stop = True
            raise StoppedError(STOPPED)

    def _receive(self, timeout_s: float) -> Event | None:
        deadline_s = time.monotonic() + timeout_s
        while True:
            if self._is_stopping and not self._has_said_stop:
                self._refuse_work()
            event = self._waiting_event()
            if event is not None:
                return event
            left_s = deadline_s - time.monotonic()
            if not self._listen(max(0.0, min(left_s, _SLICE_S))) and left_s <= 0:
                return None

    def _waiting_event(self) -> Event | None:
        reader = self._life.reader
        try:
            return self._taken(reader.next_event()) if reader.has_waiting else None
        except BrokenEngineError as error:
            raise self._break(error) from None

    def _listen(self, timeout_s: float) -> bool:
        """Take in what the engine says; False if it says nothing in time."""
        process = self._living()
        chunk = process.receive(timeout_s)
        if chunk is None:
            self._look(process)
            return False
        if not chunk:
            raise self._bury(process)
        try:
            self._life.reader.feed(chunk)
        except BrokenEngineError as error:
            raise self._break(error) from None
        return True

    def _taken(self, event: Event) -> Event:
        """``event``, noted."""
        self._life.received(event)
        match event:
            case Hello():
                self._hello = event
            case Applied():
                self._loaded = event.config.model_path
            case Unloaded():
                self._loaded = ""
            case BandwidthMeasured():
                self._peaks[event.threads] = self.peak_bytes_per_s = event.peak_bytes_per_s
                self.is_peak_lower_bound = event.is_lower_bound
            case _:
                pass
        return event

    def _change(self, config: EngineConfig) -> Applied:
        """Load or change; waits as long as the engine gets on."""
        number = self.next_id()
        is_load = self._loaded != config.model_path or not self._loaded
        self.send(Load(number, config) if is_load else Apply(number, config))
        was_refused_at_once = not is_load
        while True:
            match self._receive(_LOOK_S):
                case Applied(request_id=answered) as applied if answered == number:
                    return applied
                case LoadProgressed(request_id=answered) if answered == number:
                    was_refused_at_once = False
                case Refused(command="load" | "apply", request_id=answered, problem=problem) if (
                    answered == number
                ):
                    if was_refused_at_once and not self._loaded:
                        return self._change(config)  # the model was lost a moment before
                    raise ConfigRefusedError(problem)
                case _:
                    pass

    def _await_peak(self, threads: int) -> None:
        deadline_s = time.monotonic() + _PEAK_S
        while threads not in self._peaks and (left_s := deadline_s - time.monotonic()) > 0:
            self._receive(min(left_s, _LOOK_S))
        self._peaks.setdefault(threads, 0.0)  # not waited for again
