"""The knee: where twice the load stops to bring a tenth more."""

from __future__ import annotations

import pytest

from app.result_knee import knee_of, knee_sentence


@pytest.mark.parametrize(
    ("loads", "totals", "place"),
    [
        # 8 after 4 brings 6 %, 16 after 4 brings 8 % in two doublings.
        ((1, 2, 4, 8, 16), (52.0, 88.0, 131.0, 139.0, 141.0), 2),
        # Every doubling still brings more.
        ((1, 2, 4, 8), (50.0, 90.0, 160.0, 290.0), None),
        # Nothing is gained from the first one on.
        ((1, 2, 4), (100.0, 101.0, 99.0), 0),
        # One run that went astray is no knee: what follows counts too.
        ((1, 2, 4, 8), (50.0, 90.0, 91.0, 200.0), None),
        # 6 after 4 is no whole doubling: 6 % are 10.5 % a doubling, and so is no knee there.
        ((1, 2, 4, 6), (50.0, 80.0, 120.0, 127.3), None),
        # Two say nothing of a bend.
        ((1, 2), (100.0, 101.0), None),
        ((), (), None),
    ],
)
def test_that_the_knee_is_where_no_later_load_pays(
    loads: tuple[float, ...], totals: tuple[float, ...], place: int | None
) -> None:
    assert knee_of(loads, totals) == place


def test_that_the_sentence_says_what_is_gained_and_lost_beyond() -> None:
    said = knee_sentence(
        "slots", (1, 2, 4, 8), (52.0, 88.0, 131.0, 139.0), (52.0, 44.0, 32.8, 17.4)
    )
    assert said == (
        "Knee at 4 slots, 131 tok/s in total: beyond it no doubling adds 10 % to that. The most "
        "there, with 8 slots, is 139 tok/s (6 % more), while each user's speed goes from 32.8 to "
        "17.4 tok/s."
    )


def test_that_a_total_that_falls_is_said_to_fall() -> None:
    said = knee_sentence("users", (1, 2, 4), (100.0, 95.0, 90.0), (None, None, None))
    assert "Knee at 1 user, 100 tok/s in total" in said
    assert said.endswith("The most there, with 2 users, is 95 tok/s (5 % less).")


def test_that_no_knee_is_said_with_what_the_last_step_brought() -> None:
    said = knee_sentence("slots", (1, 2, 4), (50.0, 90.0, 160.0), (50.0, 45.0, 40.0))
    assert said == (
        "No knee up to 4 slots: from 2 to 4 the total still grows by 78 % for each doubling."
    )
    assert knee_sentence("slots", (1, 2), (50.0, 90.0), (50.0, 45.0)) == ""
