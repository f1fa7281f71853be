"""What llama.cpp, ggml and the C++ library say where memory runs out, and what is no such thing."""

from __future__ import annotations

import pytest

from engine_bridge.engine_state import LastMemory, death_by_exit, death_by_signal
from engine_bridge.memory_fault import MemoryFault, fault_in

KV = (
    "ggml_aligned_malloc: insufficient memory (attempted to allocate 1536.00 MB)",
    "ggml_backend_cpu_buffer_type_alloc_buffer: failed to allocate buffer of size 1610612736",
    "alloc_tensor_range: failed to allocate CPU buffer of size 1610612736",
    "llama_init_from_model: failed to initialize the context: failed to allocate buffer for kv "
    "cache",
)
BAD_ALLOC = ("terminate called after throwing an instance of 'std::bad_alloc'",)


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        (KV, MemoryFault("CPU", "kv", 1_610_612_736)),
        (
            (
                "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 8192.00 MiB on device 1: "
                "cudaMalloc failed: out of memory",
                "alloc_tensor_range: failed to allocate CUDA1 buffer of size 8589934592",
                "llama_model_load: error loading model: unable to allocate CUDA1 buffer",
            ),
            MemoryFault("CUDA1", "weights", 8 * 2**30),
        ),
        (
            (
                "ggml_gallocr_reserve_n_impl: failed to allocate RPC0[127.0.0.1:50052] buffer of "
                "size 52428800",
                "graph_reserve: failed to allocate compute buffers",
            ),
            MemoryFault("RPC0", "compute", 50 * 2**20),
        ),
        (
            ("alloc_tensor_range: failed to allocate CUDA_Host buffer of size 1024",),
            MemoryFault("CPU", "", 1024),
        ),
        (
            ("alloc_tensor_range: failed to allocate CPU_REPACK buffer of size 1024",),
            MemoryFault("CPU", "", 1024),
        ),
        (
            ("output_reserve: failed to allocate output buffer of size 512.00 MiB",),
            MemoryFault("CPU", "output", 512 * 2**20),
        ),
        (
            ("llama_model_load: error loading model: mmap failed: Cannot allocate memory",),
            MemoryFault("CPU", "weights"),
        ),
        (BAD_ALLOC, MemoryFault("CPU")),
        (
            ("CUDA error: out of memory", "  current device: 1, in function alloc at x.cu:1"),
            MemoryFault("CUDA1"),
        ),
        (("libgomp: Thread creation failed: Resource temporarily unavailable",), MemoryFault()),
    ],
)
def test_that_a_want_of_memory_is_read(lines: tuple[str, ...], fault: MemoryFault) -> None:
    assert fault_in(lines) == fault


@pytest.mark.parametrize(
    "lines",
    [
        (),
        ("llama_model_load: error loading model: unknown model architecture: 'x'",),
        ("GGML_ASSERT(n_tokens > 0) failed",),
        ("llama_kv_cache: CPU KV buffer size = 1536.00 MiB",),
    ],
)
def test_that_other_faults_are_none(lines: tuple[str, ...]) -> None:
    assert fault_in(lines) is None


def test_that_the_sentence_names_buffer_size_and_place() -> None:
    assert MemoryFault("CUDA0", "kv", 3 * 2**29).sentence == (
        "Memory ran out: the KV cache of 1.5 GiB did not fit into the memory of CUDA0."
    )
    assert MemoryFault().sentence == "Memory ran out: a buffer did not fit into system memory."


# --- Deaths -----------------------------------------------------------------------------------


def test_that_an_abort_for_memory_is_said_to_be_one() -> None:
    death = death_by_signal(6, "loading the model", BAD_ALLOC, ())
    assert death.fault == MemoryFault()
    assert "Memory ran out" in death.sentence
    assert "smaller context" in death.sentence
    assert "cannot recover" not in death.sentence


def test_that_a_want_of_memory_that_was_survived_is_not_blamed() -> None:
    later = [f"warning {number}" for number in range(20)]
    assert death_by_signal(6, "generating", [*KV, *later], ()).fault is None
    assert death_by_signal(6, "generating", [*later, *KV], ()).fault is not None


def test_that_only_a_short_memory_explains_a_kill() -> None:
    assert death_by_signal(9, "generating", KV, ()).fault is None
    assert death_by_signal(9, "generating", (), (), LastMemory(has_run_out=True)).fault is not None
    short = LastMemory(free_bytes=2**28, total_bytes=2**34)
    assert death_by_signal(9, "generating", (), (), short).fault is not None
    plenty = LastMemory(free_bytes=2**33, total_bytes=2**34)
    assert death_by_signal(9, "generating", (), (), plenty).fault is None


def test_that_an_engine_that_leaves_for_memory_says_so() -> None:
    line = "libgomp: Thread creation failed: Resource temporarily unavailable"
    death = death_by_exit(1, "generating", (line,), ())
    assert death.fault == MemoryFault()
    assert "Memory ran out" in death.sentence
    assert death_by_exit(0, "generating", (line,), ()).fault is None
