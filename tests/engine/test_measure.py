"""What a step reads: from the log of the caches and the table of the tensors."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine_bridge.child.llama import Context, Model
from engine_bridge.child.measure import kv_reads_of, weight_reads_of
from engine_bridge.gguf_file import read_model
from tests import models
from tests.engine.harness import tiny_config

pytestmark = pytest.mark.engine


def _context_of(path: Path, **values: object) -> Context:
    config = tiny_config(path, slots=2, ctx_per_slot_tok=1024, **values)
    return Context.create(Model.load(str(path), config, no_alloc=True), config)


def _close(context: Context) -> None:
    context.close()
    context.model.close()


@pytest.mark.parametrize("unified", [False, True])
@pytest.mark.parametrize(("name", "value_bytes"), [("f16", 2.0), ("q8_0", 34 / 32)])
def test_that_a_cache_is_read_by_its_bytes_per_token(
    tiny_path: Path, unified: bool, name: str, value_bytes: float
) -> None:
    context = _context_of(tiny_path, kv_unified=unified, cache_type_k=name, cache_type_v=name)
    reads = kv_reads_of(context.log, 0)
    _close(context)
    # 2 layers, K and V of 2 heads with 32 values; the log rounds to a hundredth of a MiB.
    assert reads.full_bytes_per_tok == pytest.approx(2 * 2 * 2 * 32 * value_bytes, rel=0.01)
    assert reads.window_bytes_per_tok == reads.state_bytes == 0


def test_that_a_window_is_read_apart() -> None:
    context = _context_of(models.gemma_path())
    reads = kv_reads_of(context.log, context.model.window_tok)
    _close(context)
    # One KV head of 256 values, f16, K and V: 3 layers see all, 15 a window of 512.
    assert reads.full_bytes_per_tok == pytest.approx(3 * 2 * 256 * 2, rel=0.01)
    assert reads.window_bytes_per_tok == pytest.approx(15 * 2 * 256 * 2, rel=0.01)
    assert reads.window_tok == 512
    assert reads.at_depth_bytes(1000) == pytest.approx(3072 * 1000 + 15360 * 512, rel=0.01)


def test_that_a_state_is_read_whole(tiny_mamba_path: Path) -> None:
    context = _context_of(tiny_mamba_path)
    reads = kv_reads_of(context.log, 0)
    state = sum(row.context for row in context.memory_breakdown()) / context.sequences
    _close(context)
    assert reads.full_bytes_per_tok == 0
    assert reads.state_bytes == pytest.approx(state, rel=0.1)


def test_that_experts_are_told_from_the_rest(tiny_moe_path: Path) -> None:
    gguf = read_model(tiny_moe_path)
    reads = weight_reads_of(gguf)
    experts = sum(tensor.bytes for tensor in gguf.tensors if "_exps" in tensor.name)
    rest = sum(
        tensor.bytes
        for tensor in gguf.tensors
        if "_exps" not in tensor.name and tensor.name != "token_embd.weight"
    )
    assert reads.expert_bytes == pytest.approx(experts)
    assert reads.shared_bytes == pytest.approx(rest)
    assert (reads.experts, reads.experts_used) == (8, 2)
    assert reads.per_step_bytes(1) == pytest.approx(rest + experts / 4)
