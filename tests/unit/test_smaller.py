"""That what is offered instead fits, in the order that is promised, and no more is given up."""

from __future__ import annotations

import pytest

from engine_bridge.child.fit_search import NoTrialError
from engine_bridge.child.memory_shape import MemoryShape
from engine_bridge.child.room import Room, problem_of_room
from engine_bridge.child.smaller import nearest_that_fits, ways_that_fit
from engine_bridge.memory_plan import BytesByUse, DeviceBytes
from engine_bridge.model_facts import ModelFacts
from engine_bridge.protocol import DeviceFacts
from engine_bridge.settings.cache_type import CACHE_TYPES
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import Value

MIB, GIB = 2**20, 2**30
LAYERS = 32
TOKEN_F16, LAYER, DRAFT = 64 * 1024, 100 * MIB, GIB
FACTS = ModelFacts(
    path="m.gguf", name="M", architecture="llama", quantisation="Q4_K_M", file_bytes=0,
    tensor_bytes=0, parameters=0, layers=LAYERS, ctx_train_tok=131_072, vocab=1000, heads=8,
    kv_heads=8, head_dims_k=(64,), head_dims_v=(64,),
)  # fmt: skip
CONFIG = EngineConfig(model_path="m.gguf", ctx_per_slot_tok=32_768, slots=4, n_gpu_layers="all")


class Machine:
    """A board with all layers that are wanted there, their cache with them; the rest is free."""

    def __init__(self) -> None:
        self.runs = 0

    def __call__(self, config: EngineConfig) -> MemoryShape:
        self.runs += 1
        wanted = config.n_gpu_layers
        layers = LAYERS + 1 if isinstance(wanted, str) else wanted
        bits = CACHE_TYPES[config.cache_type_k].bits_per_value
        bits += CACHE_TYPES[config.cache_type_v].bits_per_value
        kv = round(config.pool_tok * TOKEN_F16 * bits / 32 * min(layers, LAYERS) / LAYERS)
        draft = DRAFT if config.draft is not None else 0
        board = DeviceBytes("CUDA0", layers * LAYER, kv, config.ubatch_tok * MIB, draft=draft)
        return MemoryShape(
            BytesByUse(total=board.needed), (board, DeviceBytes("CPU", 0, 0, 10 * MIB))
        )


def room(free_gib: float) -> Room:
    return Room(
        (
            DeviceFacts("CUDA0", "", "gpu", "CUDA", int(free_gib * GIB), 24 * GIB),
            DeviceFacts("CPU", "", "cpu", "CPU", 32 * GIB, 64 * GIB),
        ),
        None,
    )


def fits(config: EngineConfig, space: Room) -> bool:
    return problem_of_room(Machine()(config), space, config) is None


def changed(config: EngineConfig, fix: dict[str, Value]) -> EngineConfig:
    return config.with_values(dict(fix))


@pytest.mark.parametrize("free_gib", [6.0, 7.5, 9.0, 11.0])
def test_that_a_shorter_context_is_offered_before_anything_else(free_gib: float) -> None:
    machine, space = Machine(), room(free_gib)
    fix = nearest_that_fits(CONFIG, FACTS, space, machine)
    assert fix.keys() == {"ctx_per_slot_tok"}
    tokens = fix["ctx_per_slot_tok"]
    assert isinstance(tokens, int)
    assert fits(changed(CONFIG, fix), space.with_slack()), "still, where others took a little"
    assert not fits(CONFIG.with_values({"ctx_per_slot_tok": tokens + 256}), space.with_slack())
    assert machine.runs <= 4


def test_that_a_context_beyond_the_training_length_is_what_goes_first() -> None:
    config = CONFIG.with_values({"ctx_per_slot_tok": 8_388_608, "slots": 1})
    fix = nearest_that_fits(config, FACTS, room(13.0), Machine())
    assert fix == {"ctx_per_slot_tok": FACTS.ctx_train_tok}


def test_that_a_coarser_cache_comes_where_the_context_would_become_useless() -> None:
    space = room(5.3)
    fix = nearest_that_fits(CONFIG, FACTS, space, Machine())
    assert fix.keys() == {"cache_type_k", "cache_type_v", "ctx_per_slot_tok"}
    assert fix["cache_type_k"] == fix["cache_type_v"] == "q8_0"
    tokens = fix["ctx_per_slot_tok"]
    assert isinstance(tokens, int)
    assert tokens >= 4096
    assert fits(changed(CONFIG, fix), space)


def test_that_slots_go_before_the_micro_batch_and_nothing_is_given_up_in_vain() -> None:
    space = room(4.9)
    fix = nearest_that_fits(CONFIG, FACTS, space, Machine())
    assert {"slots", "ctx_per_slot_tok"} <= fix.keys()
    assert "ubatch_tok" not in fix
    assert "n_gpu_layers" not in fix
    assert fits(changed(CONFIG, fix), space)
    for key in fix.keys() - {"ctx_per_slot_tok"}:
        kept = {k: v for k, v in fix.items() if k != key}
        if key in ("cache_type_k", "cache_type_v"):
            kept = {k: v for k, v in fix.items() if not k.startswith("cache_type")}
        assert not fits(changed(CONFIG, kept), space)


def test_that_the_draft_model_goes_before_layers() -> None:
    config = CONFIG.with_values(
        {"spec_types": ("draft-simple",), "draft_model_path": "d.gguf", "slots": 1}
    )
    space = room(4.5)
    fix = nearest_that_fits(config, FACTS, space, Machine())
    assert fix["spec_types"] == ()
    assert "n_gpu_layers" not in fix
    assert fits(changed(config, fix), space)


def test_that_layers_leave_the_board_at_last() -> None:
    space = room(2.5)
    fix = nearest_that_fits(CONFIG, FACTS, space, Machine())
    layers = fix["n_gpu_layers"]
    assert isinstance(layers, int)
    assert 0 < layers < LAYERS
    assert fits(changed(CONFIG, fix), space)


def test_that_what_no_change_helps_has_no_repair() -> None:
    machine = Machine()

    def heavy(config: EngineConfig) -> MemoryShape:
        shape = machine(config)
        host = DeviceBytes("CPU", 40 * GIB, 0, 0)
        return MemoryShape(shape.bytes, (*shape.devices[:-1], host))

    assert nearest_that_fits(CONFIG, FACTS, room(20), heavy) == {}
    assert machine.runs <= 64


def test_that_what_the_engine_refuses_is_not_offered() -> None:
    machine = Machine()

    def picky(config: EngineConfig) -> MemoryShape:
        if config.cache_type_k != "f16":
            raise NoTrialError
        return machine(config)

    space = room(5.3)
    fix = nearest_that_fits(CONFIG, FACTS, space, picky)
    assert fix
    assert "cache_type_k" not in fix
    assert fits(changed(CONFIG, fix), space)


def test_that_the_size_of_a_shared_pool_is_what_shrinks() -> None:
    config = CONFIG.with_values({"kv_unified": True, "ctx_total_tok": 131_072})
    fix = nearest_that_fits(config, FACTS, room(9.0), Machine())
    assert fix.keys() == {"ctx_total_tok"}
    assert fits(changed(config, fix), room(9.0))


def test_that_other_ways_keep_the_context() -> None:
    space = room(9.0)
    ways = ways_that_fit(CONFIG, FACTS, space, Machine())
    assert [sorted(way) for way in ways] == [
        ["ctx_per_slot_tok"],
        ["cache_type_k", "cache_type_v"],
        ["slots"],
    ]
    assert all(fits(changed(CONFIG, way), space) for way in ways)
    assert ways[2] == {"slots": 2}
