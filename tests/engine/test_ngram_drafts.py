"""Every n-gram drafter at work: the same text, the same distribution, a memory for each talk."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engine_bridge.child.llama import Context
from engine_bridge.child.speculation.ngram_cache import NgramCache
from engine_bridge.child.speculation.ngram_map import NgramMaps
from engine_bridge.protocol import Applied
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.spec_kinds import NGRAM_KINDS
from tests.engine.drafts import EXACT
from tests.engine.harness import InProcess, random_tokens, tiny_config

pytestmark = pytest.mark.engine

# Short, so that the tiny model's text is long enough to be drafted.
_LENGTHS: dict[str, object] = {
    "ngram_size_n": 2, "ngram_size_m": 8,
    "ngram_mod_n_match": 3, "ngram_mod_n_min": 1, "ngram_mod_n_max": 8,
}  # fmt: skip
_KINDS = [(kind,) for kind in NGRAM_KINDS]
_TOGETHER = [
    ("ngram-map-k", "ngram-mod"),
    (*NGRAM_KINDS, "draft-simple"),
]


def _config(path: Path, *kinds: str, **values: object) -> EngineConfig:
    return tiny_config(path, spec_types=kinds, **EXACT | _LENGTHS | values)


@pytest.mark.parametrize("slots", [1, 3])
def test_that_no_drafter_and_no_company_of_them_changes_a_text(
    desk: InProcess, few_words_path: Path, draft_path: Path, slots: int
) -> None:
    prompts = [random_tokens(30, seed=seed, high=310) for seed in range(slots)]
    # What the model repeats has to stand in the prompt already: ngram-cache learns little else.
    desk.load(_config(few_words_path))
    for prompt in prompts:
        desk.answer(prompt, max_new_tok=170, ignore_eog=True)
        slot = desk.batcher.slots[0]
        prompt[:] = slot.tokens[: slot.cached].tolist()

    def texts(*kinds: str) -> list[str]:
        draft = str(draft_path) if "draft-simple" in kinds else ""
        desk.load(_config(few_words_path, *kinds, slots=slots, draft_model_path=draft))
        ids = [desk.ask(prompt, max_new_tok=200, ignore_eog=True) for prompt in prompts]
        timings = [desk.finished(request_id).timing for request_id in ids]
        if kinds:
            assert sum(timing.accepted_tok for timing in timings) > 0, kinds
        return [desk.text(request_id) for request_id in ids]

    plain = texts()
    for kinds in (*_KINDS, *_TOGETHER):
        assert texts(*kinds) == plain, kinds


def test_that_all_hear_how_much_was_accepted(
    desk: InProcess, few_words_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.load(_config(few_words_path, "ngram-map-k", "ngram-cache"))
    own: dict[str, list[int]] = {}
    others: dict[str, list[int]] = {}
    for kind, drafter in desk.batcher._drafting.drafters.items():

        def note(seq: int, accepted_tok: int, *, is_own: bool, kind: str = kind) -> None:
            (own if is_own else others).setdefault(kind, []).append(accepted_tok)

        monkeypatch.setattr(drafter, "accept", note)
    _, finished = desk.answer(random_tokens(30, high=310), max_new_tok=250, ignore_eog=True)
    assert min(len(own["ngram-map-k"]), len(own["ngram-cache"])) > 0
    assert own["ngram-map-k"] == others["ngram-cache"]
    assert own["ngram-cache"] == others["ngram-map-k"]
    assert sum(map(sum, own.values())) == finished.timing.accepted_tok


# --- What is drawn ---------------------------------------------------------------------------

_TOP_K, _TEMPERATURE = 3, 0.5
_BINS = 10
# A chi-square of 9 degrees of freedom is above it once in a thousand true texts. The seed is
# fixed, so a machine that computes this text falls into that once or never.
_ALARM = 27.88


def _logits(context: Context, tokens: NDArray[np.int32], rows: int) -> NDArray[np.float32]:
    """The model's logits behind every token of a text."""
    context.clear()
    batch, found = context.new_batch(rows), []
    for first in range(0, len(tokens), rows):
        count = min(rows, len(tokens) - first)
        batch.token[:count] = tokens[first : first + count]
        batch.pos[:count] = np.arange(first, first + count)
        batch.seq[:count] = 0
        batch.wants_logits[:count] = 1
        assert context.decode(batch, count) == 0
        found.append(context.logits()[:count].copy())
    return np.concatenate(found)


