"""A small model that drafts for a large one: never another text, never a cell too much."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine_bridge.child.planner import Planner
from engine_bridge.child.speculation.confidence import confidence
from engine_bridge.child.speculation.draft_simple import DraftSimple
from engine_bridge.protocol import (
    Cancel,
    Logged,
    TokensDelivered,
)
from tests import models
from tests.engine.drafts import drafter_of, drafting, prompts
from tests.engine.harness import InProcess, random_tokens, tiny_config
from tests.tiny_model import TinyLlama, write_tiny_llama

pytestmark = pytest.mark.engine


@pytest.mark.parametrize("slots", [1, 4])
@pytest.mark.parametrize("kv_unified", [False, True])
def test_that_a_draft_model_changes_no_text(
    desk: InProcess, few_words_path: Path, draft_path: Path, slots: int, kv_unified: bool
) -> None:
    def texts(**values: object) -> tuple[list[str], int, int]:
        config = drafting(few_words_path, draft_path, slots=slots, kv_unified=kv_unified)
        desk.load(config.with_values(values))
        ids = [desk.ask(prompt, max_new_tok=200, ignore_eog=True) for prompt in prompts(slots)]
        timings = [desk.finished(request_id).timing for request_id in ids]
        drafted = sum(timing.drafted_tok for timing in timings)
        accepted = sum(timing.accepted_tok for timing in timings)
        return [desk.text(request_id) for request_id in ids], drafted, accepted

    plain, nothing, _ = texts(spec_types=())
    drafted_texts, drafted, accepted = texts()
    assert nothing == 0
    assert drafted_texts == plain
    assert 0 < accepted < drafted


def test_that_a_model_that_drafts_for_itself_is_always_right(
    desk: InProcess, few_words_path: Path
) -> None:
    desk.load(drafting(few_words_path, few_words_path, draft_n_max=5))
    _, finished = desk.answer(prompts(1)[0], max_new_tok=121, ignore_eog=True)
    timing = finished.timing
    assert timing.accepted_tok == timing.drafted_tok
    # One token of the prompt, then six a step.
    assert timing.new_tok == 121
    assert timing.drafted_at == (20,) * 5


def test_that_drawing_goes_on_behind_a_draft_model(desk: InProcess, few_words_path: Path) -> None:
    drawing = {"temperature": 0.5, "seed": 3, "top_k": 3}
    config = drafting(few_words_path, few_words_path, **drawing)
    desk.load(config.with_values({"spec_types": ()}))
    plain, _ = desk.answer(prompts(1)[0], max_new_tok=150, ignore_eog=True)
    desk.load(config)
    drafted, finished = desk.answer(prompts(1)[0], max_new_tok=150, ignore_eog=True)
    assert 0 < finished.timing.accepted_tok < finished.timing.drafted_tok
    assert drafted == plain


def test_that_copies_go_before_the_draft_model(
    desk: InProcess, few_words_path: Path, draft_path: Path
) -> None:
    config = drafting(few_words_path, draft_path, ngram_size_n=2, ngram_size_m=8)
    desk.load(config.with_values({"spec_types": ()}))
    plain, _ = desk.answer(prompts(1)[0], max_new_tok=300, ignore_eog=True)
    both = config.with_values({"spec_types": ("draft-simple", "ngram-simple")})
    desk.load(both)
    assert list(desk.batcher._drafting.drafters) == ["ngram-simple", "draft-simple"]
    text, finished = desk.answer(prompts(1)[0], max_new_tok=300, ignore_eog=True)
    assert text == plain
    # Copies are longer than the draft model's drafts.
    assert len(finished.timing.drafted_at) > config.draft_n_max


# --- The cache of the draft model ------------------------------------------------------------


def test_that_the_draft_s_cache_stays_in_step(
    desk: InProcess, few_words_path: Path, draft_path: Path
) -> None:
    """Rejected tokens leave its cache, and of a text that goes on nothing is computed twice."""
    desk.load(drafting(few_words_path, draft_path, slots=2))
    drafter = drafter_of(desk)
    context, computed = drafter._context, list[int]()
    decode = context.decode

    def counting(batch: Any, count: int) -> int:
        computed.append(count)
        return decode(batch, count)

    context.decode = counting  # type: ignore[method-assign]
    prompt = prompts(1)[0]
    request_id = desk.ask(prompt, max_new_tok=60, ignore_eog=True, conversation="one")
    desk.until(desk.loop.is_busy)
    while desk.loop.is_busy():
        desk.loop.turn()
        for slot in drafter.slots:
            assert context.seq_pos_max(slot.index) == slot.cached - 1
    timing = desk.finished(request_id).timing
    assert timing.accepted_tok < timing.drafted_tok
    assert max(computed) == len(prompt) + 1
    # Each step computes the new tokens, two at most, and all its drafts but the last.
    assert sum(computed) <= len(prompt) + 1 + 2 * len(computed)
    del computed[:]
    slot = desk.batcher.slots[0]
    longer = [*slot.tokens[: slot.cached].tolist(), *random_tokens(5, seed=9, high=310)]
    desk.answer(longer, max_new_tok=10, ignore_eog=True, conversation="one")
    assert max(computed) <= 5 + 4  # the new prompt and what the last step left over


def test_that_several_slots_are_drafted_for_in_one_batch(
    desk: InProcess, few_words_path: Path
) -> None:
    desk.load(drafting(few_words_path, few_words_path, slots=4, draft_n_max=4))
    drafter = drafter_of(desk)
    drafter.steps.pace.chunk_tok = lambda **_: 200  # type: ignore[method-assign]
    widths = list[int]()
    decode = drafter._decode

    def counting(parts: Any) -> int:
        widths.append(len(parts))
        return decode(parts)

    drafter._decode = counting  # type: ignore[method-assign]
    ids = [desk.ask(prompt, max_new_tok=51, ignore_eog=True) for prompt in prompts(4)]
    timings = [desk.finished(request_id).timing for request_id in ids]
    assert [timing.accepted_tok for timing in timings] == [40] * 4
    # Ten drafts of four tokens for each of four texts: four batches a draft, not sixteen.
    assert widths.count(4) >= 36


def _reads(drafter: DraftSimple) -> list[tuple[int, int]]:
    """Depth and tokens of every piece of a prompt that ``drafter`` reads from now on."""
    pieces = list[tuple[int, int]]()
    on_step = drafter.steps.on_step

    def noting(took_ns: int, shape: Any, prompt_tok: int) -> None:
        if prompt_tok:
            pieces.append((shape.depths[-1], prompt_tok))
        on_step(took_ns, shape, prompt_tok)

    drafter.steps.on_step = noting
    return pieces


def test_that_a_text_alone_waits_for_the_draft_model(desk: InProcess, few_words_path: Path) -> None:
    """As many tokens are drafted as llama-server drafts, which reads a prompt with both models."""
    desk.load(drafting(few_words_path, few_words_path))
    drafter = drafter_of(desk)
    drafter.steps.pace.chunk_tok = lambda **_: 100  # type: ignore[method-assign]
    pieces = _reads(drafter)
    prompt = prompts(1, tokens=450)[0]
    request_id = desk.ask(prompt, max_new_tok=61, ignore_eog=True)
    turns = 0
    while not pieces or len(pieces) < 5:
        desk.loop.turn()
        turns += bool(pieces)
        assert len(pieces) == turns  # whoever comes meanwhile is heard after each piece
    timing = desk.finished(request_id).timing
    assert pieces == [(0, 100), (100, 100), (200, 100), (300, 100), (400, 51)]
    # One token with the prompt, then four a step.
    steps = [tok for event in desk.all_of(TokensDelivered) for tok in event.step_tok]
    assert steps == [1] + [4] * 15
    assert timing.drafted_tok == timing.accepted_tok == 45


def test_that_texts_that_came_together_wait_together(desk: InProcess, few_words_path: Path) -> None:
    desk.load(drafting(few_words_path, few_words_path, slots=2))
    drafter = drafter_of(desk)
    drafter.steps.pace.chunk_tok = lambda **_: 100  # type: ignore[method-assign]
    ids = [desk.ask(p, max_new_tok=41, ignore_eog=True) for p in prompts(2, tokens=230)]
    for request_id in ids:
        timing = desk.finished(request_id).timing
        assert timing.drafted_tok == timing.accepted_tok == 30


def test_that_a_cancel_ends_the_wait_for_the_draft_model(
    desk: InProcess, few_words_path: Path
) -> None:
    desk.load(drafting(few_words_path, few_words_path))
    drafter = drafter_of(desk)
    drafter.steps.pace.chunk_tok = lambda **_: 100  # type: ignore[method-assign]
    pieces = _reads(drafter)
    request_id = desk.ask(prompts(1, tokens=450)[0], max_new_tok=60, ignore_eog=True)
    desk.until(lambda: len(pieces) == 2)
    desk.send(Cancel(request_id))
    assert desk.finished(request_id).reason == "cancelled"
    assert len(pieces) == 2
    _, finished = desk.answer(prompts(2)[1], max_new_tok=21, ignore_eog=True)
    assert finished.timing.drafted_tok == 15


def test_that_a_long_prompt_is_read_in_pieces_beside_an_answer(
    desk: InProcess, few_words_path: Path
) -> None:
    """Nobody who is in step waits for the draft model to read another's prompt."""
    desk.load(drafting(few_words_path, few_words_path, slots=2))
    drafter = drafter_of(desk)
    first = desk.ask(prompts(1)[0], max_new_tok=400, ignore_eog=True)
    desk.until(lambda: bool(drafter.slots[0].cached))
    drafter.steps.pace.chunk_tok = lambda **_: 100  # type: ignore[method-assign]
    pieces = _reads(drafter)
    second = desk.ask(prompts(2, tokens=450)[1], max_new_tok=60, ignore_eog=True)
    timing = desk.finished(second).timing
    assert len(pieces) >= 5
    assert max(tokens for _, tokens in pieces) <= 100
    assert timing.drafted_tok == timing.accepted_tok > 0
    # One token of the prompt's end and one in each step that only read.
    steps = [tok for event in desk.all_of(TokensDelivered, second) for tok in event.step_tok]
    assert steps[: len(pieces)] == [1] * len(pieces)
    assert steps[len(pieces)] > 1
    timing = desk.finished(first).timing
    assert timing.drafted_tok == timing.accepted_tok


