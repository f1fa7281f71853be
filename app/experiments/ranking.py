"""Which cell of a sweep is best, which ones cannot be told from it, and which are worth a choice.

All cells are measured once a round, so two cells are compared by the pairs of their runs of the
same round: what drifts from round to round is not in the difference. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from app.experiments.experiment import Cell
from app.experiments.measures import ALLOCATED, BY_FIGURE, Measure
from app.experiments.spread import LEVEL, MAD_SCALE
from app.experiments.student import upper_quantile

# Nobody chooses a setting for less; without it memory that differs by a page would count.
_LEAST_SHARE = 0.01
PARETO_SPEEDS = ("user_tok_s", "total_tok_s")
"""Between these and memory a user has to choose: nothing is best in all three at once."""


@dataclass(frozen=True)
class Ranking:
    """The cells of a sweep by one figure.

    Attributes:
        best: Place of the best cell; None where no cell has the figure.
        alike: Places of those that cannot be told from it, the better ones first. The cell that
            is truly best is ``best`` or among them with 95 %.
        worse: Places of those that are worse, the better ones first.
    """

    best: int | None
    alike: tuple[int, ...] = ()
    worse: tuple[int, ...] = ()


def ranking_of(cells: Sequence[Cell], measure: Measure) -> Ranking:
    """Rank ``cells`` by ``measure``: by the mean of how far each was above its rounds.

    A cell is worse than the best where the one-sided t test of its pairs says so at 5 % / (number
    of others): the best was picked for having come out on top, and would beat one of many equals
    by luck far more often than once in twenty (S. S. Gupta's selection of a subset that holds the
    best, with Bonferroni's bound).
    """
    places = [
        place
        for place, cell in enumerate(cells)
        if not cell.skipped and median_of(cell, measure) is not None
    ]
    if not places:
        return Ranking(None)
    scores = _scores([cells[place] for place in places], measure)
    order = [places[at] for at in np.argsort(-scores, kind="stable")]
    best, others = order[0], order[1:]
    share = (1 - LEVEL) / max(1, len(others))
    is_beaten = better_of([cells[best]], [cells[place] for place in others], measure, share)[0]
    return Ranking(
        best,
        tuple(place for place, beaten in zip(others, is_beaten, strict=True) if not beaten),
        tuple(place for place, beaten in zip(others, is_beaten, strict=True) if beaten),
    )


def pareto_of(cells: Sequence[Cell]) -> tuple[int, ...]:
    """Places of the cells that no other one beats in everything at once.

    Of speed per user, total throughput and memory: a cell is beaten where another is better in one
    of them by 1 % or more beyond the spread, and worse in none. Memory is what the engine said that
    it allocated, which has no spread; where it did not say, what its process was seen to own.
    """
    places = [place for place, cell in enumerate(cells) if cell.runs and not cell.skipped]
    known = [cells[place] for place in places]
    is_better = [
        _worth_choosing(known, BY_FIGURE[key])
        for key in PARETO_SPEEDS
        if known and all(median_of(cell, BY_FIGURE[key]) is not None for cell in known)
    ]
    is_better += _smaller(known)
    if not is_better:
        return ()
    any_better = np.logical_or.reduce(is_better)
    is_beaten = np.any(any_better & ~any_better.T, axis=0)
    return tuple(place for place, beaten in zip(places, is_beaten, strict=True) if not beaten)


def allocated_bytes_of(cells: Sequence[Cell]) -> list[float]:
    """What the engine allocated for each of ``cells``; empty where it did not say so of all."""
    told = [cell.extra[ALLOCATED] for cell in cells if ALLOCATED in cell.extra]
    return told if len(told) == len(cells) else []


def better_of(
    ones: Sequence[Cell], others: Sequence[Cell], measure: Measure, share: float
) -> NDArray[np.bool_]:
    """Which of ``ones`` are better than which of ``others`` beyond their spread.

    Args:
        ones: Some cells.
        others: Cells measured in the same rounds.
        measure: In which figure.
        share: Probability of saying so of two equal cells.

    Returns:
        An array of shape ``(ones, others)``; false where they have fewer than two common rounds.
    """
    rounds = max((len(cell.runs) for cell in (*ones, *others)), default=0)
    gains = _logs(ones, measure, rounds)[:, None, :] - _logs(others, measure, rounds)[None, :, :]
    if not measure.is_more_better:
        gains = -gains
    is_known = np.isfinite(gains)
    count = is_known.sum(axis=2)
    # What is too little for a judgement gets numbers to reckon with, and is left out at the end.
    gains[count < 2] = 0.0
    is_known[count < 2] = True
    pairs = is_known.sum(axis=2)
    if not pairs.size or not rounds:
        return np.zeros(pairs.shape, dtype=np.bool_)
    mean = np.nanmean(gains, axis=2)
    error = np.nanstd(gains, axis=2) / np.sqrt(np.maximum(pairs - 1, 1))
    middle = np.nanmedian(gains, axis=2)
    spread = MAD_SCALE * np.nanmedian(np.abs(gains - middle[:, :, None]), axis=2)
    bound = np.array([_quantile(share, int(number)) for number in pairs.flat])
    is_better: NDArray[np.bool_] = (
        (count >= 2) & (mean > spread) & (mean > error * bound.reshape(pairs.shape))
    )
    return is_better


def values_of(cell: Cell, measure: Measure) -> list[float | None]:
    """The figure of each run of ``cell``, in the order of the rounds."""
    return [getattr(run, measure.key) for run in cell.runs]


def median_of(cell: Cell, measure: Measure) -> float | None:
    """The median of its runs; None where none has the figure."""
    known = [value for value in values_of(cell, measure) if value is not None]
    return float(np.median(known)) if known else None


def highest_median(cells: Sequence[Cell], measure: Measure) -> int | None:
    """Place of the cell with the best median of a figure; None where none has it."""
    medians = {
        place: median
        for place, cell in enumerate(cells)
        if not cell.skipped and (median := median_of(cell, measure)) is not None
    }
    sign = 1 if measure.is_more_better else -1
    return max(medians, key=lambda place: sign * medians[place], default=None)


def are_alike(cells: Sequence[Cell], measure: Measure) -> bool:
    """Whether there are several that have a figure, and none can be told from the others by it."""
    ranking = ranking_of(cells, measure)
    return bool(ranking.alike) and not ranking.worse


# --- Inside -----------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _quantile(share: float, pairs: int) -> float:
    return upper_quantile(share, max(1, pairs - 1))


def _logs(cells: Sequence[Cell], measure: Measure, rounds: int) -> NDArray[np.float64]:
    """Logarithms by cell and round, not a number where there is no figure above 0."""
    logs = np.full((len(cells), rounds), np.nan)
    for row, cell in zip(logs, cells, strict=True):
        for number, value in enumerate(values_of(cell, measure)[:rounds]):
            if value is not None and value > 0:
                row[number] = np.log(value)
    return logs


def _scores(cells: Sequence[Cell], measure: Measure) -> NDArray[np.float64]:
    """Mean logarithm by which each is better than its rounds, over the rounds that all have."""
    rounds = min(len(cell.runs) for cell in cells)
    gains = _logs(cells, measure, rounds) * (1 if measure.is_more_better else -1)
    is_known = np.isfinite(gains)
    count = is_known.sum(axis=0)
    filled = np.where(is_known, gains, 0.0)
    centre = filled.sum(axis=0) / np.maximum(count, 1)
    above = np.where(is_known, gains - centre, 0.0).sum(axis=1)
    known = is_known.sum(axis=1)
    # What never was above 0 stands last, whatever the others are.
    return np.where(known > 0, above / np.maximum(known, 1), -np.inf)


def _smaller(cells: Sequence[Cell]) -> list[NDArray[np.bool_]]:
    """Which takes less memory than which by so much that it counts; empty where it is unknown."""
    allocated = np.array(allocated_bytes_of(cells))
    if allocated.size:
        return [allocated[:, None] <= (1 - _LEAST_SHARE) * allocated[None, :]]
    measure = BY_FIGURE["owned_bytes"]
    if cells and all(median_of(cell, measure) is not None for cell in cells):
        return [_worth_choosing(cells, measure)]
    return []


def _worth_choosing(cells: Sequence[Cell], measure: Measure) -> NDArray[np.bool_]:
    """Which is better than which by so much that somebody might choose it for that."""
    medians = np.array([median_of(cell, measure) or np.nan for cell in cells])
    is_apart = np.abs(medians[:, None] / medians[None, :] - 1) >= _LEAST_SHARE
    is_worth: NDArray[np.bool_] = is_apart & better_of(cells, cells, measure, 1 - LEVEL)
    return is_worth
