"""That what is said to fit is the largest that does, found with few dry runs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine_bridge.child.fit_search import NoTrialError
from engine_bridge.child.memory_shape import MemoryShape
from engine_bridge.child.room import Room, problem_of_room
from engine_bridge.child.room_search import room_beside
from engine_bridge.memory_plan import BytesByUse, DeviceBytes
from engine_bridge.memory_room import MOST_CELLS, MOST_SLOTS, Most
from engine_bridge.protocol import DeviceFacts
from engine_bridge.settings.cache_type import CACHE_TYPES
from engine_bridge.settings.config import EngineConfig, pad_context_tok
from engine_bridge.settings.rules import errors_of
from tests.unit.fake_client import model_facts

KIB, MIB, GIB = 2**10, 2**20, 2**30
TOKEN_F16 = 64 * KIB
FACTS = model_facts()
CONFIG = EngineConfig(model_path="/m.gguf", ctx_per_slot_tok=4096, slots=4)


class Machine:
    """A processor with weights, a cache, and buffers that grow in steps as real ones do."""

    def __init__(self) -> None:
        self.asked: list[EngineConfig] = []

    def __call__(self, config: EngineConfig) -> MemoryShape:
        self.asked.append(config)
        types = (config.cache_type_k, config.cache_type_v)
        bits = sum(CACHE_TYPES[name].bits_per_value for name in types)
        kv = round(config.pool_tok * TOKEN_F16 * bits / 32)
        compute = 100 * MIB + config.slots * MIB + config.pool_tok // 10_000 * 5 * MIB
        host = DeviceBytes("CPU", 2 * GIB, kv, compute)
        return MemoryShape(BytesByUse(kv=kv, total=host.needed), (host,))


def room(free: float) -> Room:
    return Room((DeviceFacts("CPU", "", "cpu", "CPU", int(free * GIB), 64 * GIB),), None)


def fits(config: EngineConfig, space: Room, present: EngineConfig | None = None) -> bool:
    """Whether it fits with some slack; what stands there now needs none."""
    if errors_of(config, FACTS):
        return False
    enough = space if config == present else space.with_slack()
    return problem_of_room(Machine()(config), enough, config) is None


def largest(
    values: range,
    config_of: Callable[[int], EngineConfig],
    space: Room,
    present: EngineConfig | None,
) -> int:
    """Tried one by one."""
    return max((n for n in values if fits(config_of(n), space, present)), default=0)


def most_slots(config: EngineConfig, space: Room, present: EngineConfig | None = None) -> int:
    return largest(range(1, 65), lambda n: config.with_values({"slots": n}), space, present)


def longest(config: EngineConfig, space: Room, present: EngineConfig | None = None) -> int:
    tokens = range(256, 32_768 + 256, 256)
    return largest(tokens, lambda n: config.with_values({"ctx_per_slot_tok": n}), space, present)


@pytest.mark.parametrize("free_gib", [3.2, 3.5, 4.0, 4.7, 6.0, 9.0, 17.3, 33.0, 60.0])
@pytest.mark.parametrize("values", [{}, {"slots": 1}, {"kv_unified": True, "slots": 7}])
def test_that_it_is_what_trying_all_would_find(free_gib: float, values: dict[str, object]) -> None:
    config = CONFIG.with_values(values)
    space = room(free_gib)
    slots, ctx, coarse = room_beside(config, FACTS, space, Machine())
    assert slots.number == most_slots(config, space, config)
    assert ctx.number == longest(config, space, config)
    q8_0 = config.with_values({"cache_type_k": "q8_0", "cache_type_v": "q8_0"})
    assert coarse.slots is not None
    assert coarse.ctx is not None
    assert coarse.slots.number == most_slots(q8_0, space)
    assert coarse.ctx.number == longest(q8_0, space)
    before, after = Machine()(config).bytes.total, Machine()(q8_0).bytes.total
    assert coarse.saved_bytes == before - after > 0


@pytest.mark.parametrize("free_gib", [3.2, 4.7, 9.0, 33.0, 60.0])
def test_that_few_dry_runs_suffice_and_none_is_made_twice(free_gib: float) -> None:
    machine = Machine()
    room_beside(CONFIG, FACTS, room(free_gib), machine)
    assert len(machine.asked) <= 36
    assert len(set(machine.asked)) == len(machine.asked)
    assert max(config.pool_tok for config in machine.asked) <= MOST_CELLS


def test_that_memory_is_named_as_what_stops_it() -> None:
    slots, ctx, _ = room_beside(CONFIG, FACTS, room(6.0), Machine())
    assert (slots.limit, slots.why) == ("memory", "CPU")
    assert (ctx.limit, ctx.why) == ("memory", "CPU")
    assert slots.values == {"slots": slots.number}
    assert ctx.values == {"ctx_per_slot_tok": ctx.number}


def test_that_the_training_length_is_named_as_what_stops_it() -> None:
    _, ctx, _ = room_beside(CONFIG.with_values({"slots": 1}), FACTS, room(60.0), Machine())
    assert ctx == Most(32_768, "training", "", {"ctx_per_slot_tok": 32_768})


def test_that_an_odd_training_length_is_told_without_its_padding() -> None:
    facts = model_facts(ctx_train_tok=5000)
    _, ctx, _ = room_beside(CONFIG.with_values({"slots": 1}), facts, room(60.0), Machine())
    assert (ctx.number, ctx.limit) == (5000, "training")
    assert ctx.values == {"ctx_per_slot_tok": 5000}


def test_that_nothing_is_to_be_set_where_it_stands_there() -> None:
    space = room(6.0)
    there = CONFIG.with_values({"slots": most_slots(CONFIG, space)})
    slots, _, _ = room_beside(there, FACTS, space, Machine())
    assert (slots.number, slots.values) == (there.slots, {})


def test_that_what_runs_and_only_just_fits_is_not_called_too_much() -> None:
    needed = Machine()(CONFIG).devices[0].needed
    exact = room((needed + GIB) / GIB)  # a margin of 1 GiB is left free
    slots, _, _ = room_beside(CONFIG, FACTS, exact, Machine())
    assert slots.number == CONFIG.slots
    assert most_slots(CONFIG, exact) < CONFIG.slots


def test_that_nothing_fits_where_the_weights_do_not() -> None:
    slots, ctx, coarse = room_beside(CONFIG, FACTS, room(1.0), Machine())
    assert (slots.number, slots.limit, slots.values) == (0, "memory", {})
    assert (ctx.number, ctx.values) == (0, {})
    assert coarse.slots is not None
    assert coarse.slots.number == 0


def test_that_a_rule_stops_slots_with_its_sentence() -> None:
    config = CONFIG.with_values({"batch_tok": 8, "ubatch_tok": 8})
    slots, _, _ = room_beside(config, FACTS, room(60.0), Machine())
    assert (slots.number, slots.limit) == (8, "rule")
    assert "batch of 8" in slots.why


def test_that_no_more_slots_than_llama_cpp_takes_are_found() -> None:
    config = CONFIG.with_values({"ctx_per_slot_tok": 256, "slots": 256})
    slots, _, _ = room_beside(config, FACTS, room(60.0), Machine())
    assert (slots.number, slots.limit) == (256, "rule")
    assert "at most 256" in slots.why


def test_that_slots_beyond_the_faders_last_stop_are_not_tried_unasked() -> None:
    config = CONFIG.with_values({"ctx_per_slot_tok": 256})
    machine = Machine()
    slots, _, _ = room_beside(config, FACTS, room(60.0), machine)
    assert (slots.number, slots.limit) == (MOST_SLOTS, "search")
    assert max(asked.slots for asked in machine.asked) == MOST_SLOTS


def test_that_a_rule_between_values_is_stepped_over() -> None:
    """minimax-01 takes no slots that do not divide its micro-batch."""
    facts = model_facts(architecture="minimax-01")
    space = room(6.0)
    slots, _, _ = room_beside(CONFIG, facts, space, Machine())
    assert most_slots(CONFIG, space) > slots.number == 8
    assert slots.limit in ("memory", "rule")


def test_that_nobody_is_asked_for_pools_that_take_seconds() -> None:
    facts = model_facts(ctx_train_tok=10_000_000)

    def free_of_charge(config: EngineConfig) -> MemoryShape:
        assert config.pool_tok <= MOST_CELLS
        return MemoryShape(BytesByUse(), (DeviceBytes("CPU", GIB, 0, 0),))

    _, ctx, _ = room_beside(CONFIG, facts, room(60.0), free_of_charge)
    assert (ctx.number, ctx.limit) == (1_048_576, "search")
    assert ctx.number * CONFIG.slots == MOST_CELLS


def test_that_every_slot_of_a_shared_pool_counts_with_its_whole_context() -> None:
    config = CONFIG.with_values({"kv_unified": True, "ctx_total_tok": 4096})
    space = room(6.0)
    slots, ctx, _ = room_beside(config, FACTS, space, Machine())
    full = config.with_values({"ctx_total_tok": "auto"})
    assert slots.number == most_slots(full, space)
    assert slots.values == {"slots": slots.number, "ctx_total_tok": "auto"}
    assert ctx.values == {"ctx_per_slot_tok": ctx.number, "ctx_total_tok": "auto"}


def test_that_a_cache_that_is_as_coarse_buys_nothing() -> None:
    for name in ("q8_0", "q4_0"):
        config = CONFIG.with_values({"cache_type_k": name, "cache_type_v": name})
        coarse = room_beside(config, FACTS, room(6.0), Machine())[2]
        assert (coarse.problem, coarse.slots, coarse.values) == ("", None, {})


def test_that_the_rule_that_forbids_q8_0_is_told() -> None:
    facts = model_facts(head_dims_k=(80,), head_dims_v=(80,))
    coarse = room_beside(CONFIG, facts, room(6.0), Machine())[2]
    assert "80" in coarse.problem
    assert "no multiple" in coarse.problem
    assert coarse.slots is None


def test_that_flash_attention_is_turned_on_with_it() -> None:
    config = CONFIG.with_values({"flash_attn": "off"})
    coarse = room_beside(config, FACTS, room(6.0), Machine())[2]
    assert coarse.values == {"cache_type_k": "q8_0", "cache_type_v": "q8_0", "flash_attn": "auto"}


def test_that_what_the_engine_refuses_is_no_answer() -> None:
    machine = Machine()

    def picky(config: EngineConfig) -> MemoryShape:
        if config.slots > 6 or config.cache_type_k == "q8_0":
            raise NoTrialError
        return machine(config)

    slots, ctx, coarse = room_beside(CONFIG, FACTS, room(60.0), picky)
    assert (slots.number, slots.limit) == (6, "rule")
    assert "refuses" in slots.why
    assert ctx.number == pad_context_tok(32_768)
    assert "refuses" in coarse.problem
