"""A share of requests in words, rounded so that it claims no more than was counted. Pure."""

from __future__ import annotations

import math

from app.experiments.proportion import Proportion

_HUNDRED = 100


def share_text(kept: Proportion) -> str:
    """``88 %, between 80 and 94 %``: the interval is rounded so that it does not get smaller."""
    low, high = math.floor(kept.low * _HUNDRED), math.ceil(kept.high * _HUNDRED)
    return f"{percent_text(kept.share)}, between {low} and {high} %"


def percent_text(share: float) -> str:
    """``88 %``; only all is 100 %."""
    # A share that is not all must not be told as if it were.
    percent = share * _HUNDRED
    return f"{min(percent, 99.9):.3g} %" if percent < _HUNDRED else "100 %"


def requests_text(kept: Proportion) -> str:
    """``80 requests``: how many were judged."""
    return "1 request" if kept.of == 1 else f"{kept.of:,} requests"