def test_that_a_full_pool_of_the_draft_gives_up_idle_texts(
    desk: InProcess, few_words_path: Path, draft_path: Path
) -> None:
    """The target drops texts that nobody reads; the draft model's pool has no room for them."""
    config = drafting(
        few_words_path, draft_path, slots=4, kv_unified=True, ctx_total_tok=512,
        ctx_per_slot_tok=512,
    )  # fmt: skip
    desk.load(config.with_values({"spec_types": ()}))
    plain = [desk.answer(p, max_new_tok=60, ignore_eog=True)[0] for p in prompts(6, tokens=200)]
    desk.load(config)
    for prompt, text in zip(prompts(6, tokens=200), plain, strict=True):
        answer, finished = desk.answer(prompt, max_new_tok=60, ignore_eog=True)
        assert answer == text
        assert finished.timing.drafted_tok > 0
    assert not desk.all_of(Logged)


@pytest.mark.parametrize("vocab_tok", [460, 600])
def test_that_a_draft_with_a_few_tokens_more_or_less_does_no_harm(
    desk: InProcess, few_words_path: Path, tmp_path: Path, vocab_tok: int
) -> None:
    """A token the other model does not know makes llama.cpp refuse a whole batch."""
    shape = TinyLlama(vocab_tok=vocab_tok, layers=1)
    draft = write_tiny_llama(tmp_path / "other-size.gguf", shape)
    config = drafting(few_words_path, draft, slots=3)
    desk.load(config.with_values({"spec_types": ()}))
    foreign = [*random_tokens(20, low=470, high=510), *random_tokens(10, high=310)]
    asked = [*prompts(2), foreign]
    plain = [desk.answer(prompt, max_new_tok=80, ignore_eog=True)[0] for prompt in asked]
    desk.load(config)
    ids = [desk.ask(prompt, max_new_tok=80, ignore_eog=True) for prompt in asked]
    timings = [desk.finished(request_id).timing for request_id in ids]
    assert [desk.text(request_id) for request_id in ids] == plain
    assert not desk.all_of(Logged)
    assert sum(timing.drafted_tok for timing in timings) > 0
    assert (timings[2].drafted_tok == 0) == (vocab_tok == 460)


