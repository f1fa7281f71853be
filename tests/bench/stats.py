"""Paired ratios with bootstrap intervals.

Runs alternate between the two programs, so each run of one has a neighbour of the other that
saw the same machine. A ratio is the geometric mean over such pairs, which is exactly the quotient
of the two geometric means; its interval comes from resampling whole pairs.
"""

from __future__ import annotations

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

    Raises:
        ValueError: If there is no cell.
    """
    if not cells:
        raise ValueError("No cell was measured.")
    generator = np.random.default_rng(SEED)
    resampled = np.zeros(RESAMPLES)
    for gains in cells:
        picks = generator.integers(0, gains.size, size=(RESAMPLES, gains.size))
        resampled += gains[picks].mean(axis=1)
    resampled /= len(cells)
    low, high = np.quantile(resampled, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    value = float(np.mean([gains.mean() for gains in cells]))
    return Ratio(
        value=float(np.exp(value)),
        low=float(np.exp(low)),
        high=float(np.exp(high)),
        pairs=sum(gains.size for gains in cells),
    )


def geometric_centre(values: Sequence[float]) -> float:
    """Geometric mean of figures above 0."""
    return float(np.exp(np.mean(np.log(np.asarray(values, dtype=np.float64)))))
