"""Context shift: what a full slot drops, what the answer says then, and who is not concerned."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine_bridge.child.batch import Batch
from engine_bridge.child.context_shift import Shift, can_shift, shift_of
from engine_bridge.child.llama import LIB, Context, Model
from engine_bridge.child.speculation.draft_simple import DraftSimple
from engine_bridge.gguf_file import read_model
from engine_bridge.model_facts import ModelFacts
from engine_bridge.protocol import Applied, ContextShifted
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.rules import problems_of
from tests import models
from tests.engine.harness import InProcess, random_tokens, tiny_config
from tests.tiny_lora import write_tiny_lora

pytestmark = pytest.mark.engine

# After a shift new tokens take the cells that are free, wherever they are. Flash attention sums in
# the order of the cells, which then decides between tokens that are nearly as likely.
_EXACT: dict[str, object] = {"cache_type_k": "f32", "cache_type_v": "f32", "flash_attn": "off"}


@pytest.fixture(scope="module")
def gemma_dry() -> Iterator[tuple[Model, ModelFacts]]:
    """A model with a sliding window, nothing allocated."""
    path = str(models.gemma_path())
    model = Model.load(path, EngineConfig(model_path=path, load_mode="none"), no_alloc=True)
    yield model, read_model(path).facts
    model.close()


@pytest.mark.parametrize(
    ("keep_tok", "prompt_tok", "adds_bos", "expected"),
    [
        (0, 10, False, Shift(0, 127)),
        (0, 10, True, Shift(1, 127)),
        (10, 50, True, Shift(11, 122)),
        (-1, 50, True, Shift(51, 102)),
        (-1, 254, True, Shift(252, 1)),
        (5000, 254, False, Shift(252, 1)),
    ],
)
def test_that_as_much_is_dropped_as_llama_server_drops(
    keep_tok: int, prompt_tok: int, adds_bos: bool, expected: Shift
) -> None:
    """Its numbers for a slot of 256: n_left = 255 - n_keep, n_discard = n_left / 2."""
    assert shift_of(255, 256, keep_tok, prompt_tok, adds_bos=adds_bos) == expected


def _reference(path: Path, config: EngineConfig, prompt: list[int], count: int) -> list[int]:
    """The likeliest tokens by raw calls: one text, llama-server's shift where it does it."""
    model = Model.load(str(path), config)
    context = Context.create(model, config)
    try:
        memory = LIB.llama_get_memory(context.handle)
        cap = context.ctx_seq_tok
        said: list[int] = []
        pending, at = list(prompt), 0
        batch = context.new_batch(len(prompt))
        while len(said) < count:
            if at + 1 >= cap:
                keep = min(cap - 4, (len(prompt) if config.keep_tok < 0 else config.keep_tok) + 1)
                gone = (at - keep) // 2
                LIB.llama_memory_seq_rm(memory, 0, keep, keep + gone)
                LIB.llama_memory_seq_add(memory, 0, keep + gone, at, -gone)
                at -= gone
            batch.token[: len(pending)] = pending
            batch.pos[: len(pending)] = range(at, at + len(pending))
            batch.wants_logits[: len(pending)] = 0
            batch.wants_logits[len(pending) - 1] = 1
            assert context.decode(batch, len(pending)) == 0
            at += len(pending)
            row = context.logits()[0].copy()
            row[list(model.eog)] = float("-inf")
            pending = [int(row.argmax())]
            said += pending
        return said
    finally:
        context.close()
        model.close()


def _words_of(desk: InProcess, tokens: list[int]) -> str:
    model = desk.batcher.context.model
    return b"".join(model.piece(token) for token in tokens).decode(errors="replace")