def test_that_a_fault_of_the_draft_model_spares_the_answer(
    desk: InProcess, few_words_path: Path
) -> None:
    config = drafting(few_words_path, few_words_path)
    desk.load(config.with_values({"spec_types": ()}))
    plain, _ = desk.answer(prompts(1)[0], max_new_tok=40, ignore_eog=True)
    desk.load(config)
    context = drafter_of(desk)._context
    decode, codes = context.decode, [0, 0, -3, 0, -3, 1, 1]

    def failing(batch: Any, count: int) -> int:
        return (codes.pop(0) if codes else 0) or decode(batch, count)

    context.decode = failing  # type: ignore[method-assign]
    text, finished = desk.answer(prompts(1)[0], max_new_tok=40, ignore_eog=True)
    assert text == plain
    assert finished.timing.accepted_tok > 0
    (said,) = desk.all_of(Logged)
    assert "could not compute a draft (code -3)" in said.text


# --- Ends --------------------------------------------------------------------------------------


def test_that_a_cancel_ends_a_draft_under_way(desk: InProcess, few_words_path: Path) -> None:
    desk.load(drafting(few_words_path, few_words_path, slots=2))
    whole, _ = desk.answer(prompts(2)[1], max_new_tok=60, ignore_eog=True)
    drafter = drafter_of(desk)
    drafter.steps.pace.expected_s = lambda prompt_tok: 60.0  # type: ignore[method-assign]
    context = drafter._context
    decode, codes = context.decode, list[int]()
    target_steps = list[int]()
    target = desk.batcher.context
    target_decode = target.decode

    def cancelled_inside(batch: Any, count: int) -> int:
        if not codes:
            desk.send(Cancel(request_id))  # what the window does while llama.cpp computes
        codes.append(decode(batch, count))
        return codes[-1]

    def counting(batch: Any, count: int) -> int:
        target_steps.append(len(codes))
        return target_decode(batch, count)

    request_id = desk.ask(prompts(1)[0], max_new_tok=200, ignore_eog=True)
    other = desk.ask(prompts(2)[1], max_new_tok=60, ignore_eog=True)
    desk.until(lambda: bool(desk.all_of(TokensDelivered, other)))
    context.decode = cancelled_inside  # type: ignore[method-assign]
    target.decode = counting  # type: ignore[method-assign]
    while not codes:
        desk.loop.turn()
    # llama.cpp gave up, and nothing else was computed in that step.
    assert codes == [2]
    assert target_steps == []
    assert desk.finished(request_id).reason == "cancelled"
    assert desk.finished(other).reason == "token_limit"
    assert desk.text(other) == whole
    assert set(codes[1:]) == {0}


