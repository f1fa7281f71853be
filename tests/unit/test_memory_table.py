"""Predicted beside measured: that every byte stands in one row, and what is not known says so."""

from __future__ import annotations

import pytest

from engine_bridge.memory_plan import BytesByUse, DeviceBytes, MemoryPlan
from engine_bridge.metrics.memory_table import MemoryTable, UseBytes, memory_tables
from engine_bridge.metrics.snapshot import MemorySnapshot
from engine_bridge.protocol import DeviceFacts
from widgets.memory_table_words import (
    lines_of,
    mib_text,
    notes_of,
    room_lines,
    room_text,
    sentence_of,
    signed_mib,
)

MIB, GIB = 2**20, 2**30


def plan(*devices: DeviceBytes, mapped: int = 0, host_caches: int = 0) -> MemoryPlan:
    uses = BytesByUse(weights_mapped=mapped, total=sum(device.needed for device in devices))
    return MemoryPlan(uses, devices, None, True, (), 0.0, host_caches=host_caches)


def host(owned: int | None = 900 * MIB, mapped: int = 0) -> MemorySnapshot:
    return MemorySnapshot(
        at_ns=1,
        kind="system",
        name="System memory",
        total_bytes=16 * GIB,
        used_bytes=6 * GIB,
        engine_owned_bytes=owned,
        engine_mapped_bytes=mapped,
        window_bytes=200 * MIB,
        swap_used_bytes=3 * MIB,
        swap_total_bytes=2 * GIB,
    )


def board(name: str, owned: int | None, used: int = 4 * GIB) -> MemorySnapshot:
    return MemorySnapshot(1, "gpu", name, 24 * GIB, used, engine_owned_bytes=owned)


def cuda(index: int, description: str) -> DeviceFacts:
    return DeviceFacts(f"CUDA{index}", description, "gpu", "CUDA", 20 * GIB, 24 * GIB)


HOST = DeviceBytes("CPU", weights=1100 * MIB, kv=200 * MIB, compute=50 * MIB)


def uses_of(table: MemoryTable) -> dict[str, tuple[int | None, int | None]]:
    return {use.use: (use.predicted, use.measured) for use in table.uses}


def test_that_main_memory_is_divided_as_planned_and_the_rest_is_shown() -> None:
    made = plan(HOST, mapped=500 * MIB, host_caches=8 * GIB)
    (table,) = memory_tables(made, [host(1000 * MIB, 530 * MIB)], (), 30 * MIB)
    assert uses_of(table) == {
        "mapped": (500 * MIB, 500 * MIB),
        "weights": (600 * MIB, 600 * MIB),
        "kv": (200 * MIB, 200 * MIB),
        "compute": (50 * MIB, 50 * MIB),
        "caches": (8 * GIB, 30 * MIB),
        "rest": (None, 120 * MIB),
    }
    assert table.measured_bytes == 1500 * MIB
    assert table.predicted_bytes == 1350 * MIB
    assert (table.free_bytes, table.total_bytes) == (10 * GIB, 16 * GIB)


def test_that_all_measured_bytes_stand_somewhere() -> None:
    made = plan(HOST, mapped=500 * MIB)
    for owned in (0, 400 * MIB, 900 * MIB, 3 * GIB):
        (table,) = memory_tables(made, [host(owned, 500 * MIB)], (), 20 * MIB)
        assert table.measured_bytes == owned + 500 * MIB
        assert table.engine_bytes == owned


def test_that_what_is_reserved_and_not_touched_is_less_than_predicted() -> None:
    (table,) = memory_tables(plan(HOST), [host(1150 * MIB)], (), 0)
    differences = {use.use: use.difference for use in table.uses}
    assert differences == {
        "weights": 0, "kv": -150 * MIB, "compute": -50 * MIB, "rest": None,
    }  # fmt: skip
    assert "not touched yet" in notes_of(table)


def test_that_what_nobody_measures_is_not_invented() -> None:
    (table,) = memory_tables(plan(HOST), [host(None)], (), 0)
    assert all(use.measured is None for use in table.uses)
    assert table.measured_bytes is None
    assert "does not tell" in notes_of(table)
    texts = [[cell.text for cell in line] for line in lines_of(table)]
    assert texts[1] == ["Weights, owned", "1,100", "–", "–"]


def test_that_there_are_no_uses_without_a_model_and_still_the_memory() -> None:
    (table,) = memory_tables(None, [host(40 * MIB)], (), 0)
    assert table.uses == ()
    assert lines_of(table) == []
    assert notes_of(table) == ""
    assert room_text(table) == "10.0 of 16.0 GiB available"


def test_that_nothing_is_known_before_the_first_reading() -> None:
    assert memory_tables(None, (), (), 0) == ()


