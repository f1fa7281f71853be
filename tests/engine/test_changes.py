"""Changing settings while a model runs: live, by a new context, by a reload; and back."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine_bridge.child import llama, loader
from engine_bridge.protocol import (
    Applied,
    BandwidthMeasured,
    Load,
    LoadProgressed,
    Logged,
    Refused,
    StepsMeasured,
    TokensDelivered,
)
from tests import models
from tests.engine.harness import InProcess, random_tokens, tiny_config

pytestmark = pytest.mark.engine

_EXACT = {"cache_type_k": "f32", "cache_type_v": "f32", "flash_attn": "off"}


def test_that_a_load_reports_what_became_of_it(desk: InProcess, tiny_path: Path) -> None:
    applied = desk.load(tiny_config(tiny_path, slots=3, ctx_per_slot_tok=300))
    effective = applied.effective
    assert (effective.ctx_per_slot_tok, effective.slots, effective.ctx_total_tok) == (512, 3, 1536)
    assert effective.flash_attn == "on"
    assert (effective.threads, effective.outputs_max) == (1, 3)
    assert applied.cost == "reload"
    assert applied.model is not None
    assert applied.model.layers == 2
    memory = applied.memory.bytes
    # 2 layers × 2 heads × 32 values × 2 bytes × K and V, for 1,536 cells.
    assert memory.kv == 2 * 2 * 32 * 2 * 2 * 1536
    assert memory.output == 32_000 * 4 * 3
    assert memory.weights + memory.weights_mapped >= applied.model.tensor_bytes
    fractions = [event.fraction for event in desk.all_of(LoadProgressed)]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0


def test_that_sampling_and_threads_change_live(desk: InProcess, few_words_path: Path) -> None:
    config = tiny_config(few_words_path, ctx_per_slot_tok=1024)
    desk.load(config)
    context = desk.batcher.context
    request_id = desk.ask(random_tokens(8), max_new_tok=200, ignore_eog=True)
    desk.until(lambda: bool(desk.all_of(TokensDelivered, request_id)))
    answer = desk.apply(config.with_values({"temperature": 1.0, "threads": 2}))
    assert isinstance(answer, Applied)
    assert answer.cost == "live"
    assert answer.effective.threads == 2
    assert desk.batcher.context is context
    assert context.threads == (2, 1)
    assert desk.finished(request_id).timing.new_tok == 200


def test_that_a_new_context_keeps_running_answers(desk: InProcess, few_words_path: Path) -> None:
    """The text is computed again in the new context, and the answer goes on."""
    config = tiny_config(few_words_path, slots=2, ctx_per_slot_tok=256, **_EXACT)
    desk.load(config)
    prompt = random_tokens(30)
    whole, _ = desk.answer(prompt, max_new_tok=100, ignore_eog=True)
    request_id = desk.ask(prompt, max_new_tok=100, ignore_eog=True)
    desk.until(lambda: bool(desk.all_of(TokensDelivered, request_id)))
    model = desk.batcher.context.model
    answer = desk.apply(config.with_values({"ctx_per_slot_tok": 1024, "slots": 4}))
    assert isinstance(answer, Applied)
    assert answer.cost == "new context"
    assert answer.model is None
    assert answer.effective.ctx_total_tok == 4096
    assert desk.batcher.context.model is model
    finished = desk.finished(request_id)
    assert (finished.reason, finished.timing.new_tok) == ("token_limit", 100)
    assert desk.text(request_id) == whole


def test_that_answers_without_a_slot_any_more_say_so(desk: InProcess, few_words_path: Path) -> None:
    config = tiny_config(few_words_path, slots=2, ctx_per_slot_tok=512)
    desk.load(config)
    ids = [desk.ask(random_tokens(300, seed=n), ignore_eog=True, max_new_tok=150) for n in range(2)]
    desk.until(lambda: all(desk.all_of(TokensDelivered, request_id) for request_id in ids))
    assert isinstance(desk.apply(config.with_values({"slots": 1})), Applied)
    assert desk.finished(ids[1]).reason == "failed"
    assert "reduced to 1" in desk.finished(ids[1]).detail
    assert isinstance(desk.apply(config.with_values({"ctx_per_slot_tok": 256})), Applied)
    assert desk.finished(ids[0]).reason == "context_full"


def test_that_a_refused_context_leaves_things_as_they_were(
    desk: InProcess, few_words_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tiny_config(few_words_path, **_EXACT)
    desk.load(config)
    whole, _ = desk.answer(random_tokens(8), max_new_tok=20, ignore_eog=True)
    broken = desk.apply(config.with_values({"cache_type_v": "q8_0"}))
    assert isinstance(broken, Refused)
    assert "flash attention" in broken.problem.message
    assert broken.problem.fix == {"flash_attn": "auto"}

    create = llama.Context.create

    def out_of_memory(model: llama.Model, wanted: object, *, quiet: bool = False) -> llama.Context:
        if wanted != config:
            raise llama.LlamaError("failed to allocate buffer for kv cache")
        return create(model, config, quiet=quiet)

    monkeypatch.setattr(llama.Context, "create", out_of_memory)
    refused = desk.apply(config.with_values({"ctx_per_slot_tok": 2048}))
    assert isinstance(refused, Refused)
    assert "failed to allocate buffer for kv cache" in refused.problem.message
    assert desk.batcher.slots[0].cap_tok == 512
    assert desk.answer(random_tokens(8), max_new_tok=20, ignore_eog=True)[0] == whole


def test_that_an_engine_without_any_context_says_so(
    desk: InProcess, few_words_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tiny_config(few_words_path)
    desk.load(config)
    request_id = desk.ask(random_tokens(8), ignore_eog=True, max_new_tok=300)
    desk.until(lambda: bool(desk.all_of(TokensDelivered, request_id)))

    def out_of_memory(*_: object, **__: object) -> llama.Context:
        raise llama.LlamaError("failed to allocate buffer for kv cache")

    with monkeypatch.context() as patch:
        patch.setattr(llama.Context, "create", out_of_memory)
        refused = desk.apply(config.with_values({"ctx_per_slot_tok": 2048}))
    assert isinstance(refused, Refused)
    assert "neither could the old one" in refused.problem.message
    assert desk.finished(request_id).reason == "failed"
    assert "No model" in desk.refused(desk.ask(random_tokens(8))).problem.message
    desk.load(config)
    assert desk.answer(random_tokens(8), max_new_tok=2)[1].timing.new_tok >= 1


def test_that_a_reload_of_the_same_file_is_a_reload(desk: InProcess, few_words_path: Path) -> None:
    config = tiny_config(few_words_path)
    desk.load(config)
    model = desk.batcher.context.model
    answer = desk.apply(config.with_values({"load_mode": "none"}))
    assert isinstance(answer, Applied)
    assert answer.cost == "reload"
    assert desk.batcher.context.model is not model
    assert answer.memory.bytes.weights_mapped == 0


def test_that_answers_go_on_until_another_model_stands(
    desk: InProcess, few_words_path: Path
) -> None:
    path = models.gemma_path()
    desk.load(tiny_config(few_words_path, ctx_per_slot_tok=4096))
    running = desk.ask(random_tokens(8), ignore_eog=True)
    waiting = desk.ask(random_tokens(8), max_new_tok=2)
    desk.until(lambda: bool(desk.all_of(TokensDelivered, running)))
    request_id = desk.number()
    desk.send(Load(request_id, tiny_config(path)))
    desk.until(lambda: len(desk.all_of(LoadProgressed, request_id)) > 2)
    before = len(desk.all_of(TokensDelivered, running))
    assert isinstance(desk.answer_to(request_id), Applied)
    finished = desk.finished(running)
    if finished.reason != "context_full":  # a slow load lets it come to its end
        assert finished.reason == "failed"
        assert "Another model" in finished.detail
        assert len(desk.all_of(TokensDelivered, running)) > before
    assert desk.finished(waiting).timing.new_tok >= 1, "who waits is served by the new model"


def test_that_a_model_that_had_to_make_room_comes_back(
    desk: InProcess, few_words_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.load(tiny_config(few_words_path))
    whole, _ = desk.answer(random_tokens(8), max_new_tok=20, ignore_eog=True)

    def no_room(facts: object, config: object, running: object) -> object:
        return None if running is not None else "not both"

    def broken(*_: object, **__: object) -> llama.Model:
        raise llama.LlamaError("tensor 'blk.0.attn_q.weight' data is not within the file bounds")

    request_id = desk.number()
    with monkeypatch.context() as patch:
        patch.setattr(loader, "memory_problem", no_room)
        patch.setattr(llama.Model, "load", broken)
        desk.send(Load(request_id, tiny_config(few_words_path)))
        answer = desk.answer_to(request_id)
        patch.undo()
        assert isinstance(answer, Refused)
    held = desk.ask(random_tokens(8), max_new_tok=20, ignore_eog=True)
    desk.finished(held)
    assert desk.text(held) == whole
    assert any("loaded again" in event.text for event in desk.all_of(Logged))


def test_that_slots_are_reported_after_a_change(desk: InProcess, few_words_path: Path) -> None:
    config = tiny_config(few_words_path)
    desk.load(config)
    desk.apply(config.with_values({"slots": 3}))
    desk.until(lambda: any(len(e.slots) == 3 for e in desk.all_of(StepsMeasured)))


def test_that_the_peak_is_measured_once_after_the_first_load(few_words_path: Path) -> None:
    desk = InProcess(measure_bandwidth=lambda threads: 1e9 * threads)
    with desk:
        desk.load(tiny_config(few_words_path))
        desk.until(lambda: bool(desk.all_of(BandwidthMeasured)))
        desk.load(tiny_config(few_words_path))
        desk.answer(random_tokens(8), max_new_tok=2)
    (measured,) = desk.all_of(BandwidthMeasured)
    assert (measured.peak_bytes_per_s, measured.threads) == (1e9, 1)
