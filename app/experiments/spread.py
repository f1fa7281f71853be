"""How sure a figure is: median, spread, and intervals of medians and of ratios. Pure arithmetic.

Three situations, three intervals, all at 95 %:

* Runs of one setting: the interval of the median, by bootstrap.
* Two settings whose runs do not belong together: the ratio of medians, by bootstrap.
* Two settings that took turns: each run has a neighbour of the other that saw the same machine, so
  a ratio is the geometric mean over such pairs, which is exactly the quotient of the two geometric
  means. Its interval comes from resampling whole pairs (``ratio``) where the number of pairs was
  settled before, and from a confidence sequence (``running_ratio``) where it is looked at after
  every pair whether to go on: looking ten times at a 95 % interval would find a difference between
  equal settings far more often than once in twenty times.
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
LEAST_RUNS = 5
"""Below this there is no interval: even from the smallest to the largest of four runs holds the
true median in 88 % of all cases only."""

# What makes a median deviation comparable with a standard deviation of normal noise.
MAD_SCALE = 1.4826
# Variance of the differences to be found, in units of the noise of a pair. Settings that are worth
# a choice differ by more than the noise; twice is where the fewest pairs are needed for those.
_EFFECT_VARIANCE = 4.0


@dataclass(frozen=True)
class Summary:
    """Runs of one setting in one figure.

    Attributes:
        median: Their median.
        spread: 1.4826 × the median distance from it, in the figure's unit: the standard deviation
            where noise is normal, and hardly moved by one run that went astray.
        low: Lower end of the 95 % interval of the median; None below ``LEAST_RUNS`` runs.
        high: Upper end.
        runs: Runs it rests on, at least 1.
    """

    median: float
    spread: float
    low: float | None
    high: float | None
    runs: int


@dataclass(frozen=True)
class Ratio:
    """A ratio of two settings.

    Attributes:
        value: The ratio; above 1 where the first of the two is better, if it is one of gains.
        low: Lower end of the 95 % interval.
        high: Upper end of the 95 % interval.
        pairs: Pairs it rests on; of runs that are not paired the smaller number of runs.
        spread: Standard deviation of one pair's (run's) logarithm, robust as in ``Summary``: about
            the share by which a single one is off.
    """

    value: float
    low: float
    high: float
    pairs: int
    spread: float = 0.0


def summary(values: Sequence[float | None]) -> Summary | None:
    """The runs that have this figure, in short; None where none has it."""
    known = np.array([value for value in values if value is not None], dtype=np.float64)
    if known.size == 0:
        return None
    low = high = None
    if known.size >= LEAST_RUNS:
        medians = _resampled_medians(known, np.random.default_rng(SEED))
        low, high = (float(end) for end in np.quantile(medians, _tails(LEVEL)))
    return Summary(float(np.median(known)), spread_of(known), low, high, known.size)


def spread_of(values: Sequence[float] | NDArray[np.float64]) -> float:
    """1.4826 × the median distance of ``values`` (at least one) from their median."""
    array = np.asarray(values, dtype=np.float64)
    return float(MAD_SCALE * np.median(np.abs(array - np.median(array))))


def ratio_of_medians(first: Sequence[float], second: Sequence[float]) -> Ratio:
    """Median of ``first`` / median of ``second``, whose runs are no pairs.

    Args:
        first: Figures above 0, at least ``LEAST_RUNS``.
        second: As many or more or less of them, at least ``LEAST_RUNS``.

    Raises:
        ValueError: If there are too few of either, or one is not above 0.
    """
    mine, theirs = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if min(mine.size, theirs.size) < LEAST_RUNS:
        raise ValueError(f"An interval needs at least {LEAST_RUNS} runs of both.")
    _refuse_unless_positive(mine, theirs)
    generator = np.random.default_rng(SEED)
    logs = np.log(_resampled_medians(mine, generator)) - np.log(
        _resampled_medians(theirs, generator)
    )
    low, high = np.exp(np.quantile(logs, _tails(LEVEL)))
    return Ratio(
        value=float(np.median(mine) / np.median(theirs)),
        low=float(low),
        high=float(high),
        pairs=min(mine.size, theirs.size),
        spread=max(spread_of(np.log(mine)), spread_of(np.log(theirs))),
    )


def log_gains(
    first: Sequence[float], second: Sequence[float], *, is_more_better: bool
) -> NDArray[np.float64]:
    """Logarithm of each pair's ratio, positive where the first is better; shape ``(pairs,)``.

    Args:
        first: Figures of the one, above 0, in the order of the runs.
        second: Figures of the other, of the same pairs.
        is_more_better: True for rates, False for times.

    Raises:
        ValueError: If the runs do not pair up or a figure is not above 0.
    """
    mine, theirs = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if mine.shape != theirs.shape or mine.ndim != 1 or mine.size == 0:
        raise ValueError(f"{mine.size} runs do not pair with {theirs.size}.")
    _refuse_unless_positive(mine, theirs)
    gains: NDArray[np.float64] = np.log(mine / theirs)
    return gains if is_more_better else -gains


def ratio(gains: NDArray[np.float64]) -> Ratio:
    """The ratio of one cell from its pairs' ``log_gains``, of pairs settled on before."""
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
    spread = max(spread_of(gains) for gains in cells)
    return _exponent(value, low, high, sum(gains.size for gains in cells), spread)


