"""Keeps from the meters what no engine can mean: less than nothing, more than there is, no time.

An engine of another build, or one whose memory is damaged, may send any number; the window must
neither die of it nor draw it. Pure. Lets everything pass that could have been measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import structs

from engine_bridge.memory_plan import MemoryPlan
from engine_bridge.protocol import (
    Applied,
    BandwidthMeasured,
    DeviceFacts,
    Event,
    MemoryMeasured,
    RequestFinished,
    RequestStarted,
    RequestTiming,
    StepsMeasured,
    TokensDelivered,
)
from engine_bridge.settings.table import MAX_SLOTS
from engine_bridge.step_work import StepWork

LATEST_NS = 1 << 62
"""No clock of an engine has run for so long: 146 years."""

# Engine and window read the same clock; what is this far ahead of now was not read from it.
_AHEAD_NS = 3600 * 10**9
# Twelve days; and clocks count whole nanoseconds.
_MOST_S, _LEAST_S = 1e6, 1e-9
_MOST_BYTES = 1 << 60
_MOST_BYTES_PER_S = 1e15
_MOST_OPERATIONS = 1e30
_MOST_TOK = (1 << 31) - 1
# As the log of steps keeps them.
_MOST_STEP_TOK = (1 << 15) - 1
_MOST_DRAFTED = 256
_MOST_THREADS = 1 << 16


def sound(event: Event, now_ns: int = LATEST_NS) -> Event | None:
    """``event`` as far as its figures can be true; None where nothing is left of it.

    Args:
        event: What an engine sent.
        now_ns: When it arrived, ``time.perf_counter_ns()``.
    """
    check = _CHECKS.get(type(event))
    found: Event | None = event if check is None else check(event, now_ns + _AHEAD_NS)
    return found


def sound_plan(plan: MemoryPlan) -> MemoryPlan | None:
    """``plan``; None where one of its sizes can be none."""
    sizes = [*structs.astuple(plan.bytes), plan.host_caches, plan.host_kept, plan.weights_read]
    for device in plan.devices:
        sizes += (device.weights, device.kv, device.compute, device.draft)
    return plan if all(map(_is_size, sizes)) else None


def sound_timing(timing: RequestTiming) -> RequestTiming:
    """``timing``; where one of its figures can be none, its times and drafts are unknown."""
    counts = {name: getattr(timing, name) for name in _COUNTS}
    times = [getattr(timing, name) for name in _TIMES]
    is_timed = all(time is None or _is_time(time) for time in times)
    if is_timed and _are_drafts(timing) and all(map(_is_count, counts.values())):
        return timing
    return structs.replace(
        timing,
        queue_s=0.0,
        prefill_s=0.0,
        ttft_s=None,
        tpot_s=None,
        itl_p50_s=None,
        itl_p99_s=None,
        drafted_at=(),
        accepted_at=(),
        **{name: count if _is_count(count) else 0 for name, count in counts.items()},
    )


# --- What a number can be -------------------------------------------------------------------


def _is_time(seconds: float) -> bool:
    return seconds == 0 or _LEAST_S <= seconds <= _MOST_S


def _is_size(size: float) -> bool:
    return size == 0 or 1 <= size <= _MOST_BYTES


def _is_count(tokens: float) -> bool:
    return 0 <= tokens <= _MOST_TOK


def _are_drafts(timing: RequestTiming) -> bool:
    drafted, accepted = timing.drafted_at, timing.accepted_at
    if not len(accepted) <= len(drafted) <= _MOST_DRAFTED or not all(map(_is_count, drafted)):
        return False
    return all(0 <= some <= all_ for some, all_ in zip(accepted, drafted, strict=False))


_TIMES = ("queue_s", "prefill_s", "ttft_s", "tpot_s", "itl_p50_s", "itl_p99_s")
_COUNTS = (
    "prompt_tok", "reused_tok", "new_tok", "drafted_tok", "accepted_tok", "think_tok",
    "dropped_tok",
)  # fmt: skip


# --- What an event can say ------------------------------------------------------------------


def _applied(event: Applied, _: int) -> Applied:
    return event if _is_time(event.seconds) else structs.replace(event, seconds=0.0)


def _started(event: RequestStarted, until_ns: int) -> RequestStarted | None:
    if not 0 <= event.slot < MAX_SLOTS or not 0 <= event.started_ns <= until_ns:
        return None
    if _is_count(event.prompt_tok) and _is_count(event.reused_tok):
        return event
    return structs.replace(event, prompt_tok=0, reused_tok=0)


def _delivered(event: TokensDelivered, until_ns: int) -> TokensDelivered:
    """Its text has been shown; steps that go back, or bring what no step does, are no steps."""
    before_ns, steps = 0, list[tuple[int, int]]()
    for at_ns, tokens in zip(event.step_ns, event.step_tok, strict=False):
        if before_ns <= at_ns <= until_ns and 0 <= tokens <= _MOST_STEP_TOK:
            steps.append((at_ns, tokens))
            before_ns = at_ns
    if len(steps) == len(event.step_ns) == len(event.step_tok):
        return event
    return structs.replace(
        event,
        step_ns=tuple(at_ns for at_ns, _ in steps),
        step_tok=tuple(tokens for _, tokens in steps),
    )


def _finished(event: RequestFinished, _: int) -> RequestFinished:
    timing = sound_timing(event.timing)
    return event if timing is event.timing else structs.replace(event, timing=timing)


def _steps(event: StepsMeasured, until_ns: int) -> StepsMeasured | None:
    times = (event.busy_s, event.decode_s, event.prefill_s, event.longest_step_s)
    counts = (event.steps, event.decode_steps, event.decoded_tok, event.prefilled_tok)
    if not (
        0 <= event.begin_ns <= event.end_ns <= until_ns
        and all(map(_is_time, times))
        and all(map(_is_count, counts))
        and _is_size(event.decode_bytes)
        and 0 <= event.streams <= MAX_SLOTS
        and all(_is_count(slot.used_tok) for slot in event.slots)
    ):
        return None
    work = tuple(filter(_is_work, event.work))
    return event if len(work) == len(event.work) else structs.replace(event, work=work)


def _is_work(work: StepWork) -> bool:
    sizes = (work.weight_bytes, work.kv_bytes, work.draft_bytes)
    return (
        0 <= work.streams <= MAX_SLOTS
        and 1 <= work.steps <= _MOST_TOK
        and _is_time(work.seconds)
        and all(map(_is_count, (work.passes, work.computed_tok, work.delivered_tok)))
        and all(map(_is_size, sizes))
        and (work.operations == 0 or 1 <= work.operations <= _MOST_OPERATIONS)
    )


def _memory(event: MemoryMeasured, until_ns: int) -> MemoryMeasured | None:
    sizes = (event.owned, event.mapped, event.borrowed)
    if not 0 <= event.at_ns <= until_ns or not all(map(_is_size, sizes)):
        return None
    devices = tuple(filter(_is_device, event.devices))
    if len(devices) == len(event.devices):
        return event
    return structs.replace(event, devices=devices)


def _is_device(device: DeviceFacts) -> bool:
    return _is_size(device.free) and _is_size(device.total)


def _bandwidth(event: BandwidthMeasured, _: int) -> BandwidthMeasured | None:
    is_sound = (
        1 <= event.peak_bytes_per_s <= _MOST_BYTES_PER_S
        and 1 <= event.threads <= _MOST_THREADS
        and _is_count(event.runs)
        and 0 <= event.spread <= 1
    )
    return event if is_sound else None


_CHECKS: Mapping[type, Callable[[Any, int], Event | None]] = {
    Applied: _applied,
    RequestStarted: _started,
    TokensDelivered: _delivered,
    RequestFinished: _finished,
    StepsMeasured: _steps,
    MemoryMeasured: _memory,
    BandwidthMeasured: _bandwidth,
}
