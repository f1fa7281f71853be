"""That a dry run says what the real load takes, to the byte, and what to do if it is too much."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine_bridge.child import planner as planner_module
from engine_bridge.child.allocated import allocated
from engine_bridge.child.llama import LOG, Context, Model
from engine_bridge.child.planner import Planner, PlanRefusedError
from engine_bridge.memory_plan import MemoryPlan
from engine_bridge.protocol import DeviceFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.rules import Severity, repaired
from tests import models
from tests.engine.tiny_hybrid import write_tiny_hybrid
from tests.tiny_model import TinyLlama, write_tiny_llama

pytestmark = pytest.mark.engine

CONTEXTS: dict[str, dict[str, object]] = {
    "as it comes": {},
    "one long slot": {"ctx_per_slot_tok": 32_768, "slots": 1},
    "three odd slots": {"ctx_per_slot_tok": 2_731, "slots": 3},
    "shared pool": {"kv_unified": True, "slots": 4, "ctx_total_tok": 8_192},
    "q8_0": {"cache_type_k": "q8_0", "cache_type_v": "q8_0"},
    "q4_0 keys, no flash attention": {"cache_type_k": "q4_0", "flash_attn": "off"},
    "f32 keys, iq4_nl values": {"cache_type_k": "f32", "cache_type_v": "iq4_nl"},
    "small ubatch": {"ubatch_tok": 128, "batch_tok": 256},
    "long drafts": {"spec_types": ("ngram-simple",), "ngram_size_m": 48},
    "whole window": {"swa_full": True, "slots": 2},
}


@pytest.fixture
def planner() -> Iterator[Planner]:
    made = Planner()
    yield made
    made.close()


def configure(path: Path | str, **values: object) -> EngineConfig:
    return EngineConfig.from_values({"model_path": str(path)} | values)


def really(config: EngineConfig, model: Model, recurrent_bytes: int = 0) -> MemoryPlan:
    """What a real context occupies."""
    context = Context.create(model, config)
    try:
        return allocated(context, config, 0.0, recurrent_bytes)
    finally:
        context.close()


def assert_same(planned: MemoryPlan, real: MemoryPlan) -> None:
    assert planned.bytes == real.bytes
    assert planned.effective == real.effective
    for dry, loaded in zip(planned.devices, real.devices, strict=True):
        sizes = (dry.name, dry.weights, dry.kv, dry.compute)
        assert sizes == (loaded.name, loaded.weights, loaded.kv, loaded.compute)


def mib_in(lines: list[str], what: str) -> float:
    return sum(
        float(found[1]) for line in lines if (found := re.search(what + r" = +(\S+) MiB", line))
    )


# --- Predicted and real ---------------------------------------------------------------------


@pytest.mark.parametrize("find", [models.gemma_path, models.qwen_path])
def test_that_every_context_takes_what_was_planned(planner: Planner, find: Any) -> None:
    path = find()
    model = Model.load(str(path), configure(path))
    try:
        for values in CONTEXTS.values():
            config = configure(path, **values)
            assert_same(planner.plan(config), really(config, model))
    finally:
        model.close()


@pytest.mark.parametrize("load_mode", ["none", "mmap", "auto", "dio"])
def test_that_mapped_and_owned_weights_are_told_apart(planner: Planner, load_mode: str) -> None:
    path = models.gemma_path()
    config = configure(path, load_mode=load_mode)
    model = Model.load(str(path), config)
    try:
        planned = planner.plan(config)
        assert_same(planned, really(config, model))
        assert (planned.bytes.weights_mapped > 0) == (load_mode in ("mmap", "auto"))
    finally:
        model.close()


def test_that_a_recurrent_state_is_not_called_cache(
    planner: Planner, tiny_mamba_path: Path
) -> None:
    config = configure(tiny_mamba_path, slots=3)
    model = Model.load(str(tiny_mamba_path), config)
    try:
        planned = planner.plan(config)
        assert_same(planned, really(config, model))
    finally:
        model.close()
    # 2 layers × 3 sequences × (3 × 256 convolution + 16 × 256 state) values × 4 bytes
    assert planned.bytes.recurrent == 2 * 3 * (3 * 256 + 16 * 256) * 4
    assert planned.bytes.kv == 0


def test_that_a_hybrid_models_state_and_cache_are_told_apart(
    planner: Planner, tmp_path: Path
) -> None:
    path = write_tiny_hybrid(tmp_path / "hybrid.gguf")
    config = configure(path, slots=4, ctx_per_slot_tok=4096)
    model = Model.load(str(path), config)
    try:
        # 2 layers × 4 sequences × 64 channels × (3 − 1) values × 4 bytes
        state = 2 * 4 * 64 * 2 * 4
        planned = planner.plan(config)
        assert_same(planned, really(config, model, state))
    finally:
        model.close()
    assert planned.bytes.recurrent == state
    assert planned.bytes.kv == 2 * (32 + 32) * 2 * 4 * 4096


def test_that_a_mixture_of_experts_is_planned(planner: Planner, tiny_moe_path: Path) -> None:
    config = configure(tiny_moe_path)
    model = Model.load(str(tiny_moe_path), config)
    try:
        assert_same(planner.plan(config), really(config, model))
    finally:
        model.close()


def test_that_the_log_of_a_real_load_agrees(planner: Planner) -> None:
    """Not our own reading of the buffers: llama.cpp's words, which round to 0.01 MiB."""
    path = models.gemma_path()
    config = configure(path, cache_type_k="q8_0", cache_type_v="q8_0")
    planned = planner.plan(config)
    model = Model.load(str(path), config)
    try:
        with LOG.captured() as log:
            Context.create(model, config, quiet=True).close()
    finally:
        model.close()
    kv = mib_in(log.lines, "KV buffer size")
    compute = mib_in(log.lines, "compute buffer size")
    assert kv == pytest.approx(planned.bytes.kv / 2**20, abs=0.02)
    assert compute == pytest.approx(planned.bytes.compute / 2**20, abs=0.02)