def test_that_drafts_stop_before_the_slot_is_full(desk: InProcess, few_words_path: Path) -> None:
    desk.load(drafting(few_words_path, few_words_path, ctx_per_slot_tok=256, draft_n_max=16))
    _, finished = desk.answer(prompts(1)[0], max_new_tok=400, ignore_eog=True)
    assert finished.reason == "context_full"
    assert finished.timing.new_tok == 226


def test_that_the_last_token_of_a_limit_is_not_drafted(
    desk: InProcess, few_words_path: Path
) -> None:
    desk.load(drafting(few_words_path, few_words_path, draft_n_max=16))
    _, finished = desk.answer(prompts(1)[0], max_new_tok=10, ignore_eog=True)
    timing = finished.timing
    assert (timing.new_tok, timing.drafted_tok, timing.accepted_tok) == (10, 8, 8)


def test_that_confidence_is_the_share_among_ten() -> None:
    logits = np.zeros((2, 100), np.float32)
    logits[0, 7] = np.log(9.0)  # nine against nine times one
    logits[1, 3] = 1000.0
    assert confidence(logits) == pytest.approx([0.5, 1.0])


def test_that_a_windowed_model_drafts_beyond_its_window(desk: InProcess) -> None:
    """Its cache forgets what lies behind the window; what is rolled back stays in front of it."""
    gemma = models.gemma_path()
    config = tiny_config(
        gemma, spec_types=["draft-simple"], draft_model_path=str(gemma), ctx_per_slot_tok=1024,
        draft_n_max=4,
    )  # fmt: skip
    planner = Planner()
    try:
        planned = planner.plan(config).bytes
    finally:
        planner.close()
    assert desk.load(config).memory.bytes == planned
    drafter = drafter_of(desk)
    drafter.steps.pace.chunk_tok = lambda **_: 256  # type: ignore[method-assign]
    prompt = random_tokens(600, low=2000, high=3000)
    _, finished = desk.answer(prompt, max_new_tok=24, ignore_eog=True)
    assert finished.timing.accepted_tok > 8
    (slot,) = drafter.slots
    assert drafter._context.seq_pos_max(0) == slot.cached - 1 > 600
