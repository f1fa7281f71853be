"""Prefix reuse: what it saves, and that the next logits are those of a fresh prompt."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engine_bridge.protocol import Forget
from tests import models
from tests.engine.harness import InProcess, random_tokens, tiny_config

pytestmark = pytest.mark.engine


def test_that_a_second_turn_reuses_the_first(desk: InProcess, few_words_path: Path) -> None:
    desk.load(tiny_config(few_words_path))
    first = random_tokens(100)
    _, finished = desk.answer(first, max_new_tok=10, ignore_eog=True, conversation="a")
    slot = desk.batcher.slots[0]
    second = [*slot.tokens[: slot.cached].tolist(), *random_tokens(20, seed=5)]
    _, finished = desk.answer(second, max_new_tok=1, conversation="a")
    assert finished.timing.reused_tok == 109  # prompt and answer but its last token
    assert finished.timing.prompt_tok == 129


def test_that_reused_tokens_give_the_logits_of_a_fresh_prompt(
    desk: InProcess, few_words_path: Path
) -> None:
    # Steps of 50 tokens, so that both compute the last 50 in one batch of the same shape.
    desk.load(tiny_config(few_words_path, batch_tok=50, ubatch_tok=50, cache_ram_mib=0))
    prompt = random_tokens(200)
    logits = _spy_on_logits(desk)
    desk.answer(prompt, max_new_tok=1)
    desk.answer([*prompt[:150], *random_tokens(30, seed=9)], max_new_tok=1)
    _, again = desk.answer(prompt, max_new_tok=1)
    assert again.timing.reused_tok == 150
    fresh, _, reused = logits
    np.testing.assert_allclose(reused, fresh, atol=1e-5)


def test_that_the_longest_match_gets_the_request(desk: InProcess, few_words_path: Path) -> None:
    desk.load(tiny_config(few_words_path, slots=3))
    texts = {name: random_tokens(60, seed=seed) for seed, name in enumerate("abc")}
    slots = {}
    for name, prompt in texts.items():
        request_id = desk.ask(prompt, max_new_tok=1, conversation=name)
        desk.finished(request_id)
        slots[name] = desk.started(request_id).slot
    assert len(set(slots.values())) == 3, "an empty slot is taken before someone's cache"
    # Conversation d begins as b did: b's cache serves it, though a's slot is older.
    request_id = desk.ask([*texts["b"], 301], max_new_tok=1, conversation="d")
    desk.finished(request_id)
    assert desk.started(request_id).slot == slots["b"]
    assert desk.started(request_id).reused_tok == 60


def test_that_a_match_of_a_few_tokens_takes_nobody_s_cache(
    desk: InProcess, few_words_path: Path
) -> None:
    desk.load(tiny_config(few_words_path, slots=2))
    first = random_tokens(80)
    desk.answer(first, max_new_tok=1, conversation="a")
    request_id = desk.ask([first[0], *random_tokens(80, seed=2)], max_new_tok=1, conversation="b")
    desk.finished(request_id)
    assert desk.started(request_id).slot == 1


def test_that_a_forgotten_conversation_loses_its_slot_first(
    desk: InProcess, few_words_path: Path
) -> None:
    desk.load(tiny_config(few_words_path, slots=2))
    for name in "ab":
        desk.answer(random_tokens(50, seed=ord(name)), max_new_tok=1, conversation=name)
    desk.send(Forget("b"))
    request_id = desk.ask(random_tokens(50, seed=3), max_new_tok=1, conversation="c")
    desk.finished(request_id)
    assert desk.started(request_id).slot == 1


def test_that_a_state_that_cannot_go_back_is_computed_again(
    desk: InProcess, tiny_mamba_path: Path
) -> None:
    """S41: recurrent models read everything again where there is no checkpoint, and say so."""
    desk.load(tiny_config(tiny_mamba_path, ctx_per_slot_tok=1024, ctx_checkpoints=0))
    prompt = random_tokens(120)
    logits = _spy_on_logits(desk)
    desk.answer([*prompt, 310, 311], max_new_tok=4, ignore_eog=True)
    request_id = desk.ask([*prompt, 320], max_new_tok=1)
    desk.finished(request_id)
    started = desk.started(request_id)
    assert started.reused_tok == 0
    assert "state" in started.recompute_reason
    desk.load(tiny_config(tiny_mamba_path, ctx_per_slot_tok=1024))
    fresh = _spy_on_logits(desk)
    desk.answer([*prompt, 320], max_new_tok=1)
    np.testing.assert_allclose(logits[-1], fresh[-1], atol=1e-4)


def test_that_a_state_goes_on_where_nothing_was_taken_back(
    desk: InProcess, tiny_mamba_path: Path
) -> None:
    desk.load(tiny_config(tiny_mamba_path, ctx_per_slot_tok=1024))
    desk.answer(random_tokens(60), max_new_tok=5, ignore_eog=True)
    slot = desk.batcher.slots[0]
    longer = [*slot.tokens[: slot.cached].tolist(), 333]
    request_id = desk.ask(longer, max_new_tok=1)
    desk.finished(request_id)
    assert desk.started(request_id).reused_tok == 64
    assert desk.started(request_id).recompute_reason == ""


@pytest.mark.parametrize(("kept", "reuses"), [(1090, True), (300, False)])
def test_that_reuse_on_a_sliding_window_is_right(desk: InProcess, kept: int, reuses: bool) -> None:
    """Beyond Gemma's window of 512: near the end the window is still there, further back not."""
    path = models.gemma_path()
    # A micro-batch of 64 makes the window's cache 768 cells, so 1,100 tokens overwrite some.
    config = tiny_config(
        path, ctx_per_slot_tok=2048, ubatch_tok=64, batch_tok=512, ctx_checkpoints=0
    )
    desk.load(config)
    words = random_tokens(1100, low=2000, high=3000)
    changed = [*words[:kept], *random_tokens(10, seed=4, low=2000, high=3000)]
    logits = _spy_on_logits(desk)
    desk.answer(words, max_new_tok=1)
    request_id = desk.ask(changed, max_new_tok=1)
    desk.finished(request_id)
    started = desk.started(request_id)
    assert started.reused_tok == (kept if reuses else 0)
    assert ("window" in started.recompute_reason) is not reuses
    desk.load(config)
    fresh = _spy_on_logits(desk)
    desk.answer(changed, max_new_tok=1)
    # Other batch shapes round differently; a window with holes gives a divergence of 0.7.
    assert _divergence(fresh[-1], logits[-1]) < 0.01


def _spy_on_logits(desk: InProcess) -> list[NDArray[np.float32]]:
    """A copy of the first output row of every step from now on that has one."""
    rows: list[NDArray[np.float32]] = []
    context = desk.batcher.context
    read = context.logits

    def spying() -> NDArray[np.float32]:
        view = read()
        rows.append(view[0].copy())
        return view

    context.logits = spying  # type: ignore[method-assign]
    return rows


def _divergence(right: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    """Kullback-Leibler divergence of the distributions behind two rows of logits."""
    log_right, log_other = (row - np.logaddexp.reduce(row.astype(float)) for row in (right, other))
    return float(np.sum(np.exp(log_right) * (log_right - log_other)))
