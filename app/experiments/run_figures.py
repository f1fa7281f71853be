"""A run in figures: the record of what happened becomes one row. Pure.

Definitions are those of ``engine_bridge.metrics.definitions``; what they come to for a whole run
stands in ``DEFINITIONS``, a sentence or two for each field of ``Figures``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from typing import Protocol

import numpy as np

from app.experiments.experiment import Figures
from app.experiments.run_detail import detail_of
from app.experiments.run_record import RequestRecord, RunRecord
from engine_bridge.metrics.bandwidth import achieved_bytes_per_s, mbu
from engine_bridge.metrics.definitions import (
    acceptance,
    good_requests,
    itl_s,
    percentile,
    percentiles,
    prefill_speed_tok_s,
    stream_speed_tok_s,
    throughput_tok_s,
)
from engine_bridge.metrics.ring import Floats
from engine_bridge.protocol import FinishReason
from engine_bridge.step_work import StepWork

DEFINITIONS: dict[str, str] = {
    "ttft_s": (
        "Time to first token: from sending a request until its first token, waiting for a slot "
        "(queue) and reading the prompt (prefill) included. The median over the requests of a run."
    ),
    "ttft_p95_s": "One request in twenty waited longer than this for its first token.",
    "tpot_s": (
        "Time per output token: (time of the last token − time of the first) / (n − 1), without "
        "prefill. The median over the answers of a run; there is none for an answer below two "
        "tokens."
    ),
    "itl_p50_s": (
        "Inter-token latency: every gap between two steps that delivered tokens to a stream, all "
        "streams and answers of a run together. The median of them. Drafts bring several tokens "
        "a step, so this is not TPOT."
    ),
    "itl_p99_s": "One of a hundred of these gaps was longer than this.",
    "prefill_tok_s": (
        "Prompt tokens computed / time of the steps that read prompts. Tokens whose cache was "
        "reused do not count. Of a server that does not tell its steps: / the sum of the times "
        "from having a slot to the first token."
    ),
    "user_tok_s": "1 / TPOT: the speed at which one user sees text appear.",
    "total_tok_s": (
        "Output tokens of all streams / length of the run, from the first request to the end of "
        "the last answer; prompts and pauses are in it."
    ),
    "decode_tok_s": (
        "Output tokens of all streams / time of the steps that only generated: what remains of "
        "the total throughput without prompts and pauses."
    ),
    "goodput_req_s": (
        "Requests that kept both limits, TTFT and TPOT, / length of the run; a limit that the "
        "workload does not set is kept by all."
    ),
    "kept_share": "Requests that kept both limits / all requests; one that failed kept none.",
    "mbu": (
        "Model bandwidth utilisation: bytes per decode step × decode steps per second of decoding "
        "/ peak bandwidth of the memory. Steps with prompt tokens are left out."
    ),
    "owned_bytes": (
        "Most private memory of the engine process during the run: weights it owns, KV cache, "
        "compute buffers, kept prompts and the program itself. Mapped weights are pages of the "
        "model file and not in it."
    ),
    "acceptance": "Drafted tokens that the model confirmed / drafted tokens.",
    "reused_share": "Prompt tokens that were in the cache already / prompt tokens.",
    "duration_s": "From the first request to the end of the last answer.",
}
"""What each field of ``Figures`` means for a whole run, but for the counts and the detail."""

_CUT_SHORT: tuple[FinishReason, ...] = ("failed", "cancelled", "context_full", "pool_full")


class Limits(Protocol):
    """What of a workload decides whether a request was good; None for no limit.

    Attributes:
        ttft_slo_s: Longest good TTFT.
        tpot_slo_s: Longest good TPOT.
    """

    @property
    def ttft_slo_s(self) -> float | None:
        """Longest good TTFT, seconds."""

    @property
    def tpot_slo_s(self) -> float | None:
        """Longest good TPOT, seconds."""


def figures_of(record: RunRecord, limits: Limits) -> Figures:
    """The figures of one run.

    Latencies are those of requests that ended as asked for: others did other work. Tokens are those
    of all requests, since the engine made them.

    Args:
        record: What happened.
        limits: The workload, or whatever has its limits.
    """
    requests = record.requests
    good = [request for request in requests if is_as_asked(request)]
    judged = [request.timing for request in good if request.timing is not None]
    timings = [request.timing for request in requests if request.timing is not None]
    ttft_s, ttft_p95_s = percentiles(_known(t.ttft_s for t in judged), (50, 95))
    tpot_s = percentile(_known(t.tpot_s for t in judged), 50)
    itl_p50_s, itl_p99_s = percentiles(pooled_gaps_s(good), (50, 99))
    prompt_tok = sum(timing.prompt_tok for timing in timings)
    reused_tok = sum(timing.reused_tok for timing in timings)
    new_tok = sum(timing.new_tok for timing in timings)
    decode = decode_work(record.work)
    kept = _kept(requests, limits)
    return Figures(
        ttft_s=ttft_s,
        ttft_p95_s=ttft_p95_s,
        tpot_s=tpot_s,
        itl_p50_s=itl_p50_s,
        itl_p99_s=itl_p99_s,
        prefill_tok_s=prefill_speed_tok_s(prompt_tok, reused_tok, _prefill_s(record)),
        user_tok_s=stream_speed_tok_s(tpot_s),
        total_tok_s=throughput_tok_s(new_tok, record.duration_s),
        decode_tok_s=throughput_tok_s(decode.delivered_tok, decode.seconds),
        goodput_req_s=None if kept is None else throughput_tok_s(kept, record.duration_s),
        kept_share=kept / len(requests) if kept is not None and requests else None,
        mbu=mbu(
            achieved_bytes_per_s(decode.bytes, decode.seconds), record.peak_bytes_per_s or None
        ),
        owned_bytes=record.owned_bytes or None,
        acceptance=acceptance(
            sum(timing.drafted_tok for timing in timings),
            sum(timing.accepted_tok for timing in timings),
        ),
        reused_share=reused_tok / prompt_tok if prompt_tok else None,
        requests=len(good),
        failed=len(requests) - len(good),
        new_tok=new_tok,
        duration_s=record.duration_s,
        detail=detail_of(judged),
    )


def is_as_asked(request: RequestRecord) -> bool:
    """Whether a request was answered, and its answer ended where it was to end."""
    return request.timing is not None and not request.detail and request.reason not in _CUT_SHORT


def pooled_gaps_s(requests: Sequence[RequestRecord]) -> Floats:
    """Every gap between two steps of a stream, of all requests together; (n,) seconds."""
    gaps = [itl_s(request.step_s) for request in requests]
    return np.concatenate(gaps) if gaps else np.zeros(0)


def decode_work(works: Sequence[StepWork]) -> StepWork:
    """The steps that only generated, of however many streams, added up as those of one kind."""
    total = StepWork(streams=1)
    for work in works:
        if not work.is_prefill:
            total = total + work
    return total


# --- Inside -----------------------------------------------------------------------------


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _prefill_s(record: RunRecord) -> float:
    """Time of the steps that read prompts; requests' own times where no step is told."""
    told = sum(work.seconds for work in record.work if work.is_prefill)
    return told or sum(r.timing.prefill_s for r in record.requests if r.timing is not None)


def _kept(requests: Sequence[RequestRecord], limits: Limits) -> int | None:
    """How many requests kept the limits; None where there is none to keep."""
    if limits.ttft_slo_s is None and limits.tpot_slo_s is None:
        return None
    times = [
        (request.timing.ttft_s, request.timing.tpot_s)
        for request in requests
        if request.timing is not None and is_as_asked(request)
    ]
    ttft_s = inf if limits.ttft_slo_s is None else limits.ttft_slo_s
    tpot_s = inf if limits.tpot_slo_s is None else limits.tpot_slo_s
    return good_requests(times, ttft_s, tpot_s)
