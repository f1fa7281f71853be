"""All meters of the desk: events go in, views for the charts come out.

Pure: no Qt, no engine, no clock of its own. Producers append, charts pull. Times are
``time.perf_counter_ns()``, which on Linux and macOS is one clock for both processes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from engine_bridge.memory_plan import MemoryPlan
from engine_bridge.metrics.bandwidth_meter import BandwidthMeter, BandwidthView
from engine_bridge.metrics.change_words import change_text, peak_change_text
from engine_bridge.metrics.definitions import percentile, percentiles, stream_speed_tok_s
from engine_bridge.metrics.ghost import NO_GHOST, Ghost
from engine_bridge.metrics.memory_meter import MemoryMeter, MemoryView
from engine_bridge.metrics.request_meter import RequestMeter, TtftView
from engine_bridge.metrics.snapshot import MemorySnapshot
from engine_bridge.metrics.sound_figures import sound, sound_plan
from engine_bridge.metrics.step_log import StepLog
from engine_bridge.metrics.stream_meter import StreamMeter, StreamSeries
from engine_bridge.metrics.stretch import Stretch
from engine_bridge.metrics.stretch_figures import StretchFigures, figures_of
from engine_bridge.metrics.throughput import Throughput
from engine_bridge.metrics.work_meter import WorkMeter
from engine_bridge.protocol import (
    Applied,
    BandwidthMeasured,
    Event,
    Hello,
    MemoryMeasured,
    PlanReady,
    RequestFinished,
    RequestStarted,
    StepsMeasured,
    TokensDelivered,
)
from engine_bridge.settings.row import Applies

WINDOW_S = 120.0
"""What the charts show unless asked for another stretch: the last two minutes."""

# Two minutes at ten rows a second, and room for rows that come faster; older ones are thinned.
_RECENT_ROWS = 2048
_GONE = "The model is gone: the engine ended or gave it up"
# An hour of one reading a second, as the sampler reads, whole.
_MEMORY_ROWS = 4096
# One every 15 s for an hour.
_MARKERS = 256
# Two pixels each in a chart about 370 pixels wide: half the cost, and nobody sees the difference.
_BUCKETS = 185


@dataclass(frozen=True)
class Marker:
    """A moment at which a setting changed.

    Attributes:
        at_s: When, seconds of the common clock; in a view, seconds before the right edge.
        text: What changed, a line each.
    """

    at_s: float
    text: str


@dataclass(frozen=True)
class TpotView:
    """What the TPOT chart draws.

    Attributes:
        streams: Lines of every slot that has one, by slot.
        tpot_s: Median TPOT of the active streams; None while none is active.
        last_tpot_s: Median of the newest TPOT of all streams.
        itl_p50_s: Median of the gaps of all active streams, else of all.
        itl_p95_s: 95th percentile of them.
        itl_p99_s: 99th percentile of them.
        stream_tok_s: Tokens per second of the median stream.
        throughput_tok_s: Tokens per second of all streams together; None where nothing flows.
        span_s: How long the steps took that both speeds are made of.
        limit_s: Longest good TPOT, where one was set.
        active: Streams that deliver now.
        has_past: Whether any stream ever delivered.
        ghost: What TPOT would be with what the faders stand at.
    """

    streams: tuple[StreamSeries, ...] = ()
    tpot_s: float | None = None
    last_tpot_s: float | None = None
    itl_p50_s: float | None = None
    itl_p95_s: float | None = None
    itl_p99_s: float | None = None
    stream_tok_s: float | None = None
    throughput_tok_s: float | None = None
    span_s: float | None = None
    limit_s: float | None = None
    active: int = 0
    has_past: bool = False
    ghost: Ghost = NO_GHOST


@dataclass(frozen=True)
class LiveView:
    """Everything the four charts draw at one moment."""

    memory: MemoryView = field(default_factory=MemoryView)
    bandwidth: BandwidthView = field(default_factory=BandwidthView)
    ttft: TtftView = field(default_factory=TtftView)
    tpot: TpotView = field(default_factory=TpotView)
    markers: tuple[Marker, ...] = ()


class Meters:
    """The meters.

    Attributes:
        memory: Memory over time.
        bandwidth: What decode reads.
        requests: TTFT and goodput.
        steps: Steps of all streams, for the figures of any stretch.
        work: What steps read and computed, by the number of streams.
        revision: Grows with everything that can change a view.
        changes: Grows with what a person changed or the engine lost: to be seen at once.
        first_s: When the first thing was measured; None before.
    """

    def __init__(self) -> None:
        """Start with everything empty."""
        self.memory = MemoryMeter(_MEMORY_ROWS)
        self.bandwidth = BandwidthMeter(_RECENT_ROWS)
        self.requests = RequestMeter()
        self.steps = StepLog()
        self.work = WorkMeter()
        self.revision = 0
        self.changes = 0
        self.first_s: float | None = None
        self._streams: dict[int, StreamMeter] = {}
        self._slot_of: dict[int, int] = {}
        self._throughput = Throughput()
        self._markers: deque[Marker] = deque(maxlen=_MARKERS)
        self._applied: Applied | None = None
        self._folds: dict[type, Callable[[Any, int], None]] = {
            Hello: self._fold_hello,
            Applied: self._fold_applied,
            PlanReady: self._fold_plan_ready,
            RequestStarted: self._fold_request_started,
            TokensDelivered: self._fold_tokens_delivered,
            RequestFinished: self._fold_request_finished,
            StepsMeasured: self._fold_steps_measured,
            MemoryMeasured: self._fold_memory_measured,
            BandwidthMeasured: self._fold_bandwidth_measured,
        }

    def fold(self, event: Event, now_ns: int) -> None:
        """Take an event of the engine, as far as its figures can be true; others are let pass.

        Args:
            event: What the engine sent.
            now_ns: When it arrived, ``time.perf_counter_ns()``.
        """
        take = self._folds.get(type(event))
        known = None if take is None else sound(event, now_ns)
        if take is not None and known is not None:
            take(known, now_ns)
            self._note_time(now_ns)

    def note_sent(self, request_id: int, sent_ns: int) -> None:
        """The user sent a request: its TTFT begins."""
        self.requests.note_sent(request_id, sent_ns / 1e9)
        self._note_time(sent_ns)

    def note_first_paint(self, request_id: int, arrived_ns: int, painted_ns: int) -> None:
        """The first text of an answer, which arrived here before, is on the screen."""
        record = self.requests.record(request_id)
        record.arrived_s = arrived_ns / 1e9 if arrived_ns else None
        record.painted_s = painted_ns / 1e9
        self.revision += 1

    def note_memory(self, snapshots: Sequence[MemorySnapshot]) -> None:
        """Take what the sampler read last; the same reading twice counts once."""
        if self.memory.add_snapshots(snapshots):
            newest_ns = max(snapshot.at_ns for snapshot in snapshots)
            self.bandwidth.set_board_peaks(snapshots, newest_ns / 1e9)
            self._note_time(newest_ns)

    def note_plan(self, plan: MemoryPlan | None) -> None:
        """What the faders stand at would take; None where that is not known."""
        self.memory.set_candidate(None if plan is None else sound_plan(plan))
        self._note_change()

    def note_prediction(self, ttft: Ghost, tpot: Ghost) -> None:
        """What TTFT and TPOT would be with what the faders stand at."""
        if (ttft, tpot) != (self.requests.ttft_ghost, self.requests.tpot_ghost):
            self.requests.ttft_ghost, self.requests.tpot_ghost = ttft, tpot
            self._note_change()

    def note_work(self, is_under_way: bool) -> None:
        """A load or a change of the engine began or ended."""
        self.memory.set_changing(is_under_way)
        self._note_change()

    def note_engine_gone(self, now_ns: int) -> None:
        """The engine ended, or gave its model up: lines end, requests under way will not."""
        if self._applied is not None:
            self._markers.append(Marker(now_ns / 1e9, _GONE))
        self._applied = None
        self._slot_of.clear()
        self.memory.set_applied(None)
        self.bandwidth.set_applied(None, now_ns / 1e9)
        self.bandwidth.gap(now_ns / 1e9)
        self.requests.forget_unfinished()
        for stream in self._streams.values():
            stream.begin_request(now_ns / 1e9)
        self._note_change()

    def set_limits(self, ttft_s: float | None, tpot_s: float | None) -> None:
        """The longest TTFT and TPOT that count as good; both are needed for goodput."""
        self.requests.ttft_limit_s = ttft_s
        self.requests.tpot_limit_s = tpot_s
        self._note_change()

    def view(self, now_ns: int, stretch: Stretch | None = None) -> LiveView:
        """Everything to draw now.

        Args:
            now_ns: The present, ``time.perf_counter_ns()``.
            stretch: What the lines show; None for the last two minutes. Present figures do not
                depend on it.
        """
        now_s = now_ns / 1e9
        stretch = stretch or Stretch(now_s, WINDOW_S, WINDOW_S / _BUCKETS)
        return LiveView(
            memory=self.memory.view(stretch),
            bandwidth=self.bandwidth.view(now_s, stretch, self.work.present),
            ttft=self.requests.view(stretch),
            tpot=self._tpot_view(now_s, stretch),
            markers=tuple(
                Marker(marker.at_s - stretch.until_s, marker.text)
                for marker in self._markers
                if stretch.holds(marker.at_s)
            ),
        )

    def figures(self, now_ns: int, stretch: Stretch) -> StretchFigures:
        """The figures of a stretch, as far as it is past and since the first request."""
        return figures_of(self.requests, self.steps, stretch, now_ns / 1e9)

    @property
    def state_bytes(self) -> int:
        """Memory that an hour of all series takes, full or not; requests and changes apart."""
        streams = sum(stream.state_bytes for stream in self._streams.values())
        others = (self.memory, self.bandwidth, self.steps)
        return streams + sum(meter.state_bytes for meter in others)

    def marker_near(self, time_s: float, direction: int) -> Marker | None:
        """The next marker after a time (``direction`` 1) or before it (−1); None without one."""
        found = [m for m in self._markers if (m.at_s - time_s) * direction > 0]
        return min(found, key=lambda marker: abs(marker.at_s - time_s), default=None)

    def _note_time(self, at_ns: int) -> None:
        self.revision += 1
        if self.first_s is None:
            self.first_s = at_ns / 1e9

    def _note_change(self) -> None:
        self.revision += 1
        self.changes += 1

    def _tpot_view(self, now_s: float, stretch: Stretch) -> TpotView:
        views = (stream.view(now_s, stretch) for _, stream in sorted(self._streams.items()))
        active = [slot for slot, stream in self._streams.items() if stream.is_active(now_s)]
        counted = [self._streams[slot] for slot in active or self._streams]
        tpots = [tpot for stream in counted if (tpot := stream.tpot_s()) is not None]
        gaps = np.concatenate([stream.gaps_s() for stream in counted]) if counted else ()
        last = percentile(tpots, 50)
        itl_p50_s, itl_p95_s, itl_p99_s = percentiles(gaps, (50, 95, 99))
        # Both speeds over the same steps, or they would contradict each other.
        spans = [span for slot in active if (span := self._streams[slot].rolling()) is not None]
        throughput, span_s = self._throughput.over(spans)
        return TpotView(
            streams=tuple(lines for lines in views if lines is not None),
            tpot_s=last if active else None,
            last_tpot_s=last,
            itl_p50_s=itl_p50_s,
            itl_p95_s=itl_p95_s,
            itl_p99_s=itl_p99_s,
            stream_tok_s=stream_speed_tok_s(last),
            throughput_tok_s=throughput,
            span_s=span_s,
            active=len(active),
            has_past=any(stream.has_rows for stream in self._streams.values()),
            limit_s=self.requests.tpot_limit_s,
            ghost=self.requests.tpot_ghost,
        )

    # --- Events -------------------------------------------------------------------------

    def _fold_hello(self, event: Hello, now_ns: int) -> None:
        self.note_engine_gone(now_ns)
        self.work.forget()
        self.bandwidth.set_devices(event.devices, now_ns / 1e9)

    def _fold_applied(self, event: Applied, now_ns: int) -> None:
        text = change_text(self._applied, event)
        if text:
            self._markers.append(Marker(now_ns / 1e9, text))
            for stream in self._streams.values():
                stream.restart_gaps(now_ns / 1e9)
        if event.cost != Applies.LIVE.value:
            # The middle, since the event itself may have been late.
            for stream in self._streams.values():
                stream.note_pause(now_ns / 1e9 - event.seconds / 2)
        self.work.note_applied(self._applied, event)
        self._applied = event
        self.changes += 1
        memory = sound_plan(event.memory)
        self.memory.set_applied(memory)
        self.bandwidth.set_applied(memory, now_ns / 1e9)

    def _fold_plan_ready(self, event: PlanReady, now_ns: int) -> None:
        self.memory.set_candidate(sound_plan(event.plan))
        self.changes += 1

    def _fold_request_started(self, event: RequestStarted, now_ns: int) -> None:
        started_s = event.started_ns / 1e9
        self.requests.note_start(event.request_id, started_s, event.prompt_tok, event.reused_tok)
        self._slot_of[event.request_id] = event.slot
        if event.slot not in self._streams:
            self._streams[event.slot] = StreamMeter(event.slot, _RECENT_ROWS, self.steps)
        stream = self._streams[event.slot]
        stream.begin_request(started_s)

    def _fold_tokens_delivered(self, event: TokensDelivered, now_ns: int) -> None:
        slot = self._slot_of.get(event.request_id)
        if slot is None or not event.step_ns:
            return  # began before this desk looked, or carries only text
        self.requests.note_first_token(event.request_id, event.step_ns[0] / 1e9)
        step_s = [ns / 1e9 for ns in event.step_ns]
        self._streams[slot].add_steps(step_s, event.step_tok)
        self._throughput.add_steps(step_s, event.step_tok)

    def _fold_request_finished(self, event: RequestFinished, now_ns: int) -> None:
        self.requests.note_end(event.request_id, event.timing, now_ns / 1e9)
        slot = self._slot_of.pop(event.request_id, None)
        if slot is not None:
            self._streams[slot].end_request()

    def _fold_steps_measured(self, event: StepsMeasured, now_ns: int) -> None:
        self.bandwidth.add_span(event)
        self.work.add_span(event)

    def _fold_memory_measured(self, event: MemoryMeasured, now_ns: int) -> None:
        self.bandwidth.set_devices(event.devices, now_ns / 1e9)
        self.memory.add_engine_measurement(event)

    def _fold_bandwidth_measured(self, event: BandwidthMeasured, now_ns: int) -> None:
        if self.bandwidth.knows_better(event):
            return
        text = peak_change_text(self.bandwidth.host_peak, event)
        if text:
            self._markers.append(Marker(now_ns / 1e9, text))
        self.bandwidth.set_host_peak(event, now_ns / 1e9)
        self.changes += 1
