"""What simulated users come to, in sentences: how many, and what a long prompt does. Pure."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from app.experiments.experiment import Cell, Experiment
from app.experiments.measures import BY_FIGURE
from app.experiments.proportion import Proportion
from app.experiments.proportion_words import percent_text, requests_text, share_text
from app.experiments.rates_conclusion import rates_answer
from app.experiments.scales import value_text
from app.experiments.users_cell import (
    LONG_GAPS,
    LONG_P99,
    LONG_PROMPTS,
    LONG_TOK,
    LONG_TTFT,
    OTHER_GAPS,
    OTHER_P99,
    USERS,
)
from app.experiments.users_plan import UsersPlan
from app.experiments.users_search import Goal, Standing, Tried, edge_of
from app.experiments.workload import Workload
from app.experiments.workload_words import limits_text

_TTFT, _TPOT = BY_FIGURE["ttft_s"], BY_FIGURE["tpot_s"]
_HUNDRED = 100


def concluded(
    experiment: Experiment, plan: UsersPlan, tried: Mapping[float, Proportion], *, is_spent: bool
) -> Experiment:
    """``experiment`` with its sentences, whatever of it is measured.

    Args:
        experiment: With its cells.
        plan: What was asked.
        tried: Requests that kept the limits, by the load; empty without limits.
        is_spent: Whether the time was over before all was measured.
    """
    sentences = []
    if is_spent:
        sentences.append(f"The time of {plan.seconds:,.0f} s was over before all was measured.")
    if tried and plan.is_open:
        sentences += rates_answer(plan.goal, limits_text(plan.workload), tried)
    elif tried:
        numbers = {round(load): kept for load, kept in tried.items()}
        sentences += answer(plan, numbers, experiment.cells)
    sentences += long_prompt_sentences(experiment)
    return msgspec.structs.replace(experiment, conclusion=tuple(sentences))


def answer(plan: UsersPlan, tried: Tried, cells: tuple[Cell, ...]) -> list[str]:
    """How many users keep the limits, as far as the requests tell."""
    said = _Said(plan.goal, limits_text(plan.workload), tried)
    keeps, fails = edge_of(tried, plan.goal)
    if not keeps and fails is not None:
        return [said.none(fails), _why(plan.workload, fails, cells)]
    if fails is None:
        sentences = [said.all_up_to(keeps)]
        if plan.is_search and keeps >= plan.most:
            sentences.append("That is the limit of this search; --most raises it.")
        elif plan.is_search:
            sentences.append(f"More than {keeps:,} were not tried.")
        return sentences
    sentences = [said.edge(keeps, fails)]
    between = fails - keeps - 1
    if between:
        first, last = keeps + 1, fails - 1
        range_text = f"{first:,}" if first == last else f"{first:,} to {last:,}"
        sentences.append(f"{range_text} users were not tried.")
    return sentences


def long_prompt_sentences(experiment: Experiment) -> list[str]:
    """What long prompts did to short chats; empty where none arrived."""
    cell = next((cell for cell in experiment.cells if LONG_PROMPTS in cell.extra), None)
    if cell is None:
        return []
    extra = cell.extra
    if LONG_P99 not in extra or OTHER_P99 not in extra:
        return ["No long prompt was read while short chats were being answered."]
    beside, otherwise = extra[LONG_P99], extra[OTHER_P99]
    reading = value_text(_TPOT, beside)
    sentences = [
        f"While a prompt of {extra[LONG_TOK]:,.0f} tokens is read beside {_users(cell)}, ITL p99 "
        f"of the short chats is {reading} ({extra[LONG_GAPS]:,.0f} gaps); "
        f"otherwise it is {value_text(_TPOT, otherwise)} ({extra[OTHER_GAPS]:,.0f} gaps)."
    ]
    if extra[LONG_GAPS] < _HUNDRED:
        sentences.append("Of fewer than 100 gaps, p99 is about the longest one.")
    chunk = cell.effective.get("prefill_chunk_tok", cell.config.get("prefill_chunk_tok", "auto"))
    ttft = value_text(_TTFT, extra.get(LONG_TTFT))
    sentences.append(
        f"prefill_chunk_tok={chunk} says how much of a prompt one step reads: a smaller one "
        f"shortens these gaps and lengthens the TTFT of the long prompt ({ttft})."
    )
    return sentences


# --- Inside -----------------------------------------------------------------------------


class _Said:
    """The words in which a goal's answer is told."""

    def __init__(self, goal: Goal, limits: str, tried: Tried) -> None:
        self._goal = goal
        self._limits = limits
        self._tried = tried
        self._asked = f"{self._limits} in {percent_text(goal.share)} of requests"

    def none(self, users: int) -> str:
        kept = self._tried[users]
        if self._goal.standing(kept) is Standing.FAILS:
            who = "Not even one user keeps" if users == 1 else f"{_count(users)} do not keep"
            return f"{who} {self._asked} ({share_text(kept)})."
        return (
            f"Whether {'even one user keeps' if users == 1 else f'{_count(users)} keep'} "
            f"{self._asked} is not told by {requests_text(kept)} ({share_text(kept)})."
        )

    def all_up_to(self, users: int) -> str:
        kept = self._tried[users]
        if self._goal.standing(kept) is Standing.KEEPS:
            verb = "keeps" if users == 1 else "keep"
            return f"{_count(users)} {verb} {self._asked} ({share_text(kept)})."
        return (
            f"{_count(users)} kept {self._limits} in {share_text(kept)} of {requests_text(kept)}, "
            f"which does not tell whether they do in {percent_text(self._goal.share)}."
        )

    def edge(self, keeps: int, fails: int) -> str:
        """Of two numbers, the first of which seems to keep the limits and the second not to."""
        good, bad = self._tried[keeps], self._tried[fails]
        verb = "keeps" if keeps == 1 else "keep"
        is_good = self._goal.standing(good) is Standing.KEEPS
        is_bad = self._goal.standing(bad) is Standing.FAILS
        if is_good and is_bad:
            return (
                f"{_count(keeps)} {verb} {self._asked} ({share_text(good)}); {fails:,} do not "
                f"({share_text(bad)})."
            )
        if is_good:
            return (
                f"{_either(keeps, fails)} users: {keeps:,} {verb} {self._asked} "
                f"({share_text(good)}); whether {fails:,} do is not told by {requests_text(bad)} "
                f"({share_text(bad)})."
            )
        if is_bad:
            return (
                f"At most {_count(keeps)}: whether {keeps:,} {verb} {self._asked} is not told by "
                f"{requests_text(good)} ({share_text(good)}); {fails:,} do not ({share_text(bad)})."
            )
        return (
            f"{_either(keeps, fails)} users, not told apart by {requests_text(good)} and "
            f"{requests_text(bad)}: {keeps:,} kept {self._limits} in {share_text(good)}, {fails:,} "
            f"in {share_text(bad)}; asked for were {percent_text(self._goal.share)}."
        )


def _why(workload: Workload, users: int, cells: tuple[Cell, ...]) -> str:
    """Which limit the median of so many users breaks already."""
    cell = next(cell for cell in cells if cell.extra.get(USERS) == users)
    run = cell.runs[0]
    broken = [
        f"{measure.label} is {value_text(measure, value)}"
        for measure, value, limit_s in (
            (_TTFT, run.ttft_s, workload.ttft_slo_s),
            (_TPOT, run.tpot_s, workload.tpot_slo_s),
        )
        if value is not None and limit_s is not None and value > limit_s
    ]
    who = "one user alone" if users == 1 else _count(users)
    if broken:
        return f"For {who}, the median {' and the median '.join(broken)}."
    if run.failed:
        return f"Of {who}, {run.failed:,} of {run.requests + run.failed:,} requests failed."
    return f"For {who}, the medians keep the limits, but too many requests are slower."


def _count(users: int) -> str:
    return "1 user" if users == 1 else f"{users:,} users"


def _either(keeps: int, fails: int) -> str:
    return f"{keeps:,} or {fails:,}" if fails - keeps == 1 else f"{keeps:,} to {fails:,}"


def _users(cell: Cell) -> str:
    return _count(round(cell.extra[USERS])) if USERS in cell.extra else "others"
