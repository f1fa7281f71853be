"""What the slots hold, as the engine's events tell it one after the other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec

from app.slot_watch import SlotWatch
from engine_bridge.protocol import (
    ContextShifted,
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
from tests.unit.fake_client import applied, model_facts
from widgets.slot_state import Lane

TITLES = {"a": "Greeting", "b": "Recipes"}
TIMING = RequestTiming(0.0, 0.1, 0.1, 0.01, 0.01, 0.01, 700, 500, 20)


def steps(*slots: SlotFacts) -> StepsMeasured:
    return StepsMeasured(0, 1, 0.0, 1, 1, 0.0, 0, 0, 0, 0.0, 0.0, 0, slots)


def watch(**values: object) -> SlotWatch:
    """Slots of a model that was just loaded."""
    made = SlotWatch()
    config = EngineConfig.from_values({"ctx_per_slot_tok": 1024, "slots": 2, **values})
    made.fold(applied(config, model=model_facts()))
    return made


def lanes(of: SlotWatch) -> tuple[Lane, ...]:
    return of.pool(lambda name: TITLES.get(name, "")).lanes


def started(slot: int = 0, reused: int = 500) -> RequestStarted:
    return RequestStarted(7, slot, 700, reused, "", 0)


def delivered() -> TokensDelivered:
    return TokensDelivered(7, "Hi", (1,), (1,), 2)


def test_that_there_are_no_slots_without_a_model() -> None:
    assert SlotWatch().pool(str).lanes == ()


def test_that_slots_are_empty_after_a_load() -> None:
    pool = watch().pool(str)
    assert (pool.total_tok, pool.is_shared, pool.trained_tok) == (2048, False, 32768)
    assert [(lane.state, lane.used_tok, lane.cap_tok) for lane in pool.lanes] == [
        ("empty", 0, 1024)
    ] * 2


def test_that_an_answer_reads_then_writes_then_is_kept() -> None:
    slots = watch()
    slots.fold(started())
    slots.fold(steps(SlotFacts(0, 600, 7, "a"), SlotFacts(1, 0, None, "")))
    reading = lanes(slots)[0]
    assert (reading.state, reading.kept_tok, reading.title) == ("reading", 500, "Greeting")
    assert reading.progress == 600 / 700
    slots.fold(delivered())
    slots.fold(steps(SlotFacts(0, 710, 7, "a"), SlotFacts(1, 0, None, "")))
    writing = lanes(slots)[0]
    assert (writing.state, writing.used_tok, writing.kept_tok) == ("writing", 710, 500)
    slots.fold(RequestFinished(7, "end", "", TIMING, 719))
    kept = lanes(slots)[0]
    assert (kept.state, kept.used_tok, kept.kept_tok) == ("idle", 719, 719)


def test_that_a_prompt_that_reuses_nothing_has_nothing_kept() -> None:
    slots = watch()
    slots.fold(started(reused=0))
    slots.fold(steps(SlotFacts(0, 300, 7, "a"), SlotFacts(1, 0, None, "")))
    assert lanes(slots)[0].kept_tok == 0


def test_that_a_late_end_does_not_touch_who_has_the_slot_now() -> None:
    slots = watch()
    slots.fold(started())
    slots.fold(steps(SlotFacts(0, 300, 8, "b"), SlotFacts(1, 0, None, "")))
    slots.fold(RequestFinished(7, "end", "", TIMING, 719))
    assert lanes(slots)[0].used_tok == 300


def test_that_what_a_shift_dropped_is_kept_no_longer() -> None:
    slots = watch()
    slots.fold(started())
    slots.fold(delivered())
    slots.fold(ContextShifted(7, "a", 400, 100, 620))
    slots.fold(steps(SlotFacts(0, 620, 7, "a"), SlotFacts(1, 0, None, "")))
    assert lanes(slots)[0].kept_tok == 100


def test_that_a_split_pool_has_a_part_beyond_the_training_length() -> None:
    made = SlotWatch()
    config = EngineConfig.from_values({"ctx_per_slot_tok": 2048, "slots": 2})
    event = applied(config, model=model_facts(ctx_train_tok=1500))
    effective = msgspec.structs.replace(event.effective, ctx_per_slot_tok=1500)
    made.fold(msgspec.structs.replace(event, effective=effective))
    lane = lanes(made)[0]
    assert (lane.cap_tok, lane.part_tok) == (1500, 2048)
    assert lane.cap_share == 1500 / 2048


def test_that_others_take_from_a_shared_pool() -> None:
    slots = watch(kv_unified=True, ctx_total_tok=1536)
    slots.fold(steps(SlotFacts(0, 900, None, "a"), SlotFacts(1, 200, None, "b")))
    first, second = lanes(slots)
    assert first.others_tok == 0, "1,536 − 200 leaves more than a slot may use"
    assert second.others_tok == 1024 - (1536 - 900)


def test_that_common_cells_are_counted_once() -> None:
    slots = watch(kv_unified=True)
    slots.fold(steps(SlotFacts(0, 900, None, "a"), SlotFacts(1, 700, None, "b", 600)))
    pool = slots.pool(str)
    assert pool.used_tok == 1000
    assert [lane.own_tok for lane in pool.lanes] == [900, 100]


def test_that_a_live_change_keeps_what_slots_hold_and_a_new_context_asks_anew() -> None:
    slots = watch()
    slots.fold(steps(SlotFacts(0, 900, None, "a"), SlotFacts(1, 0, None, "")))
    config = EngineConfig.from_values({"ctx_per_slot_tok": 1024, "slots": 2, "temperature": 0.1})
    slots.fold(applied(config, cost="live", seconds=0.0))
    assert lanes(slots)[0].used_tok == 900
    slots.fold(applied(config.with_values({"slots": 3}), cost="new context"))
    assert [lane.used_tok for lane in lanes(slots)] == [0, 0, 0]
    assert slots.pool(str).trained_tok == 32768, "the model is the same"


def test_that_an_engine_without_a_model_has_no_slots() -> None:
    ends: tuple[Any, ...] = (Unloaded("Gone."), Hello(2, 1, 0, "", "", (), False))
    for event in ends:
        slots = watch()
        assert slots.fold(event)
        assert lanes(slots) == ()


def test_that_a_conversation_of_another_desk_has_no_title() -> None:
    slots = watch()
    slots.fold(steps(SlotFacts(0, 10, None, "bench"), SlotFacts(1, 0, None, "")))
    lane = lanes(slots)[0]
    assert lane.title == ""
    assert replace(lane, title="x").name() == "1 · x"
    assert lane.name() == "1"
