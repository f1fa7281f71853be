"""Drafts for models that keep a state: the same text, whether or not states had to be put back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from engine_bridge.child.scheduler import Share
from engine_bridge.protocol import Logged
from tests.engine.drafts import EXACT, drafter_of, drafting, prompts
from tests.engine.harness import InProcess, tiny_config
from tests.engine.tiny_hybrid import TinyHybrid, write_tiny_hybrid
from tests.tiny_model import TinyMamba, write_tiny_mamba

pytestmark = pytest.mark.engine

_DRAFTS = {"spec_types": ["ngram-simple"], "ngram_size_n": 1, "ngram_size_m": 4}


@pytest.fixture(scope="module")
def mamba_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recurrent model of few words."""
    folder = tmp_path_factory.mktemp("models")
    return write_tiny_mamba(folder / "few-words-mamba.gguf", TinyMamba(vocab_tok=512))


@pytest.fixture(scope="module")
def hybrid_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hybrid of few words: two layers with a state, two with a cache."""
    folder = tmp_path_factory.mktemp("models")
    return write_tiny_hybrid(folder / "few-words-hybrid.gguf", TinyHybrid(seed=1))


@pytest.fixture(params=["mamba", "hybrid"])
def state_path(request: pytest.FixtureRequest, mamba_path: Path, hybrid_path: Path) -> Path:
    """Either of them."""
    return mamba_path if request.param == "mamba" else hybrid_path


@pytest.mark.parametrize("slots", [1, 3])
def test_that_drafts_for_a_state_change_no_text(
    desk: InProcess, state_path: Path, slots: int
) -> None:
    def texts(**values: object) -> tuple[list[str], int, int]:
        desk.load(tiny_config(state_path, slots=slots, **EXACT, **values))
        ids = [desk.ask(prompt, max_new_tok=200, ignore_eog=True) for prompt in prompts(slots)]
        timings = [desk.finished(request_id).timing for request_id in ids]
        drafted = sum(timing.drafted_tok for timing in timings)
        accepted = sum(timing.accepted_tok for timing in timings)
        return [desk.text(request_id) for request_id in ids], drafted, accepted

    plain, nothing, _ = texts()
    assert nothing == 0
    drafted_texts, drafted, accepted = texts(**_DRAFTS)
    assert drafted_texts == plain
    assert 0 < accepted < drafted
    assert not desk.all_of(Logged)


def test_that_a_rejected_draft_costs_what_was_confirmed_of_it(
    desk: InProcess, state_path: Path
) -> None:
    """The step after it computes those tokens again and one more; never the whole text."""
    desk.load(tiny_config(state_path, slots=2, **EXACT, **_DRAFTS))
    batcher, widths = desk.batcher, list[int]()
    fill = batcher._filling.fill

    def noting(shares: Sequence[Share]) -> tuple[int, int]:
        widths.extend(share.tokens for share in shares if share.stream.new_tok)
        again = [share for share in shares if share.tokens > 1 + share.draft_tok]
        assert all(share.rows == 1 for share in again if share.stream.new_tok)
        return fill(shares)

    batcher._filling.fill = noting  # type: ignore[method-assign]
    ids = [desk.ask(prompt, max_new_tok=150, ignore_eog=True) for prompt in prompts(2)]
    timings = [desk.finished(request_id).timing for request_id in ids]
    assert sum(timing.accepted_tok for timing in timings) > 0
    # The token before the draft, at most three of its four tokens, and the one drawn instead.
    assert max(widths) <= 5
    for slot in batcher.slots:
        assert batcher.context.seq_pos_max(slot.index) == slot.cached - 1


def test_that_a_draft_model_drafts_for_a_state(
    desk: InProcess, mamba_path: Path, few_words_path: Path
) -> None:
    config = drafting(mamba_path, few_words_path, slots=2, draft_n_max=2)
    desk.load(config.with_values({"spec_types": ()}))
    plain = [desk.answer(prompt, max_new_tok=60, ignore_eog=True)[0] for prompt in prompts(2)]
    desk.load(config)
    ids = [desk.ask(prompt, max_new_tok=60, ignore_eog=True) for prompt in prompts(2)]
    assert sum(desk.finished(request_id).timing.drafted_tok for request_id in ids) > 0
    assert [desk.text(request_id) for request_id in ids] == plain


@pytest.mark.parametrize("slots", [1, 3])
def test_that_a_draft_model_with_a_state_changes_no_text(
    desk: InProcess, few_words_path: Path, state_path: Path, slots: int
) -> None:
    """Its state goes back after each draft, so that it never reads a text twice."""
    config = drafting(few_words_path, state_path, slots=slots)
    desk.load(config.with_values({"spec_types": ()}))
    plain = [desk.answer(prompt, max_new_tok=80, ignore_eog=True)[0] for prompt in prompts(slots)]
    desk.load(config)
    drafter = drafter_of(desk)
    drafter.steps.pace.chunk_tok = lambda **_: 200  # type: ignore[method-assign]
    taken: list[int] = []
    decode = drafter._decode

    def noting(parts: Any) -> int:
        taken.extend(part.take for part in parts)
        return decode(parts)

    drafter._decode = noting  # type: ignore[method-assign]
    ids = [desk.ask(prompt, max_new_tok=80, ignore_eog=True) for prompt in prompts(slots)]
    assert sum(desk.finished(request_id).timing.drafted_tok for request_id in ids) > 0
    assert [desk.text(request_id) for request_id in ids] == plain
    # Once the prompt with its first token; then at most a whole draft and the token behind it.
    assert sorted(taken)[-slots:] == [31] * slots
    assert sorted(taken)[-slots - 1] <= 4
    for slot in drafter.slots:
        assert drafter._context.seq_pos_max(slot.index) == slot.cached - 1


def test_that_a_state_that_drafts_for_itself_is_always_right(
    desk: InProcess, state_path: Path
) -> None:
    desk.load(drafting(state_path, state_path, draft_n_max=5))
    _, finished = desk.answer(prompts(1)[0], max_new_tok=121, ignore_eog=True)
    assert finished.timing.accepted_tok == finished.timing.drafted_tok > 80


def test_that_drafts_switched_off_while_a_state_is_made_good_change_no_text(
    desk: InProcess, state_path: Path
) -> None:
    """What is computed again in the first step without drafts is not taken for one token."""
    config = tiny_config(state_path, slots=2, **EXACT)
    desk.load(config)
    asked = prompts(2)
    plain = [desk.answer(prompt, max_new_tok=150, ignore_eog=True)[0] for prompt in asked]
    for least_tok in (1, 20, 40):
        desk.apply(config.with_values(_DRAFTS))
        ids = [desk.ask(prompt, max_new_tok=150, ignore_eog=True) for prompt in asked]

        def is_put_back(least_tok: int = least_tok) -> bool:
            streams = desk.batcher.streams
            return any(s.slot.pending > 1 and s.new_tok >= least_tok for s in streams)

        desk.until(is_put_back)
        desk.apply(config)
        assert [desk.finished(request_id).timing.new_tok for request_id in ids] == [150, 150]
        assert [desk.text(request_id) for request_id in ids] == plain
