"""The figures of a run by name: their words, and which way is better. Data alone."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Unit(StrEnum):
    """What a figure is counted in."""

    SECONDS = "s"
    SPEED = "tok/s"
    REQUESTS = "req/s"
    BYTES = "bytes"
    SHARE = "share"
    COUNT = "count"


@dataclass(frozen=True)
class Measure:
    """A figure that can be compared.

    Attributes:
        key: Attribute of ``Figures``.
        label: What it is called in a sentence: ``TPOT``.
        unit: What it is counted in.
        is_more_better: True for rates, False for times and memory.
        better: What the better one is: ``faster``.
        worse: What the other one is: ``slower``.
    """

    key: str
    label: str
    unit: Unit
    is_more_better: bool
    better: str = "faster"
    worse: str = "slower"


ALLOCATED = "allocated_memory_bytes"
"""In ``Cell.extra`` what the engine said that it allocated, mapped weights left out."""

MEASURES: tuple[Measure, ...] = (
    Measure("ttft_s", "TTFT", Unit.SECONDS, is_more_better=False),
    Measure("ttft_p95_s", "TTFT p95", Unit.SECONDS, is_more_better=False),
    Measure("tpot_s", "TPOT", Unit.SECONDS, is_more_better=False),
    Measure("itl_p50_s", "ITL p50", Unit.SECONDS, is_more_better=False),
    Measure("itl_p99_s", "ITL p99", Unit.SECONDS, is_more_better=False),
    Measure("prefill_tok_s", "prefill speed", Unit.SPEED, is_more_better=True),
    Measure("user_tok_s", "speed per user", Unit.SPEED, is_more_better=True),
    Measure("total_tok_s", "total throughput", Unit.SPEED, is_more_better=True),
    Measure("decode_tok_s", "decode speed", Unit.SPEED, is_more_better=True),
    Measure("goodput_req_s", "goodput", Unit.REQUESTS, True, "better", "worse"),
    Measure("kept_share", "requests within the limits", Unit.SHARE, True, "better", "worse"),
    Measure("mbu", "MBU", Unit.SHARE, True, "higher", "lower"),
    Measure("owned_bytes", "memory", Unit.BYTES, False, "smaller", "larger"),
    Measure("acceptance", "acceptance", Unit.SHARE, True, "higher", "lower"),
    Measure("reused_share", "reused prompt", Unit.SHARE, True, "higher", "lower"),
    Measure("duration_s", "duration", Unit.SECONDS, is_more_better=False),
)

BY_FIGURE: dict[str, Measure] = {measure.key: measure for measure in MEASURES}
