"""The figures of a stretch of time that the user chose: latency, speed, goodput. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine_bridge.metrics.definitions import (
    good_requests,
    percentile,
    percentiles,
    stream_speed_tok_s,
    throughput_tok_s,
)
from engine_bridge.metrics.request_meter import RequestMeter
from engine_bridge.metrics.ring import Floats
from engine_bridge.metrics.step_log import StepLog, StepRows
from engine_bridge.metrics.stretch import Stretch


@dataclass(frozen=True)
class Limits:
    """The longest TTFT and TPOT that count as good; None where the user set none."""

    ttft_s: float | None = None
    tpot_s: float | None = None


@dataclass(frozen=True)
class StretchFigures:
    """What happened in a stretch of time; None where nothing did that a figure could be made of.

    Attributes:
        length_s: How long it is, from the first request at the earliest.
        requests: Requests whose first token came in it.
        ttft_p50_s: Median of their TTFT.
        ttft_p95_s: 95th percentile of it.
        tpot_p50_s: Median over the answers of each one's TPOT within the stretch.
        itl_p50_s: Median of all gaps between steps.
        itl_p95_s: 95th percentile of them.
        itl_p99_s: 99th percentile of them.
        tokens: Output tokens of all streams.
        throughput_tok_s: These / the length.
        busy_tok_s: These / the time in which a stream was between two steps.
        steps_length_s: How much of the stretch the figures of steps cover; less than its length
            where older steps are not kept any more.
        ended: Requests that ended in it.
        good: Of these, how many kept both limits; None without both.
        goodput_req_s: Good ones / the length.
        limits: What counts as good.
    """

    length_s: float = 0.0
    requests: int = 0
    ttft_p50_s: float | None = None
    ttft_p95_s: float | None = None
    tpot_p50_s: float | None = None
    itl_p50_s: float | None = None
    itl_p95_s: float | None = None
    itl_p99_s: float | None = None
    tokens: int = 0
    throughput_tok_s: float | None = None
    busy_tok_s: float | None = None
    steps_length_s: float = 0.0
    ended: int = 0
    good: int | None = None
    goodput_req_s: float | None = None
    limits: Limits = Limits()

    @property
    def stream_tok_s(self) -> float | None:
        """Tokens per second of the median answer."""
        return stream_speed_tok_s(self.tpot_p50_s)


@dataclass(frozen=True)
class Steps:
    """The steps of a stretch.

    Attributes:
        rows: What they delivered.
        busy_s: How long a stream was between two steps.
        length_s: How much of the stretch they cover.
    """

    rows: StepRows
    busy_s: float
    length_s: float


def figures_of(
    requests: RequestMeter, log: StepLog, stretch: Stretch, now_s: float
) -> StretchFigures:
    """The figures of ``stretch``, as far as it is past and since the first request."""
    limits = Limits(requests.ttft_limit_s, requests.tpot_limit_s)
    until_s = min(stretch.until_s, now_s)
    since_s = until_s if requests.first_s is None else max(stretch.since_s, requests.first_s)
    if since_s >= until_s:
        return StretchFigures(limits=limits)
    steps_since_s = max(since_s, min(log.complete_since_s, until_s))
    steps = Steps(
        log.window(steps_since_s, until_s),
        log.busy_s(steps_since_s, until_s),
        until_s - steps_since_s,
    )
    ttfts_s = requests.view(Stretch(until_s, until_s - since_s)).ttft_s
    ended = requests.ended(since_s, until_s)
    return stretch_figures(until_s - since_s, ttfts_s, ended, steps, limits)


def stretch_figures(
    length_s: float,
    ttfts_s: Floats,
    ended: Sequence[tuple[float | None, float | None]],
    steps: Steps,
    limits: Limits,
) -> StretchFigures:
    """All figures of a stretch.

    Args:
        length_s: Its length, seconds.
        ttfts_s: (n,) TTFT of every request whose first token came in it.
        ended: TTFT and TPOT of every request that ended in it, see ``goodput_req_s``.
        steps: Its steps.
        limits: What counts as good.
    """
    if length_s <= 0:
        return StretchFigures(limits=limits)
    ttft_p50_s, ttft_p95_s = percentiles(ttfts_s, (50, 95))
    itl_p50_s, itl_p95_s, itl_p99_s = percentiles(steps.rows.gap_s, (50, 95, 99))
    tokens = int(steps.rows.tokens.sum())
    good = None
    if limits.ttft_s is not None and limits.tpot_s is not None:
        good = good_requests(ended, limits.ttft_s, limits.tpot_s)
    return StretchFigures(
        length_s=length_s,
        requests=int(ttfts_s.size),
        ttft_p50_s=ttft_p50_s,
        ttft_p95_s=ttft_p95_s,
        tpot_p50_s=percentile(tpots_s(steps.rows), 50),
        itl_p50_s=itl_p50_s,
        itl_p95_s=itl_p95_s,
        itl_p99_s=itl_p99_s,
        tokens=tokens,
        throughput_tok_s=throughput_tok_s(tokens, steps.length_s),
        busy_tok_s=_busy_tok_s(steps),
        steps_length_s=steps.length_s,
        ended=len(ended),
        good=good,
        goodput_req_s=None if good is None else good / length_s,
        limits=limits,
    )


def tpots_s(rows: StepRows) -> Floats:
    """TPOT of every answer within a stretch: its gaps / the tokens of the steps after them.

    For a whole answer without a pause this is its TPOT: what lies between its first step and its
    last, and all tokens but those of the first.

    Returns:
        (answers,) seconds; answers without a gap in the stretch are left out.
    """
    has_gap = np.isfinite(rows.gap_s)
    if not has_gap.any():
        return np.zeros(0, dtype=np.float64)
    answer = rows.answer[has_gap] - rows.answer[has_gap].min()
    tokens = np.bincount(answer, weights=rows.tokens[has_gap])
    spent_s = np.bincount(answer, weights=rows.gap_s[has_gap])
    has_tokens = tokens > 0
    return np.asarray(spent_s[has_tokens] / tokens[has_tokens], dtype=np.float64)


def _busy_tok_s(steps: Steps) -> float | None:
    """Tokens of the steps that had a step before them, per second between the two."""
    tokens = int(steps.rows.tokens[np.isfinite(steps.rows.gap_s)].sum())
    return throughput_tok_s(tokens, steps.busy_s)
