"""The order in which a sweep visits its cells."""

from __future__ import annotations

from itertools import pairwise

from app.experiments.grid import grid_of
from app.experiments.sweep_order import groups_of, order_of_round
from engine_bridge.settings.config import EngineConfig


def configs_of(*words: str) -> list[EngineConfig]:
    return [cell.config for cell in grid_of(EngineConfig(model_path="/m.gguf"), words)]


def test_that_what_only_a_reload_changes_stands_together() -> None:
    configs = configs_of("slots=1,2", "n_gpu_layers=0,4")
    assert groups_of(configs) == ((0, 2), (1, 3))
    assert groups_of(configs_of("slots=1,2", "threads=1,2")) == ((0, 1, 2, 3),)


def test_that_every_round_visits_every_cell_once() -> None:
    groups = ((0, 2, 5), (1, 3), (4,))
    for number in range(6):
        assert sorted(order_of_round(groups, number, seed=1)) == list(range(6))


def test_that_every_second_round_goes_the_way_back() -> None:
    groups = (tuple(range(7)),)
    for number in (0, 2, 4):
        there, back = (order_of_round(groups, number + at, seed=3) for at in (0, 1))
        assert back == there[::-1]


def test_that_the_order_is_drawn_anew_and_by_the_seed_alone() -> None:
    groups = (tuple(range(12)),)
    orders = {order_of_round(groups, number, seed=1) for number in (0, 2, 4, 6)}
    assert len(orders) == 4
    assert order_of_round(groups, 2, seed=1) == order_of_round(groups, 2, seed=1)
    assert order_of_round(groups, 2, seed=1) != order_of_round(groups, 2, seed=2)


def test_that_no_cell_stands_first_more_often_than_chance_would_have_it() -> None:
    groups = (tuple(range(4)),)
    first = [order_of_round(groups, 2 * number, seed=9)[0] for number in range(400)]
    assert all(70 <= first.count(place) <= 130 for place in range(4))


def test_that_a_round_enters_each_group_once() -> None:
    groups = ((0, 2, 4), (1, 3, 5), (6, 7))
    for number in range(8):
        order = order_of_round(groups, number, seed=5)
        homes = [next(at for at, group in enumerate(groups) if place in group) for place in order]
        changes = sum(before != after for before, after in pairwise(homes))
        assert changes == len(groups) - 1
