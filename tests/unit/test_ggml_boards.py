"""What ggml adds to the boards that drivers tell of."""

from __future__ import annotations

from engine_bridge.metrics.board_activity import BoardActivity
from engine_bridge.metrics.ggml_boards import with_ggml
from engine_bridge.metrics.snapshot import MemorySnapshot
from engine_bridge.protocol import DeviceFacts

GIB = 1 << 30


def device(
    name: str, description: str, *, free: int = 5, total: int = 16, kind: str = "gpu"
) -> DeviceFacts:
    return DeviceFacts(name, description, kind, name[:-1], free * GIB, total * GIB)


def measured(name: str) -> BoardActivity:
    memory = MemorySnapshot(1, "gpu", name, 24 * GIB, 7 * GIB)
    return BoardActivity(name, memory=memory, busy=0.5)


CPU = device("CPU", "a processor", kind="cpu")


def test_that_a_board_whose_driver_tells_all_stays_as_it_is() -> None:
    board = measured("NVIDIA GeForce RTX 3090")
    assert with_ggml([board], [device("CUDA0", board.name), CPU], 9) == (board,)


def test_that_two_equal_boards_are_not_three() -> None:
    boards = [measured("NVIDIA GeForce RTX 3090")] * 2
    devices = [device("CUDA0", boards[0].name), device("CUDA1", boards[0].name)]
    assert with_ggml(boards, devices, 9) == tuple(boards)


def test_that_a_board_that_two_backends_see_is_one() -> None:
    board = measured("AMD Radeon RX 7900 XTX")
    devices = [device("ROCm0", board.name), device("Vulkan0", f"{board.name} (RADV NAVI31)")]
    assert with_ggml([board], devices, 9) == (board,)


def test_that_a_board_that_no_driver_tells_of_is_as_full_as_ggml_says() -> None:
    (board,) = with_ggml([], [device("Vulkan0", "Some GPU"), CPU], 9)
    assert board.memory is not None
    assert (board.memory.at_ns, board.memory.used_bytes) == (9, 11 * GIB)
    assert "ggml" in board.remark
    assert board.busy is None
    assert board.refused["busy"]


def test_that_all_free_whatever_is_used_is_no_figure() -> None:
    (board,) = with_ggml([], [device("Vulkan0", "Some GPU", free=16)], 9)
    assert board.memory is None
    assert "does not tell" in board.refused["memory"]


def test_that_the_only_gpu_of_a_maker_is_the_one_that_ggml_means() -> None:
    intel = BoardActivity(
        "Intel GPU e20b", core_clock_mhz=2750, engine_bytes=4 * GIB, refused={"memory": "no file"}
    )
    (board,) = with_ggml([intel], [device("Vulkan0", "Intel(R) Arc(tm) B580 Graphics")], 9)
    assert board.name == "Intel(R) Arc(tm) B580 Graphics"
    assert board.core_clock_mhz == 2750
    assert board.memory is not None
    assert board.memory.engine_owned_bytes == 4 * GIB
    assert "memory" not in board.refused


def test_that_of_two_gpus_of_a_maker_none_is_guessed() -> None:
    two = [BoardActivity("Intel GPU e20b"), BoardActivity("Intel GPU 9bc5")]
    boards = with_ggml(two, [device("Vulkan0", "Intel(R) Arc(tm) B580 Graphics")], 9)
    assert [board.name for board in boards] == [
        "Intel GPU e20b", "Intel GPU 9bc5", "Intel(R) Arc(tm) B580 Graphics",
    ]  # fmt: skip


def test_that_a_driver_that_does_not_work_keeps_its_sentence() -> None:
    silent = BoardActivity("NVIDIA", problem="Restart the machine.")
    found = with_ggml([silent], [device("Vulkan0", "NVIDIA GeForce RTX 3090")], 9)
    assert found[0] == silent
    assert found[1].memory is not None


def test_that_a_name_that_begins_as_anothers_is_not_it() -> None:
    boards = (measured("AMD Radeon RX 7900 XT"), measured("AMD Radeon RX 7900 XTX"))
    assert with_ggml(boards, [device("ROCm0", boards[1].name)], 9) == boards
