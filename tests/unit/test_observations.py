"""From the engine's events to what can be learnt, and what is kept of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from engine_bridge.metrics.observations import (
    MOST,
    Observation,
    Observations,
    RunSettings,
    machine_key,
    model_key,
    run_settings,
    settings_of_candidate,
)
from engine_bridge.metrics.run_observer import RunObserver
from engine_bridge.protocol import (
    Applied,
    DeviceFacts,
    Event,
    FinishReason,
    Hello,
    RequestFinished,
    RequestStarted,
    RequestTiming,
    SlotFacts,
    StepsMeasured,
    TokensDelivered,
    Unloaded,
)
from engine_bridge.settings.config import EngineConfig
from tests.unit import fake_client

MS = 1_000_000
NOW_S = 1_800_000_000.0
PLAIN = RunSettings(2, 2, 512, flash_attn=True)


def applied(**values: object) -> Applied:
    config = EngineConfig().with_values(values)
    return fake_client.applied(config, model=fake_client.model_facts())


def started(request_id: int, prompt_tok: int = 800, reused_tok: int = 0) -> RequestStarted:
    return RequestStarted(request_id, request_id, prompt_tok, reused_tok, "", 0)


def token(request_id: int) -> TokensDelivered:
    return TokensDelivered(request_id, "a", (5,), (1,), 6)


def finished(
    request_id: int, *, prompt_tok: int = 800, reused_tok: int = 0, queue_s: float = 0.01,
    reason: FinishReason = "end", new_tok: int = 9,
) -> RequestFinished:  # fmt: skip
    timing = RequestTiming(
        queue_s, 2.0, queue_s + 2.0 if new_tok else None, 0.05, None, None, prompt_tok, reused_tok,
        new_tok,
    )  # fmt: skip
    return RequestFinished(request_id, reason, "", timing, prompt_tok + new_tok)


def steps(
    number: int, depths: tuple[int, ...] = (500,), *, count: int = 5, idle_tok: int = 0,
    prefilled: int = 0, step_ms: int = 20,
) -> StepsMeasured:  # fmt: skip
    """The ``number``-th report: 5 steps of 20 ms each, for streams at some depths."""
    slots = [SlotFacts(n, depth, n + 1, "") for n, depth in enumerate(depths)]
    slots += [SlotFacts(len(depths), idle_tok, None, "")]
    long_ns = count * step_ms * MS
    return StepsMeasured(
        number * long_ns, (number + 1) * long_ns, count * 0.019, count, count - bool(prefilled),
        count * 0.019, 0, count * len(depths), prefilled, 0.0, 0.0, len(depths), tuple(slots),
    )  # fmt: skip


def learnt(events: Sequence[Event]) -> list[Observation]:
    observer = RunObserver()
    return [found for event in events for found in observer.fold(event, NOW_S)]


def test_that_a_prompt_read_alone_is_learnt_from() -> None:
    [found] = learnt([applied(), started(1), token(1), finished(1)])
    assert found == Observation("prefill", PLAIN_OF_APPLIED, 2.01, 800, 0, at_s=NOW_S)
    [found] = learnt([applied(), started(1), token(1), finished(1, reused_tok=700)])
    assert (found.tokens, found.depth_tok) == (100, 700)


PLAIN_OF_APPLIED = run_settings(applied().config, applied().effective)


def test_that_waiting_for_others_is_no_part_of_a_prompt() -> None:
    [found] = learnt([applied(), started(1), token(1), finished(1, queue_s=7.0)])
    assert found.seconds == 2.0


def test_that_a_prompt_that_shared_the_engine_is_not_learnt_from() -> None:
    both: list[Event] = [
        applied(),
        started(1),
        started(2),
        token(1),
        token(2),
        finished(1),
        finished(2),
    ]
    assert learnt(both) == []
    # The second came when the first one wrote: the first is as good as alone.
    later: list[Event] = [
        applied(),
        started(1),
        token(1),
        started(2),
        token(2),
        finished(1),
        finished(2),
    ]
    assert len(learnt(later)) == 1
    # Another one alone after them is learnt from again.
    assert len(learnt([*both, started(3), token(3), finished(3)])) == 1


@pytest.mark.parametrize(
    "events",
    [
        [started(1), applied(slots=2), token(1), finished(1)],
        [started(1), finished(1, reason="failed")],
        [started(1), finished(1, new_tok=0, reason="cancelled")],
        [started(1), token(1), finished(1, reused_tok=800)],
        [started(1), Unloaded("gone"), finished(1)],
        [finished(1)],
    ],
)
def test_that_a_prompt_that_was_disturbed_is_not_learnt_from(events: list[Event]) -> None:
    assert learnt([applied(), *events]) == []


def test_that_writing_is_learnt_from_with_its_streams_and_depth() -> None:
    events: list[Event] = [applied(), started(1), started(2)]
    events += [steps(n, (500 + 5 * n, 700 + 5 * n), idle_tok=100) for n in range(5)]
    [found] = learnt([*events, finished(1)])
    assert found.work == "decode"
    # The first report may hold anything; 20 ms for a token of each of two streams.
    assert found.seconds == pytest.approx(0.020)
    assert (found.streams, found.tokens) == (2, 40)
    assert found.depth_tok == pytest.approx(600 + 5 * 2.5)
    assert found.pool_tok == pytest.approx(1300 + 10 * 2.5)


def test_that_streams_are_not_mixed_and_prompts_end_a_stretch() -> None:
    one: list[Event] = [steps(n) for n in range(4)]
    two: list[Event] = [steps(n, (500, 500)) for n in range(4, 8)]
    found = learnt([applied(), *one, *two, finished(9)])
    assert [each.streams for each in found] == [1, 2]
    between: list[Event] = [
        applied(),
        *one,
        steps(4, prefilled=100),
        *(steps(n) for n in range(5, 9)),
    ]
    assert [each.tokens for each in learnt([*between, finished(9)])] == [15, 15]


def test_that_a_pause_is_no_part_of_a_token_and_a_few_steps_are_nothing() -> None:
    pause = msgspec.structs.replace(steps(4), begin_ns=0)
    found = learnt([applied(), finished(1), pause, steps(5), steps(6), steps(7), finished(1)])
    assert [each.seconds for each in found] == [pytest.approx(0.020)]
    assert learnt([applied(), steps(0), steps(1), steps(2), finished(1)]) == []
    assert learnt([*(steps(n) for n in range(9)), finished(1)]) == []  # nobody said of what


def test_that_a_long_answer_is_learnt_from_in_pieces_of_a_depth_each() -> None:
    events: list[Event] = [steps(n, (500 + 5 * n,)) for n in range(90)]
    found = learnt([applied(), *events, finished(1)])
    assert len(found) == 3
    assert found[0].depth_tok < found[1].depth_tok < found[2].depth_tok


def test_that_the_observer_knows_where_the_streams_stand() -> None:
    observer = RunObserver()
    for event in (applied(), started(1, 812), token(1), steps(0, (900, 1000), idle_tok=50)):
        observer.fold(event, NOW_S)
    assert observer.prompt_tok == 812
    assert (observer.streams, observer.depth_tok, observer.pool_tok) == (2, 950, 1950)


def test_that_equal_work_is_one_observation_that_follows_the_newest() -> None:
    known = Observations()
    for n in range(50):
        seconds = 1.0 if n < 20 else 2.0
        known.add(Observation("prefill", PLAIN, seconds, 800 + n % 3, 0, at_s=NOW_S + n))
    [only] = known.all()
    assert only.count == 50
    assert 1.9 < only.seconds <= 2.0
    assert only.at_s == NOW_S + 49
    known.add(Observation("prefill", PLAIN, 1.0, 1600, 0))
    known.add(Observation("prefill", PLAIN, 1.0, 800, 900))
    known.add(Observation("decode", PLAIN, 1.0, 800, 0))
    assert len(known.all()) == 4


def test_that_no_more_is_kept_than_there_is_room_for_and_the_old_goes() -> None:
    known = Observations()
    for n in range(MOST + 30):
        settings = msgspec.structs.replace(PLAIN, ubatch_tok=n + 1)
        known.add(Observation("prefill", settings, 1.0, 800, 0, at_s=NOW_S + n))
    kept = known.all()
    assert len(kept) == MOST
    assert kept[0].settings.ubatch_tok == 31
    year_later = Observations(kept, NOW_S + 365 * 86_400)
    assert year_later.all() == ()
    assert Observations(kept, NOW_S).all() == kept


def test_that_settings_are_those_the_engine_made() -> None:
    event = applied(cache_type_k="q8_0", swa_full=True, spec_types=("ngram-simple",))
    found = run_settings(event.config, event.effective)
    assert (found.threads, found.flash_attn, found.cache_type_k) == (2, True, "q8_0")
    assert found.swa_full
    assert "ngram-simple" in found.drafts
    exported = applied(spec_types=("draft-eagle3",))
    assert run_settings(exported.config, exported.effective).drafts == ""


def test_that_a_candidate_is_known_before_its_plan_where_nothing_is_placed() -> None:
    running = applied()
    candidate = running.config.with_values(
        {"threads": 1, "ubatch_tok": 128, "cache_type_v": "q8_0", "slots": 2}
    )
    found = settings_of_candidate(candidate, running, None)
    assert found is not None
    assert (found.threads, found.threads_batch, found.ubatch_tok) == (1, 1, 128)
    assert found.cache_type_v == "q8_0"
    assert found.placement == PLAIN_OF_APPLIED.placement
    off = running.config.with_values({"flash_attn": "off"})
    known = settings_of_candidate(off, running, None)
    assert known is not None
    assert not known.flash_attn
    moved = running.config.with_values({"n_gpu_layers": 3})
    assert settings_of_candidate(moved, running, None) is None
    planned = msgspec.structs.replace(running.effective, n_gpu_layers=3)
    at_last = settings_of_candidate(moved, running, planned)
    assert at_last is not None
    assert at_last.placement != PLAIN_OF_APPLIED.placement
    # What changes nothing of the speed is the same.
    hotter = running.config.with_values({"temperature": 0.1, "ctx_per_slot_tok": 8192})
    assert settings_of_candidate(hotter, running, None) == PLAIN_OF_APPLIED


def test_that_a_model_keeps_its_name_where_it_is_moved_and_a_machine_is_its_devices() -> None:
    facts = fake_client.model_facts()
    moved = msgspec.structs.replace(facts, path="/elsewhere/m.gguf")
    assert model_key(facts) == model_key(moved)
    assert model_key(facts) != model_key(msgspec.structs.replace(facts, quantisation="Q8_0"))

    def hello(**changes: Any) -> Hello:
        cpu = DeviceFacts("CPU", "a processor", "cpu", "CPU", 20 << 30, 32 << 30)
        fields: dict[str, Any] = {"pid": 1, "devices": (cpu,)} | changes
        return Hello(
            protocol_version=1, clock_ns=0, binding_version="0.3", system_info="", has_rpc=False,
            **fields,
        )  # fmt: skip

    here = machine_key(hello(), 8)
    assert here == machine_key(hello(pid=2), 8)
    board = DeviceFacts("CUDA0", "a board", "gpu", "CUDA", 1 << 30, 8 << 30)
    assert here != machine_key(hello(devices=(*hello().devices, board)), 8)
    assert here != machine_key(hello(), 4)
