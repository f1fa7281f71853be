"""The window's end of the engine process.

Starts the process by name, speaks the protocol with it, and turns its death, whatever the cause,
into a state and a sentence. The only file of this package that knows Qt; never blocks its event
loop, and never raises out of a slot for anything that the other side does.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QProcess, QProcessEnvironment, QTimer, Signal

from engine_bridge.client_limits import ClientLimits
from engine_bridge.engine_life import CommandRefusedError, EngineLife, Stage
from engine_bridge.engine_process import (
    HAS_SESSIONS,
    WITHHELD_VARIABLES,
    added_variables,
    kill_session,
)
from engine_bridge.engine_state import DeathReason, EngineState
from engine_bridge.event_reader import BrokenEngineError
from engine_bridge.outstanding import PlanQueue
from engine_bridge.protocol import Command, Event, Hello, Plan, PlanReady, Refused, Shutdown
from engine_bridge.settings.config import EngineConfig

# Milliseconds that close_now waits after each step; three seconds together.
_CLOSING_WAITS_MS = (1500, 500, 1000)


class EngineClient(QObject):
    """One engine process at a time, and the conversation with it.

    Signals:
        event_received: Every decoded ``Event``, in order.
        state_changed: The new ``EngineState``; before the event that caused it.
        engine_died: A ``DeathReason``: the engine is gone and was not told to shut down. Every
            request outstanding is lost.
        stderr_received: New lines of its stderr, joined by line feeds; of a flood only the last.
        stall_suspected: A sentence: it has work but neither speaks nor computes. Nothing is ended.
        stall_ended: It moves again after all, or is gone.
    """

    event_received = Signal(object)
    state_changed = Signal(object)
    engine_died = Signal(object)
    stderr_received = Signal(str)
    stall_suspected = Signal(str)
    stall_ended = Signal()

    def __init__(
        self,
        program: str | None = None,
        arguments: Sequence[str] | None = None,
        limits: ClientLimits | None = None,
        parent: QObject | None = None,
    ) -> None:
        """Prepare ``program`` (this Python) with ``arguments`` (the engine's module)."""
        super().__init__(parent)
        self._program = program or sys.executable
        self._arguments = list(arguments or ("-m", "engine_bridge.child"))
        self._limits = limits or ClientLimits()
        self._life = EngineLife(self._limits)
        self._process: QProcess | None = None
        self._state = EngineState.DEAD
        self._death: DeathReason | None = None
        self._refusal = ""
        self._plans = PlanQueue()
        self._farewells: deque[Callable[[], None]] = deque()
        self._wants_restart = False
        self._turn_timer = self._timer(0.0, self._hand_out_events)
        self._plan_timer = self._timer(self._limits.plan_deadline_s, self._on_plan_overdue)
        self._deaf_timer = self._timer(self._limits.grace_s, self._on_still_deaf)
        self._farewell_timer = self._timer(self._limits.grace_s, self._on_farewell_overdue)
        self._stall_timer = self._timer(self._limits.stall_after_s / 15, self._on_stall_check)
        self._stall_timer.setSingleShot(False)

    def _timer(self, interval_s: float, slot: Callable[[], None]) -> QTimer:
        timer = QTimer(self, singleShot=True, interval=round(interval_s * 1000))
        timer.timeout.connect(slot)
        return timer

    @property
    def state(self) -> EngineState:
        """What the engine is doing."""
        return self._state

    @property
    def death(self) -> DeathReason | None:
        """Why it died; None while it lives, before the first start and after a shutdown."""
        return self._death

    @property
    def hello(self) -> Hello | None:
        """How the running or the latest engine introduced itself; None before that."""
        return self._life.hello

    @property
    def pid(self) -> int:
        """Process number; 0 without a process."""
        return self._life.pid if self._process is not None else 0

    @property
    def refusal(self) -> str:
        """Why the last command was not sent, for the user; empty if it was."""
        return self._refusal

    def last_stderr(self) -> tuple[str, ...]:
        """The last lines of stderr of the running or the latest process, oldest first."""
        return self._life.stderr.lines()

    def start(self) -> None:
        """Start the process; does nothing while one runs."""
        if self._process is not None:
            # One that is being killed is replaced as soon as it is gone.
            self._wants_restart = self._wants_restart or self._life.stage is Stage.CONDEMNED
            return
        self._death = None
        self._life = EngineLife(self._limits)
        self._life.stage = Stage.RUNNING
        process = QProcess(self)
        process.setProgram(self._program)
        process.setArguments(self._arguments)
        process.setProcessEnvironment(_environment())
        if HAS_SESSIONS:
            # Ctrl+C in the terminal then reaches the window alone, which ends the engine in good
            # order; and whatever the engine started can be ended with it.
            process.setUnixProcessParameters(QProcess.UnixProcessFlag.CreateNewSession)
        process.started.connect(self._on_process_started)
        process.readyReadStandardOutput.connect(self._on_output_ready)
        process.readyReadStandardError.connect(self._on_stderr_ready)
        process.errorOccurred.connect(self._on_process_error)
        process.finished.connect(self._on_process_finished)
        self._process = process
        self._farewells = deque((process.closeWriteChannel, process.terminate, self._kill))
        self._update_state()
        process.start()

    def send(self, command: Command) -> bool:
        """Send a command.

        Returns:
            Whether it was sent; if not, ``refusal`` says why.
        """
        if isinstance(command, Shutdown):
            self.shutdown()
            return True
        self._refusal = self._write(command)
        if self._refusal:
            return False
        self._life.sent(command)
        self._update_state()
        return True

    def plan(self, config: EngineConfig) -> int | None:
        """Ask what ``config`` would occupy; of questions in a row only the newest is kept.

        Returns:
            The ``plan_id`` of the answer, ``PlanReady`` or ``Refused``; None if there is no engine
            to ask, and ``refusal`` says why.
        """
        plan_id, command = self._plans.offer(config)
        return plan_id if self._send_plan(command) else None

    def restart(self) -> None:
        """Start a new process; one that runs is ended at once, and its death is announced."""
        if self._process is None:
            self.start()
            return
        self._wants_restart = True
        if self._life.exit_code is None:
            self._condemn(self._life.replaced())

    def shutdown(self) -> None:
        """End the process in good order; ``state_changed`` tells when it is gone.

        It is told to, then loses its input, then is asked by the system, then is killed; each
        step has ``grace_s`` seconds.
        """
        self._wants_restart = False
        if self._process is None or self._life.stage is not Stage.RUNNING:
            return
        self._write(Shutdown())
        self._life.stage = Stage.ENDING
        self._expect_nothing()
        self._farewell_timer.start()

    def close_now(self) -> None:
        """End the process and wait for its end, three seconds at most: for leaving the program."""
        self._wants_restart = False
        process = self._process
        if process is None:
            return
        self.shutdown()
        self._farewell_timer.stop()
        # What it still says is of no use to a window that is gone.
        self._life.stage = Stage.CONDEMNED
        for wait_ms in _CLOSING_WAITS_MS:
            self._take_next_farewell()
            process.waitForFinished(wait_ms)
            if process.state() is QProcess.ProcessState.NotRunning:
                break
        if self._process is process and self._life.exit_code is not None:
            self._conclude()

    # --- Inside -------------------------------------------------------------------------

    def _write(self, command: Command) -> str:
        """Write a command; returns why it could not be, or nothing."""
        process = self._process
        try:
            line = self._life.line_of(command, process.bytesToWrite() if process else 0)
        except CommandRefusedError as error:
            return str(error)
        is_written = process is not None and process.write(line) >= 0
        return "" if is_written else "The engine no longer listens; restart it."

    def _send_plan(self, command: Plan | None) -> bool:
        if command is None:
            return True
        self._plan_timer.start()
        if self.send(command):
            return True
        self._plans.clear()
        return False

    def _on_plan_overdue(self) -> None:
        self._send_plan(self._plans.give_up())

    def _on_output_ready(self) -> None:
        if self._process is None:
            return
        chunk = bytes(self._process.readAllStandardOutput().data())
        if self._life.stage is Stage.CONDEMNED:
            return
        try:
            self._life.reader.feed(chunk)
        except BrokenEngineError as error:
            self._condemn(self._life.broken(str(error)))
            return
        if not self._turn_timer.isActive():
            self._hand_out_events()

    def _hand_out_events(self) -> None:
        """Decode and emit for a few milliseconds; the rest follows in the loop's next turns."""
        deadline = time.perf_counter() + self._limits.turn_s
        while self._life.reader.has_waiting:
            try:
                event = self._life.reader.next_event()
            except BrokenEngineError as error:
                self._condemn(self._life.broken(str(error)))
                break
            self._hand_out(event)
            if time.perf_counter() >= deadline:
                break
        if self._life.reader.has_waiting:
            self._turn_timer.start()
        elif self._life.exit_code is not None:
            self._conclude()

    def _hand_out(self, event: Event) -> None:
        self._life.received(event)
        self._update_state()
        self.event_received.emit(event)
        match event:
            case PlanReady(plan_id=number) | Refused(command="plan", request_id=number):
                self._send_plan(self._plans.answered(number))

    def _on_stderr_ready(self) -> None:
        if self._process is None:
            return
        lines = self._life.stderr.feed(bytes(self._process.readAllStandardError().data()))
        self._life.note_progress()
        if lines:
            self.stderr_received.emit("\n".join(lines))

    def _update_state(self) -> None:
        """Announce the state if it is a new one, and watch for a stall while there is work."""
        if not self._life.has_work:
            self._stall_timer.stop()
            self._on_stall_check()
        elif not self._stall_timer.isActive():
            self._stall_timer.start()
        if self._life.state is not self._state:
            self._state = self._life.state
            self.state_changed.emit(self._state)

    def _on_stall_check(self) -> None:
        is_stalled = self._life.is_stalled()
        if is_stalled == self._life.is_stall_suspected:
            return
        self._life.is_stall_suspected = is_stalled
        if is_stalled:
            self.stall_suspected.emit(self._life.stall_sentence())
        else:
            self.stall_ended.emit()

    def _on_process_started(self) -> None:
        if self._process is not None:
            self._life.was_born(self._process.processId())

    def _on_process_error(self, error: QProcess.ProcessError) -> None:
        if self._process is None:
            return
        if error is QProcess.ProcessError.FailedToStart:
            reason = self._life.not_started(self._program, self._process.errorString())
            self._release()
            self._die(reason)
        elif error is QProcess.ProcessError.WriteError and self._life.stage is Stage.RUNNING:
            # Mostly the first sign of a death whose cause is about to be known; a process that is
            # still there after a while has closed its ears.
            self._deaf_timer.start()

    def _on_still_deaf(self) -> None:
        self._condemn(self._life.broken("The engine no longer listens to commands."))

    def _condemn(self, reason: DeathReason) -> None:
        """Declare the engine dead now and kill it; a restart waits until it is gone."""
        self._life.reader.clear()
        # One that is being shut down is on its way out whatever it says.
        if self._life.stage is Stage.RUNNING:
            self._life.stage = Stage.CONDEMNED
            self._kill()
            self._die(reason)

    def _kill(self) -> None:
        if self._process is not None and not kill_session(self._life.pid):
            self._process.kill()

    def _on_farewell_overdue(self) -> None:
        self._take_next_farewell()
        self._farewell_timer.start()

    def _take_next_farewell(self) -> None:
        if self._farewells:
            self._farewells.popleft()()

    def _on_process_finished(self, exit_code: int, status: QProcess.ExitStatus) -> None:
        self._deaf_timer.stop()
        self._on_stderr_ready()
        self._life.exit_code = exit_code
        self._life.is_crash = status is QProcess.ExitStatus.CrashExit
        # What the engine said before it died still counts; the last event concludes.
        self._on_output_ready()
        if self._life.stage is Stage.CONDEMNED:
            self._conclude()

    def _conclude(self) -> None:
        """The process is gone and what it said has been handed out."""
        if self._process is None:
            return
        was_running = self._life.stage is Stage.RUNNING
        reason = self._life.ended()
        # Throwaway processes that the engine had no time to end.
        kill_session(self._life.pid)
        self._release()
        if was_running:
            self._die(reason)
        else:
            self._update_state()
        if self._wants_restart:
            self._wants_restart = False
            self.start()

    def _release(self) -> None:
        if self._process is not None:
            self._process.deleteLater()
        self._process = None
        self._life.stage = Stage.OVER
        self._life.reader.clear()
        self._turn_timer.stop()
        self._farewell_timer.stop()

    def _die(self, reason: DeathReason) -> None:
        self._death = reason
        self._expect_nothing()
        self._update_state()
        self.engine_died.emit(reason)

    def _expect_nothing(self) -> None:
        """No answer will come any more."""
        self._plans.clear()
        self._plan_timer.stop()
        self._deaf_timer.stop()
        self._stall_timer.stop()


def _environment() -> QProcessEnvironment:
    """The window's environment, with what the engine needs and without what it must not have."""
    environment = QProcessEnvironment.systemEnvironment()
    for name, value in added_variables(environment.value("PYTHONPATH")).items():
        environment.insert(name, value)
    for name in WITHHELD_VARIABLES:
        environment.remove(name)
    return environment
