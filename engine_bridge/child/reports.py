"""Events that come by the clock: steps, memory, and in quiet moments the peak bandwidth.

Knows when; what a step was is ``measure``'s.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import msgspec
import psutil

from engine_bridge.child import llama
from engine_bridge.child.engine import Engine
from engine_bridge.child.heap import give_back
from engine_bridge.child.threads import threads_of
from engine_bridge.hardware.borrowed import NOTHING, Borrowed
from engine_bridge.hardware.ram import owned_and_mapped_bytes
from engine_bridge.hardware.read_bandwidth import PeakRead, whole_bytes
from engine_bridge.protocol import (
    BandwidthMeasured,
    DeviceFacts,
    Event,
    Logged,
    MemoryMeasured,
)
from engine_bridge.settings.config import EngineConfig

_STEPS_EVERY_NS = 100_000_000
_MEMORY_EVERY_NS = 1_000_000_000
# The peak is read at full speed for a second: never in the way of an answer. Where another program
# took the cores meanwhile it is tried again, some times.
_QUIET_NS = 1_500_000_000
_PEAK_EVERY_NS = 20_000_000_000
_MOST_PEAKS = 5
# Whoever looks at this process from outside hears of what it borrows before it has it.
_HEARD_S = 0.05

MeasurePeak = Callable[[int, threading.Event], PeakRead | None]
"""Measures the peak with a number of threads, and gives up once the event is set."""


class _Peak:
    """What was measured with one number of threads: the best so far, and how often it was tried."""

    def __init__(self) -> None:
        self.best: PeakRead | None = None
        self.tries = 0
        self.runs = 0
        self.is_sure = False

    def take(self, read: PeakRead) -> bool:
        """Whether something about the peak is known now that was not before.

        A difference that is smaller than the spread is none. What was read from caches counts for
        nothing beside what was not.
        """
        self.runs += read.runs
        is_sure_now = not self.is_sure and not read.is_lower_bound
        self.is_sure = self.is_sure or is_sure_now
        best = self.best
        if best is not None and best.is_of_cache is not read.is_of_cache:
            if read.is_of_cache:
                return is_sure_now
            best = None
        least = 0.0 if best is None else best.bytes_per_s
        if best is not None and not is_sure_now:
            least *= 1 + best.spread
        if read.bytes_per_s > least:
            self.best = read
            return True
        return is_sure_now


class Reports:
    """Sends measurements when they are due.

    Args:
        emit: Takes events.
        clock: Time in nanoseconds.
        measure_bandwidth: Measures the peak at a number of threads; None never does.
    """

    def __init__(
        self,
        emit: Callable[[Event], None],
        clock: Callable[[], int],
        measure_bandwidth: MeasurePeak | None,
    ) -> None:
        """Nothing is due yet but memory."""
        self._peaks: dict[int, _Peak] = {}
        self._threads = 0
        self._quiet_since_ns = clock()
        self._peak_due_ns = 0
        self._emit = emit
        self._clock = clock
        self._measure_bandwidth = measure_bandwidth
        self._process = psutil.Process()
        self._steps_due_ns = 0
        self._memory_due_ns = 0
        self._busy_until_ns = 0  # while it is not quiet nothing is due before
        self._has_news = False
        self._thread: threading.Thread | None = None
        self._borrowed = NOTHING
        self._telling = threading.Lock()  # two threads tell memory: what is told last is so
        self._caches_bytes = 0
        self._is_wanted_elsewhere = threading.Event()

    def note_change(self) -> None:
        """Slots have changed without a step: say so with the next report."""
        self._has_news = True

    def wait_s(self) -> float:
        """Seconds until something is due."""
        due = self._memory_due_ns  # often enough for the peak as well
        if self._has_news:
            due = min(due, self._steps_due_ns)
        return max(0.0, (due - self._clock()) / 1e9)

    def turn(self, engine: Engine | None, *, is_quiet: bool) -> None:
        """Send what is due.

        Args:
            engine: What runs.
            is_quiet: Whether neither a request nor a load is under way.
        """
        now = self._clock()
        if not is_quiet and now < self._busy_until_ns:
            return  # asked after every step
        self._busy_until_ns = 0
        if engine is not None:
            has_steps = engine.batcher.has_steps
            self._has_news = self._has_news or has_steps
            is_quiet = is_quiet and not has_steps
            if self._has_news and now >= self._steps_due_ns:
                self._has_news = False
                self._steps_due_ns = now + _STEPS_EVERY_NS
                slots = engine.batcher.slot_facts()
                self._emit(engine.batcher.meter.report(now, slots))
            self._see_to_peak(engine.config, now, is_quiet=is_quiet)
        if now >= self._memory_due_ns:
            self._memory_due_ns = now + _MEMORY_EVERY_NS
            self._caches_bytes = 0 if engine is None else engine.batcher.reuse.bytes
            self._tell_memory(now)
        if not is_quiet:
            self._busy_until_ns = min(self._steps_due_ns, self._memory_due_ns)

    @property
    def _is_reading_peak(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def make_way(self) -> None:
        """End a measurement under way and wait until its memory is free again, which is soon.

        Who is about to ask how much is free would not be told of it. The measurement begins again
        when it is quiet.
        """
        self._is_wanted_elsewhere.set()
        if self._thread is not None:
            if self._is_reading_peak:
                self._peak_due_ns = 0
            self._thread.join()

    def close(self) -> None:
        """End a measurement under way for good."""
        self.make_way()

    def _see_to_peak(self, config: EngineConfig, now_ns: int, *, is_quiet: bool) -> None:
        """Measure the peak in the background if it is quiet and time for it."""
        if self._measure_bandwidth is None:
            return
        if not is_quiet:
            self._quiet_since_ns = now_ns
            self._is_wanted_elsewhere.set()
        threads, _ = threads_of(config)
        peak = self._peaks.setdefault(threads, _Peak())
        if threads != self._threads:
            self._threads = threads
            self._peak_due_ns = 0
            self._tell_peak(threads, peak)
        # The first reading comes at the end of the load: until then no bar has a top.
        quiet_ns = _QUIET_NS if peak.tries else 0
        if not is_quiet or now_ns < max(self._peak_due_ns, self._quiet_since_ns + quiet_ns):
            return
        is_enough = peak.is_sure or peak.tries >= _MOST_PEAKS
        if is_enough or self._is_reading_peak:
            return
        peak.tries += 1
        self._peak_due_ns = now_ns + _PEAK_EVERY_NS
        self._is_wanted_elsewhere.clear()
        self._thread = threading.Thread(
            target=self._measure_peak,
            args=(self._measure_bandwidth, threads, peak),
            name="bandwidth",
            daemon=True,
        )
        self._thread.start()

    def _measure_peak(self, measure: MeasurePeak, threads: int, peak: _Peak) -> None:
        try:
            self._borrow(whole_bytes(threads))
            is_late = self._is_wanted_elsewhere.wait(_HEARD_S)
            read = None if is_late else measure(threads, self._is_wanted_elsewhere)
        except (MemoryError, ValueError) as error:
            if peak.tries == 1:
                self._emit(Logged("warning", str(error)))
            return
        finally:
            give_back()  # small blocks of many threads would count as the engine's own from now on
            self._borrow(0)
        if read is None:  # a request came: that was no try
            peak.tries -= 1
        elif peak.take(read) and threads == self._threads:  # else told when it is chosen again
            self._tell_peak(threads, peak)

    def _tell_peak(self, threads: int, peak: _Peak) -> None:
        if peak.best is None:
            return
        readers = f"{threads} threads" if threads > 1 else "one thread"
        caches = ", in part from the caches" if peak.best.is_of_cache else ""
        self._emit(
            BandwidthMeasured(
                peak_bytes_per_s=peak.best.bytes_per_s,
                threads=threads,
                how=f"read by {readers}{caches}",
                runs=peak.runs,
                spread=peak.best.spread,
                is_lower_bound=not peak.is_sure,
                is_of_cache=peak.best.is_of_cache,
            )
        )

    def _borrow(self, size_bytes: int) -> None:
        """From here on so much of what this process has is not its own; 0 for nothing."""
        owned, _ = owned_and_mapped_bytes(self._process)
        with self._telling:
            self._borrowed = Borrowed(size_bytes, owned) if size_bytes else NOTHING
        self._tell_memory(self._clock())

    def _tell_memory(self, now_ns: int) -> None:
        with self._telling:
            owned, mapped = owned_and_mapped_bytes(self._process)
            part = self._borrowed.part_of(owned)
            self._emit(
                MemoryMeasured(
                    at_ns=now_ns,
                    owned=owned - part,
                    mapped=mapped,
                    devices=tuple(_with_free(device, part) for device in llama.GGML.devices()),
                    caches=self._caches_bytes,
                    borrowed=self._borrowed.size_bytes,
                )
            )


def _with_free(device: DeviceFacts, more_bytes: int) -> DeviceFacts:
    """Main memory with so much more of it free; a board as it is."""
    if device.kind != "cpu" or not more_bytes:
        return device
    return msgspec.structs.replace(device, free=min(device.total, device.free + more_bytes))
