"""What is told to fit is what plans say one by one; and a search keeps no plan waiting."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from engine_bridge.child import planner as planner_module
from engine_bridge.child.auto_placement import TryOut
from engine_bridge.child.planner import Planner, PlanRefusedError
from engine_bridge.child.room import Room, margin_bytes
from engine_bridge.memory_plan import MemoryPlan
from engine_bridge.memory_room import CoarseRoom, Most
from engine_bridge.protocol import AskRoom, DeviceFacts, PlanReady, RoomFound
from engine_bridge.settings.config import EngineConfig
from tests.engine.harness import InProcess, random_tokens, tiny_config
from tests.engine.test_planner_thread import Sink, planning, question
from tests.tiny_model import TinyLlama, write_tiny_llama

pytestmark = pytest.mark.engine
_ANSWER_S = 100.0
_TOTAL = 8 * 2**30
# Of a margin of 5 % a quarter is what other programs may take until it is asked for.
_MARGIN = margin_bytes(_TOTAL)
_SLACK = _MARGIN // 4

SHAPES: dict[str, dict[str, object]] = {
    "split": {},
    "shared": {"kv_unified": True},
    "q8_0": {"cache_type_k": "q8_0", "cache_type_v": "q8_0"},
    "many small": {"ctx_per_slot_tok": 256, "slots": 16},
}


@pytest.fixture(scope="module")
def small_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    shape = TinyLlama(vocab_tok=512, ctx_train_tok=8192)
    return write_tiny_llama(tmp_path_factory.mktemp("room") / "small.gguf", shape)


@pytest.fixture
def planners() -> Iterator[Callable[[int], Planner]]:
    """Makes planners of a machine that has so many bytes free."""
    made = []

    def make(free: int) -> Planner:
        memory = (DeviceFacts("CPU", "", "cpu", "CPU", free, _TOTAL),)
        made.append(Planner(memory=lambda: memory))
        return made[-1]

    yield make
    for planner in made:
        planner.close()


def configure(path: Path, **values: object) -> EngineConfig:
    return EngineConfig.from_values(
        {"model_path": str(path), "ctx_per_slot_tok": 1024, "slots": 2, "load_mode": "none"}
        | values
    )


def enough_for(planner: Planner, config: EngineConfig) -> int:
    """Free bytes with which ``config`` fits, and hardly more."""
    needed = planner.plan(config).devices[-1].needed
    return needed + _MARGIN + _SLACK


@pytest.mark.parametrize("values", SHAPES.values(), ids=SHAPES)
def test_that_a_search_finds_what_plans_say_one_by_one(
    planners: Callable[[int], Planner], small_path: Path, values: dict[str, object]
) -> None:
    config = configure(small_path, **values)
    free = enough_for(planners(_TOTAL), config.with_values({"slots": 23}))
    planner, later = planners(free), planners(free - _SLACK)
    found = planner.room(config)

    def fits(key: str, number: int) -> bool:
        return later.plan(config.with_values({key: number})).fits

    by_one = [n for n in (*range(1, 30), 256) if fits("slots", n)]
    assert by_one == list(range(1, 24)), "the limit is where it was put"
    assert found.slots.number == 23
    assert (found.slots.limit, found.slots.why) == ("memory", "CPU")
    by_length = [n for n in range(256, 8193, 256) if fits("ctx_per_slot_tok", n)]
    assert found.ctx.number == max(by_length)
    assert found.runs <= 48


def test_that_what_q8_0_would_buy_is_what_its_plans_say(
    planners: Callable[[int], Planner], small_path: Path
) -> None:
    config = configure(small_path)
    free = enough_for(planners(_TOTAL), config.with_values({"slots": 7}))
    planner, later = planners(free), planners(free - _SLACK)
    coarse = planner.room(config).coarse
    q8_0 = config.with_values({"cache_type_k": "q8_0", "cache_type_v": "q8_0"})
    assert coarse.values == {"cache_type_k": "q8_0", "cache_type_v": "q8_0"}
    saved = later.plan(config).bytes.total - later.plan(q8_0).bytes.total
    assert coarse.saved_bytes == saved
    slots = [n for n in range(1, 30) if later.plan(q8_0.with_values({"slots": n})).fits]
    assert coarse.slots is not None
    assert coarse.slots.number == max(slots) > 7
    assert max(slots) < 29, "the limit is among those tried"
    tokens = [
        n
        for n in range(256, 8193, 256)
        if later.plan(q8_0.with_values({"ctx_per_slot_tok": n})).fits
    ]
    assert coarse.ctx is not None
    assert coarse.ctx.number == max(tokens)


def test_that_the_training_length_limits_a_machine_with_room(
    planners: Callable[[int], Planner], small_path: Path
) -> None:
    found = planners(_TOTAL).room(configure(small_path))
    assert (found.ctx.number, found.ctx.limit) == (8192, "training")
    assert (found.slots.number, found.slots.limit) == (64, "search")


def test_that_settings_that_break_a_rule_have_no_room_but_its_sentence(
    planners: Callable[[int], Planner], small_path: Path
) -> None:
    config = configure(small_path, cache_type_v="q8_0", flash_attn="off")
    with pytest.raises(PlanRefusedError) as refused:
        planners(_TOTAL).room(config)
    assert "needs flash attention" in refused.value.problem.message


def test_that_what_runs_counts_as_given_back(
    planners: Callable[[int], Planner], small_path: Path
) -> None:
    config = configure(small_path)
    running = planners(_TOTAL).plan(config.with_values({"slots": 8}))
    free = _MARGIN + _SLACK
    assert planners(_MARGIN).room(config).slots.number == 0
    assert planners(free).room(config, running).slots.number == 8


# --- Its moment ------------------------------------------------------------------------------


def ask(number: int, path: Path, **values: object) -> AskRoom:
    return AskRoom(number, EngineConfig.from_values({"model_path": str(path)} | values))


def test_that_what_fits_is_answered_with_its_number(small_path: Path) -> None:
    sink = Sink()
    with planning(sink, small_path) as thread:
        thread.request(ask(5, small_path))
        event = sink.next()
    assert isinstance(event, RoomFound)
    assert event.room_id == 5
    assert event.problem is None
    assert event.room is not None
    assert event.room.ctx.number > 0


class Held:
    """A search that goes on until it is told to end, and how often it began."""

    def __init__(self) -> None:
        self.began = threading.Semaphore(0)
        self.is_let_go = threading.Event()

    def __call__(
        self, config: EngineConfig, _: object, __: Room, try_out: TryOut
    ) -> tuple[Most, Most, CoarseRoom]:
        self.began.release()
        while not self.is_let_go.is_set():
            try_out(config)
        return Most(config.slots, "memory"), Most(256, "memory"), CoarseRoom()


def test_that_a_plan_goes_before_a_search_that_then_begins_anew(
    small_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, sink = Held(), Sink()
    monkeypatch.setattr(planner_module, "room_beside", held)
    with planning(sink, small_path) as thread:
        thread.request(ask(1, small_path, slots=3))
        assert held.began.acquire(timeout=_ANSWER_S)
        thread.request(question(2, small_path))
        plan = sink.next()
        assert held.began.acquire(timeout=_ANSWER_S), "it begins anew"
        held.is_let_go.set()
        room = sink.next()
    assert isinstance(plan, PlanReady)
    assert isinstance(room, RoomFound)
    assert room.room is not None
    assert (plan.plan_id, room.room_id, room.room.slots.number) == (2, 1, 3)


def test_that_a_newer_search_replaces_one_that_has_begun(
    small_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, sink = Held(), Sink()
    monkeypatch.setattr(planner_module, "room_beside", held)
    with planning(sink, small_path) as thread:
        thread.request(ask(1, small_path))
        assert held.began.acquire(timeout=_ANSWER_S)
        thread.request(ask(2, small_path))
        assert held.began.acquire(timeout=_ANSWER_S)
        held.is_let_go.set()
        room = sink.next()
        thread.request(question(3, small_path))
        after = sink.next()
    assert isinstance(room, RoomFound)
    assert room.room_id == 2
    assert isinstance(after, PlanReady), "the first one is never answered"


def test_that_its_dry_runs_are_ten_a_second_at_most_while_streams_run(
    small_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun_s: list[float] = []
    run = Planner._tried

    def noted(*arguments: object) -> object:
        begun_s.append(time.monotonic())
        return run(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Planner, "_tried", noted)
    sink = Sink()
    with planning(sink, small_path, is_busy=lambda: True) as thread:
        thread.request(ask(1, small_path))
        event = sink.next()
    assert isinstance(event, RoomFound)
    assert event.room is not None
    assert event.room.runs == len(begun_s) > 4
    # The time is taken a moment after the pause that it ends.
    assert begun_s[-1] - begun_s[0] >= (len(begun_s) - 1) * 0.1 - 0.05


def test_that_an_end_does_not_wait_for_a_search(
    small_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, sink = Held(), Sink()
    monkeypatch.setattr(planner_module, "room_beside", held)
    with planning(sink, small_path) as thread:
        thread.request(ask(1, small_path))
        assert held.began.acquire(timeout=_ANSWER_S)
        thread.stop()
    assert sink.events.empty()


def test_that_a_stranger_is_not_searched_through(small_path: Path, tmp_path: Path) -> None:
    other = write_tiny_llama(tmp_path / "other.gguf", TinyLlama(vocab_tok=512))
    sink = Sink()
    with planning(sink, small_path) as thread:
        thread.request(ask(1, other))
        event = sink.next()
    assert isinstance(event, RoomFound)
    assert event.problem is not None
    assert "once this change is applied" in event.problem.message


def test_that_a_mistake_of_ours_does_not_end_all_planning(
    small_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> NoReturn:
        raise ValueError("a mistake")

    monkeypatch.setattr(planner_module, "room_beside", fails)
    sink = Sink()
    with planning(sink, small_path) as thread:
        thread.request(ask(1, small_path))
        event = sink.next()
        thread.request(question(2, small_path))
        after = sink.next()
    assert isinstance(event, RoomFound)
    assert event.problem is not None
    assert "mistake in TuneDeck" in event.problem.message
    assert isinstance(after, PlanReady)


def test_that_the_engine_hands_the_question_on_while_it_computes(small_path: Path) -> None:
    class Taker:
        def __init__(self) -> None:
            self.asked: list[object] = []

        def request(self, question: object) -> None:
            self.asked.append(question)

    with InProcess() as engine:
        taker = engine.loop.planner = Taker()
        asked = ask(1, small_path)
        engine.send(asked)  # the loop is not turned: it computes
        assert taker.asked == [asked]
        engine.loop.turn()
        assert taker.asked == [asked]


# --- Cells ----------------------------------------------------------------------------------


def test_that_cells_that_two_slots_hold_are_told_once(
    desk: InProcess, few_words_path: Path
) -> None:
    desk.load(tiny_config(few_words_path, slots=2, kv_unified=True))
    first = random_tokens(200)
    desk.answer(first, max_new_tok=1, conversation="a")
    other = [*first[:150], *random_tokens(50, seed=1)]
    desk.answer(other, max_new_tok=1, conversation="b")
    facts = desk.batcher.slot_facts()
    assert [slot.common_tok for slot in facts] == [0, 150]
    used = sum(slot.used_tok - slot.common_tok for slot in facts)
    assert desk.batcher._pool.make_room(0) == desk.batcher.context.ctx_tok - used


def test_that_memory_of_a_plan_is_untouched_by_a_search(
    planners: Callable[[int], Planner], small_path: Path
) -> None:
    planner = planners(_TOTAL)
    config = configure(small_path)
    before: MemoryPlan = planner.plan(config)
    planner.room(config)
    after = planner.plan(config)
    assert (before.bytes, before.devices) == (after.bytes, after.devices)
