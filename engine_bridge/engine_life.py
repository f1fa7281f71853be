"""The life of one engine process as the window sees it: greeting, work, silence, death.

Pure: told what was sent, what came in and how it ended; says what state that is and why. A new
process gets a new life, so that nothing of an old one can be mistaken for it.
"""

from __future__ import annotations

import time
from enum import IntEnum

import msgspec

from engine_bridge.client_limits import ClientLimits
from engine_bridge.engine_state import (
    DeathKind,
    DeathReason,
    EngineState,
    LastMemory,
    death_by_exit,
    death_by_signal,
    recent,
)
from engine_bridge.event_reader import EventReader
from engine_bridge.hardware.oom import oom_kills
from engine_bridge.outstanding import Outstanding
from engine_bridge.pipe_text import StderrTail
from engine_bridge.protocol import Command, Event, Hello, MemoryMeasured, encode
from engine_bridge.stall_watch import StallWatch


class CommandRefusedError(Exception):
    """A command that cannot be sent; the message is a sentence for the user."""


class Stage(IntEnum):
    """How far a life is; it only ever moves on.

    ``ending``: told to shut down. ``condemned``: declared dead and killed, not yet gone.
    """

    UNBORN = 0
    RUNNING = 1
    ENDING = 2
    CONDEMNED = 3
    OVER = 4


class EngineLife:
    """One engine process.

    Attributes:
        stage: How far it is.
        pid: Process number once it runs, 0 before.
        exit_code: Exit code, or the signal's number where ``is_crash``; None while it runs.
        is_crash: Whether a signal ended it.
        reader: Its output.
        stderr: What it wrote for people.
        is_stall_suspected: Whether it has work but does not move.
    """

    def __init__(self, limits: ClientLimits) -> None:
        """A process that is yet to be started."""
        self.stage = Stage.UNBORN
        self.pid = 0
        self.exit_code: int | None = None
        self.is_crash = False
        self.reader = EventReader(limits)
        self.stderr = StderrTail()
        self.is_stall_suspected = False
        self._limits = limits
        self._outstanding = Outstanding()
        self._watch: StallWatch | None = None
        self._memory: MemoryMeasured | None = None
        self._oom_kills: int | None = None

    @property
    def hello(self) -> Hello | None:
        """How it introduced itself; None before that."""
        return self.reader.hello

    @property
    def state(self) -> EngineState:
        """What it is doing."""
        if self.stage in (Stage.UNBORN, Stage.CONDEMNED, Stage.OVER):
            return EngineState.DEAD
        return EngineState.STARTING if self.hello is None else self._outstanding.state

    @property
    def doing(self) -> str:
        """What it is at, to follow "while"."""
        return "starting" if self.hello is None else self._outstanding.doing

    @property
    def has_work(self) -> bool:
        """Whether it owes an answer, the first greeting included."""
        return self.stage is Stage.RUNNING and self.state is not EngineState.READY

    def was_born(self, pid: int) -> None:
        """The process runs."""
        self.pid = pid
        limits = self._limits
        self._watch = StallWatch(pid, limits.stall_after_s, time.monotonic(), limits.spin_after_s)
        self._oom_kills = oom_kills()

    def line_of(self, command: Command, unsent_bytes: int) -> bytes:
        """``command`` as it goes through the pipe, in which ``unsent_bytes`` still wait.

        Raises:
            CommandRefusedError: If it cannot be sent.
        """
        if self.stage is Stage.ENDING:
            raise CommandRefusedError("The engine is being shut down.")
        if self.stage is not Stage.RUNNING or self.exit_code is not None:
            raise CommandRefusedError("The engine is not running; restart it.")
        if unsent_bytes > self._limits.max_unsent_bytes:
            raise CommandRefusedError("The engine does not read what it is sent; restart it.")
        try:
            return encode(command)
        except (msgspec.MsgspecError, ValueError) as error:
            # A file name whose bytes are no UTF-8 gets here as surrogates.
            raise CommandRefusedError(
                f"The engine cannot be told this: it holds text that is no Unicode ({error})."
            ) from None

    def sent(self, command: Command) -> None:
        """A command went to it."""
        self._outstanding.sent(command)
        self.note_progress()

    def received(self, event: Event) -> None:
        """It said something."""
        self._outstanding.received(event)
        if isinstance(event, MemoryMeasured):
            # This one comes from a thread of its own, which says nothing about the engine.
            self._memory, self._oom_kills = event, oom_kills()
        else:
            self.note_progress()

    def note_progress(self) -> None:
        """It moves."""
        if self._watch is not None:
            self._watch.note_progress(time.monotonic())

    def is_stalled(self) -> bool:
        """Whether nothing has moved for too long; to be asked regularly while it has work."""
        if self._watch is None or not self.has_work:
            return False
        return self._watch.is_stalled(time.monotonic())

    def stall_sentence(self) -> str:
        """What to tell the user about a stall."""
        if self._watch is not None and self._watch.spins(time.monotonic()):
            return (
                f"The engine seems to hang while {self.doing}: for "
                f"{self._limits.spin_after_s:.0f} s it has computed without getting on. Wait if "
                "something unusually large is under way, else restart it."
            )
        return (
            f"The engine seems to hang while {self.doing}: for {self._limits.stall_after_s:.0f} s "
            "it has neither computed nor said anything. Wait if a disk or another machine is "
            "slow, else restart it."
        )

    def ended(self) -> DeathReason:
        """Why it is gone, after it left or was ended without the window's doing."""
        assert self.exit_code is not None
        lines, times_s, lost = (
            self.stderr.lines(), self.stderr.times_s(), self._outstanding.request_ids,
        )  # fmt: skip
        telling = recent(lines, times_s, time.time())
        if self.is_crash:
            death = death_by_signal(self.exit_code, self.doing, telling, lost, self._last_memory())
        else:
            death = death_by_exit(self.exit_code, self.doing, telling, lost)
        return msgspec.structs.replace(death, stderr=lines, stderr_times_s=times_s)

    def _last_memory(self) -> LastMemory:
        kills = oom_kills()
        has_run_out = None not in (kills, self._oom_kills) and kills != self._oom_kills
        for device in self._memory.devices if self._memory else ():
            if device.kind == "cpu":
                return LastMemory(device.free, device.total, has_run_out)
        return LastMemory(has_run_out=has_run_out)

    def broken(self, what: str) -> DeathReason:
        """Ended by the window because it does not keep to the protocol; ``what`` says how."""
        return self._put_down(
            DeathKind.BROKEN,
            f"{what} It was ended; your conversations are kept. Restart it; if this comes again, "
            "the installation is mixed from two versions: reinstall it.",
        )

    def replaced(self) -> DeathReason:
        """Ended because the user asked for another one."""
        return self._put_down(DeathKind.REPLACED, "The engine was restarted at your request.")

    def not_started(self, program: str, why: str) -> DeathReason:
        """Never came to life."""
        return self._put_down(
            DeathKind.NOT_STARTED,
            f"The engine could not be started ({why}). Is {program} still there? If not, "
            "reinstall TuneDeck.",
        )

    def _put_down(self, kind: DeathKind, sentence: str) -> DeathReason:
        return DeathReason(
            kind,
            sentence,
            self.doing,
            stderr=self.stderr.lines(),
            lost_request_ids=self._outstanding.request_ids,
        )
