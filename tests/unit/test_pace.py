"""How long a step may be, by the speed of those before."""

from __future__ import annotations

import pytest

from engine_bridge.child.pace import LEAST_CHUNK_TOK, Pace


def _chunk(pace: Pace, *, others_decode: bool) -> int:
    return pace.chunk_tok(others_decode=others_decode, batch_tok=2048, ubatch_tok=512)


def test_that_an_unknown_speed_is_tried_out_carefully() -> None:
    assert _chunk(Pace(), others_decode=True) == LEAST_CHUNK_TOK
    assert _chunk(Pace(), others_decode=False) == 512


@pytest.mark.parametrize("token_s", [0.0001, 0.001, 0.005])
def test_that_others_never_wait_longer_than_a_quarter_second(token_s: float) -> None:
    pace = Pace()
    decode_s = 0.02
    pace.saw(0, decode_s)
    for _ in range(30):
        chunk = _chunk(pace, others_decode=True)
        step_s = decode_s + chunk * token_s
        assert step_s <= 0.25
        pace.saw(chunk, step_s, others_decoded=True)
    assert step_s > 0.17 or chunk == 2048, "and the time there is gets used"


def test_that_the_least_chunk_goes_on_where_the_machine_is_too_slow() -> None:
    pace = Pace()
    pace.saw(32, 2.0)
    assert _chunk(pace, others_decode=True) == LEAST_CHUNK_TOK


def test_that_slowing_down_is_believed_at_once_and_speeding_up_slowly() -> None:
    slowed, sped = Pace(), Pace()
    for pace in (slowed, sped):
        pace.saw(100, 0.1)
    slowed.saw(100, 0.2)
    sped.saw(100, 0.05)
    assert slowed.prompt_tok_s == pytest.approx(0.0017)
    assert sped.prompt_tok_s == pytest.approx(0.000875)


def test_that_a_few_tokens_at_a_prompt_s_end_say_nothing_of_speed() -> None:
    pace = Pace()
    pace.saw(100, 0.1)
    pace.saw(3, 0.05)
    assert pace.prompt_tok_s == pytest.approx(0.001)


def test_that_alone_a_step_is_whole_micro_batches_of_at_most_half_a_second() -> None:
    pace = Pace()
    pace.saw(512, 0.1)
    assert _chunk(pace, others_decode=False) == 2048
    slow = Pace()
    slow.saw(512, 3.5)
    assert _chunk(slow, others_decode=False) == 512
