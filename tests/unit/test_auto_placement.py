"""That ``auto`` takes as many layers as leave the margin, and says why not one more."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine_bridge.child.auto_placement import Placed, TryOut, most_that_fit, place
from engine_bridge.child.memory_shape import MemoryShape
from engine_bridge.child.room import Room
from engine_bridge.memory_plan import BytesByUse, DeviceBytes
from engine_bridge.model_facts import ModelFacts
from engine_bridge.protocol import DeviceFacts
from engine_bridge.settings.config import EngineConfig

MIB, GIB = 2**20, 2**30
LAYERS = 32
LAYER, EXPERTS, COMPUTE, DRAFT = 200 * MIB, 150 * MIB, 300 * MIB, 2 * GIB
FACTS = ModelFacts(
    path="m.gguf", name="M", architecture="llama", quantisation="Q4_K_M", file_bytes=0,
    tensor_bytes=0, parameters=0, layers=LAYERS, ctx_train_tok=32_768, vocab=1000, heads=8,
    kv_heads=8, head_dims_k=(64,), head_dims_v=(64,),
)  # fmt: skip
EXPERT_FACTS = ModelFacts(
    path="m.gguf", name="M", architecture="qwen3moe", quantisation="Q4_K_M", file_bytes=0,
    tensor_bytes=0, parameters=0, layers=LAYERS, ctx_train_tok=32_768, vocab=1000, heads=8,
    kv_heads=8, head_dims_k=(64,), head_dims_v=(64,), experts=64,
)  # fmt: skip
DRAFTING = EngineConfig(
    model_path="m.gguf", spec_types=("draft-simple",), draft_model_path="d.gguf"
)


def room(free: int, total: int = 24 * GIB) -> Room:
    return Room(
        (
            DeviceFacts("CUDA0", "", "gpu", "CUDA", free, total),
            DeviceFacts("CPU", "", "cpu", "CPU", 32 * GIB, 64 * GIB),
        ),
        None,
    )


class Machine:
    """Dry runs of a model whose layers are alike; counts them."""

    def __init__(self, experts: int = 0) -> None:
        self.runs = 0
        self._experts = experts

    def needed(self, config: EngineConfig) -> int:
        wanted = config.n_gpu_layers
        layers = LAYERS + 1 if isinstance(wanted, str) else wanted
        with_experts = 0 if config.cpu_moe else max(0, min(layers, LAYERS) - config.n_cpu_moe)
        need = layers * LAYER + with_experts * self._experts + COMPUTE
        if config.draft is not None and config.draft_n_gpu_layers != 0:
            need += DRAFT
        return need

    def __call__(self, config: EngineConfig) -> MemoryShape:
        self.runs += 1
        need = self.needed(config)
        weights = need - COMPUTE
        devices = (DeviceBytes("CUDA0", weights, 0, COMPUTE), DeviceBytes("CPU", 0, 0, 0))
        return MemoryShape(BytesByUse(weights=weights, total=need), devices)


def test_that_all_layers_are_taken_where_they_fit() -> None:
    machine = Machine()
    placed = place(EngineConfig(), FACTS, room(8 * GIB), machine)
    assert placed.values == {"n_gpu_layers": "all"}
    assert placed.sentence == "All 33 layers on CUDA0: 1.3 GiB stay free."
    assert machine.runs == 1


@pytest.mark.parametrize("free_mib", range(1600, 7800, 517))
def test_that_one_layer_more_would_not_leave_the_margin(free_mib: int) -> None:
    machine, space = Machine(), room(free_mib * MIB)
    placed = place(EngineConfig(), FACTS, space, machine)
    layers = placed.values["n_gpu_layers"]
    assert isinstance(layers, int)
    assert 0 < layers <= LAYERS
    chosen = placed.applied_to(EngineConfig())
    assert machine.needed(chosen) + GIB <= free_mib * MIB
    more = chosen.with_values({"n_gpu_layers": layers + 1})
    assert machine.needed(more) + GIB > free_mib * MIB
    assert placed.sentence.startswith(f"{layers} of 33 layers on CUDA0: {layers + 1} would ")
    assert "the 1.0 GiB margin" in placed.sentence
    assert machine.runs <= 7


def test_that_a_board_too_small_for_a_layer_gets_none() -> None:
    placed = place(EngineConfig(), FACTS, room(GIB), Machine())
    assert placed.values == {"n_gpu_layers": 0}
    assert (
        placed.sentence == "No layer on CUDA0: even one would leave 0.5 GiB of the 1.0 GiB margin."
    )


def test_that_the_margin_is_the_users() -> None:
    config = EngineConfig(fit_margin_mib=0)
    space = Room(room(COMPUTE + 10 * LAYER).memory, None, config.fit_margin_mib)
    assert place(config, FACTS, space, Machine()).values == {"n_gpu_layers": 10}


def test_that_experts_leave_the_board_before_whole_layers() -> None:
    machine, space = Machine(EXPERTS), room(9 * GIB)
    placed = place(EngineConfig(), EXPERT_FACTS, space, machine)
    assert placed.values["n_gpu_layers"] == "all"
    count = placed.values["n_cpu_moe"]
    assert isinstance(count, int)
    chosen = placed.applied_to(EngineConfig())
    assert machine.needed(chosen) + GIB <= 9 * GIB
    assert machine.needed(chosen.with_values({"n_cpu_moe": count - 1})) + GIB > 9 * GIB
    assert f"the experts of the first {count} in system memory: of {count - 1}" in placed.sentence


def test_that_layers_leave_where_not_even_the_experts_absence_helps() -> None:
    placed = place(EngineConfig(), EXPERT_FACTS, room(5 * GIB), Machine(EXPERTS))
    layers = placed.values["n_gpu_layers"]
    assert isinstance(layers, int)
    assert 0 < layers < LAYERS
    assert placed.values["cpu_moe"] is True
    assert placed.sentence.endswith("All experts are in system memory.")


@pytest.mark.parametrize(
    "values", [{"n_cpu_moe": 4}, {"cpu_moe": True}, {"override_tensor": ("exps=CPU",)}]
)
def test_that_who_says_where_experts_go_has_the_say(values: dict[str, object]) -> None:
    config = EngineConfig.from_values(values)
    placed = place(config, EXPERT_FACTS, room(6 * GIB), Machine(EXPERTS))
    assert placed.values.keys() == {"n_gpu_layers"}


def test_that_the_draft_model_is_counted_and_goes_along() -> None:
    machine = Machine()
    placed = place(DRAFTING, FACTS, room(8 * GIB), machine)
    assert placed.values["draft_n_gpu_layers"] == "all"
    layers = placed.values["n_gpu_layers"]
    assert isinstance(layers, int)
    alone = place(EngineConfig(), FACTS, room(6 * GIB), machine)
    assert alone.values["n_gpu_layers"] == layers


def test_that_the_draft_model_stays_off_where_it_would_push_every_layer_out() -> None:
    placed = place(DRAFTING, FACTS, room(3 * GIB), Machine())
    assert placed.values == {"n_gpu_layers": 8, "draft_n_gpu_layers": 0}
    assert placed.sentence.endswith("The draft model runs on the CPU.")


def test_that_a_draft_model_is_placed_beside_layers_that_are_given() -> None:
    given = DRAFTING.with_values({"n_gpu_layers": 8})
    assert place(given, FACTS, room(8 * GIB), Machine()) == Placed({"draft_n_gpu_layers": "all"})
    off = place(given, FACTS, room(3 * GIB), Machine())
    assert off.values == {"draft_n_gpu_layers": 0}
    assert off.sentence.startswith("The draft model runs on the CPU: on a board it would need")


def two_boards(first_gib: int, second_gib: int) -> Room:
    return Room(
        (
            DeviceFacts("CUDA0", "", "gpu", "CUDA", first_gib * GIB, 24 * GIB),
            DeviceFacts("CUDA1", "", "gpu", "CUDA", second_gib * GIB, 24 * GIB),
            DeviceFacts("CPU", "", "cpu", "CPU", 32 * GIB, 64 * GIB),
        ),
        None,
    )


@pytest.mark.parametrize(
    ("values", "split"),
    [
        ({}, ("28", "8")),
        ({"devices": ("CUDA1", "CUDA0")}, ("8", "28")),
        ({"tensor_split": ("1", "1")}, None),
        ({"split_mode": "none"}, None),
        ({"devices": ("CUDA1",)}, None),
    ],
)
def test_that_several_boards_share_by_what_they_have_beside_the_margin(
    values: dict[str, object], split: tuple[str, ...] | None
) -> None:
    config = EngineConfig.from_values(values)
    placed = place(config, FACTS, two_boards(8, 3), Machine())
    assert placed.values.get("tensor_split") == split


def _never(_: EngineConfig) -> MemoryShape:
    raise AssertionError("nothing is to be tried")


@pytest.mark.parametrize(
    ("config", "space"),
    [
        (EngineConfig(n_gpu_layers=4), room(GIB)),
        (EngineConfig(n_gpu_layers="all"), room(GIB)),
        (EngineConfig(), Room(room(GIB).memory[1:], None)),
    ],
)
def test_that_nothing_is_placed_where_nothing_is_open(config: EngineConfig, space: Room) -> None:
    never: TryOut = _never
    assert place(config, FACTS, space, never) == Placed()


@pytest.mark.parametrize(
    ("sizes", "bound"),
    [
        (lambda n: n, 8),
        (lambda n: n * n, 12),
        (lambda n: 0 if n < 90 else 1000 * n, 12),
        (lambda n: 90 * (n > 0) + n // 50, 12),
    ],
)
@pytest.mark.parametrize("room_for", [0, 1, 57, 89, 91, 99])
def test_that_the_search_is_exact_and_bounded(
    sizes: Callable[[int], int], bound: int, room_for: int
) -> None:
    tries = []

    def excess(number: int) -> int:
        tries.append(number)
        return sizes(number) - room_for

    found = most_that_fit(100, excess)
    assert found == max(n for n in range(101) if sizes(n) <= room_for)
    assert len(tries) <= bound


def test_that_not_even_nothing_may_fit() -> None:
    assert most_that_fit(10, lambda n: n + 1) == -1
