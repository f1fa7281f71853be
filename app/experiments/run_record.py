"""One run as it happened: each request with its times, and what the engine did meanwhile.

Times are seconds since the run began, by the engine's clock alone. Definitions of the figures made
of it stand in ``engine_bridge.metrics.definitions``.
"""

from __future__ import annotations

import msgspec

from engine_bridge.protocol import FinishReason, RequestTiming
from engine_bridge.step_work import StepWork


class RequestRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One request of a run.

    Attributes:
        script: Name of the script.
        turn: Number of the turn in it, from 0.
        user: Number of the simulated user, from 0.
        sent_s: When it was sent.
        reason: Why it ended; ``failed`` also where the engine refused it.
        timing: Its figures; None where it never started.
        step_s: When each step that delivered tokens ended.
        step_tok: Tokens of each of those steps.
        detail: A sentence where it did not end as asked for; else empty.
    """

    script: str
    turn: int
    user: int
    sent_s: float
    reason: FinishReason
    timing: RequestTiming | None
    step_s: tuple[float, ...] = ()
    step_tok: tuple[int, ...] = ()
    detail: str = ""


class RunRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One run of a workload on one configuration.

    Attributes:
        requests: In the order in which they were sent.
        duration_s: From the first request to the end of the last answer.
        work: What the engine's steps read and computed, by what they were for.
        longest_step_s: The engine's longest step.
        owned_bytes: Most private memory of the engine process, 0 if not measured.
        device_bytes: Most memory used on each device by name, as ggml reports it.
        peak_bytes_per_s: Peak read bandwidth as measured or computed; 0 if unknown.
        disturbances: Sentences: what made the figures unsteady (other load, throttling, swapping,
            sleep); empty for a quiet run.
    """

    requests: tuple[RequestRecord, ...]
    duration_s: float
    work: tuple[StepWork, ...] = ()
    longest_step_s: float = 0.0
    owned_bytes: int = 0
    device_bytes: dict[str, int] = {}
    peak_bytes_per_s: float = 0.0
    disturbances: tuple[str, ...] = ()
