from __future__ import annotations

from tests.bench.buffer_log import read_buffers

MIB = 2**20
# As llama-server logs them at -lv 4: a model with and without a window, reserved twice.
LINES = [
    "0.00.515.323 I load_tensors:   CPU_Mapped model buffer size =   235.16 MiB",
    "0.00.537.736 I llama_context:        CPU  output buffer size =     4.00 MiB",
    "0.00.537.951 I llama_kv_cache:        CPU KV buffer size =    48.00 MiB",
    "0.00.567.164 I llama_kv_cache:        CPU KV buffer size =    60.00 MiB",
    "0.00.570.000 I llama_memory_recurrent:        CPU RS buffer size =     1.26 MiB",
    "0.00.600.365 I sched_reserve:        CPU compute buffer size =    20.00 MiB",
    "0.00.607.365 I sched_reserve:        CPU compute buffer size =    22.77 MiB",
    "0.00.607.366 I sched_reserve:      RPC0 compute buffer size =     1.00 MiB",
    "sched_reserve:  CPU compute buffer size is  22.7700 MiB, matches expectation of  22.7700 MiB",
]


def test_that_cache_parts_add_up_and_the_last_reservation_of_a_device_counts() -> None:
    buffers = read_buffers(LINES)
    assert buffers.kv.size_bytes == 108 * MIB
    assert round(buffers.recurrent.size_bytes / MIB, 6) == 1.26
    assert round(buffers.compute.size_bytes / MIB, 6) == 23.77


def test_that_sizes_agree_up_to_the_rounding_of_each_line_and_no_further() -> None:
    kv = read_buffers(LINES).kv
    assert kv.agrees_with(108 * MIB)
    assert kv.agrees_with(108 * MIB + 10_000)
    assert not kv.agrees_with(108 * MIB + 12_000)


def test_that_a_buffer_nobody_logged_agrees_with_nothing_but_zero() -> None:
    state = read_buffers(LINES[:3]).recurrent
    assert state.agrees_with(0)
    assert not state.agrees_with(1)
