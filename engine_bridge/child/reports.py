"""Events that come by the clock: steps, memory, and once the peak bandwidth.

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

_STEPS_EVERY_NS = 100_000_000
_MEMORY_EVERY_NS = 1_000_000_000


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
        due = self._memory_due_ns
        if self._has_news:
            due = min(due, self._steps_due_ns)
        return max(0.0, (due - self._clock()) / 1e9)

    def turn(self, engine: Engine | None) -> None:
        """Send what is due."""
        now = self._clock()
        if engine is not None:
            self._has_news = self._has_news or engine.batcher.meter.has_steps
            if self._has_news and now >= self._steps_due_ns:
                self._has_news = False
                self._steps_due_ns = now + _STEPS_EVERY_NS
                self._emit(engine.batcher.meter.report(now, engine.batcher.slot_facts()))
        if now >= self._memory_due_ns:
            self._memory_due_ns = now + _MEMORY_EVERY_NS
            self._emit(self._memory(now))

    def measure_peak(self, engine: Engine) -> None:
        """Measure the peak bandwidth in the background, the first time this is called."""
        if self._measure_bandwidth is None:
            return
        measure, self._measure_bandwidth = self._measure_bandwidth, None
        threads, _ = threads_of(engine.config)
        self._thread = threading.Thread(
            target=self._measure_peak, args=(measure, threads), name="bandwidth", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Wait for a measurement under way."""
        if self._thread is not None:
            self._thread.join()

    def _measure_peak(self, measure: Callable[[int], float], threads: int) -> None:
        try:
            peak = measure(threads)
        except (MemoryError, ValueError) as error:
            self._emit(Logged("warning", str(error)))
            return
        how = f"best read by {threads} threads" if threads > 1 else "best read by one thread"
        self._emit(BandwidthMeasured(peak_bytes_per_s=peak, threads=threads, how=how))

    def _memory(self, now_ns: int) -> MemoryMeasured:
        info = self._process.memory_info()
        shared: int = getattr(info, "shared", 0)  # Linux: file-backed pages
        return MemoryMeasured(
            at_ns=now_ns,
            owned=info.rss - shared,
            mapped=shared,
            devices=llama.GGML.devices(),
        )