# --- Rules before runs ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "values",
    [
        {"cache_type_v": "q8_0", "flash_attn": "off"},
        {"slots": 64, "batch_tok": 32},
        {"ctx_per_slot_tok": 10_485_760, "slots": 256},
        {"spec_types": ("ngram-simple",), "ngram_size_m": 200, "batch_tok": 128},
    ],
)
def test_that_what_would_abort_the_engine_is_not_tried(
    planner: Planner, tiny_path: Path, values: dict[str, object]
) -> None:
    plan = planner.plan(configure(tiny_path, **values))
    assert not plan.fits
    assert plan.problems[0].severity is Severity.ERROR
    assert plan.effective is None
    assert plan.bytes.total == 0


def test_that_a_head_no_block_divides_is_named(planner: Planner, tmp_path: Path) -> None:
    shape = TinyLlama(head_dim=80, vocab_tok=512)
    path = write_tiny_llama(tmp_path / "odd.gguf", shape)
    plan = planner.plan(configure(path, cache_type_k="q8_0"))
    assert "80" in plan.problems[0].message
    assert planner.plan(repaired(configure(path, cache_type_k="q8_0"), plan.problems[0])).fits


def test_that_padding_and_training_length_show_in_what_becomes_of_it(
    planner: Planner, tiny_path: Path
) -> None:
    plan = planner.plan(configure(tiny_path, ctx_per_slot_tok=1000, slots=2))
    assert plan.effective is not None
    assert (plan.effective.ctx_per_slot_tok, plan.effective.ctx_total_tok) == (1024, 2048)
    assert plan.effective.flash_attn == "on"
    plan = planner.plan(configure(tiny_path, ctx_per_slot_tok=8192, slots=1))
    assert plan.effective is not None
    assert (plan.effective.ctx_per_slot_tok, plan.effective.ctx_total_tok) == (4096, 8192)
    pooled = configure(tiny_path, kv_unified=True, ctx_total_tok=4096, ctx_per_slot_tok=1000)
    plan = planner.plan(pooled)
    assert plan.effective is not None
    assert plan.effective.ctx_per_slot_tok == 1000


# --- Bad files ------------------------------------------------------------------------------


def test_that_a_file_that_is_no_model_is_refused(planner: Planner, tmp_path: Path) -> None:
    path = tmp_path / "note.gguf"
    path.write_text("no model")
    with pytest.raises(PlanRefusedError) as caught:
        planner.plan(configure(path))
    assert caught.value.problem.keys == ("model_path",)
    assert "is no GGUF file" in caught.value.problem.message


def test_that_the_engines_own_words_reach_the_user(planner: Planner, tmp_path: Path) -> None:
    """A header that reads well and lacks a tensor the architecture needs."""
    path = write_tiny_llama(tmp_path / "odd.gguf", TinyLlama(vocab_tok=512))
    path.write_bytes(path.read_bytes().replace(b"output_norm.weight", b"output_xorm.weight"))
    with pytest.raises(PlanRefusedError) as caught:
        planner.plan(configure(path))
    assert "output_norm" in caught.value.problem.message


