"""Events that come by the clock: steps, memory, and in quiet moments the peak bandwidth.

Knows when; what a step was is ``measure``'s.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import psutil

from engine_bridge.child import llama
from engine_bridge.child.engine import Engine
from engine_bridge.child.threads import threads_of
from engine_bridge.protocol import BandwidthMeasured, Event, Logged, MemoryMeasured
from engine_bridge.settings.config import EngineConfig

_STEPS_EVERY_NS = 100_000_000
_MEMORY_EVERY_NS = 1_000_000_000
# The peak is read at full speed for some tenths of a second: never in the way of an answer, and
# several times, since another program may disturb one reading but not all.
_QUIET_NS = 1_500_000_000
_PEAK_EVERY_NS = 20_000_000_000
_MOST_PEAKS = 5


class _Peak:
    """What was measured with one number of threads: the best so far, and how often."""

    def __init__(self) -> None:
        self.best_bytes_per_s = 0.0
        self.runs = 0


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
        measure_bandwidth: Callable[[int], float] | None,
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
        self._has_news = False
        self._thread: threading.Thread | None = None

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
        if engine is not None:
            has_steps = engine.batcher.meter.has_steps
            self._has_news = self._has_news or has_steps
            is_quiet = is_quiet and not has_steps
            if self._has_news and now >= self._steps_due_ns:
                self._has_news = False
                self._steps_due_ns = now + _STEPS_EVERY_NS
                self._emit(engine.batcher.meter.report(now, engine.batcher.slot_facts()))
            self._see_to_peak(engine.config, now, is_quiet=is_quiet)
        if now >= self._memory_due_ns:
            self._memory_due_ns = now + _MEMORY_EVERY_NS
            self._emit(self._memory(now))

    def close(self) -> None:
        """Wait for a measurement under way."""
        if self._thread is not None:
            self._thread.join()

    def _see_to_peak(self, config: EngineConfig, now_ns: int, *, is_quiet: bool) -> None:
        """Measure the peak in the background if it is quiet and time for it."""
        if self._measure_bandwidth is None:
            return
        if not is_quiet:
            self._quiet_since_ns = now_ns
        threads, _ = threads_of(config)
        peak = self._peaks.setdefault(threads, _Peak())
        if threads != self._threads:
            self._threads = threads
            self._peak_due_ns = 0
            if peak.best_bytes_per_s:
                self._tell_peak(threads, peak)
        # The first reading comes at the end of the load: until then no bar has a top.
        quiet_ns = _QUIET_NS if peak.runs else 0
        if not is_quiet or now_ns < max(self._peak_due_ns, self._quiet_since_ns + quiet_ns):
            return
        if peak.runs >= _MOST_PEAKS or (self._thread is not None and self._thread.is_alive()):
            return
        peak.runs += 1
        self._peak_due_ns = now_ns + _PEAK_EVERY_NS
        self._thread = threading.Thread(
            target=self._measure_peak,
            args=(self._measure_bandwidth, threads, peak),
            name="bandwidth",
            daemon=True,
        )
        self._thread.start()

    def _measure_peak(self, measure: Callable[[int], float], threads: int, peak: _Peak) -> None:
        try:
            read_bytes_per_s = measure(threads)
        except (MemoryError, ValueError) as error:
            if peak.runs == 1:
                self._emit(Logged("warning", str(error)))
            return
        if read_bytes_per_s <= peak.best_bytes_per_s:
            return
        peak.best_bytes_per_s = read_bytes_per_s
        if threads == self._threads:  # else it is told when that number is chosen again
            self._tell_peak(threads, peak)

    def _tell_peak(self, threads: int, peak: _Peak) -> None:
        how = f"best read by {threads} threads" if threads > 1 else "best read by one thread"
        self._emit(BandwidthMeasured(peak.best_bytes_per_s, threads, how))

    def _memory(self, now_ns: int) -> MemoryMeasured:
        info = self._process.memory_info()
        shared: int = getattr(info, "shared", 0)  # Linux: file-backed pages
        return MemoryMeasured(
            at_ns=now_ns,
            owned=info.rss - shared,
            mapped=shared,
            devices=llama.GGML.devices(),
        )
