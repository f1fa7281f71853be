"""Paired ratios with bootstrap intervals.

Runs alternate between the two programs, so each run of one has a neighbour of the other that
saw the same machine. A ratio is the geometric mean over such pairs, which is exactly the quotient
of the two geometric means; its interval comes from resampling whole pairs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 10_000
SEED = 20_250
LEVEL = 0.95


@dataclass(frozen=True)
class Ratio:
    """A ratio, above 1 where the engine is better.

    Attributes:
        value: Geometric mean over the pairs.
        low: Lower end of the 95 % interval.
        high: Upper end of the 95 % interval.
        pairs: Pairs it rests on.
    """

    value: float
    low: float
    high: float
    pairs: int


def log_gains(
    engine: Sequence[float], peer: Sequence[float], *, is_more_better: bool
) -> NDArray[np.float64]:
    """Logarithm of each pair's ratio, positive where the engine is better; shape ``(pairs,)``.

    Args:
        engine: The engine's figures, above 0, in the order of the runs.
        peer: The peer's figures of the same pairs.
        is_more_better: True for rates, False for times.

    Raises:
        ValueError: If the runs do not pair up or a figure is not above 0.
    """
    mine, theirs = np.asarray(engine, dtype=np.float64), np.asarray(peer, dtype=np.float64)
    if mine.shape != theirs.shape or mine.ndim != 1 or mine.size == 0:
        raise ValueError(f"{mine.size} runs of the engine do not pair with {theirs.size}.")
    if not (np.all(mine > 0) and np.all(theirs > 0)):
        raise ValueError("A ratio needs figures above 0.")
    gains: NDArray[np.float64] = np.log(mine / theirs)
    return gains if is_more_better else -gains


def ratio(gains: NDArray[np.float64]) -> Ratio:
    """The ratio of one cell from its pairs' ``log_gains``."""
    return geometric_mean([gains])


def geometric_mean(cells: Sequence[NDArray[np.float64]]) -> Ratio:
    """Geometric mean over cells of equal weight; pairs are resampled within their cell.

    Args:
        cells: ``log_gains`` of each cell, at least two pairs in each.

    Raises:
        ValueError: If there is no cell, or one of a single pair, which says nothing of spread.
    """
    if not cells:
        raise ValueError("No cell was measured.")
    if any(gains.size < 2 for gains in cells):
        raise ValueError("An interval needs at least two pairs in every cell.")
    value = float(np.mean([gains.mean() for gains in cells]))
    error = math.sqrt(sum(gains.var(ddof=1) / gains.size for gains in cells)) / len(cells)
    low, high = value - error * _t_quantiles(cells)[::-1]
    # Pairs that differ by thousands, as on a machine that others load, have no upper limit.
    with np.errstate(over="ignore"):
        value, low, high = (float(np.exp(limit)) for limit in (value, low, high))
    return Ratio(value, low, high, sum(g.size for g in cells))


def _t_quantiles(cells: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Quantiles of the studentised mean under resampling (bootstrap-t), shape ``(2,)``.

    Plain percentiles of resampled means are 20 % too narrow for seven pairs: they know the spread
    of these pairs but not that seven pairs tell the spread only roughly.
    """
    generator = np.random.default_rng(SEED)
    shift, variance = np.zeros(RESAMPLES), np.zeros(RESAMPLES)
    for gains in cells:
        picks = gains[generator.integers(0, gains.size, size=(RESAMPLES, gains.size))]
        shift += picks.mean(axis=1) - gains.mean()
        variance += picks.var(axis=1, ddof=1) / gains.size
    # Where every pick was the same pair there is no spread to divide by, rounding errors apart.
    spread = variance > 1e-9 * sum(gains.var() / gains.size for gains in cells)
    t = shift[spread] / np.sqrt(variance[spread])
    if t.size == 0:
        return np.zeros(2)
    quantiles: NDArray[np.float64] = np.quantile(t, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return quantiles


def geometric_centre(values: Sequence[float]) -> float:
    """Geometric mean of figures above 0."""
    return float(np.exp(np.mean(np.log(np.asarray(values, dtype=np.float64)))))