def running_ratio(gains: NDArray[np.float64], level: float = LEVEL) -> Ratio:
    """The ratio of pairs that are looked at as they come; the interval holds at every look.

    A confidence sequence: with 95 % the truth is in all intervals of all looks at once, so one may
    stop as soon as it excludes 1, or when the time is over, and say so. Of the pairs' logarithms
    with mean m, deviation s and number n, under a normal prior of variance g for the difference
    in units of the noise, the likelihood ratio against the difference m0 is

        (1 + n g)^(-1/2) · [(1 + t²/(n−1)) / (1 + t²/((n−1)(1 + n g)))]^(n/2),
        t = (m − m0) √n / s

    a martingale that exceeds 20 with a probability of at most 1/20, ever (Ville's inequality). The
    interval is every m0 where it does not. Source: H. Wang, A. Ramdas, "Anytime-valid t-tests and
    confidence sequences for Gaussian means with unknown variance", arXiv 2310.03722, the test
    martingale of the scale-invariant likelihood with a Gaussian mixture. Normal noise of the
    logarithms is assumed; a test simulates heavier tails too.

    Args:
        gains: ``log_gains`` so far, at least two pairs.
        level: Probability with which the interval shall hold the truth at every look.

    Raises:
        ValueError: If there are less than two.
    """
    pairs = gains.size
    if pairs < 2:
        raise ValueError("An interval needs at least two pairs.")
    value, error = float(gains.mean()), float(gains.std(ddof=1)) / math.sqrt(pairs)
    grown = 1 + pairs * _EFFECT_VARIANCE
    bound = (grown / (1 - level) ** 2) ** (1 / pairs)
    # So few pairs bear any difference: the ratio stays below 20 however large t is.
    t = math.inf
    if bound < grown:
        t = math.sqrt((pairs - 1) * (bound - 1) / (1 - bound / grown))
    width = error * t if math.isfinite(t) else math.inf
    return _exponent(value, value - width, value + width, pairs, spread_of(gains))


def geometric_centre(values: Sequence[float]) -> float:
    """Geometric mean of figures above 0."""
    return float(np.exp(np.mean(np.log(np.asarray(values, dtype=np.float64)))))


# --- Inside -----------------------------------------------------------------------------


def _tails(level: float) -> tuple[float, float]:
    return (1 - level) / 2, (1 + level) / 2


def _refuse_unless_positive(*arrays: NDArray[np.float64]) -> None:
    if not all(bool(np.all(array > 0)) for array in arrays):
        raise ValueError("A ratio needs figures above 0.")


def _resampled_medians(
    values: NDArray[np.float64], generator: np.random.Generator
) -> NDArray[np.float64]:
    picks = values[generator.integers(0, values.size, size=(RESAMPLES, values.size))]
    medians: NDArray[np.float64] = np.median(picks, axis=1)
    return medians


def _exponent(value: float, low: float, high: float, pairs: int, spread: float) -> Ratio:
    # Pairs that differ by thousands, as on a machine that others load, have no upper limit.
    with np.errstate(over="ignore"):
        value, low, high = (float(np.exp(limit)) for limit in (value, low, high))
    return Ratio(value, low, high, pairs, spread)


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
    quantiles: NDArray[np.float64] = np.quantile(t, _tails(LEVEL))
    return quantiles
