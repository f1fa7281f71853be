"""Requests of runs that never were, for tests of what is made of them."""

from __future__ import annotations

from collections.abc import Sequence

from app.experiments.run_record import RequestRecord
from engine_bridge.protocol import RequestTiming


def request_at(
    sent_s: float,
    steps_s: Sequence[float],
    *,
    user: int = 0,
    script: str = "chat-001",
    queue_s: float = 0.0,
    prompt_tok: int = 10,
) -> RequestRecord:
    """One that was answered with a token at each of ``steps_s``."""
    ttft_s = steps_s[0] - sent_s if steps_s else None
    gaps = len(steps_s) - 1
    timing = RequestTiming(
        queue_s=queue_s,
        prefill_s=(ttft_s or queue_s) - queue_s,
        ttft_s=ttft_s,
        tpot_s=(steps_s[-1] - steps_s[0]) / gaps if gaps > 0 else None,
        itl_p50_s=None,
        itl_p99_s=None,
        prompt_tok=prompt_tok,
        reused_tok=0,
        new_tok=len(steps_s),
        drafted_tok=0,
        accepted_tok=0,
    )
    return RequestRecord(
        script=script,
        turn=0,
        user=user,
        sent_s=sent_s,
        reason="token_limit",
        timing=timing,
        step_s=tuple(steps_s),
        step_tok=(1,) * len(steps_s),
    )
