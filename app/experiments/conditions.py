"""What made a run unsteady: other programs, swapping, heat, sleep, the battery.

Watches the machine in a thread of its own, once a second, and says in sentences what was seen
between ``begin`` and ``end``. A run with a sentence is marked wherever it is shown.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import median
from types import TracebackType
from typing import Protocol, Self

import psutil

from app.experiments.machine_state import MachineReader, MachineState

QUIET_SHARE = 0.05
"""Above this share of all cores in other hands, figures are an indication at most."""

UNWATCHED = "What else went on on this machine could not be watched."
"""What is said of a run where the watching failed."""

_PERIOD_S = 1.0
# A page or two is swapped on every machine with swap; this much is felt.
_FELT_SWAP_BYTES = 8 << 20
# Boost clocks wander by some per cent from second to second.
_STEADY_CLOCK = 0.9
# Below half a core of ours a clock is that of a machine at rest.
_WORKING_CORES = 0.5
_SLEEP_S = 1.0
# A thread of a loaded machine wakes up late, but not by this much.
_STANDSTILL_S = 10.0
_MIB = 1 << 20


class _Reader(Protocol):
    def read(self) -> MachineState: ...

    def close(self) -> None: ...


class Conditions:
    """Watches while it is entered.

    Example:
        ``with Conditions(port.pid) as conditions: conditions.begin(); …; told = conditions.end()``
    """

    def __init__(
        self,
        engine_pid: int,
        *,
        open_reader: Callable[[int], _Reader] = MachineReader,
        cores: int | None = None,
        period_s: float = _PERIOD_S,
    ) -> None:
        """Prepare to watch.

        Args:
            engine_pid: The engine's process, whose work is not that of others; 0 for none.
            open_reader: Opens what reads the machine, on the watching thread.
            cores: Processor threads of the machine; counted by default.
            period_s: Time between two readings.
        """
        self._engine_pid = engine_pid
        self._open_reader = open_reader
        self._cores = cores or psutil.cpu_count() or 1
        self._period_s = period_s
        self._states: list[MachineState] = []
        self._is_watching = False
        self._is_ending = self._is_over = False
        self._asked = 0  # readings asked for at once, and how many of them were made
        self._answered = 0
        self._turn = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="conditions", daemon=True)

    def __enter__(self) -> Self:
        """Start the thread."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End it."""
        with self._turn:
            self._is_ending = True
            self._turn.notify_all()
        self._thread.join()

    def begin(self) -> None:
        """A run begins now; waits for a reading, some milliseconds."""
        with self._turn:
            self._states = []
            self._is_watching = True
        self._read_now()

    def end(self) -> tuple[str, ...]:
        """The run is over: sentences on what disturbed it; waits for a last reading."""
        self._read_now()
        with self._turn:
            self._is_watching = False
            if self._is_over:
                return (UNWATCHED,)
            return judged(self._states, self._cores)

    # --- Inside -------------------------------------------------------------------------

    def _read_now(self) -> None:
        with self._turn:
            self._asked += 1
            wanted = self._asked
            self._turn.notify_all()
            self._turn.wait_for(lambda: self._answered >= wanted or self._is_over)

    def _run(self) -> None:
        try:
            self._watch(self._open_reader(self._engine_pid))
        finally:
            with self._turn:
                self._is_over = True
                self._turn.notify_all()

    def _watch(self, reader: _Reader) -> None:
        try:
            while self._await_turn():
                asked = self._asked
                state = reader.read()
                with self._turn:
                    if self._is_watching:
                        self._states.append(state)
                    self._answered = asked
                    self._turn.notify_all()
        finally:
            reader.close()

    def _await_turn(self) -> bool:
        """Wait until a reading is due; False when there is to be none any more."""
        with self._turn:
            self._turn.wait_for(
                lambda: self._is_ending or self._asked > self._answered,
                timeout=self._period_s if self._is_watching else None,
            )
            return not self._is_ending


