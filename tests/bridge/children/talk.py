"""What the stand-ins have in common: the words of the protocol, without an engine."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator

from engine_bridge.memory_plan import BytesByUse, EffectiveConfig, MemoryPlan
from engine_bridge.protocol import (
    PROTOCOL_VERSION,
    Applied,
    Command,
    Event,
    Hello,
    Load,
    PlanReady,
    RequestFinished,
    RequestStarted,
    RequestTiming,
    TokensDelivered,
    decode_command,
    encode,
)

EFFECTIVE = EffectiveConfig(
    ctx_per_slot_tok=4096,
    slots=4,
    kv_unified=False,
    ctx_total_tok=16384,
    flash_attn="on",
    n_gpu_layers=0,
    batch_tok=2048,
    ubatch_tok=512,
    threads=2,
    threads_batch=2,
    outputs_max=4,
)
_PLAN = MemoryPlan(BytesByUse(kv=1, total=1), (), EFFECTIVE, True, (), 0.004)


def say(event: Event) -> None:
    """Send one event."""
    sys.stdout.buffer.write(encode(event))
    sys.stdout.buffer.flush()


def greet(version: int = PROTOCOL_VERSION) -> None:
    """Send the first event."""
    say(Hello(version, os.getpid(), time.perf_counter_ns(), "0", "a stand-in", (), False))


def commands() -> Iterator[Command]:
    """Commands until the window is gone."""
    for line in sys.stdin.buffer:
        yield decode_command(line)


def applied(command: Load) -> Applied:
    """A load that worked."""
    return Applied(command.request_id, command.config, EFFECTIVE, "reload", 0.1, _PLAN)


def planned(plan_id: int) -> PlanReady:
    """A plan."""
    return PlanReady(plan_id, _PLAN)


def started(request_id: int) -> RequestStarted:
    """A request that got a slot."""
    return RequestStarted(request_id, 0, 5, 0, "", time.perf_counter_ns())


def tokens(request_id: int, text: str) -> TokensDelivered:
    """One step's text."""
    now_ns = time.perf_counter_ns()
    return TokensDelivered(request_id, text, (now_ns,), (1,), now_ns)


def finished(request_id: int) -> RequestFinished:
    """A request that came to its end."""
    timing = RequestTiming(0.0, 0.1, 0.1, 0.01, 0.01, 0.01, 5, 0, 3)
    return RequestFinished(request_id, "end", "", timing, 8)
