"""What is asked of simulated users: how many, how often, or how many at most. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass

import msgspec

from app.experiments.long_prompt import long_workload
from app.experiments.proportion import least_to_show
from app.experiments.users_search import Goal
from app.experiments.workload import LIMIT_RATE_REQ_S, LIMIT_USERS, Workload
from app.experiments.workload_error import WorkloadError
from app.experiments.workload_fit import fit_problem, sharing_remarks
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import DomainError

USUAL_REQUESTS = 40
"""By which a number of users is judged that is measured once."""

USUAL_SHARE = 0.95
USUAL_MOST = 64
_SHARES = (0.5, 0.99)
_LIMIT_REQUESTS = 10_000


@dataclass(frozen=True)
class UsersPlan:
    """What is to be measured.

    A load is a number of users in a closed loop, and requests per second in an open one.

    Attributes:
        workload: What each of them does; its number of users, or its rate, is replaced.
        numbers: Numbers of users to measure; empty for those of the workload.
        rates: Requests per second to measure, whoever waits; empty for that of the workload.
        is_search: Whether to find the largest number that keeps the workload's limits.
        share: Share of requests that must keep them, 0.5 to 0.99.
        most: No larger number is tried in a search, 1 to 10,000.
        requests: Requests by which a load is judged, 1 to 10,000; None takes 40, or in a search
            as few as can show the share.
        seconds: Begin no probe after so long, above 0.
        long_prompt_tok: Tokens of long prompts that arrive among the chats at the end; 0 for none.
    """

    workload: Workload
    numbers: tuple[int, ...] = ()
    rates: tuple[float, ...] = ()
    is_search: bool = False
    share: float = USUAL_SHARE
    most: int = USUAL_MOST
    requests: int | None = None
    seconds: float = math.inf
    long_prompt_tok: int = 0

    @property
    def is_open(self) -> bool:
        """Whether requests arrive at a rate, whoever waits."""
        return bool(self.rates) or self.workload.rate_req_s is not None

    @property
    def loads(self) -> tuple[float, ...]:
        """What is measured, each once, smallest first; nothing that is known in a search."""
        if self.is_search:
            return ()
        if self.is_open:
            return tuple(sorted(set(self.rates))) or (self.workload.rate_req_s or 0.0,)
        return tuple(sorted(set(self.numbers))) or (self.workload.users,)

    @property
    def goal(self) -> Goal:
        """What a search looks for."""
        return Goal(self.share, self.most, self.requests or least_to_show(self.share))

    @property
    def title(self) -> str:
        """What is measured, for a list."""
        if self.is_search:
            return "how many users"
        first, last = self.loads[0], self.loads[-1]
        if first == last:
            return self.words(first)
        return f"{first:g} to {self.words(last)}"

    def words(self, load: float) -> str:
        """What a cell is called: ``4 users``, or ``2 req/s`` in an open loop."""
        if self.is_open:
            return f"{load:g} req/s"
        return "1 user" if load == 1 else f"{load:,.0f} users"

    def workload_for(self, load: float) -> Workload:
        """The workload of one run: whole conversations, enough for what is judged of them."""
        judged = self.goal.look if self.is_search else self.requests or USUAL_REQUESTS
        turns = self.workload.turns
        if self.is_open:
            wanted = max(judged, self.workload.requests)
            return msgspec.structs.replace(
                self.workload, rate_req_s=load, requests=math.ceil(wanted / turns) * turns
            )
        # The first conversation of each is thrown away, and about a request when others leave.
        users = round(load)
        each = 1 + math.ceil((math.ceil(judged / users) + 1) / turns)
        return msgspec.structs.replace(self.workload, users=users, requests=users * each * turns)

    def refuse_impossible(self, config: EngineConfig) -> None:
        """Refuse what cannot be measured, as far as that is known without an engine.

        Raises:
            DomainError: In a sentence.
            WorkloadError: If the workload cannot be used.
            ConfigRefusedError: If a conversation of it does not fit into a slot.
        """
        self._refuse_wrong_numbers()
        if not self.seconds > 0:
            raise DomainError(f"Users need time; got {self.seconds:g} seconds.")
        if self.is_open and (self.numbers or self.is_search):
            raise DomainError(
                "With rate_req_s requests arrive whoever waits, so there is no number of users. "
                "Leave out --users and --find, or set rate_req_s=none."
            )
        if self.is_search and not self.workload.has_limits:
            raise DomainError(
                "There is no limit to keep, so any number of users keeps it. Set ttft_slo_s or "
                "tpot_slo_s with --set-workload."
            )
        for load in self.loads or (self._largest,):
            self.workload_for(load).check()
        if self.long_prompt_tok:
            long_workload(self.workload, self.long_prompt_tok).check()
        self.refuse_too_long(config.slot_cap_tok)

    def refuse_too_long(self, ctx_per_slot_tok: int) -> None:
        """Refuse conversations that do not fit into a slot of so many tokens.

        Raises:
            WorkloadError: With the context that would hold them.
        """
        problem = fit_problem(self.workload_for(self._largest), ctx_per_slot_tok)
        if problem is not None:
            raise WorkloadError(problem.message)
        if not self.long_prompt_tok:
            return
        long = long_workload(self.workload, self.long_prompt_tok)
        problem = fit_problem(long, ctx_per_slot_tok)
        if problem is not None:
            raise WorkloadError(
                f"A long prompt of {self.long_prompt_tok:,} tokens takes about "
                f"{long.needed_ctx_tok():,} with its answer, more than the {ctx_per_slot_tok:,} of "
                f"a slot. Set the context per slot to {problem.fix['ctx_per_slot_tok']:,}, or "
                "lower --long-prompt."
            )

    def remarks(self, config: EngineConfig) -> tuple[str, ...]:
        """What is to be expected of the largest load on ``config``, said before it is tried."""
        largest = self.workload_for(self._largest)
        remarks = sharing_remarks(largest, config.slots, config.pool_tok)
        if self.is_search and self.most > config.slots:
            # It is not known yet that so many will be tried.
            noun = "slot" if config.slots == 1 else "slots"
            queueing = (
                f"Of more users than the {config.slots:,} {noun} some wait for one, and TTFT "
                "counts the wait."
            )
            return (queueing, *remarks[1:])
        return remarks

    @property
    def _largest(self) -> float:
        return self.most if self.is_search else self.loads[-1]

    def _refuse_wrong_numbers(self) -> None:
        for name, value, limit in (
            *(("--users", users, LIMIT_USERS) for users in self.numbers),
            ("--most", self.most, LIMIT_USERS),
            ("--requests", 1 if self.requests is None else self.requests, _LIMIT_REQUESTS),
        ):
            if not 1 <= value <= limit:
                raise DomainError(f"{name} takes 1 to {limit:,}; got {value:,}.")
        for rate in self.rates:
            if not 0 < rate <= LIMIT_RATE_REQ_S:
                raise DomainError(
                    f"--rates takes requests per second, above 0 and at most "
                    f"{LIMIT_RATE_REQ_S:,.0f}; got {rate:g}."
                )
        low, high = _SHARES
        if not low <= self.share <= high:
            raise DomainError(f"--share takes {low:g} to {high:g}; got {self.share:g}.")
        if self.long_prompt_tok < 0:
            raise DomainError(f"--long-prompt takes tokens; got {self.long_prompt_tok:,}.")
