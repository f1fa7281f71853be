"""What a step reads: from the log of the caches and the table of the tensors."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine_bridge.child.llama import LIB, Context, Model
from engine_bridge.child.measure import kv_reads_of, weight_reads_of
from engine_bridge.gguf_file import read_model
from engine_bridge.protocol import StepsMeasured
from engine_bridge.step_work import StepWork, merged
from tests import models
from tests.engine.harness import InProcess, random_tokens, tiny_config

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


def _asked(desk: InProcess, count: int, max_new_tok: int = 40) -> list[StepWork]:
    """Work of ``count`` chats that write at once, by kind."""
    ids = [
        desk.ask(random_tokens(40, seed=n), max_new_tok=max_new_tok, ignore_eog=True)
        for n in range(count)
    ]
    for request_id in ids:
        desk.finished(request_id)
    wanted = count * max_new_tok
    desk.until(lambda: sum(e.decoded_tok for e in desk.all_of(StepsMeasured)) >= wanted)
    return list(merged(work for event in desk.all_of(StepsMeasured) for work in event.work))


def test_that_the_work_of_an_engine_adds_up(desk: InProcess, few_words_path: Path) -> None:
    desk.load(tiny_config(few_words_path, slots=2, kv_unified=True))
    works = {work.streams: work for work in _asked(desk, 2)}
    meter = desk.batcher.meter
    prompts, two = works[0], works[2]
    assert prompts.computed_tok >= 80
    assert prompts.operations > 2 * meter.weights.body_parameters * 80
    assert two.computed_tok == two.delivered_tok == 2 * two.steps
    assert two.passes == two.steps, "a shared cache: the weights are read once"
    assert two.weight_bytes == pytest.approx(two.steps * meter.weights.shared_bytes)
    assert two.draft_bytes == 0
    # Both texts hold 40 to 80 tokens while they are written.
    each = meter.kv.full_bytes_per_tok
    assert 2 * 40 * each * two.steps < two.kv_bytes < 2 * 80 * each * two.steps
    events = desk.all_of(StepsMeasured)
    decoded = sum(work.bytes for work in works.values() if not work.is_prefill)
    assert sum(event.decode_bytes for event in events) == pytest.approx(decoded, abs=len(events))


def test_that_a_draft_model_is_part_of_the_work(
    desk: InProcess, few_words_path: Path, draft_path: Path
) -> None:
    values = {
        "spec_types": ("draft-simple",), "draft_model_path": str(draft_path), "draft_n_max": 3,
    }  # fmt: skip
    desk.load(tiny_config(few_words_path, **values))
    works = {work.streams: work for work in _asked(desk, 1)}
    one = works[1]
    draft = desk.batcher.meter.draft
    assert draft is not None
    assert one.computed_tok > one.steps, "drafts are computed with the token before them"
    assert one.draft_bytes > one.steps * draft[0].per_step_bytes(1, has_output=False)


@pytest.mark.parametrize(("started", "passes"), [((0, 1), 1), ((1, 0), 1), ((0, 2), 2)])
def test_that_slots_beside_each_other_have_the_weights_read_once(
    desk: InProcess, few_words_path: Path, started: tuple[int, ...], passes: int
) -> None:
    """In whichever order they started; an idle slot between two takes a micro-batch more."""
    desk.load(tiny_config(few_words_path, slots=3, kv_unified=False))
    for number in range(3):
        prompt = random_tokens(20, seed=number)
        request_id = desk.ask(prompt, conversation=str(number), max_new_tok=2, ignore_eog=True)
        desk.finished(request_id)
    LIB.llama_perf_context_reset(desk.batcher.context.handle)
    before = len(desk.all_of(StepsMeasured))
    ids = [
        desk.ask(
            random_tokens(20, seed=number),
            conversation=str(number),
            max_new_tok=80,
            ignore_eog=True,
        )
        for number in started
    ]
    for request_id in ids:
        desk.finished(request_id)
    desk.until(lambda: sum(e.decoded_tok for e in desk.all_of(StepsMeasured)[before:]) >= 160)
    works = merged(work for event in desk.all_of(StepsMeasured)[before:] for work in event.work)
    two = next(work for work in works if work.streams == 2)
    assert two.steps > 60
    assert two.passes == passes * two.steps
    weights = desk.batcher.meter.weights.shared_bytes
    assert two.weight_bytes == pytest.approx(two.passes * weights)
    # llama.cpp goes on with the graph of the step before only where all is in one micro-batch.
    reused = LIB.llama_perf_context(desk.batcher.context.handle).n_reused
    assert (reused > 60) == (passes == 1)
