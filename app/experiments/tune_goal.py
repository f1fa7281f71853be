"""What a tuner is asked for: what the settings are for, and what must hold. Data alone."""

from __future__ import annotations

import math
from enum import StrEnum

import msgspec

from app.experiments.workload import Workload
from engine_bridge.settings.domain import DomainError, Value

USUAL_MEASUREMENTS = 80
"""Runs that usually suffice for all steps; a tuner that needs less ends before."""
LEAST_MEASUREMENTS = 4
MOST_MEASUREMENTS = 2_000
USUAL_SECONDS = 1_200.0
"""20 minutes: the limit of whoever names none, where one is offered."""
USUAL_MARGIN_BYTES = 512 * 2**20
"""Memory that stays free on every device, for what others need meanwhile."""
VARIANTS = 16
"""How many kinds of texts a workload is run with before they come again."""
KV_LADDER = ("f16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0")
"""KV types from the finest to the coarsest that a tuner tries; q8_0 halves the cache."""


class Purpose(StrEnum):
    """What the settings are for."""

    CHAT = "chat"
    USERS = "users"
    BATCH = "batch"


class TuneGoal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the settings are for, and what must hold.

    Attributes:
        purpose: One person chatting, N users within limits, or most tokens an hour.
        workload: What is run for each measurement; its limits are the SLOs of ``USERS``.
        users: How many at a time: 1 for ``CHAT``; the workload is run with as many.
        ctx_needed_tok: Context that each slot must have, in tokens; 0 takes it from the workload.
        margin_bytes: Memory that must stay free on every device, 0 or more.
        kv_floor: The coarsest KV type allowed, one of ``KV_LADDER``; ``f16`` leaves KV alone.
        kept: Keys of settings that the tuner must not touch.
        drafts: Paths of draft models that it may try.
        measurements: The most runs it may take, warm-ups apart.
        configurations: The most configurations it may measure; 0 for as many as the runs allow.
        seconds: No run begins after so long, or that would not end by then; 0 for no limit.
        domain: Keys with the values to try, the only ones; empty for the tuner's own.
    """

    purpose: Purpose
    workload: Workload
    users: int = 1
    ctx_needed_tok: int = 0
    margin_bytes: int = USUAL_MARGIN_BYTES
    kv_floor: str = "q8_0"
    kept: tuple[str, ...] = ()
    drafts: tuple[str, ...] = ()
    measurements: int = USUAL_MEASUREMENTS
    configurations: int = 0
    seconds: float = 0
    domain: dict[str, tuple[Value, ...]] = {}

    @property
    def run_workload(self) -> Workload:
        """The workload with as many users as the goal has; of an open loop as it is."""
        workload = self.workload
        if workload.rate_req_s is not None or workload.users == self.users:
            return workload
        # Each of them has a conversation at least; more would only make runs longer.
        requests = max(workload.requests, self.users * workload.turns)
        return msgspec.structs.replace(workload, users=self.users, requests=requests)

    def check(self) -> None:
        """Refuse a goal with which nothing can be tuned.

        Raises:
            DomainError: In a sentence.
            WorkloadError: If the workload cannot be used.
        """
        if not LEAST_MEASUREMENTS <= self.measurements <= MOST_MEASUREMENTS:
            raise DomainError(
                f"A tuner takes {LEAST_MEASUREMENTS} to {MOST_MEASUREMENTS:,} runs; got "
                f"{self.measurements:,}. Fewer tell no setting from another."
            )
        if self.kv_floor not in KV_LADDER:
            raise DomainError(
                f"The KV floor is one of {', '.join(KV_LADDER)}; got {self.kv_floor!r}."
            )
        if self.users < 1:
            raise DomainError(f"Users must be 1 or more; got {self.users:,}.")
        if self.purpose is Purpose.CHAT and self.users != 1:
            raise DomainError(
                f"Chat is tuned for one person; got {self.users:,}. Tune for users instead."
            )
        if self.configurations < 0:
            raise DomainError(f"Configurations must be 0 or more; got {self.configurations:,}.")
        if not (math.isfinite(self.seconds) and self.seconds >= 0):
            raise DomainError(f"The limit of seconds must be 0 or more; got {self.seconds:g}.")
        if self.margin_bytes < 0 or self.ctx_needed_tok < 0:
            raise DomainError("The memory margin and the context must be 0 or more.")
        self.run_workload.check()
        if self.purpose is Purpose.USERS and not self.workload.has_limits:
            raise DomainError(
                "Users are tuned for within limits, and this workload has none. Set --ttft or "
                "--tpot, or tune for batch."
            )
