"""Two minutes of a desk at work, made up: for tests and for looking at the charts."""

from __future__ import annotations

import numpy as np

from engine_bridge.memory_plan import BytesByUse, DeviceBytes, EffectiveConfig, MemoryPlan
from engine_bridge.metrics.meters import Meters
from engine_bridge.metrics.snapshot import MemorySnapshot
from engine_bridge.protocol import (
    Applied,
    BandwidthMeasured,
    RequestFinished,
    RequestStarted,
    RequestTiming,
    StepsMeasured,
    TokensDelivered,
)
from engine_bridge.settings.config import EngineConfig

SECOND = 1_000_000_000
GIB = 1 << 30
SPAN_S = 120
EFFECTIVE = EffectiveConfig(4096, 4, False, 16384, "on", 0, 2048, 512, 2, 2, 4)


def plan(kv: int) -> MemoryPlan:
    """A model of 1.7 GiB, two thirds of it mapped, with ``kv`` bytes of cache, on the processor."""
    weights, mapped, compute = int(1.7 * GIB), int(1.1 * GIB), int(0.3 * GIB)
    total = weights + kv + compute
    uses = BytesByUse(weights - mapped, mapped, kv, compute=compute, host=total, total=total)
    devices = (DeviceBytes("CPU", weights, kv, compute, 20 * GIB, 24 * GIB),)
    return MemoryPlan(uses, devices, EFFECTIVE, True, (), 0.01)


def applied(kv: int, cost: str, **settings: object) -> Applied:
    """The engine runs ``settings``."""
    config = EngineConfig().with_values(settings)
    return Applied(1, config, EFFECTIVE, cost, 0.31, plan(kv))


def desk_at_work(now_ns: int, streams: int = 4) -> Meters:
    """Meters that saw two minutes: a load, four streams with pauses, a change in the middle."""
    meters = Meters()
    random = np.random.default_rng(7)
    begin_ns = now_ns - SPAN_S * SECOND
    meters.fold(BandwidthMeasured(61.2e9, 2, "read, 2 threads"), begin_ns)
    meters.fold(applied(int(1.2 * GIB), "reload", slots=4), begin_ns + 2 * SECOND)
    for second in range(SPAN_S + 1):
        at_ns = begin_ns + second * SECOND
        if second == 74:
            change = applied(int(2.1 * GIB), "new context", slots=4, ctx_per_slot_tok=8192)
            meters.fold(change, at_ns)
        _memory(meters, at_ns, second, random)
    for burst in ((4, 32), (40, 62), (76, 104), (112, 120)):
        _burst(meters, begin_ns, burst, streams, random)
    return meters


def _memory(meters: Meters, at_ns: int, second: int, random: np.random.Generator) -> None:
    kv = 0.0 if second < 2 else 1.2 if second < 74 else 2.1
    owned = int((0.09 + (0.6 + kv + 0.25 if second >= 2 else 0.0)) * GIB)
    others = int((2.1 + random.normal(0, 0.01)) * GIB)
    mapped = int(1.16 * GIB) if second >= 2 else 0
    meters.note_memory(
        (
            MemorySnapshot(
                at_ns, "system", "System memory", int(23.5 * GIB), owned + others, owned, mapped,
                int(0.21 * GIB),
            ),
        )
    )  # fmt: skip


def _burst(
    meters: Meters, begin_ns: int, burst: tuple[int, int], streams: int, random: np.random.Generator
) -> None:
    """Several answers at once, from one second to another."""
    base_ms = 25.0 if burst[0] < 74 else 18.0
    end_ns = begin_ns + burst[1] * SECOND
    for slot in range(streams):
        request_id = 100 * burst[0] + slot
        sent_ns = begin_ns + int((burst[0] + 0.4 * slot) * SECOND)
        started_ns = sent_ns + int(random.uniform(0.002, 0.03) * SECOND)
        prompt = int(random.uniform(80, 600))
        meters.note_sent(request_id, sent_ns)
        meters.fold(RequestStarted(request_id, slot, prompt, prompt // 2, "", started_ns), sent_ns)
        _text(meters, request_id, (started_ns, end_ns), base_ms + 0.6 * slot, random)
        if burst[1] < SPAN_S:
            ttft = 0.26 + 0.04 * slot
            timing = RequestTiming(
                0.01,
                ttft - 0.01,
                ttft,
                base_ms / 1000,
                base_ms / 1000,
                0.04,
                prompt,
                prompt // 2,
                400,
            )
            meters.fold(RequestFinished(request_id, "end", "", timing, 700), end_ns)
    for tenth in range(burst[0] * 10, burst[1] * 10):
        at_ns = begin_ns + tenth * SECOND // 10
        read = int(0.09 * random.normal(43e9, 0.9e9))
        meters.fold(
            StepsMeasured(
                at_ns - SECOND // 10, at_ns, 0.09, 5, 5, 0.09, read, 5 * streams, 0, 0.0, 0.03,
                streams, (),
            ),
            at_ns,
        )  # fmt: skip


def _text(
    meters: Meters,
    request_id: int,
    span_ns: tuple[int, int],
    step_ms: float,
    random: np.random.Generator,
) -> None:
    """Tokens of one answer, five steps an event."""
    at_ns = span_ns[0] + int(random.uniform(0.2, 0.4) * SECOND)
    is_first = True
    while at_ns < span_ns[1]:
        steps = []
        for _ in range(5):
            slow = 1.7 if random.random() < 0.02 else 1.0
            at_ns += int(slow * random.normal(step_ms, 1.2) * 1e6)
            steps.append(at_ns)
        meters.fold(TokensDelivered(request_id, "x", tuple(steps), (1,) * 5, at_ns), at_ns)
        if is_first:
            meters.note_first_paint(request_id, steps[0] + 1_000_000, steps[0] + 14_000_000)
            is_first = False