@pytest.mark.parametrize("keep_tok", [0, 20, -1])
def test_that_a_shifted_answer_is_what_the_calls_alone_would_say(
    desk: InProcess, few_words_path: Path, keep_tok: int
) -> None:
    """With llama-server of this commit the same texts were equal, and its log told these shifts."""
    config = tiny_config(
        few_words_path,
        ctx_per_slot_tok=256,
        context_shift=True,
        keep_tok=keep_tok,
        cache_type_k="f32",
        cache_type_v="f32",
    )
    desk.load(config)
    prompt = [1, *random_tokens(60)]
    text, finished = desk.answer(prompt, ignore_eog=True, max_new_tok=700)
    assert text == _words_of(desk, _reference(few_words_path, config, prompt, 700))
    assert (finished.reason, finished.timing.new_tok) == ("token_limit", 700)
    shifts = desk.all_of(ContextShifted)
    assert len(shifts) >= 4
    expected = {0: (1, 127), 20: (21, 117), -1: (62, 96)}[keep_tok]
    assert {(event.kept_tok, event.dropped_tok) for event in shifts} == {expected}
    assert {event.used_tok for event in shifts} == {255 - expected[1]}
    assert finished.timing.dropped_tok == len(shifts) * expected[1]
    assert finished.used_tok == 61 + 700 - 1 - finished.timing.dropped_tok


@pytest.mark.parametrize(
    "kinds",
    [("ngram-simple",), ("ngram-map-k",), ("ngram-map-k4v",), ("draft-simple",)],
)
def test_that_drafts_change_nothing_of_a_shifted_answer(
    desk: InProcess, few_words_path: Path, draft_path: Path, kinds: tuple[str, ...]
) -> None:
    values = _EXACT | {
        "ctx_per_slot_tok": 256,
        "context_shift": True,
        "ngram_size_n": 2,
        "ngram_size_m": 3,
        "draft_model_path": str(draft_path),
    }
    config = tiny_config(few_words_path, **values)
    prompt = [1, *(random_tokens(12) * 5)]
    desk.load(config.with_values({"spec_types": kinds}))
    text, finished = desk.answer(prompt, ignore_eog=True, max_new_tok=700)
    assert text == _words_of(desk, _reference(few_words_path, config, prompt, 700))
    assert finished.timing.accepted_tok > 0
    assert finished.timing.dropped_tok == 4 * 127


def test_that_a_draft_model_s_cache_moves_with_the_text(
    desk: InProcess, few_words_path: Path, draft_path: Path
) -> None:
    """Else it would read half a context anew, and draft nothing meanwhile."""
    desk.load(
        tiny_config(
            few_words_path,
            ctx_per_slot_tok=256,
            context_shift=True,
            spec_types=("draft-simple",),
            draft_model_path=str(draft_path),
        )
    )
    request_id = desk.ask([1, *random_tokens(60)], ignore_eog=True, max_new_tok=400)
    desk.until(lambda: desk.batcher.slots[0].cached > 100)
    drafter = desk.batcher._drafting.drafters["draft-simple"]
    assert isinstance(drafter, DraftSimple)
    context, counts = drafter._context, list[int]()
    decode = context.decode

    def counting(batch: Batch, count: int) -> int:
        counts.append(count)
        return decode(batch, count)

    context.decode = counting  # type: ignore[method-assign]
    assert desk.finished(request_id).timing.new_tok == 400
    assert desk.all_of(ContextShifted, request_id)
    assert max(counts) <= 4


@pytest.mark.parametrize("is_unified", [False, True])
def test_that_one_stream_forgets_while_two_go_on(
    desk: InProcess, few_words_path: Path, is_unified: bool
) -> None:
    values = _EXACT | {
        "slots": 3,
        "ctx_per_slot_tok": 256,
        "kv_unified": is_unified,
        "context_shift": True,
    }
    desk.load(tiny_config(few_words_path, **values))
    prompts = [[1, *random_tokens(length, seed=length)] for length in (150, 20, 30)]
    ids = [desk.ask(prompts[0], max_new_tok=300, ignore_eog=True)]
    ids += [desk.ask(prompt, max_new_tok=200, ignore_eog=True) for prompt in prompts[1:]]
    finished = [desk.finished(request_id) for request_id in ids]
    assert [event.reason for event in finished] == ["token_limit"] * 3
    assert [event.timing.dropped_tok for event in finished] == [2 * 127, 0, 0]
    alone = tiny_config(few_words_path, **values | {"slots": 1, "kv_unified": False})
    for request_id, prompt, limit in zip(ids, prompts, (300, 200, 200), strict=True):
        expected = _reference(few_words_path, alone, prompt, limit)
        assert desk.text(request_id) == _words_of(desk, expected)


