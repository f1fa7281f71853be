"""Fits costs to measured times, in relative error: few runs, many settings. Pure.

Bayes by Gauss and Newton: the squared logarithms of measured / computed, against how far the
guesses are left. What no run speaks of keeps its guess and all of its doubt, so a prediction knows
how far it is from what was measured. Rates are logarithms: nothing ever takes less than no time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from engine_bridge.metrics.ring import Floats
from engine_bridge.metrics.step_cost import Cost, Guess

# How far repeated runs differ before anything is known of it, and for how many runs that counts.
_NOISE, _NOISE_RUNS = 0.06, 4.0
# A bell curve's deviation is so many medians of what its values are off by.
_MEDIANS = 1.4826
# A run that was disturbed by something else counts less from here on, in deviations.
_FAR = 2.4
_ROUNDS, _TRIES, _CLOSE = 5, 25, 1e-5
_LEAST_FREEDOM = 0.2
# The logarithm of a time beyond all clocks.
_FARTHEST = 40.0


@dataclass(frozen=True)
class _Design:
    """Costs as arrays over the same names."""

    outer: Floats  # (n, names)
    amounts: Floats  # (n, parts)
    inner: Floats  # (n, parts, names)

    def log_s(self, at: Floats) -> tuple[Floats, Floats]:
        """(n,) logarithms of the times, and (n, names) how each follows each name."""
        prices = np.exp(np.clip(self.inner @ at, -_FARTHEST, _FARTHEST)) * self.amounts
        total = np.maximum(prices.sum(axis=1), 1e-300)
        shares = prices / total[:, None]
        slopes = self.outer + np.einsum("np,npk->nk", shares, self.inner)
        return np.log(total) + self.outer @ at, slopes


@dataclass(frozen=True)
class _Before:
    """What is thought of each name before any run: (names,) each, precision is 1 / variance."""

    means: Floats
    precision: Floats


def _design(costs: Sequence[Cost], names: Sequence[str]) -> _Design:
    place = {name: number for number, name in enumerate(names)}
    parts = max(len(cost.parts) for cost in costs)
    outer = np.zeros((len(costs), len(names)))
    amounts = np.zeros((len(costs), parts))
    inner = np.zeros((len(costs), parts, len(names)))
    for row, cost in enumerate(costs):
        for name, exponent in cost.outer.items():
            outer[row, place[name]] = exponent
        for column, part in enumerate(cost.parts):
            amounts[row, column] = part.amount
            for name, exponent in part.names.items():
                inner[row, column, place[name]] = exponent
    return _Design(outer, amounts, inner)


def _names(cost: Cost) -> set[str]:
    return set(cost.outer).union(*(part.names for part in cost.parts))


class LogFit:
    """What runs have told.

    Attributes:
        noise: How far a run is off that had no part in the fit, as a logarithm: by leaving each
            out once.
    """

    def __init__(
        self, costs: Sequence[Cost], seconds: Sequence[float], guess: Callable[[str], Guess]
    ) -> None:
        """Learn from runs.

        Args:
            costs: What each run was made of, at least one.
            seconds: What each took, above 0.
            guess: What is thought of a name before any run.
        """
        self._guess = guess
        self._known = sorted(set().union(*map(_names, costs)))
        design = _design(costs, self._known)
        measured = np.log(np.asarray(seconds, dtype=np.float64))
        means = np.array([guess(name).mean for name in self._known])
        precision = np.array([guess(name).deviation for name in self._known]) ** -2.0
        before = _Before(means, precision)
        at, weights, self.noise = means.copy(), np.ones(len(costs)), _NOISE
        for _ in range(_ROUNDS):
            at = _settled(design, measured, weights / self.noise**2, at, before)
            computed, slopes = design.log_s(at)
            weighted = slopes * (weights / self.noise**2)[:, None]
            self._doubt = np.linalg.inv(slopes.T @ weighted + np.diag(precision))
            told = np.einsum("nk,kj,nj->n", weighted, self._doubt, slopes)
            left = (measured - computed) / np.maximum(1 - told, _LEAST_FREEDOM)
            # The median does not care how far off a disturbed run is.
            spread = len(costs) * (_MEDIANS * float(np.median(np.abs(left)))) ** 2
            spread += _NOISE_RUNS * _NOISE**2
            self.noise = math.sqrt(spread / (len(costs) + _NOISE_RUNS))
            weights = 1 / (1 + (left / (_FAR * self.noise)) ** 2)
        self._at = at

    def log_s(self, cost: Cost) -> tuple[float, float]:
        """Logarithm of a time, and its standard deviation without the noise of a run."""
        new = sorted(_names(cost).difference(self._known))
        design = _design([cost], [*self._known, *new])
        at = np.concatenate([self._at, [self._guess(name).mean for name in new]])
        (computed,), (slopes,) = design.log_s(at)
        known = slopes[: len(self._known)]
        doubt = float(known @ self._doubt @ known)
        doubt += sum(
            (slope * self._guess(name).deviation) ** 2
            for slope, name in zip(slopes[len(self._known) :].tolist(), new, strict=True)
        )
        return float(computed), math.sqrt(doubt)


def _settled(
    design: _Design, measured: Floats, weights: Floats, at: Floats, before: _Before
) -> Floats:
    """The most probable logarithms (Levenberg and Marquardt)."""
    means, precision = before.means, before.precision

    def loss(there: Floats) -> float:
        away = measured - design.log_s(there)[0]
        return float(weights @ away**2 + precision @ (there - means) ** 2)

    damping, best = 1e-3, loss(at)
    for _ in range(_TRIES):
        computed, slopes = design.log_s(at)
        curved = slopes.T @ (slopes * weights[:, None]) + np.diag(precision)
        pull = slopes.T @ (weights * (measured - computed)) - precision * (at - means)
        move = np.linalg.solve(curved + damping * np.diag(np.diag(curved)), pull)
        there = loss(at + move)
        if there > best:
            damping *= 10
            continue
        is_there = best - there < _CLOSE * (1 + best)
        at, best, damping = at + move, there, damping / 10
        if is_there:
            break
    return at