def test_that_a_file_that_changed_is_read_anew(planner: Planner, tmp_path: Path) -> None:
    path = write_tiny_llama(tmp_path / "a.gguf", TinyLlama(vocab_tok=512))
    small = planner.plan(configure(path)).bytes
    write_tiny_llama(tmp_path / "b.gguf", TinyLlama(vocab_tok=512, layers=4)).replace(path)
    assert planner.plan(configure(path)).bytes.kv == 2 * small.kv
    assert planner.facts(str(path)).layers == 4


def test_that_a_model_of_which_only_the_header_is_there_is_planned(
    planner: Planner, tmp_path: Path
) -> None:
    """What a download shows before it begins: the header in a sparse file of the full size."""
    whole = models.gemma_path()
    head = tmp_path / "head.gguf"
    with whole.open("rb") as source, head.open("wb") as target:
        target.write(source.read(8 * 2**20))
        target.truncate(whole.stat().st_size)
    assert planner.plan(configure(head)).bytes == planner.plan(configure(whole)).bytes


# --- Room -----------------------------------------------------------------------------------


def with_host(monkeypatch: pytest.MonkeyPatch, free: int, total: int = 8 * 2**30) -> None:
    host = DeviceFacts("CPU", "", "cpu", "CPU", free, total)
    monkeypatch.setattr(planner_module, "memory_now", lambda: (host,))


def test_that_the_largest_context_that_fits_is_offered(
    planner: Planner, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_host(monkeypatch, free=2 * 2**30)
    config = configure(models.gemma_path(), ctx_per_slot_tok=32_768, slots=64)
    plan = planner.plan(config)
    assert not plan.fits
    problem = plan.problems[0]
    assert "does not suffice" in problem.message
    smaller = repaired(config, problem)
    assert planner.plan(smaller).fits
    tokens = problem.fix["ctx_per_slot_tok"]
    assert isinstance(tokens, int)
    # Not just any that fits: an eighth more would not.
    longer = config.with_values({"ctx_per_slot_tok": tokens * 9 // 8})
    assert not planner.plan(longer).fits


def test_that_what_runs_counts_as_room(planner: Planner, monkeypatch: pytest.MonkeyPatch) -> None:
    config = configure(models.gemma_path(), ctx_per_slot_tok=32_768, slots=16)
    need = planner.plan(config)
    owned = need.bytes.total - need.bytes.weights_mapped
    with_host(monkeypatch, free=need.bytes.weights_mapped + 2**29)
    assert not planner.plan(config).fits
    assert planner.plan(config, running=need).fits
    assert owned > 2**29


def test_that_too_little_memory_for_mapped_weights_is_a_warning(
    planner: Planner, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = configure(models.qwen_path(), ctx_per_slot_tok=512, slots=1)
    need = planner.plan(config).bytes
    with_host(monkeypatch, free=need.total, total=4 * 2**30)
    plan = planner.plan(config)
    assert not plan.fits
    assert plan.problems[0].severity is Severity.WARNING
    assert "read from the drive" in plan.problems[0].message


def test_that_a_copy_elsewhere_is_another_model(planner: Planner, tmp_path: Path) -> None:
    path = write_tiny_llama(tmp_path / "one.gguf", TinyLlama(vocab_tok=512))
    copy = shutil.copy(path, tmp_path / "two.gguf")
    first = planner.plan(configure(path))
    second = planner.plan(configure(copy))
    assert first.bytes == second.bytes
    assert planner.facts(str(copy)).path == str(copy)


@pytest.mark.parametrize(
    ("asked", "which"), [(99, "the 99 layers asked for stay"), ("all", "all layers stay")]
)
def test_that_layers_asked_onto_a_gpu_that_is_not_there_are_remarked_and_run_on_the_cpu(
    planner: Planner, tiny_path: Path, asked: object, which: str
) -> None:
    planned = planner.plan(configure(tiny_path, n_gpu_layers=asked))
    if planned.effective is None or planned.effective.n_gpu_layers:
        pytest.skip("Layers can lie on a GPU of this machine.")
    (remark,) = planned.problems
    assert f"There is no GPU here that this build of llama.cpp can use, so {which}" in (
        remark.message
    )
    assert remark.severity is Severity.WARNING
    assert planned.fits
    config = repaired(configure(tiny_path, n_gpu_layers=asked), remark)
    assert planner.plan(config).problems == ()


@pytest.mark.parametrize(
    "values", [{}, {"n_gpu_layers": 0}, {"n_gpu_layers": 9, "devices": ("none",)}]
)
def test_that_who_asks_no_gpu_hears_of_none(
    planner: Planner, tiny_path: Path, values: dict[str, object]
) -> None:
    assert planner.plan(configure(tiny_path, **values)).problems == ()
