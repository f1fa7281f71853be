"""What no engine can mean raises in no meter, is drawn nowhere, and spoils nothing that follows."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
import pytest
from msgspec import structs

from engine_bridge.memory_plan import BytesByUse, DeviceBytes, EffectiveConfig, MemoryPlan
from engine_bridge.metrics.bandwidth import achieved_bytes_per_s, effective_peak_bytes_per_s
from engine_bridge.metrics.bandwidth_meter import Peak
from engine_bridge.metrics.ceiling import CeilingView, estimate_of
from engine_bridge.metrics.meters import LiveView, Meters
from engine_bridge.metrics.observations import Observation, Observations
from engine_bridge.metrics.prefill_collapse import LEAST_TOK, PrefillWatch
from engine_bridge.metrics.run_observer import RunObserver
from engine_bridge.metrics.snapshot import MemorySnapshot
from engine_bridge.metrics.sound_figures import sound, sound_plan, sound_timing
from engine_bridge.metrics.speculation import TurnRun, figures_of
from engine_bridge.metrics.speculation_advice import advice_for
from engine_bridge.metrics.stretch import Stretch
from engine_bridge.metrics.turn_details import TurnDetails, turn_details
from engine_bridge.protocol import (
    Applied,
    BandwidthMeasured,
    DeviceFacts,
    Event,
    Hello,
    MemoryMeasured,
    PlanReady,
    RequestFinished,
    RequestStarted,
    RequestTiming,
    SlotFacts,
    StepsMeasured,
    TokensDelivered,
)
from engine_bridge.settings.config import EngineConfig
from engine_bridge.step_work import StepWork

SECOND = 1_000_000_000
MS = 1_000_000
T0 = 1000 * SECOND
GIB = 1 << 30
WHOLE = (0, -1, -(2**63), 2**63, 2**200)
BROKEN = (*WHOLE, 5e-324, -1e-9, 1e308, -1e308, math.nan, math.inf, -math.inf)

EFFECTIVE = EffectiveConfig(4096, 4, False, 16384, "on", 0, 2048, 512, 2, 2, 4)
DEVICES = (
    DeviceFacts("CPU", "a processor", "cpu", "CPU", 20 * GIB, 32 * GIB),
    DeviceFacts("CUDA0", "a board", "gpu", "CUDA", 16 * GIB, 24 * GIB),
)
PLAN = MemoryPlan(
    BytesByUse(weights=6 * GIB, kv=2 * GIB, compute=GIB, host=GIB, total=9 * GIB),
    (
        DeviceBytes("CPU", weights=GIB, kv=GIB, compute=0),
        DeviceBytes("CUDA0", weights=5 * GIB, kv=GIB, compute=GIB),
    ),
    EFFECTIVE,
    True,
    (),
    0.01,
    weights_read=6 * GIB,
)
TIMING = RequestTiming(
    0.01, 0.2, 0.21, 0.02, 0.02, 0.03, 100, 40, 20, 3, 2, (2, 1), (1, 1), 0, 0
)  # fmt: skip


def story(number: int) -> list[tuple[Event, int]]:
    """A request that is read and written as it should be; events and when they came."""
    at, request_id = T0 + number * 10 * SECOND, number + 1
    config = EngineConfig()
    slots = (SlotFacts(0, 120, request_id, "a"), SlotFacts(1, 0, None, ""))
    read = StepWork(0, 1, 0.05, 1, 64, 1, 1e9, 1e6, 0.0, 1e12)
    written = StepWork(1, 4, 0.08, 4, 4, 4, 4e9 - 1e6, 1e6, 0.0, 1e10)
    events: list[tuple[Event, int]] = [
        (Hello(1, 1, at, "0.3", "", DEVICES, False), at),
        (Applied(1, config, EFFECTIVE, "reload", 1.5, PLAN), at),
        (BandwidthMeasured(60e9, 2, "read, 2 threads", 3, 0.02), at),
        (PlanReady(1, PLAN), at),
        (RequestStarted(request_id, 0, 100, 40, "", at), at),
    ]
    for span in range(1, 6):
        end = at + span * 80 * MS
        steps = tuple(end - back * 20 * MS for back in (3, 2, 1, 0))
        events += [
            (TokensDelivered(request_id, "word", steps, (1, 1, 1, 1), end), end),
            (
                StepsMeasured(
                    end - 80 * MS, end, 0.08, 4, 4, 0.08, 4 * 10**9, 4, 0, 0.0, 0.02, 1, slots,
                    (read, written),
                ),
                end,
            ),
        ]  # fmt: skip
    end = at + SECOND
    events += [
        (MemoryMeasured(end, 9 * GIB, GIB, DEVICES), end),
        (RequestFinished(request_id, "end", "", TIMING, 120), end),
    ]
    return events


def places(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Where in an event there are numbers; settings apart, which are what the window asked for."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield path
    elif isinstance(value, tuple):
        for place, each in enumerate(value):
            yield from places(each, (*path, place))
    elif isinstance(value, msgspec.Struct) and not isinstance(value, EngineConfig):
        for name in value.__struct_fields__:
            yield from places(getattr(value, name), (*path, name))


def number_at(value: Any, path: tuple[str | int, ...]) -> object:
    for step in path:
        value = value[step] if isinstance(step, int) else getattr(value, step)
    return value


def with_number(value: Any, path: tuple[str | int, ...], number: float) -> Any:
    """A copy with another number at one place."""
    if not path:
        return number
    first, rest = path[0], path[1:]
    if isinstance(first, int):
        changed = with_number(value[first], rest, number)
        return (*value[:first], changed, *value[first + 1 :])
    return structs.replace(value, **{first: with_number(getattr(value, first), rest, number)})


def wild(event: Event) -> Iterator[tuple[str, tuple[str | int, ...], float]]:
    """Every way to make one figure of an event wrong: in words, where, and what it is."""
    for path in places(event):
        # The protocol takes no fraction where a whole number belongs.
        for number in BROKEN if isinstance(number_at(event, path), float) else WHOLE:
            yield f"{'.'.join(map(str, path))} = {number}", path, number


class Desk:
    """Everything that makes figures of events."""

    def __init__(self) -> None:
        self.meters = Meters()
        self.meters.set_limits(1.0, 0.1)
        board = MemorySnapshot(
            T0 - 10 * SECOND, "gpu", "a board", 24 * GIB, 9 * GIB, 8 * GIB, 0, None, 936e9, "bus"
        )
        self.meters.note_memory((board,))
        self.observer = RunObserver()
        self.observed = Observations()

    def take(self, events: list[tuple[Event, int]]) -> None:
        for event, now_ns in events:
            if isinstance(event, RequestStarted):
                self.meters.note_sent(event.request_id, now_ns - 10 * MS)
            self.meters.fold(event, now_ns)
            for found in self.observer.fold(event, 1.8e9):
                self.observed.add(found)

    def look(self, now_ns: int, what: str) -> LiveView:
        """All that is shown, of which nothing is without end or no number."""
        stretch = Stretch(now_ns / 1e9, 120.0, 120.0 / 185)
        view = self.meters.view(now_ns, stretch)
        assert_finite(view, what)
        assert_finite(self.meters.figures(now_ns, stretch), what)
        work = self.meters.work
        ceiling = CeilingView(
            True, self.meters.bandwidth.peak(), work.present, work.decoding, work.prefill,
            work.best_prefill,
        )  # fmt: skip
        for found in (ceiling.mbu, ceiling.ceiling_steps_per_s, ceiling.compute_step_s):
            assert found is None or math.isfinite(found), what
        for of in (work.present, work.prefill, work.best_prefill):
            assert of is None or math.isfinite(of.operations_per_byte), what
            assert of is None or math.isfinite(of.total_tok_s), what
        assert_finite(estimate_of(ceiling), what)
        # What is kept must be readable at the next start.
        kept = msgspec.json.encode(self.observed.all())
        assert msgspec.json.decode(kept, type=tuple[Observation, ...]) == self.observed.all(), what
        return view


def assert_finite(value: object, what: str, name: str = "") -> None:
    if isinstance(value, float):
        assert math.isfinite(value), f"{name}: {value} after {what}"
    elif isinstance(value, np.ndarray):
        # A line has gaps, but no time has none.
        assert not np.isinf(value).any(), f"{name} after {what}"
        assert not name.endswith("times_s") or np.isfinite(value).all(), f"{name} after {what}"
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            assert_finite(getattr(value, field.name), what, field.name)
    elif isinstance(value, msgspec.Struct):
        for field_name in value.__struct_fields__:
            assert_finite(getattr(value, field_name), what, field_name)
    elif isinstance(value, tuple):
        for each in value:
            assert_finite(each, what, name)


KINDS = (
    Hello,
    Applied,
    BandwidthMeasured,
    PlanReady,
    RequestStarted,
    TokensDelivered,
    StepsMeasured,
    MemoryMeasured,
    RequestFinished,
)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: str(kind.__name__))
def test_that_no_figure_of_a_wild_engine_raises_or_is_drawn_or_spoils_what_follows(
    kind: type[Event],
) -> None:
    desk, tried = Desk(), 0
    desk.take(story(0))
    place = max(n for n, (event, _) in enumerate(story(0)) if isinstance(event, kind))
    for what, path, number in wild(story(0)[place][0]):
        tried += 1
        events = story(2 * tried)
        event, now_ns = events[place]
        events[place] = (with_number(event, path, number), now_ns)
        desk.take(events)
        desk.look(T0 + (20 * tried + 2) * SECOND, what)
        desk.take(story(2 * tried + 1))
        view = desk.meters.view(T0 + (20 * tried + 12) * SECOND)
        assert view.bandwidth.last_bytes_per_s == pytest.approx(50e9), what
        assert view.tpot.last_tpot_s == pytest.approx(0.02), what
        assert view.bandwidth.peak_bytes_per_s is not None, what
        assert view.ttft.last is not None, what
        assert view.ttft.last.ttft_s == pytest.approx(0.21), what
        assert view.memory.planned is not None, what
    assert tried >= len(WHOLE)


def test_that_a_proper_engine_is_taken_at_its_word() -> None:
    for event, now_ns in story(0):
        assert sound(event, now_ns) is event
    assert sound_plan(PLAN) is PLAN
    assert sound_timing(TIMING) is TIMING


def test_that_an_event_of_tomorrow_is_none_of_this_clock() -> None:
    tomorrow = T0 + 24 * 3600 * SECOND
    assert sound(RequestStarted(1, 0, 10, 0, "", tomorrow), T0) is None
    delivered = TokensDelivered(1, "text", (T0, tomorrow), (1, 1), T0)
    found = sound(delivered, T0)
    assert isinstance(found, TokensDelivered)
    assert (found.text, found.step_ns, found.step_tok) == ("text", (T0,), (1,))


@pytest.mark.parametrize(
    ("step_ns", "step_tok", "kept_ns"),
    [
        ((T0, T0 - 1, T0 + 1), (1, 1, 1), (T0, T0 + 1)),
        ((T0, T0 + 1), (1,), (T0,)),
        ((T0,), (1, 1), (T0,)),
        ((T0, T0 + 1), (40_000, 1), (T0 + 1,)),
    ],
)
def test_that_steps_go_forward_and_each_has_its_tokens(
    step_ns: tuple[int, ...], step_tok: tuple[int, ...], kept_ns: tuple[int, ...]
) -> None:
    found = sound(TokensDelivered(1, "x", step_ns, step_tok, T0), T0)
    assert isinstance(found, TokensDelivered)
    assert found.step_ns == kept_ns
    assert len(found.step_tok) == len(kept_ns)


def test_that_an_event_older_than_the_stream_adds_no_time_before_its_steps() -> None:
    meters = Meters()
    meters.fold(RequestStarted(1, 0, 10, 0, "", T0), T0)
    for at in (T0 + 20 * MS, T0 + 40 * MS, T0 + 10 * MS, T0 + 60 * MS):
        meters.fold(TokensDelivered(1, "x", (at,), (1,), at), T0 + SECOND)
    assert meters.view(T0 + SECOND).tpot.tpot_s == pytest.approx(0.02)


def test_that_a_step_with_streams_of_which_nobody_writes_is_no_observation() -> None:
    observer = RunObserver()
    empty = StepsMeasured(
        T0, T0 + SECOND, 1.0, 4, 4, 1.0, 10**9, 4, 0, 0.0, 0.3, 0, (SlotFacts(0, 9, None, ""),)
    )  # fmt: skip
    assert observer.fold(empty, 1.8e9) == ()
    assert observer.streams == 0


def test_that_bandwidth_without_a_time_or_beyond_numbers_is_unknown() -> None:
    assert achieved_bytes_per_s(1e9, 0.0) is None
    assert achieved_bytes_per_s(1e300, 5e-324) is None
    assert effective_peak_bytes_per_s([(1e-300, 1e300)]) is None
    assert effective_peak_bytes_per_s([(1e9, 1e9)]) == pytest.approx(1e9)


def test_that_steps_without_operations_tell_no_gain_of_more_streams() -> None:
    idle = StepWork(1, 4, 0.1, 4, 4, 4, 4e9, 0.0, 0.0, 0.0)
    best = StepWork(0, 1, 0.05, 1, 64, 1, 1e9, 1e6, 0.0, 1e12)
    view = CeilingView(True, Peak(60e9), idle, (idle,), best, best)
    assert estimate_of(view) is None
    none = structs.replace(idle, steps=0)
    assert estimate_of(CeilingView(True, Peak(60e9), none, (none,), best, best)) is None


def test_that_a_prompt_that_took_no_time_has_no_speed() -> None:
    watch = PrefillWatch()
    for seconds in (1.0, 1.0):
        watch.note_applied(Applied(1, EngineConfig(), EFFECTIVE, "reload", 1.0, PLAN))
        for took_s in (seconds, 5e-324, 1e-300, seconds):
            assert watch.note_prefill(LEAST_TOK, took_s) is None


def details(**figures: Any) -> TurnDetails:
    timing = structs.replace(TIMING, **figures)
    return turn_details(
        timing, "", steps=20, sent_ns=T0, arrived_ns=T0 + SECOND, painted_ns=T0 + 2 * SECOND
    )


@pytest.mark.parametrize(
    "figures",
    [
        {"new_tok": 1},
        {"new_tok": -5},
        {"tpot_s": 1e308},
        {"queue_s": -1.0},
        {"prompt_tok": 2**70},
        {"accepted_at": (9, 9)},
        {"accepted_at": (1, 1, 1)},
        {"drafted_at": (-1,), "accepted_at": ()},
        {"drafted_at": (1,) * 300},
    ],
)
def test_that_a_kept_turn_can_be_read_again_and_advised_on(figures: dict[str, Any]) -> None:
    found = details(**figures)
    assert msgspec.json.decode(msgspec.json.encode(found), type=TurnDetails) == found
    config = EngineConfig().with_values({"spec_types": ("ngram-simple",)})
    plain = TurnRun("a", EngineConfig(), details(drafted_at=(), accepted_at=()))
    sums = figures_of([plain, TurnRun("a", config, found)], "a", config)
    if sums is not None:
        advice_for(sums, config.spec_types)
        for figure in (sums.alpha, sums.reached_alpha, sums.expected_per_pass, sums.cost_share):
            assert figure is None or math.isfinite(figure)


def test_that_a_file_that_says_more_was_accepted_than_drafted_is_no_fault() -> None:
    odd = structs.replace(details(), drafted_at=(2, 1), accepted_at=(5, 5, 5))
    config = EngineConfig().with_values({"spec_types": ("ngram-simple",)})
    sums = figures_of([TurnRun("a", config, odd)], "a", config)
    assert sums is not None
    assert sums.reached_alpha == 1.0
    assert sums.expected_per_pass is not None
    assert len(sums.accepted_at) == len(sums.drafted_at)
