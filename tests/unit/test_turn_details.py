from __future__ import annotations

import msgspec
import pytest

from app.turn_words import details_of
from engine_bridge.metrics.meters import Meters
from engine_bridge.metrics.turn_details import TurnDetails, turn_details
from engine_bridge.protocol import RequestFinished, RequestStarted, RequestTiming, TokensDelivered

TIMING = RequestTiming(
    0.5, 2.0, 2.5, 0.1, 0.2, 0.3, prompt_tok=50, reused_tok=20, new_tok=11,
    drafted_tok=12, accepted_tok=6, drafted_at=(4, 4, 4), accepted_at=(3, 2, 1),
)  # fmt: skip


def details(sent_s: float = 1.0, arrived_s: float = 3.75, painted_s: float = 4.0) -> TurnDetails:
    return turn_details(
        TIMING, "Why.", steps=5, sent_ns=int(sent_s * 1e9), arrived_ns=int(arrived_s * 1e9),
        painted_ns=int(painted_s * 1e9),
    )  # fmt: skip


def test_that_the_four_parts_add_up_to_what_the_user_waited() -> None:
    made = details()
    assert (made.queue_s, made.prefill_s) == (0.5, 2.0)
    assert made.pipe_s == pytest.approx(0.25)
    assert made.paint_s == pytest.approx(0.25)
    assert made.ttft_s == 2.5


def test_that_the_chart_and_the_details_of_an_answer_name_the_same_pipe_and_paint() -> None:
    """A newcomer found 0.14 s of paint in the chart and 0.02 s in the details of one answer."""
    meters, second = Meters(), 10**9
    meters.note_sent(1, second)
    meters.fold(RequestStarted(1, 0, 50, 20, "", 3 * second // 2), 4 * second)
    first_ns = 7 * second // 2
    meters.fold(TokensDelivered(1, "x", (first_ns,), (1,), first_ns), 4 * second)
    meters.note_first_paint(1, 15 * second // 4, 4 * second)
    meters.fold(RequestFinished(1, "end", "", TIMING, 61), 5 * second)
    record = meters.view(5 * second).ttft.last
    assert record is not None
    made = details()
    assert (record.queue_s, record.prefill_s) == (made.queue_s, made.prefill_s)
    assert (record.pipe_s, record.paint_s) == (made.pipe_s, made.paint_s) == (0.25, 0.25)


def test_that_no_clock_of_the_engine_is_compared_with_one_of_the_window() -> None:
    # Another zero of the window's clock changes nothing.
    assert details(101.0, 103.75, 104.0) == details()


def test_that_a_paint_nobody_saw_and_a_text_that_never_came_are_unknown() -> None:
    unseen = details(painted_s=0)
    assert unseen.pipe_s == pytest.approx(0.25)
    assert unseen.paint_s is None
    mute = details(arrived_s=0, painted_s=0)
    assert (mute.pipe_s, mute.paint_s) == (None, None)
    [ttft, *_] = details_of(unseen)
    assert "on the screen" not in ttft.value
    assert "not seen" in ttft.hint
    [ttft, *_] = details_of(mute)
    assert len(ttft.parts) == 2
    assert "no text" in ttft.hint


def test_that_tokens_a_pass_leave_out_the_pass_that_ended_the_prefill() -> None:
    assert details().passes == 4
    assert details().tokens_per_pass == pytest.approx(2.5)
    assert turn_details(
        TIMING, "", steps=1, sent_ns=0, arrived_ns=0, painted_ns=0
    ).tokens_per_pass is None  # fmt: skip


def test_that_details_survive_being_stored_and_nonsense_does_not() -> None:
    made = details()
    stored = msgspec.json.encode(made)
    assert msgspec.json.decode(stored, type=TurnDetails) == made
    for field, nonsense in (("queue_s", b"-1.0"), ("new_tok", b"99999999999"), ("steps", b'"x"')):
        fields = msgspec.json.decode(stored, type=dict[str, msgspec.Raw])
        fields[field] = msgspec.Raw(nonsense)
        with pytest.raises(msgspec.ValidationError):
            msgspec.json.decode(msgspec.json.encode(fields), type=TurnDetails)


def test_that_each_block_says_its_figures_and_what_they_mean() -> None:
    ttft, tpot, prompt, drafts = details_of(details())
    assert ttft.value.replace("\u202f", " ") == "TTFT 2.50 s · on the screen after 3.00 s"
    assert [text.split()[0] for text, _ in ttft.parts] == ["queue", "prefill", "pipe", "paint"]
    assert sum(size for _, size in ttft.parts) == pytest.approx(3.0)
    assert tpot.value.replace("\u202f", " ") == "TPOT 100 ms · ITL p50 200 ms · p99 300 ms"
    assert prompt.value == "50 tokens: 20 cached, 30 computed"
    assert prompt.hint.startswith("Why. ")
    assert drafts.value == "drafted 12, accepted 6 · α 50% · 2.50 tokens a pass"
    assert drafts.bars == ((4, 3), (4, 2), (4, 1))
    assert drafts.bars_text == (
        "Accepted, position 1: 3 of 4, position 2: 2 of 4, position 3: 1 of 4"
    )
    assert all(each.hint for each in (ttft, tpot, prompt, drafts))


def test_that_what_was_not_measured_is_left_out() -> None:
    nothing = TurnDetails(queue_s=0.1, prefill_s=0.2, new_tok=0, prompt_tok=5, reused_tok=0)
    assert [detail.title for detail in details_of(nothing)] == ["Prompt"]


def test_that_many_positions_are_said_in_a_bounded_sentence() -> None:
    long = msgspec.structs.replace(details(), drafted_at=(2,) * 64, accepted_at=(1,) * 64)
    drafts = details_of(long)[-1]
    assert len(drafts.bars) == 64
    assert drafts.bars_text.endswith("all further ones: 48 of 96")
