"""Runs of simulated users on a made-up engine."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from app.experiments.play import play, tok_per_char
from app.experiments.port import EngineGoneError, PortError, StoppedError
from app.experiments.run_record import RunRecord
from app.experiments.script import Script, Turn
from engine_bridge.protocol import ChatMessage, Forget, Generate
from tests.unit.experiments.fake_port import FakeEngine, FakePort, config_with, requests_sent


def ready(engine: FakeEngine | None = None, **values: object) -> FakePort:
    """A port with a model."""
    port = FakePort(engine)
    port.apply(config_with(**values))
    return port


def scripts(
    count: int, *turns: Turn, start_s: Callable[[int], float] | None = None
) -> list[Script]:
    """Scripts that begin differently."""
    turns = turns or (Turn("Tell me about rivers, please.", 8),)
    return [
        Script(
            name=f"s{number}",
            turns=turns,
            system=f"{number} is your number. " * 8,
            start_s=None if start_s is None else start_s(number),
        )
        for number in range(count)
    ]


def end_s(record: RunRecord, number: int) -> float:
    return record.requests[number].step_s[-1]


def test_that_a_conversation_grows_by_the_answers_that_were_generated() -> None:
    port = ready()
    record = play(port, scripts(1, Turn("First?", 3), Turn("Second?", 2)))
    first, second = requests_sent(port)
    assert [message.role for message in first.messages] == ["system", "user"]
    assert second.messages[:2] == first.messages
    assert second.messages[2:] == (
        ChatMessage("assistant", "ww0 ww1 ww2 "),
        ChatMessage("user", "Second?"),
    )
    assert first.conversation_id == second.conversation_id
    assert [(r.script, r.turn, r.user, r.reason, r.detail) for r in record.requests] == [
        ("s0", 0, 0, "token_limit", ""),
        ("s0", 1, 0, "token_limit", ""),
    ]
    assert [r.timing.new_tok for r in record.requests if r.timing] == [3, 2]
    assert [sum(r.step_tok) for r in record.requests] == [3, 2]


def test_that_a_recorded_answer_takes_the_place_of_the_generated_one() -> None:
    port = ready()
    play(port, scripts(1, Turn("First?", 3, recorded_answer="As it was."), Turn("Second?", 2)))
    assert requests_sent(port)[1].messages[2] == ChatMessage("assistant", "As it was.")


def test_that_answers_run_past_their_end_unless_the_script_says_otherwise() -> None:
    port = ready(FakeEngine(ends_after_tok=5))
    turns = (Turn("Tell me.", 20),)
    record = play(port, [Script("a", turns), Script("b", turns, ends_by_itself=True)])
    assert [r.reason for r in record.requests] == ["token_limit", "end"]
    assert [sum(r.step_tok) for r in record.requests] == [20, 5]
    assert [r.detail for r in record.requests] == ["", ""]


def test_that_users_take_the_next_script_when_they_are_free() -> None:
    port = ready(slots=4)
    record = play(port, scripts(5), users=2)
    assert [request.script for request in record.requests] == ["s0", "s1", "s2", "s3", "s4"]
    assert {request.user for request in record.requests} == {0, 1}
    # Two begin at once, nobody else before one of them is done.
    assert [request.sent_s for request in record.requests[:2]] == [0.0, 0.0]
    assert record.requests[2].sent_s >= min(end_s(record, 0), end_s(record, 1))


def test_that_more_users_than_slots_wait_in_the_engine() -> None:
    port = ready(slots=1)
    record = play(port, scripts(3), users=3)
    queues = [request.timing.queue_s for request in record.requests if request.timing]
    assert queues[0] == 0.0
    assert 0 < queues[1] < queues[2]


def test_that_a_user_thinks_before_each_question() -> None:
    port = ready()
    record = play(port, scripts(1, Turn("First?", 3, think_s=0.5), Turn("Second?", 3, think_s=2.5)))
    assert record.requests[0].sent_s == pytest.approx(0.5, abs=1e-6)
    assert record.requests[1].sent_s == pytest.approx(end_s(record, 0) + 2.5, abs=1e-6)


def test_that_scripts_with_a_time_begin_then_whatever_the_engine_does() -> None:
    port = ready(FakeEngine(prefill_tok_s=50.0), slots=1)
    turns = (Turn("Tell me.", 8), Turn("Go on.", 8))
    record = play(port, scripts(3, *turns, start_s=lambda number: 0.25 * number))
    first = {r.script: r for r in record.requests if r.turn == 0}
    assert [first[name].sent_s for name in ("s0", "s1", "s2")] == pytest.approx(
        [0.0, 0.25, 0.5], abs=1e-6
    )
    waited = [r.timing.queue_s for r in first.values() if r.timing]
    assert waited[0] < waited[1] < waited[2]
    for request in record.requests:
        if request.turn == 1:
            assert request.sent_s >= first[request.script].step_s[-1]
    assert sorted(request.user for request in first.values()) == [0, 1, 2]


def test_that_a_request_that_is_refused_ends_its_script_and_not_the_run() -> None:
    port = ready(
        FakeEngine(refuses=lambda c: "Too long." if "1 is" in c.messages[0].content else "")
    )
    told: list[tuple[int, int]] = []
    record = play(
        port, scripts(3, Turn("A?", 2), Turn("B?", 2), Turn("C?", 2)),
        progressed=lambda ended, total: told.append((ended, total)),
    )  # fmt: skip
    refused = [request for request in record.requests if request.script == "s1"]
    assert [(r.reason, r.timing, r.step_s) for r in refused] == [("failed", None, ())]
    assert refused[0].detail == "Too long. So the 2 turns after it could not be asked."
    assert len(record.requests) == 7
    assert told[-1] == (7, 7)
    assert told[0] == (1, 9)


def test_that_an_answer_cut_short_by_the_context_says_so() -> None:
    port = ready(ctx_per_slot_tok=256, slots=1)
    record = play(port, [Script("a", (Turn("x" * 400, 500), Turn("More.", 5)))])
    (request,) = record.requests
    assert request.reason == "context_full"
    assert request.detail == "The slot is full. So the turn after it could not be asked."
    assert request.timing is not None
    assert request.timing.new_tok == sum(request.step_tok) > 100


def test_that_steps_memory_and_peak_of_the_run_are_in_its_record() -> None:
    port = ready(FakeEngine(owned_bytes=77, step_s=lambda streams: 0.03, prefill_tok_s=1e5))
    record = play(port, scripts(2), users=2)
    assert sum(work.delivered_tok for work in record.work) == 16
    assert {work.streams for work in record.work} == {0, 2}
    assert record.longest_step_s == pytest.approx(0.03, abs=0.005)
    assert record.owned_bytes == 77
    assert record.device_bytes == {"CPU": 2 << 30}
    assert record.peak_bytes_per_s == 2e11
    assert record.duration_s == pytest.approx(max(end_s(record, 0), end_s(record, 1)))


def test_that_what_was_computed_before_the_run_is_not_in_it() -> None:
    port = ready()
    tok_per_char(port, "some text " * 100)
    first = play(port, scripts(2))
    second = play(port, scripts(2))
    for record in (first, second):
        assert sum(work.delivered_tok for work in record.work) == 16
        assert sum(w.computed_tok for w in record.work if w.is_prefill) == sum(
            r.timing.prompt_tok - r.timing.reused_tok for r in record.requests if r.timing
        )
        assert record.requests[0].sent_s == 0.0


def reused(record: RunRecord) -> int:
    return sum(request.timing.reused_tok for request in record.requests if request.timing)


@pytest.mark.parametrize("cache_ram_mib", [0, 8192])
def test_that_a_run_finds_nothing_of_the_run_before(cache_ram_mib: int) -> None:
    port = ready(cache_ram_mib=cache_ram_mib)
    first = play(port, scripts(3), users=2)
    again = play(port, scripts(3), users=2)
    assert reused(again) == reused(first)
    assert again.disturbances == ()
    forgotten = {c.conversation_id for c in port.sent if isinstance(c, Forget)}
    assert forgotten >= {c.conversation_id for c in requests_sent(port)}


def test_that_a_run_may_find_what_the_run_before_computed() -> None:
    port = ready()
    first = play(port, scripts(3), users=2, keeps_caches=True)
    again = play(port, scripts(3), users=2, keeps_caches=True)
    assert reused(again) > reused(first) + 100
    assert again.disturbances == ()


def test_that_it_is_told_where_others_had_computed_the_first_prompt() -> None:
    port = ready()
    text = "The user's own conversation. " * 20
    port.send(Generate(port.next_id(), "the user's", (ChatMessage("user", text),), max_new_tok=4))
    while not port.is_idle:
        port.next_event(0.1)
    (sentence,) = play(port, [Script("a", (Turn(text, 4),))]).disturbances
    assert "held the first 149 tokens of the first prompt" in sentence


def test_that_an_engine_that_dies_leaves_what_was_measured() -> None:
    port = ready(FakeEngine(dies_after=2), slots=1)
    with pytest.raises(EngineGoneError) as caught:
        play(port, scripts(4))
    record = caught.value.record
    assert record is not None
    assert [request.reason for request in record.requests] == ["token_limit"] * 2 + ["failed"]
    assert record.requests[2].detail == "The run ended before it was answered."
    assert record.duration_s == pytest.approx(end_s(record, 1))


def test_that_an_engine_that_falls_silent_ends_the_run() -> None:
    port = ready(FakeEngine(silent_after=1), slots=1)
    with pytest.raises(EngineGoneError, match="seems to hang") as caught:
        play(port, scripts(2))
    assert caught.value.record is not None
    assert len(caught.value.record.requests) == 2


def test_that_a_stop_leaves_an_idle_engine_and_what_was_measured() -> None:
    port = ready(slots=2)
    port.stop_at_s = port.now_ns / 1e9 + 1.0
    with pytest.raises(StoppedError) as caught:
        play(port, scripts(40, Turn("Tell me.", 10)), users=4)
    assert port.is_idle
    record = caught.value.record
    assert record is not None
    reasons = [request.reason for request in record.requests]
    assert reasons.count("token_limit") >= 2
    assert reasons[-4:].count("cancelled") == 4  # two wrote, two waited
    assert record.duration_s == pytest.approx(1.0, abs=0.2)
    forgotten = {c.conversation_id for c in port.sent if isinstance(c, Forget)}
    assert forgotten >= {c.conversation_id for c in requests_sent(port)}
    # Nothing new was asked after the stop.
    assert max(request.sent_s for request in record.requests) <= 1.0


def test_that_a_fault_of_the_caller_leaves_an_idle_engine() -> None:
    port = ready(slots=2)

    def progressed(ended: int, _: int) -> None:
        if ended == 3:
            raise RuntimeError

    with pytest.raises(RuntimeError):
        play(port, scripts(10, Turn("Tell me.", 10)), users=4, progressed=progressed)
    assert port.is_idle


def test_that_disturbances_of_the_port_are_those_of_the_run() -> None:
    port = ready()
    port.disturbances = ["Of the time before."]
    assert play(port, scripts(1)).disturbances == ()
    port = ready()

    def disturb(*_: int) -> None:
        port.disturbances = ["A chat was answered."]

    assert play(port, scripts(1), progressed=disturb).disturbances == ("A chat was answered.",)


def test_that_the_same_run_on_the_same_engine_is_the_same() -> None:
    records = [play(ready(FakeEngine(noise=0.05)), scripts(4), users=2) for _ in range(2)]
    assert records[0] == records[1]


def test_that_a_run_without_scripts_or_users_is_a_fault() -> None:
    with pytest.raises(ValueError, match="at least one script"):
        play(ready(), [])
    with pytest.raises(ValueError, match="one user"):
        play(ready(), scripts(1), users=0)


def test_that_the_model_s_own_tokens_are_counted() -> None:
    port = ready(FakeEngine(chars_per_tok=5))
    assert tok_per_char(port, "x" * 1000) == pytest.approx(0.2)
    assert isinstance(port.sent[-1], Forget)


def test_that_of_a_text_larger_than_a_slot_the_beginning_is_counted() -> None:
    port = ready(ctx_per_slot_tok=256, slots=1)
    assert tok_per_char(port, "x" * 10_000) == pytest.approx(0.25, rel=0.01)


def test_that_counting_says_why_it_cannot() -> None:
    port = ready(FakeEngine(refuses=lambda command: "Not today."))
    with pytest.raises(PortError, match="Not today"):
        tok_per_char(port, "x" * 1000)
    with pytest.raises(PortError, match="no text"):
        tok_per_char(port, "")
    port = ready()
    port.stop_at_s = port.now_ns / 1e9
    with pytest.raises(StoppedError):
        tok_per_char(port, "x" * 1000)
