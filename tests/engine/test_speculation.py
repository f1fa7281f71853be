"""Drafts: same text, fewer steps, honest counts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from engine_bridge.child.scheduler import Share
from engine_bridge.child.speculation.drafter import Wanted
from engine_bridge.protocol import TokensDelivered
from tests.engine.harness import InProcess, random_tokens, tiny_config

pytestmark = pytest.mark.engine

_DRAFTS = {"spec_types": ["ngram-simple"], "ngram_size_n": 2, "ngram_size_m": 8}


@pytest.mark.parametrize("slots", [1, 4])
def test_that_drafts_change_no_text(desk: InProcess, few_words_path: Path, slots: int) -> None:
    # An f32 cache and no flash attention: batch shapes must not decide between two tokens.
    exact = {"cache_type_k": "f32", "cache_type_v": "f32", "flash_attn": "off", "slots": slots}
    prompts = [random_tokens(30, seed=seed, high=310) for seed in range(slots)]

    def texts(**values: object) -> list[str]:
        desk.load(tiny_config(few_words_path, ctx_per_slot_tok=1024, **exact, **values))
        ids = [desk.ask(prompt, max_new_tok=300, ignore_eog=True) for prompt in prompts]
        timings = [desk.finished(request_id).timing for request_id in ids]
        if values:
            assert sum(timing.accepted_tok for timing in timings) > 20
        return [desk.text(request_id) for request_id in ids]

    assert texts(**_DRAFTS) == texts()


def test_that_drafts_are_counted_by_position(desk: InProcess, few_words_path: Path) -> None:
    desk.load(tiny_config(few_words_path, ctx_per_slot_tok=1024, **_DRAFTS))
    request_id = desk.ask(random_tokens(30, high=310), max_new_tok=300, ignore_eog=True)
    timing = desk.finished(request_id).timing
    steps = [tok for e in desk.all_of(TokensDelivered, request_id) for tok in e.step_tok]
    assert timing.drafted_tok == sum(timing.drafted_at) > 0
    assert timing.accepted_tok == sum(timing.accepted_at) > 0
    assert timing.accepted_tok == sum(steps) - len(steps)
    assert len(timing.drafted_at) == len(timing.accepted_at) <= 8
    assert list(timing.accepted_at) == sorted(timing.accepted_at, reverse=True)
    assert all(a <= d for a, d in zip(timing.accepted_at, timing.drafted_at, strict=True))
    assert len(steps) < 300


def test_that_rejected_drafts_leave_no_cells(desk: InProcess, few_words_path: Path) -> None:
    desk.load(tiny_config(few_words_path, ctx_per_slot_tok=1024, **_DRAFTS))
    request_id = desk.ask(random_tokens(30, high=310), max_new_tok=100, ignore_eog=True)
    context = desk.batcher.context
    slot = desk.batcher.slots[0]
    while not desk.loop.is_busy():
        desk.loop.turn()
    while desk.loop.is_busy():
        assert context.seq_pos_max(slot.index) == slot.cached - 1
        desk.loop.turn()
    assert (
        desk.finished(request_id).timing.drafted_tok > desk.finished(request_id).timing.accepted_tok
    )


def test_that_drafts_stop_before_the_slot_is_full(desk: InProcess, few_words_path: Path) -> None:
    desk.load(tiny_config(few_words_path, ctx_per_slot_tok=256, **_DRAFTS))
    _, finished = desk.answer(random_tokens(30, high=310), max_new_tok=400, ignore_eog=True)
    assert finished.reason == "context_full"
    assert finished.timing.new_tok == 226


def test_that_drafts_never_ask_for_more_rows_than_there_are(
    desk: InProcess, few_words_path: Path
) -> None:
    """More rows than the context was built for abort the process."""
    desk.load(tiny_config(few_words_path, slots=4, batch_tok=12, ubatch_tok=12, **_DRAFTS))
    rows: list[int] = []
    batcher = desk.batcher
    fill = batcher._filling.fill

    def spying(shares: Sequence[Share]) -> tuple[int, int]:
        filled = fill(shares)
        rows.append(filled[1])
        return filled

    batcher._filling.fill = spying  # type: ignore[method-assign]
    ids = [
        desk.ask(random_tokens(30, seed=seed, high=310), max_new_tok=100, ignore_eog=True)
        for seed in range(4)
    ]
    timings = [desk.finished(request_id).timing for request_id in ids]
    assert max(rows) <= batcher.context.outputs_max == 12
    assert sum(timing.drafted_tok for timing in timings) > 0


def test_that_drawing_goes_on_behind_drafts(desk: InProcess, few_words_path: Path) -> None:
    """With a sampler chain the draws are the same with and without drafts."""
    drawing = {"temperature": 0.5, "seed": 3, "top_k": 3, "flash_attn": "off"}
    exact = {"cache_type_k": "f32", "cache_type_v": "f32", "ctx_per_slot_tok": 1024}
    prompt = random_tokens(30, high=310)
    desk.load(tiny_config(few_words_path, **drawing, **exact))
    plain, _ = desk.answer(prompt, max_new_tok=200, ignore_eog=True)
    desk.load(tiny_config(few_words_path, **drawing, **exact, **_DRAFTS))
    drafted, finished = desk.answer(prompt, max_new_tok=200, ignore_eog=True)
    assert finished.timing.accepted_tok > 0
    assert drafted == plain


def test_that_lengths_of_drafts_change_live(desk: InProcess, few_words_path: Path) -> None:
    config = tiny_config(few_words_path, ctx_per_slot_tok=1024, **_DRAFTS)
    desk.load(config)
    answer = desk.apply(config.with_values({"ngram_size_n": 5}))
    assert answer.cost == "live"  # type: ignore[union-attr]
    drafter = desk.batcher._drafting.drafters["ngram-simple"]
    history = np.array([*range(20), *range(20), *range(5)], np.int32)
    assert drafter.draft([Wanted(0, history, 8)])[0].tolist() == list(range(5, 13))
