"""Whether both sides have memory, and which work fits."""

from __future__ import annotations

import msgspec

from app.try_words import SHORT, memory_offer, work_choices, works_for
from engine_bridge.memory_plan import BytesByUse, DeviceBytes, EffectiveConfig, MemoryPlan
from engine_bridge.metrics.snapshot import MemorySnapshot
from tests.unit.fake_client import EMPTY_PLAN

GIB = 1 << 30
EFFECTIVE = EffectiveConfig(
    ctx_per_slot_tok=4096, slots=1, kv_unified=False, ctx_total_tok=4096, flash_attn="on",
    n_gpu_layers=0, batch_tok=2048, ubatch_tok=512, threads=4, threads_batch=4, outputs_max=1,
)  # fmt: skip


def plan(*devices: DeviceBytes, mapped: int = 0) -> MemoryPlan:
    return msgspec.structs.replace(
        EMPTY_PLAN, bytes=BytesByUse(weights_mapped=mapped), devices=devices, effective=EFFECTIVE
    )


def ram(free: int) -> MemorySnapshot:
    return MemorySnapshot(0, "system", "System memory", 16 * GIB, 16 * GIB - free)


def gpu(free: int) -> MemorySnapshot:
    return MemorySnapshot(0, "gpu", "RTX 3090", 24 * GIB, 24 * GIB - free)


HOST = DeviceBytes("CPU", weights=4 * GIB, kv=GIB, compute=GIB)


def test_that_room_for_both_is_told_with_both_numbers() -> None:
    offer = memory_offer(plan(HOST), [ram(8 * GIB)], is_loaded=False)
    assert not offer.is_short
    assert "takes about 6.00 GiB of RAM" in offer.sentence.replace("\u202f", " ")
    assert "8.00 GiB of RAM are free." in offer.sentence.replace("\u202f", " ")


def test_that_the_pages_of_one_file_are_shared_by_both() -> None:
    assert memory_offer(plan(HOST, mapped=4 * GIB), [ram(3 * GIB)], is_loaded=False).is_short
    assert not memory_offer(plan(HOST, mapped=4 * GIB), [ram(3 * GIB)], is_loaded=True).is_short


def test_that_too_little_is_told_with_what_to_do() -> None:
    offer = memory_offer(plan(HOST), [ram(2 * GIB)], is_loaded=False)
    assert offer.is_short
    assert "gives its memory back while the server runs" in offer.sentence


def test_that_boards_count_apart_and_workers_not_at_all() -> None:
    boards = (DeviceBytes("CUDA0", weights=10 * GIB, kv=0, compute=0),)
    workers = (DeviceBytes("RPC0", weights=90 * GIB, kv=0, compute=0),)
    fits = memory_offer(plan(HOST, *boards, *workers), [ram(9 * GIB), gpu(12 * GIB)],
                        is_loaded=False)  # fmt: skip
    assert not fits.is_short
    assert "of GPU memory" in fits.sentence
    assert memory_offer(plan(HOST, *boards), [ram(9 * GIB), gpu(GIB)], is_loaded=False).is_short


def test_that_what_nobody_knows_is_said_so() -> None:
    for offer in (
        memory_offer(None, [ram(GIB)], is_loaded=False),
        memory_offer(plan(HOST), [], is_loaded=False),
    ):
        assert "not known" in offer.sentence
        assert not offer.is_short


def test_that_only_work_that_fits_a_slot_is_offered() -> None:
    for ctx_tok in (256, 512, 1024, 32_768):
        works = works_for(ctx_tok)
        assert all(work.needed_ctx_tok() <= ctx_tok for work in works.values())
    assert next(iter(works_for(32_768))) == SHORT
    assert "rag" in works_for(32_768)
    assert "rag" not in works_for(512)
    assert list(works_for(256)) == [SHORT]
    assert works_for(16) == {}


def test_that_work_is_told_with_what_a_run_takes() -> None:
    choices = work_choices(works_for(32_768))
    assert choices[0].key == SHORT
    for choice in choices:
        assert "Each run: " in choice.about
        assert choice.about.endswith(".")
