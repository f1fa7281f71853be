"""How many users keep the limits, in words."""

from __future__ import annotations

import msgspec
import pytest

from app.experiments.experiment import Cell, Figures
from app.experiments.lengths import Fixed
from app.experiments.proportion import Proportion
from app.experiments.users_cell import USERS
from app.experiments.users_conclusion import answer
from app.experiments.users_plan import UsersPlan
from app.experiments.workload import Material, Workload
from app.experiments.workload_words import limits_text

WORK = Workload(
    name="toy", material=Material.PROSE, prompt_tok=Fixed(8), answer_tok=Fixed(4), ttft_slo_s=2.0,
    tpot_slo_s=0.08,
)  # fmt: skip
SEARCH = UsersPlan(WORK, is_search=True, most=64)
LIMITS = "TTFT ≤ 2 s and TPOT ≤ 80 ms"


def told(
    counts: dict[int, tuple[int, int]], plan: UsersPlan = SEARCH, cells: tuple[Cell, ...] = ()
) -> list[str]:
    return answer(plan, {users: Proportion(*kept) for users, kept in counts.items()}, cells)


def test_that_two_sure_numbers_are_an_answer() -> None:
    assert told({1: (25, 25), 6: (80, 80), 7: (65, 80)}) == [
        f"6 users keep {LIMITS} in 95 % of requests (100 %, between 95 and 100 %); 7 do not "
        "(81.2 %, between 71 and 89 %)."
    ]
    assert told({1: (80, 80), 2: (0, 80)})[0].startswith(f"1 user keeps {LIMITS} in 95 % of")


def test_that_an_upper_number_that_is_not_sure_is_told_as_such() -> None:
    assert told({6: (80, 80), 7: (74, 80)}) == [
        f"6 or 7 users: 6 keep {LIMITS} in 95 % of requests (100 %, between 95 and 100 %); whether "
        "7 do is not told by 80 requests (92.5 %, between 84 and 97 %)."
    ]


def test_that_a_lower_number_that_is_not_sure_is_told_as_such() -> None:
    assert told({6: (77, 80), 7: (40, 80)}) == [
        f"At most 6 users: whether 6 keep {LIMITS} in 95 % of requests is not told by 80 requests "
        "(96.2 %, between 89 and 99 %); 7 do not (50 %, between 39 and 61 %)."
    ]


def test_that_two_numbers_that_are_not_sure_are_not_told_apart() -> None:
    assert told({6: (77, 80), 7: (74, 81)}) == [
        f"6 or 7 users, not told apart by 80 requests and 81 requests: 6 kept {LIMITS} in 96.2 %, "
        "between 89 and 99 %, 7 in 91.4 %, between 83 and 96 %; asked for were 95 %."
    ]


def test_that_what_was_not_tried_is_told() -> None:
    assert told({4: (80, 80), 8: (10, 80)})[1:] == ["5 to 7 users were not tried."]
    assert told({4: (80, 80), 6: (10, 80)})[1:] == ["5 users were not tried."]
    assert told({1: (25, 25), 2: (25, 25)})[1:] == ["More than 2 were not tried."]


def test_that_the_limit_of_the_search_is_told_only_where_it_was_a_search() -> None:
    kept = {64: (80, 80)}
    assert told(kept)[1] == "That is the limit of this search; --most raises it."
    assert told(kept, UsersPlan(WORK, numbers=(64,))) == [
        f"64 users keep {LIMITS} in 95 % of requests (100 %, between 95 and 100 %)."
    ]


def test_that_too_few_requests_do_not_tell_that_all_keep_it() -> None:
    assert told({64: (20, 20)})[0] == (
        f"64 users kept {LIMITS} in 100 %, between 83 and 100 % of 20 requests, which does not "
        "tell whether they do in 95 %."
    )


def cell_of_one(**figures: float | int) -> Cell:
    return Cell("1 user", extra={USERS: 1.0}, runs=(Figures(**figures),))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("cell", "why"),
    [
        (
            cell_of_one(ttft_s=3.1, tpot_s=0.02, requests=80),
            "For one user alone, the median TTFT is 3.100 s.",
        ),
        (
            cell_of_one(ttft_s=3.1, tpot_s=0.2, requests=80),
            "For one user alone, the median TTFT is 3.100 s and the median TPOT is 200.0 ms.",
        ),
        (
            cell_of_one(ttft_s=1.0, tpot_s=0.02, requests=80),
            "For one user alone, the medians keep the limits, but too many requests are slower.",
        ),
        (
            cell_of_one(ttft_s=1.0, tpot_s=0.02, requests=20, failed=60),
            "Of one user alone, 60 of 80 requests failed.",
        ),
    ],
)
def test_that_where_nobody_keeps_it_the_reason_is_told(cell: Cell, why: str) -> None:
    first, reason = told({1: (10, 80)}, cells=(cell,))
    assert first == (
        f"Not even one user keeps {LIMITS} in 95 % of requests (12.5 %, between 6 and 22 %)."
    )
    assert reason == why


def test_that_a_doubt_about_a_single_user_is_told() -> None:
    cell = cell_of_one(ttft_s=1.0, tpot_s=0.02, requests=80)
    assert told({1: (75, 80)}, cells=(cell,))[0] == (
        f"Whether even one user keeps {LIMITS} in 95 % of requests is not told by 80 requests "
        "(93.8 %, between 86 and 98 %)."
    )


def test_that_a_share_below_all_is_never_told_as_all() -> None:
    assert "(99.9 %, between 99 and 100 %)" in told({64: (9_999, 10_000)})[0]


def test_that_limits_are_told_with_their_units() -> None:
    assert limits_text(WORK) == LIMITS
    assert limits_text(msgspec.structs.replace(WORK, ttft_slo_s=None)) == "TPOT ≤ 80 ms"
