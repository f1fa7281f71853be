"""A full slot or pool ends one answer, with its figures, and no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.harness import InProcess, random_tokens, tiny_config

pytestmark = pytest.mark.engine

# Batches and cells change nothing of sums without flash attention, so texts can be compared.
_EXACT: dict[str, object] = {"cache_type_k": "f32", "cache_type_v": "f32", "flash_attn": "off"}


@pytest.mark.parametrize("is_unified", [False, True])
def test_that_a_full_slot_ends_its_own_answer_alone(
    desk: InProcess, few_words_path: Path, is_unified: bool
) -> None:
    values = _EXACT | {"slots": 3, "ctx_per_slot_tok": 256, "kv_unified": is_unified}
    desk.load(tiny_config(few_words_path, **values))
    prompts = [[1, *random_tokens(length, seed=length)] for length in (180, 20, 30)]
    ids = [desk.ask(prompt, max_new_tok=200, ignore_eog=True) for prompt in prompts]
    full, *others = [desk.finished(request_id) for request_id in ids]
    assert full.reason == "context_full"
    assert "256" in full.detail
    assert full.timing.new_tok == 256 - 181
    assert full.timing.tpot_s is not None
    assert full.used_tok == 255
    assert [event.reason for event in others] == ["token_limit"] * 2
    assert [event.timing.new_tok for event in others] == [200, 200]
    for request_id, prompt in zip(ids[1:], prompts[1:], strict=True):
        alone, _ = desk.answer(prompt, max_new_tok=200, ignore_eog=True)
        assert desk.text(request_id) == alone
    # Its slot is usable again.
    _, again = desk.answer(prompts[0], max_new_tok=10, ignore_eog=True)
    assert again.reason == "token_limit"


@pytest.mark.parametrize("context_shift", [False, True])
def test_that_a_full_pool_ends_the_answer_that_started_last(
    desk: InProcess, few_words_path: Path, context_shift: bool
) -> None:
    """The pool is full before any slot is, so a context shift changes nothing of it."""
    values = _EXACT | {
        "slots": 3,
        "ctx_per_slot_tok": 512,
        "kv_unified": True,
        "ctx_total_tok": 512,
        "context_shift": context_shift,
    }
    desk.load(tiny_config(few_words_path, **values))
    prompts = [[1, *random_tokens(60, seed=seed)] for seed in range(3)]
    ids = [desk.ask(prompt, max_new_tok=150, ignore_eog=True) for prompt in prompts]
    first, second, last = [desk.finished(request_id) for request_id in ids]
    assert last.reason == "pool_full"
    assert "512" in last.detail
    assert 0 < last.timing.new_tok < 150
    assert last.timing.tpot_s is not None
    assert [first.reason, second.reason] == ["token_limit"] * 2
    assert [first.timing.new_tok, second.timing.new_tok] == [150, 150]
    for request_id, prompt in zip(ids[:2], prompts[:2], strict=True):
        alone, _ = desk.answer(prompt, max_new_tok=150, ignore_eog=True)
        assert desk.text(request_id) == alone
