"""What state the engine process is in, and why it ended when it did.

Pure: turns an exit status, the last lines of stderr and what was under way into a sentence for the
user. Must not know Qt or how the process was started.
"""

from __future__ import annotations

import signal
from collections.abc import Sequence
from enum import StrEnum

import msgspec

from engine_bridge.memory_fault import MemoryFault, fault_in

GO_ON = "Your conversations are kept; restart the engine to go on."
"""Ends the sentence of a death for the window; others leave it out."""

# A line of stderr is quoted in a sentence up to this many characters.
_QUOTED_CHARACTERS = 240
_TELLING_WORDS = ("ggml_assert", "error", "failed", "out of memory", "terminate called", "abort")
_SMALLER = "Try a smaller context, fewer slots or a quantised cache."
# Below this share of main memory a system begins to end programs.
_SHORT_SHARE = 0.05
# What was said longer before the end is hardly its cause.
_TELLING_S = 60.0
# Lines that a library says of one failed allocation, and the end that it comes to.
_LAST_LINES = 8
# What ggml's RPC backend ends the process with when a worker hangs up.
_WORKER_LOST = "Remote RPC server crashed"
_WHY_BY_SIGNAL = {
    "SIGABRT": "llama.cpp gave up on a fault it cannot recover from.",
    "SIGILL": "llama.cpp was built for another processor: reinstall TuneDeck on this machine.",
    "SIGSEGV": "That is a fault inside llama.cpp or a driver.",
    "SIGBUS": "The model file became shorter or its drive went away while it was mapped, or memory "
    "ran out. Put the whole file back or use a copy on a local disk; the load mode none reads it "
    "once and then needs it no more.",
    "SIGTERM": "Another program asked it to end.",
}


class EngineState(StrEnum):
    """What the engine process is doing, as far as the window can tell.

    ``dead`` is also the state before the first start and after a shutdown.
    """

    STARTING = "starting"
    READY = "ready"
    LOADING = "loading"
    BUSY = "busy"
    DEAD = "dead"


class DeathKind(StrEnum):
    """How an engine process ended."""

    NOT_STARTED = "not started"
    EXITED = "exited"
    CRASHED = "crashed"
    BROKEN = "broken"
    REPLACED = "replaced"


