"""Ceilings as they come up, with made-up figures: for tests and for looking at the page."""

from __future__ import annotations

from dataclasses import replace

from engine_bridge.metrics.bandwidth_meter import Peak, PeakPart
from engine_bridge.metrics.ceiling import CeilingView
from engine_bridge.step_work import StepWork

HOST = Peak(
    61.2e9, "read by 2 threads", (PeakPart("CPU", 1.05e9, 61.2e9, "read by 2 threads"),),
    is_measured=True,
)  # fmt: skip
UNKNOWN = Peak(None, "peak of RTX 3090 unknown", (PeakPart("RTX 3090", 1e9, None),))


def decode(streams: int, step_s: float, **more: float) -> StepWork:
    """A hundred steps of a model of 1.5 billion weights in 1.04 GB."""
    values: dict[str, float] = {
        "steps": 100, "seconds": 100 * step_s, "passes": 100, "computed_tok": 100 * streams,
        "delivered_tok": 100 * streams, "weight_bytes": 104e9, "kv_bytes": 3.5e9 * streams,
        "operations": 100 * 3.1e9 * streams,
    }  # fmt: skip
    return StepWork(streams, **(values | more))  # type: ignore[arg-type]


def prefill(seconds: float = 1.2) -> StepWork:
    """A prompt of 512 tokens."""
    return StepWork(0, 1, seconds, 1, 512, 1, 1.04e9, 1e7, 0, 512 * 2.7e9)


ONE = CeilingView(
    has_model=True,
    peak=HOST,
    present=decode(1, 0.0263),
    decoding=(decode(1, 0.0263),),
    weights_bytes=1.04e9,
    cache_bytes=32_000_000,
    is_live=True,
)
TWO = replace(
    ONE,
    present=decode(2, 0.0311),
    decoding=(decode(1, 0.0263), decode(2, 0.0311), decode(4, 0.0402)),
    prefill=prefill(3.4),
    best_prefill=prefill(3.0),
)
