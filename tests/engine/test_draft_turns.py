"""Conversations that are cut back, go on and crowd the slots read the same with drafts."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from engine_bridge.protocol import Logged
from tests.engine.drafts import EXACT, prompts
from tests.engine.harness import InProcess, random_tokens, tiny_config
from tests.engine.tiny_hybrid import TinyHybrid, write_tiny_hybrid
from tests.engine.tiny_mtp import write_tiny_mtp, write_tiny_mtp_chain
from tests.tiny_model import TinyMamba, write_tiny_mamba

pytestmark = pytest.mark.engine

_WRITERS: dict[str, Callable[[Path], Path]] = {
    "state": lambda path: write_tiny_mamba(path, TinyMamba(vocab_tok=512)),
    "hybrid": lambda path: write_tiny_hybrid(path, TinyHybrid(seed=1)),
    "guessing hybrid": write_tiny_mtp,
    "guessing behind a window": write_tiny_mtp_chain,
}
_CASES = [
    ("state", ("ngram-simple",)),
    ("hybrid", ("ngram-simple",)),
    ("guessing hybrid", ("ngram-simple", "draft-mtp")),
    ("guessing behind a window", ("draft-mtp",)),
]
_DRAFTS: dict[str, object] = {"ngram_size_n": 1, "ngram_size_m": 6}
_CONVERSATIONS, _ROUNDS, _SLOTS = 5, 8, 3


def _talk(desk: InProcess, seed: int) -> tuple[list[str], int]:
    """Texts of some rounds, and how many drafted tokens were accepted."""
    chance = random.Random(seed)
    talks = [random_tokens(20, seed=number, high=310) for number in range(_CONVERSATIONS)]
    texts, accepted = list[str](), 0
    for _ in range(_ROUNDS):
        ids = []
        for number in chance.sample(range(_CONVERSATIONS), _SLOTS):
            kept = len(talks[number]) - (chance.randint(1, 12) if chance.random() < 0.3 else 0)
            more = random_tokens(chance.randint(1, 9), seed=chance.randint(0, 999), high=310)
            talks[number] = talks[number][:kept] + more
            length = chance.randint(5, 40)
            ids.append(
                desk.ask(
                    talks[number],
                    max_new_tok=length,
                    ignore_eog=True,
                    conversation=f"conversation {number}",
                )
            )
        accepted += sum(desk.finished(request_id).timing.accepted_tok for request_id in ids)
        texts += [desk.text(request_id) for request_id in ids]
    return texts, accepted


@pytest.mark.parametrize(("model", "kinds"), _CASES)
@pytest.mark.parametrize("kv_unified", [False, True])
def test_that_turns_read_the_same_with_drafts(
    desk: InProcess, tmp_path: Path, model: str, kinds: tuple[str, ...], kv_unified: bool
) -> None:
    path = _WRITERS[model](tmp_path / "model.gguf")
    config = tiny_config(path, slots=_SLOTS, kv_unified=kv_unified, **_DRAFTS, **EXACT)
    desk.load(config)
    plain, _ = _talk(desk, seed=1)
    desk.load(config.with_values({"spec_types": kinds}))
    drafted, accepted = _talk(desk, seed=1)
    assert drafted == plain
    assert accepted > 10
    assert not desk.all_of(Logged)


@pytest.mark.parametrize(("model", "kinds"), _CASES)
def test_that_draws_are_the_same_with_drafts(
    desk: InProcess, tmp_path: Path, model: str, kinds: tuple[str, ...]
) -> None:
    """A token is drawn once, also where its state is put back and what led to it read again."""
    drawing = {"temperature": 0.5, "seed": 3, "top_k": 3}
    config = tiny_config(_WRITERS[model](tmp_path / "model.gguf"), **drawing, **_DRAFTS, **EXACT)
    desk.load(config)
    plain, _ = desk.answer(prompts(1)[0], max_new_tok=120, ignore_eog=True)
    desk.load(config.with_values({"spec_types": kinds}))
    drafted, finished = desk.answer(prompts(1)[0], max_new_tok=120, ignore_eog=True)
    assert drafted == plain
    assert 0 < finished.timing.accepted_tok < finished.timing.drafted_tok