def test_that_a_state_is_never_said_to_have_forgotten(
    desk: InProcess, tiny_mamba_path: Path
) -> None:
    config = tiny_config(tiny_mamba_path, ctx_per_slot_tok=256, context_shift=True)
    applied = desk.load(config)
    assert not applied.effective.can_shift
    assert applied.model is not None
    (problem,) = [p for p in problems_of(config, applied.model) if p.keys[0] == "context_shift"]
    assert "cannot shift" in problem.message
    request_id = desk.ask(random_tokens(200), ignore_eog=True)
    finished = desk.finished(request_id)
    assert finished.reason == "context_full"
    assert "cannot shift" in finished.detail
    assert not desk.all_of(ContextShifted)


@pytest.mark.parametrize(
    "values",
    [
        {"ctx_per_slot_tok": 4096},
        {"ctx_per_slot_tok": 4096, "swa_full": True},
        {"ctx_per_slot_tok": 1024},
        {"ctx_per_slot_tok": 1280, "ubatch_tok": 256},
        {"ctx_per_slot_tok": 1024, "slots": 2, "kv_unified": True, "ubatch_tok": 512},
        {"ctx_per_slot_tok": 2048, "slots": 2, "kv_unified": True, "ubatch_tok": 512},
    ],
)
def test_that_the_rule_for_windows_says_what_the_library_says(
    gemma_dry: tuple[Model, ModelFacts], values: dict[str, object]
) -> None:
    model, facts = gemma_dry
    config = tiny_config(facts.path, context_shift=True).with_values(values)
    context = Context.create(model, config, quiet=True)
    try:
        is_free = not any(p.keys[0] == "context_shift" for p in problems_of(config, facts))
        assert is_free is can_shift(context)
    finally:
        context.close()


def test_that_a_prompt_is_not_shortened_when_its_slot_becomes_smaller(
    desk: InProcess, few_words_path: Path
) -> None:
    """Its answer ends, as it does where a smaller slot takes a new context."""
    config = tiny_config(
        few_words_path,
        ctx_per_slot_tok=768,
        kv_unified=True,
        ctx_total_tok=1024,
        slots=2,
        batch_tok=64,
        ubatch_tok=64,
        context_shift=True,
    )
    desk.load(config)
    number = desk.ask(random_tokens(600), max_new_tok=5)
    desk.until(lambda: any(stream.slot.cached for stream in desk.batcher.streams))
    applied = desk.apply(config.with_values({"ctx_per_slot_tok": 256}))
    assert isinstance(applied, Applied)
    assert applied.cost == "live"
    finished = desk.finished(number)
    assert (finished.reason, finished.timing.dropped_tok) == ("context_full", 0)
    assert "cannot be dropped" not in finished.detail
    assert not desk.all_of(ContextShifted)


def test_that_a_full_text_whose_cells_are_gone_is_shortened_all_the_same(
    desk: InProcess, few_words_path: Path, tmp_path: Path
) -> None:
    """Another strength of an adapter drops what was computed, between a full slot and its shift."""
    lora = write_tiny_lora(tmp_path / "style.gguf", few_words_path)
    config = tiny_config(
        few_words_path, ctx_per_slot_tok=256, context_shift=True, lora=(f"{lora}:0.5",)
    )
    desk.load(config)
    number = desk.ask(random_tokens(60), max_new_tok=400, ignore_eog=True)
    desk.until(lambda: any(s.slot.known >= s.slot.cap_tok for s in desk.batcher.streams))
    assert isinstance(desk.apply(config.with_values({"lora": (str(lora),)})), Applied)
    finished = desk.finished(number)
    assert (finished.reason, finished.timing.new_tok) == ("token_limit", 400)
    shifts = desk.all_of(ContextShifted)
    assert {(event.kept_tok, event.dropped_tok) for event in shifts} == {(1, 127)}
    assert finished.used_tok == 60 + 400 - 1 - finished.timing.dropped_tok
    slot = desk.batcher.slots[0]
    assert desk.batcher.context.seq_pos_max(0) == slot.cached - 1