class LastMemory(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Main memory shortly before an engine ended.

    Attributes:
        free_bytes: Free for programs when it was measured last; None if it never was.
        total_bytes: All of it; None if it never was measured.
        has_run_out: Whether the system ended some program for want of memory since then.
    """

    free_bytes: int | None = None
    total_bytes: int | None = None
    has_run_out: bool = False

    @property
    def was_short(self) -> bool:
        """Whether hardly any was free."""
        if self.free_bytes is None or not self.total_bytes:
            return False
        return self.free_bytes < _SHORT_SHARE * self.total_bytes


class DeathReason(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why an engine process is dead.

    Attributes:
        kind: ``exited`` by itself, ``crashed`` by a signal, ``broken`` where it was ended because
            it did not keep to the protocol, ``replaced`` where the user restarted it, ``not
            started`` where the program could not be run.
        sentence: What happened, why, and what to do, for the user.
        doing: What it was doing, as in "while …".
        exit_code: Its exit code; None where it ended by a signal or was ended by the window.
        signal_name: E.g. ``SIGSEGV``; empty without one.
        stderr: Its last lines on stderr, oldest first.
        stderr_times_s: When each of them came, in seconds since 1970; empty where unknown.
        lost_request_ids: Requests that will get no further event.
        has_lost_worker: Whether a remote worker that went away took it along.
        fault: The allocation it died of, None where memory was not the reason.
    """

    kind: DeathKind
    sentence: str
    doing: str
    exit_code: int | None = None
    signal_name: str = ""
    stderr: tuple[str, ...] = ()
    stderr_times_s: tuple[float, ...] = ()
    lost_request_ids: tuple[int, ...] = ()
    has_lost_worker: bool = False
    fault: MemoryFault | None = None

    @property
    def cause(self) -> str:
        """What happened and why: the sentence for those who start another engine themselves."""
        return self.sentence.removesuffix(GO_ON).rstrip()


def death_by_exit(
    exit_code: int, doing: str, stderr: Sequence[str], lost_request_ids: tuple[int, ...]
) -> DeathReason:
    """An engine that left by itself, which it never does unasked."""
    sentence = f"The engine ended with exit code {exit_code} while {doing}."
    if not exit_code:
        sentence = f"The engine ended by itself while {doing}."
    fault = _fault_in(stderr) if exit_code else None
    why = f"{fault.sentence} {_SMALLER}" if fault is not None else ""
    return DeathReason(
        DeathKind.EXITED,
        _joined(sentence, why, _quoted(stderr), GO_ON),
        doing,
        exit_code=exit_code,
        stderr=tuple(stderr),
        lost_request_ids=lost_request_ids,
        fault=fault,
    )


def death_by_signal(
    number: int,
    doing: str,
    stderr: Sequence[str],
    lost_request_ids: tuple[int, ...],
    memory: LastMemory | None = None,
) -> DeathReason:
    """An engine that the system ended: by a signal, on Windows by an exception code."""
    name = _signal_name(number)
    why = _why_killed(memory) if name == "SIGKILL" else _WHY_BY_SIGNAL.get(name, "")
    has_lost_worker = any(_WORKER_LOST in line for line in stderr)
    if has_lost_worker:
        why = "A remote worker went away, and llama.cpp cannot go on without it."
    fault = None if has_lost_worker else _fault_behind(name, stderr, memory)
    if fault is not None and name != "SIGKILL":
        why = f"{fault.sentence} {_SMALLER}"
    return DeathReason(
        DeathKind.CRASHED,
        _joined(f"The engine was ended by {name} while {doing}.", why, _quoted(stderr), GO_ON),
        doing,
        signal_name=name,
        stderr=tuple(stderr),
        lost_request_ids=lost_request_ids,
        has_lost_worker=has_lost_worker,
        fault=fault,
    )


def _fault_behind(
    signal_name: str, stderr: Sequence[str], memory: LastMemory | None
) -> MemoryFault | None:
    """The want of memory that may be behind a signal."""
    if signal_name != "SIGKILL":
        return _fault_in(stderr)
    is_short = memory is not None and (memory.has_run_out or memory.was_short)
    return MemoryFault() if is_short else None


def _fault_in(stderr: Sequence[str]) -> MemoryFault | None:
    """The want of memory that the very last lines tell of; earlier ones were survived."""
    return fault_in(stderr[-_LAST_LINES:])


def recent(lines: Sequence[str], times_s: Sequence[float], now_s: float) -> tuple[str, ...]:
    """Of the lines of a process that just ended those that may tell why."""
    pairs = zip(lines, times_s, strict=True)
    return tuple(line for line, at_s in pairs if at_s >= now_s - _TELLING_S)


def _why_killed(memory: LastMemory | None) -> str:
    """Nobody is told who sends this signal: what is known is said, and no more."""
    if memory is not None and memory.has_run_out:
        return f"System memory had run out, and the system ends programs then. {_SMALLER}"
    if memory is None or memory.free_bytes is None:
        return "Another program or the system did that."
    free = f"{memory.free_bytes / 2**30:,.1f} GiB of system memory"
    if memory.was_short:
        return f"Only {free} were free just before; the system ends programs then. {_SMALLER}"
    return f"Another program or the system did that; {free} were free just before."


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}" if 0 < number < 128 else f"0x{number & 0xFFFFFFFF:08X}"


def _quoted(stderr: Sequence[str]) -> str:
    """The last line of stderr with a telling word; any other would only mislead."""
    lines = [line.strip() for line in stderr if line.strip()]
    telling = [line for line in lines if any(word in line.lower() for word in _TELLING_WORDS)]
    if not telling:
        return ""
    line = telling[-1]
    if len(line) > _QUOTED_CHARACTERS:
        line = line[: _QUOTED_CHARACTERS - 1] + "…"
    return f"It said: “{line}”."


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)
