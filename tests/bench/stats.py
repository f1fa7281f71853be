"""Paired ratios with bootstrap intervals, as the product reckons them.

Runs alternate between the two programs, so each run of one has a neighbour of the other that
saw the same machine. The reasoning stands in ``app.experiments.spread``.
"""

from __future__ import annotations

from app.experiments.spread import (
    Ratio,
    geometric_centre,
    geometric_mean,
    log_gains,
    ratio,
)

__all__ = ["Ratio", "geometric_centre", "geometric_mean", "log_gains", "ratio"]