def test_that_each_board_has_its_table_and_equal_boards_are_told_apart() -> None:
    name = "NVIDIA GeForce RTX 3090"
    made = plan(
        DeviceBytes("CUDA0", 3 * GIB, GIB, 100 * MIB),
        DeviceBytes("CUDA1", 2 * GIB, GIB, 100 * MIB),
        HOST,
    )
    snapshots = [host(), board(name, 4500 * MIB), board(name, 3500 * MIB)]
    devices = (cuda(0, name), cuda(1, name))
    tables = memory_tables(made, snapshots, devices, 0)
    assert [table.device for table in tables] == ["CPU", "CUDA0", "CUDA1"]
    rests = [uses_of(table)["rest"][1] for table in tables[1:]]
    assert rests == [4500 * MIB - 4 * GIB - 100 * MIB, 3500 * MIB - 3 * GIB - 100 * MIB]
    assert "driver's context" in notes_of(tables[1])
    assert tables[1].name == f"CUDA0 · {name}"


def test_that_a_board_that_only_ggml_sees_has_its_plan_and_no_measurement() -> None:
    remote = DeviceFacts("RPC0", "127.0.0.1:50052", "gpu", "RPC", GIB, 8 * GIB)
    made = plan(DeviceBytes("RPC0", 3 * GIB, GIB, 0), HOST)
    tables = memory_tables(made, [host()], (remote,), 0)
    assert uses_of(tables[1]) == {
        "weights": (3 * GIB, None), "kv": (GIB, None), "rest": (None, None),
    }  # fmt: skip
    assert room_text(tables[1]) == "1.0 of 8.0 GiB free"
    assert "Only predicted" in notes_of(tables[1])


def test_that_a_board_without_a_layer_shows_its_memory_alone() -> None:
    tables = memory_tables(plan(HOST), [host(), board("A", 0)], (cuda(0, "A"),), 0)
    assert tables[1].uses == ()
    assert room_text(tables[1]) == "20.0 of 24.0 GiB free"


def test_that_a_drafts_mapped_weights_are_mapped() -> None:
    device = DeviceBytes("CPU", 0, 0, 0, draft=300 * MIB)
    made = MemoryPlan(BytesByUse(draft=300 * MIB, draft_mapped=200 * MIB), (device,), None, True,
                      (), 0.0)  # fmt: skip
    (table,) = memory_tables(made, [host(150 * MIB, 250 * MIB)], (), 0)
    assert uses_of(table) == {
        "mapped": (200 * MIB, 200 * MIB),
        "draft": (100 * MIB, 100 * MIB),
        "rest": (None, 50 * MIB),
    }


def test_that_caches_within_their_limit_are_no_difference() -> None:
    assert UseBytes("caches", GIB, 30 * MIB, is_limit=True).difference is None
    assert UseBytes("caches", GIB, GIB + 5, is_limit=True).difference == 5
    assert UseBytes("kv", GIB, GIB - 5).difference == -5


@pytest.mark.parametrize(
    ("size", "text", "signed"),
    [
        (0, "0", "0"),
        (MIB // 2, "0.5", "+0.5"),
        (-3 * MIB, "-3.0", "−3.0"),
        (1234 * MIB, "1,234", "+1,234"),
        (-12 * MIB, "-12", "−12"),
        (1000, "0.0", "0"),
    ],
)
def test_that_sizes_are_mebibytes_with_few_digits(size: int, text: str, signed: str) -> None:
    assert mib_text(size) == text
    assert signed_mib(size) == signed


def test_that_the_words_of_main_memory_say_whose_it_is() -> None:
    made = plan(HOST, mapped=500 * MIB)
    (table,) = memory_tables(made, [host(1000 * MIB, 530 * MIB)], (), 0)
    told = {line[0].text: line[1].text for line in room_lines(table)}
    assert told == {
        "This window": "200 MiB",
        "Engine": "1,000 MiB",
        "Engine, mapped files": "530 MiB",
        "Swap in use": "3.0 of 2,048 MiB",
    }
    sentence = sentence_of(table)
    assert "System memory: 10.0 of 16.0 GiB available" in sentence
    assert "kv and state predicted 200 MiB, measured 200 MiB" in sentence
    assert "unexplained rest not predicted, measured 150 MiB" in sentence


def test_that_the_table_adds_up() -> None:
    (table,) = memory_tables(plan(HOST), [host(1500 * MIB)], (), 0)
    texts = [[cell.text for cell in line] for line in lines_of(table)]
    assert texts[0] == ["MiB", "predicted", "measured", "difference"]
    assert texts[-1] == ["Engine, all", "1,350", "1,500", "+150"]
    assert texts[-2] == ["Unexplained rest", "–", "150", "–"]
