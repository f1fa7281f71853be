"""Prompts many times slower since a change, while a GPU should read them."""

from __future__ import annotations

from engine_bridge.memory_plan import BytesByUse, DeviceBytes, EffectiveConfig, MemoryPlan
from engine_bridge.metrics.prefill_collapse import Collapse, PrefillWatch
from engine_bridge.protocol import Applied
from engine_bridge.settings.config import EngineConfig

GIB = 1 << 30


def applied(*, layers: int = 33, on_board: bool = True, **settings: object) -> Applied:
    effective = EffectiveConfig(4096, 1, False, 4096, "on", layers, 2048, 512, 2, 2, 1)
    devices = [DeviceBytes("CPU", weights=GIB, kv=0, compute=0)]
    if on_board:
        devices.append(DeviceBytes("CUDA0", weights=4 * GIB, kv=GIB, compute=GIB))
    plan = MemoryPlan(BytesByUse(), tuple(devices), effective, True, (), 0.0)
    config = EngineConfig().with_values({"model_path": "/m.gguf"} | settings)
    return Applied(1, config, effective, "new context", 0.2, plan)


def prefills(
    watch: PrefillWatch, *speeds_tok_s: float, busy: float | None = None
) -> list[Collapse | None]:
    return [watch.note_prefill(1000, 1000 / speed, busy) for speed in speeds_tok_s]


def watching(*speeds_tok_s: float, before: Applied | None = None) -> PrefillWatch:
    watch = PrefillWatch()
    watch.note_applied(before or applied())
    prefills(watch, *speeds_tok_s)
    return watch


def test_that_a_collapse_is_found_with_what_changed() -> None:
    watch = watching(900, 1200, 1200, 1300)
    watch.note_applied(applied(cache_type_v="q5_1"))
    first, second = prefills(watch, 90, 100, busy=0.03)
    assert first is None  # it also loads kernels
    assert second is not None
    assert (second.before_tok_s, second.after_tok_s) == (1200, 100)
    assert second.changes == ("V cache: f16 → q5_1",)
    assert second.restores == {"cache_type_v": "f16"}
    assert second.busy == 0.03


def test_that_a_factor_of_less_than_three_is_none() -> None:
    watch = watching(1200, 1200)
    watch.note_applied(applied(cache_type_v="q5_1"))
    assert prefills(watch, 410, 410) == [None, None]
    assert prefills(watch, 200, 200, 200)[-1] is not None


def test_that_a_single_slow_prompt_is_none() -> None:
    watch = watching(1200, 1200)
    watch.note_applied(applied(cache_type_v="q5_1"))
    assert prefills(watch, 1200, 1200, 60) == [None] * 3


def test_that_short_prompts_say_nothing() -> None:
    watch = watching(1200, 1200)
    watch.note_applied(applied(cache_type_v="q5_1"))
    assert [watch.note_prefill(63, 60.0) for _ in range(5)] == [None] * 5


def test_that_a_gpu_at_work_is_slow_for_another_reason() -> None:
    watch = watching(1200, 1200)
    watch.note_applied(applied(ubatch_tok=16))
    assert prefills(watch, 100, 100, 100, busy=0.97) == [None] * 3


def test_that_without_a_gpu_there_is_nothing_to_fall_back_from() -> None:
    watch = watching(60, 60, before=applied(layers=0, on_board=False))
    watch.note_applied(applied(layers=0, on_board=False, threads_batch=1))
    assert prefills(watch, 10, 10, 10) == [None] * 3


def test_that_another_model_is_no_comparison() -> None:
    watch = watching(1200, 1200)
    watch.note_applied(applied(model_path="/larger.gguf"))
    assert prefills(watch, 100, 100, 100) == [None] * 3


def test_that_a_gpu_that_an_engine_lost_with_its_restart_is_found() -> None:
    watch = watching(1200, 1200)
    watch.note_applied(applied(layers=0, on_board=False))
    found = prefills(watch, 50, 50)[-1]
    assert found is not None
    assert (found.changes, found.restores) == ((), {})
    assert (found.layers_before, found.layers_after) == (33, 0)


def test_that_layers_that_a_person_took_from_the_gpu_are_no_news() -> None:
    watch = watching(1200, 1200)
    watch.note_applied(applied(layers=0, on_board=False, n_gpu_layers=0))
    assert prefills(watch, 50, 50, 50) == [None] * 3


def test_that_changes_without_a_prompt_between_them_are_one_change() -> None:
    watch = watching(1200, 1200)
    watch.note_applied(applied(flash_attn="off"))
    watch.note_applied(applied(flash_attn="off", cache_type_v="q5_1"))
    found = prefills(watch, 100, 100)[-1]
    assert found is not None
    assert len(found.changes) == 2


def test_that_what_was_slow_before_is_no_collapse() -> None:
    watch = watching(1200, 1200)
    watch.note_applied(applied(cache_type_v="q5_1"))
    prefills(watch, 100, 100)
    watch.note_applied(applied(cache_type_v="q5_1", slots=2))
    assert prefills(watch, 100, 100, 100) == [None] * 3
