"""The best cell, those that cannot be told from it, and those worth a choice."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from app.experiments.experiment import Cell
from app.experiments.measures import ALLOCATED, BY_FIGURE
from app.experiments.ranking import pareto_of, ranking_of
from tests.unit.experiments.made_up import cell_of

_TOTAL, _TTFT = BY_FIGURE["total_tok_s"], BY_FIGURE["ttft_s"]
_NOISE = (1.0, 1.004, 0.996, 1.002, 0.998)


def noisy(centre: float, shift: int = 0) -> list[float]:
    noise = (*_NOISE[shift:], *_NOISE[:shift])
    return [centre * one for one in noise]


def test_that_the_best_median_is_best_and_clearly_lower_ones_are_worse() -> None:
    cells = [cell_of("a", noisy(20)), cell_of("b", noisy(30, 1)), cell_of("c", noisy(25, 2))]
    ranking = ranking_of(cells, _TOTAL)
    assert (ranking.best, ranking.alike, ranking.worse) == (1, (), (2, 0))


def test_that_the_least_time_is_best() -> None:
    cells = [
        cell_of("a", [1.0] * 5, ttft_s=noisy(0.2)),
        cell_of("b", [1.0] * 5, ttft_s=noisy(0.1, 1)),
    ]
    assert ranking_of(cells, _TTFT).best == 1


def test_that_a_cell_within_the_noise_is_not_distinguishable() -> None:
    cells = [cell_of("a", noisy(30)), cell_of("b", noisy(30.02, 2)), cell_of("c", noisy(20, 3))]
    ranking = ranking_of(cells, _TOTAL)
    assert {ranking.best, *ranking.alike} == {0, 1}
    assert ranking.worse == (2,)


def test_that_drift_common_to_a_round_does_not_hide_a_difference() -> None:
    drift = np.array([1.0, 0.8, 0.6, 0.5, 0.4])
    cells = [
        cell_of("a", list(20 * drift * np.array(_NOISE))),
        cell_of("b", list(21 * drift)),
    ]
    ranking = ranking_of(cells, _TOTAL)
    assert (ranking.best, ranking.worse) == (1, (0,))


def test_that_the_truly_best_is_seldom_called_worse_among_many_equals() -> None:
    generator = np.random.default_rng(31)
    misses = naive = 0
    trials = 300
    for _ in range(trials):
        runs = generator.lognormal(3, 0.03, (12, 5))
        cells = [cell_of(str(number), list(row)) for number, row in enumerate(runs)]
        ranking = ranking_of(cells, _TOTAL)
        misses += 0 in ranking.worse  # all are equal, so any of them may stand for the best
        naive += ranking.best != 0
    assert misses / trials <= 0.05
    assert naive / trials > 0.5


def test_that_one_round_tells_nothing_apart() -> None:
    ranking = ranking_of([cell_of("a", [20.0]), cell_of("b", [30.0])], _TOTAL)
    assert (ranking.best, ranking.alike) == (1, (0,))


def test_that_skipped_cells_and_those_without_the_figure_are_not_ranked() -> None:
    gone = msgspec.structs.replace(cell_of("gone", noisy(99)), skipped="The engine died.")
    cells = [gone, cell_of("a", noisy(20)), Cell("empty")]
    ranking = ranking_of(cells, _TOTAL)
    assert (ranking.best, ranking.alike, ranking.worse) == (1, (), ())
    assert ranking_of([Cell("empty")], _TOTAL).best is None


def speeds(name: str, user: float, total: float, size_bytes: float) -> Cell:
    return cell_of(name, noisy(total), user_tok_s=noisy(user, 1), owned_bytes=[int(size_bytes)] * 5)


def test_that_cells_are_worth_a_choice_unless_another_beats_them_in_everything() -> None:
    cells = [
        speeds("one user", 30, 30, 1e9),
        speeds("many users", 10, 80, 2e9),
        speeds("slower and larger than many users", 9, 70, 2.2e9),
        speeds("as fast as one user, larger", 30, 30, 1.5e9),
    ]
    assert pareto_of(cells) == (0, 1)


def test_that_a_page_of_memory_is_no_choice() -> None:
    cells = [speeds("a", 30, 30, 1e9), speeds("b", 30, 30, 1e9 + 4096)]
    assert pareto_of(cells) == (0, 1)


def allocating(cell: Cell, size_bytes: float) -> Cell:
    return msgspec.structs.replace(cell, extra={ALLOCATED: size_bytes})


def test_that_memory_is_what_the_engine_allocated_and_not_what_a_run_was_seen_to_own() -> None:
    # What the process owned differs by chance, and says the opposite.
    cells = [
        allocating(speeds("half the cache", 30, 30, 1.2e9), 0.5e9),
        allocating(speeds("the whole cache", 30, 30, 1.0e9), 1.0e9),
        allocating(speeds("a page more", 30, 30, 1.3e9), 0.5e9 + 4096),
    ]
    assert pareto_of(cells) == (0, 2)
    # Of one that said nothing nothing is known, so all are judged by what they owned.
    assert pareto_of([*cells[:2], speeds("silent", 30, 30, 0.9e9)]) == (2,)


def test_that_without_memory_the_speeds_alone_decide() -> None:
    cells = [
        cell_of("a", noisy(30), user_tok_s=noisy(30)),
        cell_of("b", noisy(20, 1), user_tok_s=noisy(20, 1)),
    ]
    assert pareto_of(cells) == (0,)
    assert pareto_of([]) == ()


@pytest.mark.parametrize("rounds", [2, 3])
def test_that_a_sweep_stopped_within_a_round_compares_the_rounds_both_have(rounds: int) -> None:
    cells = [cell_of("a", noisy(20)[:rounds]), cell_of("b", noisy(40, 1)[: rounds + 1])]
    ranking = ranking_of(cells, _TOTAL)
    assert (ranking.best, ranking.worse) == (1, (0,))