def judged(states: Sequence[MachineState], cores: int) -> tuple[str, ...]:
    """Sentences on what disturbed the span of these readings, the gravest first; () if nothing.

    Args:
        states: In the order in which they were read.
        cores: Processor threads of the machine.
    """
    if len(states) < 2:
        return ()
    found = (
        _sleep(states),
        _others(states, cores),
        _stolen(states, cores),
        _swapping(states),
        _heat(states),
        _clock(states),
        _boards(states),
        _battery(states),
    )
    return tuple(filter(None, found))


def _sleep(states: Sequence[MachineState]) -> str:
    first, last = states[0], states[-1]
    if first.slept_s is not None and last.slept_s is not None:
        slept_s = last.slept_s - first.slept_s
        return f"The machine slept for {slept_s:,.0f} s." if slept_s >= _SLEEP_S else ""
    longest_s = max(after.at_s - before.at_s for before, after in pairwise(states))
    if longest_s < _STANDSTILL_S:
        return ""
    return f"The machine slept or stood still for {longest_s:,.0f} s."


def _others(states: Sequence[MachineState], cores: int) -> str:
    first, last = states[0], states[-1]
    span_s = last.at_s - first.at_s
    if span_s <= 0:
        return ""
    others_s = (last.busy_s - first.busy_s) - (last.ours_s - first.ours_s)
    share = others_s / (span_s * cores)
    if share <= QUIET_SHARE:
        return ""
    return (
        f"Other programs used {share:.0%} of the processor: {others_s / span_s:.1f} of "
        f"{cores} cores on average."
    )


def _stolen(states: Sequence[MachineState], cores: int) -> str:
    span_s = states[-1].at_s - states[0].at_s
    stolen_s = states[-1].stolen_s - states[0].stolen_s
    if span_s <= 0 or stolen_s / (span_s * cores) <= QUIET_SHARE:
        return ""
    return (
        f"The host of this virtual machine gave {stolen_s / (span_s * cores):.0%} of the "
        "processor to others."
    )


def _swapping(states: Sequence[MachineState]) -> str:
    read = _grown(states[0].swapped_in_bytes, states[-1].swapped_in_bytes)
    written = _grown(states[0].swapped_out_bytes, states[-1].swapped_out_bytes)
    if max(read, written) < _FELT_SWAP_BYTES:
        return ""
    return (
        f"The system swapped: {written / _MIB:,.0f} MiB were written to the swap and "
        f"{read / _MIB:,.0f} MiB read back."
    )


def _heat(states: Sequence[MachineState]) -> str:
    times = _grown(states[0].throttlings, states[-1].throttlings)
    if not times:
        return ""
    often = "once" if times == 1 else f"{times:,} times"
    return f"The processor was slowed down for heat {often}."


def _clock(states: Sequence[MachineState]) -> str:
    """The clock of the last third against that of the first, while we had work for it."""
    clocks = [
        after.clock_mhz
        for before, after in pairwise(states)
        if after.clock_mhz is not None
        and after.ours_s - before.ours_s >= _WORKING_CORES * (after.at_s - before.at_s)
    ]
    third = len(clocks) // 3
    if not third:
        return ""
    early_mhz, late_mhz = median(clocks[:third]), median(clocks[-third:])
    if late_mhz >= _STEADY_CLOCK * early_mhz:
        return ""
    return f"The processor's clock fell from {early_mhz / 1e3:.2f} GHz to {late_mhz / 1e3:.2f} GHz."


def _boards(states: Sequence[MachineState]) -> str:
    seen: dict[tuple[str, str], int] = {}
    for state in states:
        for reason in state.held_back:
            seen[reason] = seen.get(reason, 0) + 1
    told = [
        f"{name} ran at lower clocks ({why}) in {times} of {len(states)} readings."
        for (name, why), times in seen.items()
    ]
    return " ".join(told)


def _battery(states: Sequence[MachineState]) -> str:
    if not any(state.on_battery for state in states):
        return ""
    return "The machine ran on its battery, which lowers its clocks."


def _grown(first: int | None, last: int | None) -> int:
    return 0 if first is None or last is None else max(0, last - first)
