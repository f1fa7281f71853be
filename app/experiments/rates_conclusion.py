"""At which rates of arrival the limits are kept, in sentences. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from app.experiments.proportion import Proportion
from app.experiments.proportion_words import percent_text, requests_text, share_text
from app.experiments.users_search import Goal, Standing, edge_of


def rates_answer(goal: Goal, limits: str, tried: Mapping[float, Proportion]) -> list[str]:
    """Up to which rate the limits are kept, as far as the requests tell.

    Args:
        goal: The share of requests that must keep them.
        limits: The limits in words.
        tried: Requests that kept them, by requests per second; at least one rate.
    """
    keeps, fails = edge_of(tried, goal)
    asked = f"{limits} in {percent_text(goal.share)} of requests"
    good, bad = tried.get(keeps), None if fails is None else tried[fails]
    sentences = []
    if good is not None:
        sentences.append(_good(keeps, good, asked, goal))
    if fails is not None and bad is not None:
        sentences.append(_bad(fails, bad, asked, goal, is_alone=good is None))
    else:
        sentences.append(f"Rates above {keeps:g} req/s were not tried.")
    return sentences


# --- Inside -----------------------------------------------------------------------------


def _good(rate: float, kept: Proportion, asked: str, goal: Goal) -> str:
    if goal.standing(kept) is Standing.KEEPS:
        return f"{rate:g} req/s keep {asked} ({share_text(kept)})."
    return (
        f"Whether {rate:g} req/s keep {asked} is not told by {requests_text(kept)} "
        f"({share_text(kept)})."
    )


def _bad(rate: float, kept: Proportion, asked: str, goal: Goal, *, is_alone: bool) -> str:
    what = asked if is_alone else "them"
    if goal.standing(kept) is Standing.FAILS:
        return f"{rate:g} req/s do not keep {what} ({share_text(kept)})."
    return (
        f"Whether {rate:g} req/s keep {what} is not told by {requests_text(kept)} "
        f"({share_text(kept)})."
    )
