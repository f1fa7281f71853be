"""Changes that are offered where nothing could be planned: put together, and tried."""

from __future__ import annotations

from app.planning import PlanAnswer, PlanningError
from app.ways_out import ways_out
from engine_bridge.memory_plan import BytesByUse, EffectiveConfig, MemoryPlan
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import Value
from engine_bridge.settings.problem import Problem
from engine_bridge.settings.rules import errors_of
from tests.unit.fake_client import model_facts
from tests.unit.test_export import EFFECTIVE

FACTS = model_facts()
HUGE = EngineConfig(ctx_per_slot_tok=10_000_000)


def _answer(
    effective: EffectiveConfig | None = EFFECTIVE,
    problems: tuple[Problem, ...] = (),
    ways: tuple[dict[str, Value], ...] = (),
    *,
    fits: bool = True,
) -> PlanAnswer:
    return PlanAnswer(MemoryPlan(BytesByUse(), (), effective, fits, problems, 0.0, ways), FACTS)


def _refused(config: EngineConfig, *others: Problem) -> PlanAnswer:
    return _answer(None, (*others, *errors_of(config, FACTS)), fits=False)


def test_that_ways_already_tried_are_taken_as_they_are() -> None:
    answer = _answer(ways=({"slots": 1},), fits=False)
    assert ways_out(HUGE, answer, lambda _: _answer()) == ({"slots": 1},)


def test_that_a_repair_is_offered_once_it_was_planned() -> None:
    tried: list[EngineConfig] = []

    def plan(config: EngineConfig) -> PlanAnswer:
        tried.append(config)
        return _answer()

    assert ways_out(HUGE, _refused(HUGE), plan) == ({"ctx_per_slot_tok": 32768},)
    assert tried == [HUGE.with_values({"ctx_per_slot_tok": 32768})]


def test_that_a_repair_too_large_for_the_machine_is_made_smaller() -> None:
    def plan(_: EngineConfig) -> PlanAnswer:
        return _answer(ways=({"ctx_per_slot_tok": 8192}, {"slots": 1}), fits=False)

    assert ways_out(HUGE, _refused(HUGE), plan) == (
        {"ctx_per_slot_tok": 8192},
        {"ctx_per_slot_tok": 32768, "slots": 1},
    )


def test_that_repairs_of_rules_and_of_what_is_missing_come_together() -> None:
    config = HUGE.with_values({"lora": ("/gone.gguf",), "rpc_servers": ("127.0.0.1:1",)})
    lora = Problem(("lora",), "Gone.", {"lora": ()})
    worker = Problem(("rpc_servers",), "Nobody there.", {"rpc_servers": ()})

    def plan(tried: EngineConfig) -> PlanAnswer:
        return _answer() if not tried.rpc_servers else _answer(None, (worker,), fits=False)

    (way,) = ways_out(config, _refused(config, lora), plan)
    assert way == {"ctx_per_slot_tok": 32768, "lora": (), "rpc_servers": ()}


def test_that_nothing_is_offered_where_nothing_was_found() -> None:
    def fail(_: EngineConfig) -> PlanAnswer:
        raise PlanningError("No.")

    without_repair = Problem(("model_path",), "No repair.")
    assert ways_out(HUGE, _refused(HUGE), fail) == ()
    assert ways_out(HUGE, _refused(HUGE, without_repair), lambda _: _answer()) == ()
    stubborn = _answer(None, (Problem(("slots",), "No.", {"slots": 1}),), fits=False)
    assert ways_out(EngineConfig(), stubborn, lambda _: stubborn) == ()
