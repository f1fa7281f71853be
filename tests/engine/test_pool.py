"""The shared pool: what happens when it runs out."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine_bridge.child.batcher import Batcher
from engine_bridge.protocol import TokensDelivered
from tests.engine.harness import InProcess, random_tokens, tiny_config

pytestmark = pytest.mark.engine


def test_that_a_full_pool_ends_single_answers_and_lets_others_finish(
    desk: InProcess, tiny_path: Path
) -> None:
    """S13: 4 slots, a pool of 512, four prompts of 150 with 200 tokens to generate each."""
    desk.load(
        tiny_config(tiny_path, slots=4, kv_unified=True, ctx_per_slot_tok=512, ctx_total_tok=512)
    )
    prompts = [random_tokens(150, seed=seed) for seed in range(4)]
    ids = [desk.ask(prompt, max_new_tok=200, ignore_eog=True) for prompt in prompts]
    finished = [desk.finished(request_id) for request_id in ids]
    cut = [event for event in finished if event.reason == "pool_full"]
    whole = [event for event in finished if event.reason == "token_limit"]
    assert len(cut) + len(whole) == 4
    assert whole
    assert finished[0] in whole, "who came first is served"
    assert all("512" in event.detail and "pool" in event.detail for event in cut)
    assert all(event.timing.new_tok == 200 for event in whole)
    # What lost its place can be repeated.
    again, retried = desk.answer(prompts[3], max_new_tok=200, ignore_eog=True)
    assert retried.reason == "token_limit"
    assert again


def test_that_idle_caches_make_way_before_anyone_is_cut(
    desk: InProcess, few_words_path: Path
) -> None:
    desk.load(
        tiny_config(
            few_words_path, slots=2, kv_unified=True, ctx_per_slot_tok=512, ctx_total_tok=512
        )
    )
    desk.answer(random_tokens(300), max_new_tok=1, conversation="a")
    _, finished = desk.answer(
        random_tokens(300, seed=1), max_new_tok=100, ignore_eog=True, conversation="b"
    )
    assert finished.reason == "token_limit"
    assert [slot.cached for slot in desk.batcher.slots] == [0, 399]


def test_that_a_prompt_waits_for_room_while_others_speak(
    desk: InProcess, few_words_path: Path
) -> None:
    desk.load(
        tiny_config(
            few_words_path, slots=2, kv_unified=True, ctx_per_slot_tok=512, ctx_total_tok=512
        )
    )
    first = desk.ask(random_tokens(300), max_new_tok=100, ignore_eog=True)
    desk.until(lambda: bool(desk.all_of(TokensDelivered, first)))
    second = desk.ask(random_tokens(300, seed=1), max_new_tok=5, ignore_eog=True)
    assert desk.finished(first).reason == "token_limit"
    assert desk.finished(second).reason == "token_limit"


def test_that_a_cap_below_the_pool_holds(desk: InProcess, few_words_path: Path) -> None:
    desk.load(
        tiny_config(
            few_words_path, slots=2, kv_unified=True, ctx_per_slot_tok=300, ctx_total_tok=1024
        )
    )
    _, finished = desk.answer(random_tokens(50), ignore_eog=True)
    assert finished.reason == "context_full"
    assert finished.used_tok == 299


def test_that_no_room_by_llama_cpp_s_own_count_is_survived(
    desk: InProcess, few_words_path: Path
) -> None:
    """If the cache finds no cells where the books say there are some, one answer ends."""
    desk.load(tiny_config(few_words_path, slots=2, kv_unified=True))
    batcher: Batcher = desk.batcher
    first = desk.ask(random_tokens(20), max_new_tok=50, ignore_eog=True)
    second = desk.ask(random_tokens(20, seed=1), max_new_tok=50, ignore_eog=True)
    desk.until(lambda: len(batcher.streams) == 2 and batcher.streams[1].is_generating)
    context = batcher.context
    decode = context.decode
    context.decode = lambda batch, count: 1  # type: ignore[method-assign]
    desk.loop.turn()
    context.decode = decode  # type: ignore[method-assign]
    assert desk.finished(second).reason == "pool_full"
    assert desk.finished(first).reason == "token_limit"
    assert desk.finished(first).timing.new_tok == 50


def test_that_a_step_that_cannot_be_computed_ends_its_answers_and_no_more(
    desk: InProcess, few_words_path: Path
) -> None:
    desk.load(tiny_config(few_words_path))
    prompt = random_tokens(20)
    whole, _ = desk.answer(prompt, max_new_tok=20, ignore_eog=True)
    request_id = desk.ask(prompt, max_new_tok=20, ignore_eog=True)
    desk.until(lambda: bool(desk.batcher.streams))
    context = desk.batcher.context
    decode = context.decode
    context.decode = lambda batch, count: -3  # type: ignore[method-assign]
    finished = desk.finished(request_id)
    context.decode = decode  # type: ignore[method-assign]
    assert finished.reason == "failed"
    assert "could not compute" in finished.detail
    assert desk.answer(prompt, max_new_tok=20, ignore_eog=True)[0] == whole