def test_that_with_temperature_the_distribution_is_the_model_s(
    desk: InProcess, few_words_path: Path
) -> None:
    """Each drawn token's place in its own distribution, spread over its share, is uniform.

    Taking drafts more gladly than the model draws them would crowd the places of likely tokens.
    """
    desk.load(
        _config(
            few_words_path, *NGRAM_KINDS, temperature=_TEMPERATURE, top_k=_TOP_K, top_p=1.0,
            min_p=0.0, seed=11, ctx_per_slot_tok=2048,
        )
    )  # fmt: skip
    prompt = random_tokens(30, high=310)
    _, finished = desk.answer(prompt, max_new_tok=1500, ignore_eog=True)
    assert finished.timing.accepted_tok > 300
    assert finished.timing.drafted_tok > finished.timing.accepted_tok + 300
    slot, context = desk.batcher.slots[0], desk.batcher.context
    text = slot.tokens[: slot.cached].copy()
    logits = _logits(context, text[:-1], context.outputs_max)[len(prompt) - 1 :]
    drawn = text[len(prompt) :]
    order = np.argsort(-logits, axis=1)[:, :_TOP_K]
    likely = np.take_along_axis(logits, order, axis=1).astype(np.float64) / _TEMPERATURE
    share = np.exp(likely - likely.max(axis=1, keepdims=True))
    share /= share.sum(axis=1, keepdims=True)
    is_it = order == drawn[:, np.newaxis]
    assert is_it.any(axis=1).all()
    below = (np.cumsum(share, axis=1) - share)[is_it]
    places = below + np.random.default_rng(0).random(len(drawn)) * share[is_it]
    counts = np.histogram(places, _BINS, (0.0, 1.0))[0]
    expected = len(drawn) / _BINS
    assert ((counts - expected) ** 2 / expected).sum() < _ALARM


# --- What is remembered ------------------------------------------------------------------------


def test_that_what_was_seen_moves_along_to_a_new_context(
    desk: InProcess, few_words_path: Path
) -> None:
    config = _config(few_words_path, "ngram-map-k", "ngram-mod")
    desk.load(config)
    prompt = random_tokens(30, high=310)
    plain_id = desk.ask(prompt, max_new_tok=300, ignore_eog=True)
    drafted_tok = desk.finished(plain_id).timing.drafted_tok
    running = desk.ask(prompt, max_new_tok=300, ignore_eog=True)
    desk.until(lambda: len(desk.text(running)) > 300)
    before = desk.batcher._drafting.drafters
    maps = before["ngram-map-k"]
    assert isinstance(maps, NgramMaps)
    seen = maps._maps[0]
    answer = desk.apply(config.with_values({"ctx_per_slot_tok": 1536}))
    assert isinstance(answer, Applied)
    assert answer.cost == "new context"
    assert desk.batcher._drafting.drafters == before
    assert maps._maps[0] is seen
    finished = desk.finished(running)
    assert desk.text(running) == desk.text(plain_id)
    assert finished.timing.drafted_tok > drafted_tok // 2


def test_that_a_text_whose_middle_was_dropped_is_read_again(
    desk: InProcess, few_words_path: Path
) -> None:
    shifting: dict[str, object] = {"ctx_per_slot_tok": 256, "context_shift": True}
    prompt = random_tokens(60, high=310)
    desk.load(_config(few_words_path, **shifting))
    plain, _ = desk.answer(prompt, max_new_tok=400, ignore_eog=True)
    desk.load(_config(few_words_path, *NGRAM_KINDS, **shifting))
    maps = desk.batcher._drafting.drafters["ngram-map-k"]
    assert isinstance(maps, NgramMaps)
    request_id = desk.ask(prompt, max_new_tok=400, ignore_eog=True)
    desk.until(lambda: desk.batcher.slots[0].cached > 200)
    before = maps._maps[0]
    finished = desk.finished(request_id)
    assert finished.timing.dropped_tok > 0
    assert finished.timing.accepted_tok > 0
    assert desk.text(request_id) == plain
    assert maps._maps[0] is not before


def test_that_another_conversation_finds_nothing_of_the_one_before(
    desk: InProcess, few_words_path: Path
) -> None:
    """llama.cpp's ngram-cache would go on counting in the same slot."""
    desk.load(_config(few_words_path, "ngram-cache"))
    drafter = desk.batcher._drafting.drafters["ngram-cache"]
    assert isinstance(drafter, NgramCache)
    first = random_tokens(40, high=310)
    desk.answer(first, conversation="one", max_new_tok=20, ignore_eog=True)
    counted = drafter._slots[0]
    desk.answer([*first, *random_tokens(9, high=310)], conversation="one", max_new_tok=20)
    assert drafter._slots[0] is counted
    # The very same beginning, as of a common system prompt: the rest is none of its business.
    second = [*first[:20], *random_tokens(20, seed=5, high=310)]
    desk.answer(second, conversation="two", max_new_tok=20, ignore_eog=True)
    assert drafter._slots[0] is not counted
    assert drafter._slots[0]._tokens[: len(second)].tolist() == second


def test_that_lengths_change_live_and_a_longer_table_draft_needs_rows(
    desk: InProcess, few_words_path: Path
) -> None:
    config = _config(few_words_path, "ngram-mod", "ngram-map-k4v")
    desk.load(config)
    changes: list[dict[str, object]] = [
        {"ngram_mod_n_min": 2, "ngram_min_hits": 2, "ngram_mod_n_match": 4},
        {"ngram_mod_n_max": 6},
        {"ngram_mod_n_max": 20},
    ]
    costs = []
    for values in changes:
        answer = desk.apply(config.with_values(values))
        assert isinstance(answer, Applied)
        costs.append(answer.cost)
    assert costs == ["live", "live", "new context"]
    assert desk.batcher.context.outputs_max == 21
