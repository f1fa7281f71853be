"""Achieved bandwidth against the peak.

Knows spans of steps and peaks; a peak is measured (main memory) or computed (boards).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from engine_bridge.memory_plan import MemoryPlan
from engine_bridge.metrics.bandwidth import (
    achieved_bytes_per_s,
    decode_ceiling_steps_per_s,
    effective_peak_bytes_per_s,
    mbu,
)
from engine_bridge.metrics.history import History, thinned
from engine_bridge.metrics.ring import Floats
from engine_bridge.metrics.snapshot import MemorySnapshot
from engine_bridge.metrics.stretch import Stretch
from engine_bridge.protocol import BandwidthMeasured, DeviceFacts, StepsMeasured
from engine_bridge.step_work import StepWork

LIVE_S = 2.0
"""A figure older than this is the last one, and not the present one."""

# Spans come ten times a second while the engine works; a longer silence is a gap.
_GAP_S = 0.5
# The peak changes with a measurement or with where the weights lie.
_PEAKS = 512
# What a board's caches may hold says nothing about its memory, nor does a moment.
_BEYOND_CACHES_BYTES = 512e6
_LONG_ENOUGH_S = 0.05
_PROCESSOR = "CPU"


@dataclass(frozen=True)
class PeakPart:
    """A device that decode reads from.

    Attributes:
        name: As ggml calls it, or the board's own name.
        read_bytes: Bytes of a step that lie there.
        bytes_per_s: Its peak; None where it is not known.
        how: Where that comes from.
    """

    name: str
    read_bytes: float
    bytes_per_s: float | None
    how: str = ""


@dataclass(frozen=True)
class Peak:
    """The peak bandwidth of what decode reads now.

    Attributes:
        bytes_per_s: Of all parts, read one after the other; None where it is not known.
        how: Where the figure comes from, in words, or why there is none.
        parts: The devices; empty before a model is loaded.
        is_lower_bound: Whether it was measured while other programs took the cores.
        is_measured: Whether main memory, whose peak is measured, is among the parts.
        is_of_cache: Whether a part of that was read from the caches: the memory may give less.
    """

    bytes_per_s: float | None = None
    how: str = ""
    parts: tuple[PeakPart, ...] = ()
    is_lower_bound: bool = False
    is_measured: bool = False
    is_of_cache: bool = False

    @property
    def is_on_processor(self) -> bool:
        """Whether all that decode reads lies in main memory."""
        return all(part.name == _PROCESSOR for part in self.parts)


@dataclass(frozen=True)
class BandwidthView:
    """What the bandwidth chart draws.

    Attributes:
        times_s: (n,) seconds before the right edge, ascending.
        bytes_per_s: (n,) achieved bandwidth; NaN where nothing was decoded.
        peak_bytes_per_s: Peak of the memory the weights lie in; None where it is not known.
        peak_how: Where the peak comes from, in words, or why there is none.
        peak_times_s: (m,) the peak over time: corners of its steps, seconds before the right edge.
        peaks: (m,) bytes per second; NaN where none was known.
        peak_age_s: How long ago the newest peak of main memory was measured; None for no such one.
        peak_runs: In how many runs.
        peak_spread: (best − worst) / best of them.
        is_lower_bound: Whether other programs took the cores meanwhile.
        last_bytes_per_s: The newest figure: the mean of the last two seconds of decoding with as
            many streams as now, of which the page "Ceiling" is made too.
        last_age_s: Its age.
        mbu: Its share of the peak, 0 to about 1.
        ceiling_steps_per_s: Steps a second the peak allows at the newest bytes per step.
        step_bytes: Bytes the newest decode steps read.
    """

    times_s: Floats = field(default_factory=lambda: np.zeros(0))
    bytes_per_s: Floats = field(default_factory=lambda: np.zeros(0))
    peak_bytes_per_s: float | None = None
    peak_how: str = ""
    peak_times_s: Floats = field(default_factory=lambda: np.zeros(0))
    peaks: Floats = field(default_factory=lambda: np.zeros(0))
    peak_age_s: float | None = None
    peak_runs: int = 0
    peak_spread: float = 0.0
    is_lower_bound: bool = False
    last_bytes_per_s: float | None = None
    last_age_s: float = math.inf
    mbu: float | None = None
    ceiling_steps_per_s: float | None = None
    step_bytes: float | None = None

    def peak_at(self, time_s: float) -> float | None:
        """The peak that was in force at a time, seconds before the right edge."""
        place = int(np.searchsorted(self.peak_times_s, time_s, side="right")) - 1
        known = self.peaks[place] if place >= 0 else math.nan
        return None if math.isnan(known) else float(known)


class BandwidthMeter:
    """What the steps of the last minutes read."""

    def __init__(self, capacity: int) -> None:
        """Keep the last ``capacity`` spans as they came, ten a second, and older ones thinned."""
        self._achieved = History(capacity)
        self._last: tuple[float, float, float] | None = None  # time, bytes/s, bytes of a step
        self._host_peak: BandwidthMeasured | None = None
        self._host_peak_s = 0.0
        # When the peak of what decode reads became another, NaN for none.
        self._peaks: deque[tuple[float, float]] = deque(maxlen=_PEAKS)
        self._board_peaks: dict[str, tuple[float, str]] = {}
        self._no_peak: dict[str, str] = {}
        self._best: dict[str, float] = {}
        self._board_names: dict[str, str] = {}
        self._applied: MemoryPlan | None = None
        self._kv_step_bytes = 0.0

    @property
    def host_peak(self) -> BandwidthMeasured | None:
        """The newest measurement of main memory."""
        return self._host_peak

    def knows_better(self, event: BandwidthMeasured) -> bool:
        """Whether a lower bound says nothing: as many threads read more before (another engine)."""
        known = self._host_peak
        if known is None or known.threads != event.threads or not event.is_lower_bound:
            return False
        if known.is_of_cache and not event.is_of_cache:
            return False
        return event.peak_bytes_per_s < known.peak_bytes_per_s

    def set_host_peak(self, event: BandwidthMeasured, at_s: float) -> None:
        """The measured peak of main memory."""
        self._host_peak, self._host_peak_s = event, at_s
        self._note_peak(at_s)

    def set_board_peaks(self, snapshots: Iterable[MemorySnapshot], at_s: float) -> None:
        """Peaks of boards, by the board's name."""
        for snapshot in snapshots:
            if snapshot.kind == "gpu" and snapshot.peak_bytes_per_s is not None:
                self._board_peaks[snapshot.name] = (snapshot.peak_bytes_per_s, snapshot.peak_how)
            elif snapshot.kind == "gpu" and snapshot.peak_how:
                self._no_peak[snapshot.name] = snapshot.peak_how
        self._note_peak(at_s)

    def set_devices(self, devices: Iterable[DeviceFacts], at_s: float) -> None:
        """What ggml calls the boards."""
        self._board_names.update({device.name: device.description for device in devices})
        self._note_peak(at_s)

    def set_applied(self, memory: MemoryPlan | None, at_s: float) -> None:
        """Where the weights lie now; None when the engine is gone."""
        self._applied = memory
        self._note_peak(at_s)

    def gap(self, at_s: float) -> None:
        """The engine stopped: no line reaches across."""
        self._achieved.gap(at_s)

    def add_span(self, event: StepsMeasured) -> None:
        """Take what the loop did since the span before."""
        begin_s, end_s = event.begin_ns / 1e9, event.end_ns / 1e9
        if len(self._achieved) and begin_s - self._achieved.latest()[0] > _GAP_S:
            self._achieved.gap(begin_s)
        achieved = achieved_bytes_per_s(event.decode_bytes, event.decode_s)
        if achieved is None:
            self._achieved.gap(end_s)
            return
        self._achieved.append(end_s, achieved)
        step_bytes = event.decode_bytes / max(1, event.decode_steps)
        self._last = (end_s, achieved, step_bytes)
        if event.decode_s >= _LONG_ENOUGH_S and step_bytes >= _BEYOND_CACHES_BYTES:
            self._note_best(achieved, end_s)
        for work in event.work:
            if not work.is_prefill and work.steps > 0:
                self._kv_step_bytes = work.kv_bytes / work.steps

    def peak(self) -> Peak:
        """The peak of the memory that decode reads now."""
        parts = tuple(self._parts())
        unknown = [part for part in parts if part.bytes_per_s is None]
        is_measured = not parts or any(part.name == _PROCESSOR for part in parts)
        host = self._host_peak if is_measured else None
        is_lower = host is not None and host.is_lower_bound
        flags = (is_lower, is_measured, host is not None and host.is_of_cache)
        if unknown:
            why = f": {unknown[0].how}" if unknown[0].how else ""
            how = f"peak of {unknown[0].name} unknown{why}"
            if unknown[0].name == _PROCESSOR:
                how = ""
            return Peak(None, how, parts, *flags)
        if not parts:
            known = self._host()
            rate, how = (None, "") if known is None else known
            return Peak(rate, how, (), *flags)
        rate = effective_peak_bytes_per_s((part.read_bytes, part.bytes_per_s) for part in parts)
        how = " + ".join(dict.fromkeys(part.how for part in parts))
        return Peak(rate, how, parts, *flags)

    def view(
        self, now_s: float, stretch: Stretch, present: StepWork | None = None
    ) -> BandwidthView:
        """The line of a stretch of time, and the newest figures.

        Args:
            now_s: The present.
            stretch: What the line shows.
            present: Decoding with as many streams as it had last, over some time; None takes the
                newest span alone.
        """
        known = self.peak()
        peak = known.bytes_per_s
        times, achieved = thinned(self._achieved.window(stretch.since_s, stretch.until_s), stretch)
        last_s, last, step_bytes = self._last or (-math.inf, None, None)
        if present is not None and present.bytes_per_s > 0:
            last, step_bytes = present.bytes_per_s, present.step_bytes
        peak_times, peaks = self._peak_steps(stretch)
        host = self._host_peak if known.is_measured else None
        return BandwidthView(
            times_s=times,
            bytes_per_s=achieved,
            peak_bytes_per_s=peak,
            peak_how=known.how,
            peak_times_s=peak_times,
            peaks=peaks,
            peak_age_s=None if host is None else now_s - self._host_peak_s,
            peak_runs=0 if host is None else host.runs,
            peak_spread=0.0 if host is None else host.spread,
            is_lower_bound=known.is_lower_bound,
            last_bytes_per_s=last,
            last_age_s=now_s - last_s,
            mbu=mbu(last, peak),
            ceiling_steps_per_s=decode_ceiling_steps_per_s(peak, step_bytes or 0.0),
            step_bytes=step_bytes,
        )

    @property
    def state_bytes(self) -> int:
        """Memory its rows take when full."""
        return self._achieved.state_bytes

    def _note_peak(self, at_s: float) -> None:
        """Keep from when on another peak is in force."""
        known = self.peak().bytes_per_s
        peak = math.nan if known is None else known
        before = self._peaks[-1] if self._peaks else (-math.inf, math.nan)
        if peak != before[1] and not (math.isnan(peak) and math.isnan(before[1])):
            self._peaks.append((max(at_s, before[0]), peak))

    def _note_best(self, achieved: float, at_s: float) -> None:
        """What is read beside a board only lowers the figure: the board itself can do so much."""
        devices = () if self._applied is None else self._applied.devices
        used = [d.name for d in devices if d.weights + d.kv > 0]
        boards = [name for name in used if not name.startswith(_PROCESSOR)]
        if len(boards) != 1:
            return
        board = self._board_names.get(boards[0], boards[0])
        if achieved > self._best.get(board, 0.0):
            self._best[board] = achieved
            self._note_peak(at_s)

    def _peak_steps(self, stretch: Stretch) -> tuple[Floats, Floats]:
        """Corners of the peak's line in a stretch: it goes on as it was until it changes."""
        corners: list[tuple[float, float]] = []
        for at_s, peak in self._peaks:
            if at_s > stretch.until_s:
                break
            if at_s <= stretch.since_s:
                corners = [(stretch.since_s, peak)]
            else:
                corners += [(at_s, corners[-1][1])] if corners else []
                corners.append((at_s, peak))
        corners += [(stretch.until_s, corners[-1][1])] if corners else []
        steps = np.array(corners, dtype=np.float64).reshape(-1, 2)
        return steps[:, 0] - stretch.until_s, steps[:, 1]

    def _host(self) -> tuple[float, str] | None:
        event = self._host_peak
        return None if event is None else (event.peak_bytes_per_s, event.how)

    def _parts(self) -> Iterable[PeakPart]:
        """The devices that decode reads from, each with what of a step lies there."""
        plan = self._applied
        if plan is None:
            return
        on_boards = sum(d.weights for d in plan.devices if not d.name.startswith(_PROCESSOR))
        kv_bytes = sum(device.kv for device in plan.devices)
        for device in plan.devices:
            is_processor = device.name.startswith(_PROCESSOR)
            weights = device.weights
            if is_processor and on_boards and plan.weights_read:
                # Tables of which only rows are looked up stay here, whatever lies on the boards.
                weights = max(0, plan.weights_read - on_boards)
            kv = self._kv_step_bytes * device.kv / kv_bytes if kv_bytes else 0.0
            if weights + kv <= 0:
                continue
            known = self._peak_of(device.name)
            name = _PROCESSOR if is_processor else self._board_names.get(device.name, device.name)
            rate, how = (None, self._no_peak.get(name, "")) if known is None else known
            yield PeakPart(name, weights + kv, rate, how)

    def _peak_of(self, device_name: str) -> tuple[float, str] | None:
        if device_name.startswith(_PROCESSOR):
            return self._host()
        board = self._board_names.get(device_name, device_name)
        known, best = self._board_peaks.get(board), self._best.get(board, 0.0)
        if known is None or best <= known[0]:
            return known
        return best, f"best achieved; computed {known[0] / 1e9:,.0f} GB/s = {known[1]}"
