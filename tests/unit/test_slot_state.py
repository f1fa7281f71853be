"""Bars of slots: that their pieces are what the tokens say, and never leave the bar."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widgets.slot_state import Lane, LaneState, Pool, Stretch


def lane(slot: int = 0, used: int = 0, kept: int = 0, **changes: object) -> Lane:
    fields: dict[str, object] = {
        "slot": slot, "used_tok": used, "kept_tok": kept, "own_tok": used, "cap_tok": 1000,
        "part_tok": 1000,
    }  # fmt: skip
    return Lane(**(fields | changes))  # type: ignore[arg-type]


def test_that_a_bar_is_kept_then_new_then_free() -> None:
    assert lane(used=500, kept=200).stretches() == (
        Stretch(0.0, 0.2, "kept"),
        Stretch(0.2, 0.5, "new"),
    )


def test_that_an_empty_slot_has_an_empty_bar() -> None:
    assert lane().stretches() == ()


def test_that_what_others_hold_is_at_the_end_of_what_it_may_use() -> None:
    assert lane(used=100, others_tok=300).stretches()[-1] == Stretch(0.7, 1.0, "others")
    # Never over what it holds itself.
    assert lane(used=900, others_tok=300).stretches()[-1] == Stretch(0.9, 1.0, "others")


def test_that_what_is_beyond_the_training_length_is_marked() -> None:
    beyond = lane(used=100, cap_tok=800)
    assert beyond.stretches()[-1] == Stretch(0.8, 1.0, "beyond")
    assert beyond.cap_share == pytest.approx(0.8)
    assert lane().cap_share is None


@given(
    st.lists(
        st.tuples(*[st.integers(0, 5000)] * 6, st.sampled_from(["idle", "reading", "writing"])),
        min_size=1,
        max_size=5,
    ),
    st.booleans(),
)
def test_that_no_piece_leaves_its_bar_or_covers_another(
    drawn: list[tuple[int, int, int, int, int, int, LaneState]], is_shared: bool
) -> None:
    lanes = tuple(
        Lane(slot, used, min(kept, used), min(own, used), cap, part, others, state)
        for slot, (used, kept, own, cap, part, others, state) in enumerate(drawn)
    )
    pool = Pool(sum(each.part_tok for each in lanes), is_shared, 0, lanes)
    things: tuple[Lane | Pool, ...] = (*lanes, pool)
    for thing in things:
        end = 0.0
        for stretch in thing.stretches():
            if isinstance(thing, Lane):
                assert end - 1e-9 <= stretch.begin
            assert 0 <= stretch.begin < stretch.end <= 1 + 1e-9
            end = stretch.end
    assert all(0 < share < 1 for share in pool.borders())
    assert pool.used_tok <= pool.total_tok


def test_that_a_split_pool_has_each_slot_at_its_place_and_a_shared_one_has_none_between() -> None:
    lanes = (lane(0, 500, 500), lane(1, 100))
    split = Pool(2000, False, 0, lanes)
    assert split.stretches() == (Stretch(0.0, 0.25, "kept"), Stretch(0.5, 0.55, "new"))
    assert split.borders() == (0.5,)
    shared = Pool(2000, True, 0, lanes)
    assert shared.stretches() == (Stretch(0.0, 0.25, "kept"), Stretch(0.25, 0.3, "new"))
    assert shared.borders() == (0.25,)


def test_that_figures_and_arithmetic_have_their_units() -> None:
    pool = Pool(2000, False, 32_768, (lane(0, 1234, 1234, cap_tok=1500), lane(1, 100)))
    assert pool.figures() == "1,334 of 2,000 tok"
    assert pool.arithmetic() == "2 slots × 1,000 tok · trained for 32,768"
    shared = Pool(2000, True, 0, (lane(), lane(1), lane(2)))
    assert shared.arithmetic() == "3 slots share 2,000 tok, each up to 1,000"
    assert Pool(1000, False, 0, (lane(),)).arithmetic() == "1 slot × 1,000 tok"
    assert Pool().arithmetic() == ""


def test_that_a_lane_says_in_words_all_that_its_bar_shows() -> None:
    busy = lane(2, 700, 500, state="reading", progress=0.45, title="Greeting", others_tok=100)
    assert busy.name() == "3 · Greeting"
    assert busy.figures() == "reading 45 % · 700 of 1,000 tok"
    sentence = busy.sentence()
    for part in ("Slot 3, Greeting", "reading 45 %", "700 of 1,000", "500 of them kept", "100"):
        assert part in sentence
    common = lane(1, 700, 700, own_tok=300, cap_tok=800).sentence()
    assert "400 in cells that another slot holds too" in common
    assert "200 more are reserved and never used" in common


def test_that_the_pool_says_how_many_work() -> None:
    pool = Pool(2000, False, 0, (lane(0, 500, 200, state="writing"), lane(1, 100, 100)))
    assert "600 of 2,000 tokens used, 300 kept" in pool.sentence()
    assert "1 of 2 slots at work" in pool.sentence()
    assert "no model" in Pool().sentence()
