"""What slots hold survives a new context where its cells are alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine_bridge.protocol import Applied, RequestStarted, StepsMeasured, TokensDelivered
from tests import models
from tests.engine.harness import InProcess, random_tokens, tiny_config

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
