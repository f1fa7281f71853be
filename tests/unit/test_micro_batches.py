"""Micro-batches as llama.cpp cuts them, and whose kept states they may move."""

from __future__ import annotations

import pytest

from engine_bridge.child.micro_batches import Cutting, moved_later

_Parts = list[tuple[int, int]]


@pytest.mark.parametrize(
    ("parts", "is_sequential", "made"),
    [
        ([(0, 4), (1, 4)], True, [[0, 1]]),
        ([(0, 4), (2, 4)], True, [[0], [2]]),
        ([(2, 4), (0, 4)], False, [[2, 0]]),
        # The last four of a sequence stay together: who would be cut waits.
        ([(0, 4), (1, 3), (2, 3)], False, [[0], [1, 2]]),
        ([(0, 3), (1, 3), (2, 4)], False, [[0, 1], [2]]),
        ([(0, 4), (1, 100)], False, [[0, 1], [1], [1]]),
        ([(2, 4), (0, 4), (3, 1), (6, 104)], False, [[2], [0], [3, 6], [6], [6]]),
        ([(5, 66)], True, [[5], [5]]),
    ],
)
def test_that_a_step_is_cut_as_llama_cpp_cuts_it(
    parts: _Parts, is_sequential: bool, made: list[list[int]]
) -> None:
    cutting = Cutting(ubatch_tok=64, tail_tok=4, is_sequential=is_sequential)
    assert cutting.micro_batches(parts) == made


@pytest.mark.parametrize(
    ("made", "moved"),
    [
        ([[0, 1, 2]], set()),
        ([[0, 1], [2]], set()),
        ([[0], [1, 2]], {0}),
        ([[0, 1], [1, 2], [2]], {0, 1}),
    ],
)
def test_that_only_what_comes_before_several_may_move(
    made: list[list[int]], moved: set[int]
) -> None:
    assert moved_later(made) == moved
