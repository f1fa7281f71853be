"""The search for the largest number of users, on laws that are known."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from app.experiments.proportion import Proportion
from app.experiments.users_search import Goal, Standing, edge_of, next_users

GOAL = Goal(share=0.95, most=64, requests=73)


def searched(
    goal: Goal, counted: Callable[[int, int], int]
) -> tuple[dict[int, Proportion], list[int]]:
    """All that was tried where ``counted`` says how many of so many requests keep the limits."""
    tried: dict[int, Proportion] = {}
    order = []
    while (users := next_users(tried, goal)) is not None:
        order.append(users)
        assert len(order) < 60
        kept = Proportion(counted(users, goal.look), goal.look)
        tried[users] = tried.get(users, Proportion(0, 0)) + kept
    return tried, order


@pytest.mark.parametrize("truth", range(65))
def test_that_every_number_is_found_and_its_edge_is_sure(truth: int) -> None:
    tried, order = searched(GOAL, lambda users, of: of if users <= truth else 0)
    keeps, fails = edge_of(tried, GOAL)
    assert keeps == truth
    assert fails == (None if truth == 64 else truth + 1)
    if keeps:
        assert GOAL.standing(tried[keeps]) is Standing.KEEPS
    if fails is not None:
        assert GOAL.standing(tried[fails]) is Standing.FAILS
    # Seven doublings, six halvings, and the edge looked at three times.
    assert len(order) <= 16


def test_that_numbers_far_from_the_edge_are_looked_at_once() -> None:
    tried, order = searched(GOAL, lambda users, of: of if users <= 6 else 0)
    assert order == [1, 2, 4, 8, 6, 7, 6, 6]
    assert {users: kept.of for users, kept in tried.items()} == {
        1: 25, 2: 25, 4: 25, 8: 25, 6: 75, 7: 25,
    }  # fmt: skip


def test_that_no_number_above_the_most_is_tried() -> None:
    _, order = searched(Goal(0.95, 10, 73), lambda users, of: of)
    assert order == [1, 2, 4, 8, 10, 10, 10]


def test_that_a_law_without_a_sharp_edge_ends_and_stays_unsure() -> None:
    random = Random(3)

    def counted(users: int, of: int) -> int:
        return sum(random.random() < 1 - 0.01 * users for _ in range(of))

    tried, _ = searched(GOAL, counted)
    keeps, fails = edge_of(tried, GOAL)
    assert fails == keeps + 1
    standings = {GOAL.standing(tried[keeps]), GOAL.standing(tried[fails])}
    assert Standing.UNSURE in standings
    assert all(kept.of <= 75 for kept in tried.values())


def test_that_a_number_that_fails_at_a_second_look_moves_the_edge_down() -> None:
    looks: dict[int, int] = {}

    def counted(users: int, of: int) -> int:
        looks[users] = looks.get(users, 0) + 1
        if users == 6:
            return of if looks[users] == 1 else 0
        return of if users <= 5 else 0

    tried, _ = searched(GOAL, counted)
    assert edge_of(tried, GOAL) == (5, 6)


def test_that_a_search_of_few_requests_looks_at_all_of_them_at_once() -> None:
    assert Goal(0.95, 64, 12).look == 12
    assert Goal(0.95, 64, 30).look == 20
    assert Goal(0.99, 64, 381).look == 127
