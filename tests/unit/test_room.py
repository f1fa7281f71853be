"""That bytes are summed up and judged right, whatever devices there are."""

from __future__ import annotations

import msgspec
import pytest

from engine_bridge.child.breakdown import BufferBytes
from engine_bridge.child.ggml import BufferType
from engine_bridge.child.memory_shape import MemoryShape, mapped_as_loaded, shape_of
from engine_bridge.child.room import Room, margin_bytes, problem_of_room
from engine_bridge.memory_plan import MemoryPlan
from engine_bridge.protocol import DeviceFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.rules import Severity

MIB, GIB = 2**20, 2**30
CPU = BufferType("CPU", "CPU", True)
REPACK = BufferType("CPU_REPACK", "CPU", True)
PINNED = BufferType("CUDA_Host", "CPU", True)
CUDA = BufferType("CUDA0", "CUDA0", False)
CONFIG = EngineConfig()


def device(name: str, free: int, total: int = 8 * GIB) -> DeviceFacts:
    return DeviceFacts(name, "", "cpu" if name == "CPU" else "gpu", "", free, total)


def on_board(kv: int, weights: int = 2 * GIB, host_weights: int = 100 * MIB) -> MemoryShape:
    rows = (
        BufferBytes(CPU, host_weights, 0, 10 * MIB),
        BufferBytes(CUDA, weights, kv, 200 * MIB),
        BufferBytes(PINNED, 0, 0, 5 * MIB),
    )
    return shape_of(rows, output_bytes=MIB, recurrent_bytes=0)


# --- Sums -----------------------------------------------------------------------------------


def test_that_uses_and_devices_add_up_to_the_same_total() -> None:
    rows = mapped_as_loaded(
        (
            BufferBytes(CPU, 700, 40, 5),
            BufferBytes(REPACK, 300, 0, 0),
            BufferBytes(CUDA, 2000, 60, 7),
        ),
        mapped_bytes=900,
    )
    shape = shape_of(rows, output_bytes=11, recurrent_bytes=30, memory=(device("CUDA1", 1),))
    by_use = shape.bytes
    assert (by_use.weights, by_use.weights_mapped) == (2300, 900)
    assert (by_use.kv, by_use.recurrent, by_use.compute, by_use.output) == (70, 30, 12, 11)
    assert [d.name for d in shape.devices] == ["CUDA1", "CUDA0", "CPU"]
    on_devices = sum(d.weights + d.kv + d.compute for d in shape.devices)
    assert by_use.total == on_devices == 2300 + 900 + 70 + 30 + 12 + 11
    assert by_use.host == 900 + 300 + 40 + 5 + 11
    assert shape.devices[1].free == -1


def test_that_pinned_host_memory_is_host_memory() -> None:
    host = on_board(kv=GIB).devices[-1]
    assert host.name == "CPU"
    assert host.compute == (10 + 5 + 1) * MIB


# --- Room -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("total", "margin"), [(2 * GIB, 256 * MIB), (12 * GIB, 614 * MIB), (80 * GIB, 1024 * MIB)]
)
def test_that_the_margin_is_a_twentieth_within_bounds(total: int, margin: int) -> None:
    assert margin_bytes(total) // MIB == margin // MIB


def test_that_the_short_device_is_named_with_what_helps() -> None:
    room = Room((device("CUDA0", 3 * GIB), device("CPU", 6 * GIB)), None)
    assert problem_of_room(on_board(kv=256 * MIB), room, CONFIG) is None
    problem = problem_of_room(on_board(kv=2 * GIB), room, CONFIG)
    assert problem is not None
    assert problem.severity is Severity.ERROR
    assert problem.message.startswith("CUDA0 does not suffice: 4.2 GiB are needed (weights 2.0 ")
    assert "KV cache 2.0 GiB, compute buffers 0.2 GiB) and 3.0 GiB are free" in problem.message
    # As the memory bar counts; what is kept free is told apart from it.
    assert "so 1.2 GiB are missing, beside 0.4 GiB to be kept free" in problem.message
    assert "fewer layers" in problem.message
    assert problem.keys[0] == "ctx_per_slot_tok"
    assert "n_gpu_layers" in problem.keys


def test_that_a_margin_that_is_short_is_no_missing_memory() -> None:
    room = Room((device("CUDA0", 4 * GIB + 300 * MIB), device("CPU", 6 * GIB)), None)
    problem = problem_of_room(on_board(kv=2 * GIB), room, CONFIG)
    assert problem is not None
    assert "which leaves 0.3 GiB too little of what is kept free" in problem.message


def test_that_unknown_memory_never_refuses() -> None:
    room = Room((device("CUDA0", 0, total=0), device("CPU", 6 * GIB)), None)
    assert problem_of_room(on_board(kv=2 * GIB), room, CONFIG) is None


def test_that_mapped_pages_of_the_running_engine_are_not_given_back_twice() -> None:
    rows = mapped_as_loaded((BufferBytes(CPU, GIB, GIB, 0),), mapped_bytes=GIB)
    shape = shape_of(rows, output_bytes=0, recurrent_bytes=0)
    running = MemoryPlan(shape.bytes, shape.devices, None, True, (), 0.0)
    room = Room((device("CPU", 2 * GIB),), running)
    assert room.memory[0].free == 3 * GIB
    keeping = msgspec.structs.replace(running, host_kept=GIB // 2)
    assert Room((device("CPU", 2 * GIB),), keeping).memory[0].free == 3.5 * GIB
    full = Room((device("CPU", 8 * GIB - 1),), running)
    assert full.memory[0].free == 8 * GIB


def test_that_two_points_find_the_context_that_fits() -> None:
    """Half of the cache is a window and does not grow: one point overrates, two are right."""
    room = Room((device("CUDA0", 4 * GIB), device("CPU", 6 * GIB)), None)

    def at(tokens: int) -> tuple[int, MemoryShape]:
        return tokens, on_board(kv=GIB // 2 + tokens * 64 * 1024)

    first = room.tokens_that_fit([at(65_536)])
    second = room.tokens_that_fit([at(65_536), at(first)])
    assert second < first < 65_536
    need = at(second)[1].devices[0]
    assert abs(room.missing_bytes(need)) <= 64 * 1024


def test_that_no_context_fits_where_weights_alone_do_not() -> None:
    room = Room((device("CUDA0", GIB), device("CPU", 6 * GIB)), None)
    shape = on_board(kv=GIB)
    assert room.tokens_that_fit([(4096, shape)]) == 0
    layers = room.layers_that_fit(shape, 31)
    assert layers is not None
    assert 0 < layers < 16
    assert Room((device("CUDA0", 8 * GIB),), None).layers_that_fit(shape, 31) is None


def test_that_slack_is_a_quarter_of_the_margin_and_never_more_than_there_is() -> None:
    room = Room((device("CUDA0", 3 * GIB), device("CPU", 6 * GIB)), None).with_slack()
    taken = [device.free for device in room.memory]
    quarters = [margin_bytes(each.total) // 4 for each in room.memory]
    assert taken == [3 * GIB - quarters[0], 6 * GIB - quarters[1]]
    assert Room((device("CPU", 0),), None).with_slack().memory[0].free == 0
