"""What slots hold survives a new context where its cells are alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine_bridge.protocol import (
    Applied,
    ContextShifted,
    RequestStarted,
    StepsMeasured,
    TokensDelivered,
)
from tests import models
from tests.engine.harness import InProcess, random_tokens, tiny_config
from tests.engine.tiny_window import write_tiny_window
from tests.tiny_model import TinyLlama, write_tiny_llama

pytestmark = pytest.mark.engine
_EXACT = {"cache_type_k": "f32", "cache_type_v": "f32", "flash_attn": "off"}
CHANGES = (
    {"ctx_per_slot_tok": 1024},
    {"slots": 4},
    {"slots": 2},
    {"kv_unified": True},
    {"slots": 1, "kv_unified": True},
    {"batch_tok": 256, "ubatch_tok": 64},
)


@pytest.fixture
def gemma() -> Path:
    return models.gemma_path()


@pytest.mark.parametrize("change", CHANGES, ids=str)
@pytest.mark.parametrize("model", ["few_words_path", "tiny_mamba_path", "gemma"])
def test_that_the_next_turn_computes_only_what_is_new(
    desk: InProcess, request: pytest.FixtureRequest, model: str, change: dict[str, object]
) -> None:
    path = request.getfixturevalue(model)
    config = tiny_config(path, slots=3, ctx_per_slot_tok=512, **_EXACT)
    prompt, more = random_tokens(120), random_tokens(20, seed=5)
    desk.load(config)
    desk.answer(prompt, conversation="a", max_new_tok=0)
    whole, _ = desk.answer([*prompt, *more], conversation="a", max_new_tok=12, ignore_eog=True)
    desk.load(config)
    desk.answer(prompt, conversation="a", max_new_tok=0)
    assert isinstance(desk.apply(config.with_values(change)), Applied)
    number = desk.ask([*prompt, *more], conversation="a", max_new_tok=12, ignore_eog=True)
    desk.finished(number)
    assert desk.all_of(RequestStarted, number)[0].reused_tok == len(prompt)
    assert desk.text(number) == whole


def test_that_a_running_answer_goes_on_without_computing_its_text_again(
    desk: InProcess, few_words_path: Path
) -> None:
    config = tiny_config(few_words_path, slots=2, ctx_per_slot_tok=512, **_EXACT)
    desk.load(config)
    number = desk.ask(random_tokens(60), max_new_tok=100, ignore_eog=True)
    desk.until(lambda: bool(desk.all_of(TokensDelivered, number)))
    held = desk.batcher.slots[0].cached
    before = [event.prefilled_tok for event in desk.all_of(StepsMeasured)]
    assert isinstance(desk.apply(config.with_values({"slots": 5})), Applied)
    assert desk.batcher.slots[0].cached >= held >= 60
    assert desk.finished(number).timing.new_tok == 100
    assert sum(event.prefilled_tok for event in desk.all_of(StepsMeasured)[len(before) :]) <= 60


def test_that_cells_of_another_kind_are_computed_again(
    desk: InProcess, few_words_path: Path
) -> None:
    config = tiny_config(few_words_path, slots=2, ctx_per_slot_tok=512, **_EXACT)
    desk.load(config)
    prompt = random_tokens(60)
    desk.answer(prompt, conversation="a", max_new_tok=0)
    assert isinstance(desk.apply(config.with_values({"cache_type_k": "f16"})), Applied)
    number = desk.ask(prompt, conversation="a", max_new_tok=5, ignore_eog=True)
    desk.finished(number)
    assert desk.all_of(RequestStarted, number)[0].reused_tok == 0


def test_that_a_text_that_no_longer_fits_is_left_behind(
    desk: InProcess, few_words_path: Path
) -> None:
    config = tiny_config(few_words_path, slots=2, ctx_per_slot_tok=1024, **_EXACT)
    desk.load(config)
    desk.answer(random_tokens(400), conversation="a", max_new_tok=0)
    assert isinstance(desk.apply(config.with_values({"ctx_per_slot_tok": 256})), Applied)
    assert [slot.cached for slot in desk.batcher.slots] == [0, 0]
    assert desk.answer(random_tokens(60), conversation="a", max_new_tok=5, ignore_eog=True)


def asked(desk: InProcess, prompt: list[int], conversation: str) -> tuple[str, RequestStarted]:
    number = desk.ask(prompt, conversation=conversation, max_new_tok=12, ignore_eog=True)
    desk.finished(number)
    return desk.text(number), desk.started(number)


def text_of(desk: InProcess, slot: int) -> list[int]:
    tokens: list[int] = desk.batcher.slots[slot].tokens[: desk.batcher.slots[slot].cached].tolist()
    return tokens


@pytest.mark.parametrize(
    "change",
    [{"slots": 4}, {"slots": 1}, {"slots": 3, "kv_unified": True}, {"ctx_per_slot_tok": 768}],
    ids=str,
)
def test_that_checkpoints_and_kept_prompts_come_along(
    desk: InProcess, memory_path: Path, change: dict[str, object]
) -> None:
    """Two hold slots and one is kept in RAM; each goes back to where its first turn ended."""
    config = tiny_config(memory_path, slots=2, batch_tok=128, ubatch_tok=64)
    desk.load(config)
    histories = {}
    for seed, name in enumerate("abc"):
        started = asked(desk, random_tokens(140, seed=seed), name)[1]
        histories[name] = text_of(desk, started.slot)
        asked(desk, [*histories[name], *random_tokens(90, seed=10 + seed)], name)
    assert isinstance(desk.apply(config.with_values(change)), Applied)
    answers = {}
    for seed, name in enumerate("cba"):
        edited = [*histories[name], *random_tokens(50, seed=20 + seed)]
        answers[name], started = asked(desk, edited, name)
        assert started.reused_tok == len(histories[name]), name
    desk.load(config.with_values({"cache_prompt": False}))
    for seed, name in enumerate("cba"):
        edited = [*histories[name], *random_tokens(50, seed=20 + seed)]
        assert asked(desk, edited, name)[0] == answers[name]


@pytest.mark.parametrize("is_full", [True, False])
def test_that_a_window_comes_along_into_a_full_cache_and_back(
    desk: InProcess, tmp_path: Path, is_full: bool
) -> None:
    path = write_tiny_window(tmp_path / "window.gguf")
    config = tiny_config(path, batch_tok=128, ubatch_tok=64, swa_full=not is_full, **_EXACT)
    texts = {name: random_tokens(200, seed=ord(name)) for name in "ab"}
    more = random_tokens(80, seed=5)
    desk.load(config)
    for name, text in texts.items():  # the first one's is kept in RAM
        desk.answer(text, conversation=name, max_new_tok=0)
    assert isinstance(desk.apply(config.with_values({"swa_full": is_full})), Applied)
    answers = []
    for name in "ba":
        whole = [*texts[name], *more]
        answer, started = asked(desk, whole, name)
        assert started.reused_tok == 200
        answers.append((whole, answer))
    edited = [*texts["a"][:120], *more]
    answers.append((edited, asked(desk, edited, "a")[0]))
    desk.load(config.with_values({"cache_prompt": False}))
    for whole, answer in answers:
        assert asked(desk, whole, "c")[0] == answer


@pytest.mark.parametrize("drafts", [(), ("ngram-simple", "ngram-map-k", "ngram-mod")])
def test_that_who_answers_gets_a_slot_though_its_number_is_gone(
    desk: InProcess, few_words_path: Path, drafts: tuple[str, ...]
) -> None:
    spec = {"spec_types": drafts, "ngram_size_n": 2, "ngram_size_m": 4}
    config = tiny_config(few_words_path, slots=3, **_EXACT, **spec)
    prompt = random_tokens(60, seed=3)
    desk.load(config)
    whole, _ = desk.answer(prompt, max_new_tok=100, ignore_eog=True)
    desk.load(config)
    for name in "ab":
        asked(desk, random_tokens(80, seed=ord(name)), name)
    number = desk.ask(prompt, conversation="c", max_new_tok=100, ignore_eog=True)
    desk.until(lambda: bool(desk.all_of(TokensDelivered, number)))
    assert desk.started(number).slot == 2
    assert isinstance(desk.apply(config.with_values({"slots": 1})), Applied)
    assert desk.finished(number).timing.new_tok == 100
    assert desk.text(number) == whole
    assert asked(desk, random_tokens(80, seed=ord("a")), "a")[1].reused_tok == 79


def test_that_a_smaller_pool_takes_first_who_answers_then_who_was_used_last(
    desk: InProcess, few_words_path: Path
) -> None:
    config = tiny_config(few_words_path, slots=4, kv_unified=True, ctx_per_slot_tok=2048)
    desk.load(config)
    for name in "abc":
        asked(desk, random_tokens(200, seed=ord(name)), name)
    number = desk.ask(random_tokens(150), conversation="d", max_new_tok=60, ignore_eog=True)
    desk.until(lambda: bool(desk.all_of(TokensDelivered, number)))
    smaller: dict[str, object] = {"ctx_per_slot_tok": 512, "ctx_total_tok": 512}
    assert isinstance(desk.apply(config.with_values(smaller)), Applied)
    assert [slot.cached > 0 for slot in desk.batcher.slots] == [False, False, True, True]
    assert desk.batcher.slots[3].cached >= 150
    assert desk.finished(number).timing.new_tok == 60
    # Those without a slot are kept in RAM.
    assert asked(desk, random_tokens(200, seed=ord("a")), "a")[1].reused_tok == 199


def test_that_a_text_that_is_too_long_now_comes_back_with_the_room(
    desk: InProcess, few_words_path: Path
) -> None:
    config = tiny_config(few_words_path, slots=2, ctx_per_slot_tok=1024)
    desk.load(config)
    prompt = random_tokens(400)
    whole, _ = asked(desk, prompt, "a")
    for ctx_tok in (256, 1024):
        applied = desk.apply(config.with_values({"ctx_per_slot_tok": ctx_tok}))
        assert isinstance(applied, Applied)
    answer, started = asked(desk, prompt, "a")
    assert (answer, started.reused_tok, started.recompute_reason) == (whole, 399, "")


def test_that_what_cannot_come_along_is_said_to_be_lost_by_the_setting(
    desk: InProcess, memory_path: Path
) -> None:
    config = tiny_config(memory_path, slots=2, batch_tok=128, ubatch_tok=64)
    desk.load(config)
    for seed in (1, 2, 3):
        asked(desk, random_tokens(140, seed=seed), f"conversation {seed}")
    assert desk.batcher.reuse.cache.kept
    assert isinstance(desk.apply(config.with_values({"cache_type_k": "f32"})), Applied)
    assert not desk.batcher.reuse.cache.kept
    for seed in (1, 2, 3):
        started = asked(desk, random_tokens(140, seed=seed), f"conversation {seed}")[1]
        assert started.reused_tok == 0
        assert "a changed setting made another cache" in started.recompute_reason


@pytest.mark.parametrize("is_unified", [False, True])
def test_that_a_running_answer_shifts_where_the_slot_became_too_small(
    desk: InProcess, few_words_path: Path, is_unified: bool
) -> None:
    config = tiny_config(
        few_words_path,
        slots=2,
        kv_unified=is_unified,
        ctx_per_slot_tok=1024,
        context_shift=True,
        keep_tok=8,
    )
    desk.load(config)
    number = desk.ask(random_tokens(600), conversation="a", max_new_tok=150, ignore_eog=True)
    desk.until(lambda: bool(desk.all_of(TokensDelivered, number)))
    smaller: dict[str, object] = {"ctx_per_slot_tok": 256}
    assert isinstance(desk.apply(config.with_values(smaller)), Applied)
    finished = desk.finished(number)
    assert (finished.reason, finished.timing.new_tok) == ("token_limit", 150)
    dropped = desk.all_of(ContextShifted, number)
    assert dropped[0].dropped_tok > 600 - 256
    assert dropped[0].kept_tok == 9
    slot = desk.batcher.slots[0]
    assert slot.tokens[:9].tolist() == random_tokens(600)[:9]
    assert slot.cached < 256


def test_that_without_a_shift_it_ends_and_says_so(desk: InProcess, few_words_path: Path) -> None:
    config = tiny_config(few_words_path, slots=2, ctx_per_slot_tok=1024)
    desk.load(config)
    number = desk.ask(random_tokens(600), conversation="a", max_new_tok=150, ignore_eog=True)
    desk.until(lambda: bool(desk.all_of(TokensDelivered, number)))
    assert isinstance(desk.apply(config.with_values({"ctx_per_slot_tok": 256})), Applied)
    assert desk.finished(number).reason == "context_full"
    assert all(slot.is_free for slot in desk.batcher.slots)


def test_that_keys_turned_for_short_texts_do_not_go_on_in_a_long_slot(
    desk: InProcess, tmp_path: Path
) -> None:
    """LongRoPE: the length of a slot decides by which factors keys are turned."""
    shape = TinyLlama(layers=2, width=64, heads=2, head_dim=32, ffn=128, long_rope_tok=512)
    path = write_tiny_llama(tmp_path / "long-rope.gguf", shape)
    prompt, more = random_tokens(120), random_tokens(20, seed=5)

    def next_turn() -> tuple[str, int, str]:
        number = desk.ask([*prompt, *more], conversation="a", max_new_tok=24, ignore_eog=True)
        finished = desk.finished(number)
        started = desk.all_of(RequestStarted, number)[0]
        return desk.text(number), started.reused_tok, finished.recompute_reason

    short = tiny_config(path, slots=1, ctx_per_slot_tok=512, **_EXACT)
    long = short.with_values({"ctx_per_slot_tok": 1024})
    desk.load(long)
    fresh, _, _ = next_turn()
    desk.load(short)
    in_short, _, _ = next_turn()
    assert in_short != fresh, "the factors do change what is computed"
    desk.load(short)
    desk.answer(prompt, conversation="a", max_new_tok=0)
    assert isinstance(desk.apply(long), Applied)
    text, reused, reason = next_turn()
    assert (text, reused) == (fresh, 0)
    assert "setting" in reason
    wider = long.with_values({"ctx_per_slot_tok": 2048})
    assert isinstance(desk.apply(wider), Applied)
    assert next_turn()[1] > 100, "among long slots they go on"
