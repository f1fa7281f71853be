"""States that llama.cpp keeps of the last tokens, and where it loses them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine_bridge.child.contexts import make_context
from engine_bridge.child.llama import Context, Model
from engine_bridge.child.slot import Slot
from engine_bridge.child.speculation.take_back import TakeBack
from tests.engine.drafts import EXACT
from tests.engine.harness import random_tokens, tiny_config
from tests.engine.tiny_mtp import TinyMtp, write_tiny_mtp

pytestmark = pytest.mark.engine
_BEGUN_TOK = 20


@pytest.fixture
def context(tmp_path: Path) -> Iterator[Context]:
    """One pool, four sequences, three states kept of each beside the newest."""
    path = write_tiny_mtp(tmp_path / "state.gguf", TinyMtp(mixing=0.7))
    config = tiny_config(path, slots=4, kv_unified=True, spec_types=["draft-mtp"], **EXACT)
    model = Model.load(str(path), config)
    made = make_context(model, config)
    yield made
    made.close()
    model.close()


def decode(context: Context, parts: list[tuple[int, int, int]]) -> int:
    """Compute some tokens of each sequence; the likeliest one behind the last row.

    Args:
        context: Where.
        parts: Sequence, first place and tokens. Every sequence has a text of its own.
    """
    count = sum(tokens for _, _, tokens in parts)
    batch, at = context.new_batch(count), 0
    for seq, first, tokens in parts:
        end = at + tokens
        batch.token[at:end] = random_tokens(200, seed=seq)[first : first + tokens]
        batch.pos[at:end] = range(first, first + tokens)
        batch.seq[at:end] = seq
        batch.wants_logits[at:end] = 0
        at = end
    batch.wants_logits[at - 1] = 1
    assert context.decode(batch, count) == 0
    return int(context.logits()[0].argmax())


def words_behind(context: Context, *, is_taken_back: bool) -> list[int]:
    """The likeliest tokens of sequence 1 behind a draft that was rejected, or never made."""
    context.clear()
    decode(context, [(seq, 0, _BEGUN_TOK) for seq in (0, 1, 2)])
    slot, back = Slot(1, 256, 4), TakeBack(context)
    slot.cached = slot.known = _BEGUN_TOK
    # Sequence 0 has one token and goes with the prompt of 3, behind the micro-batch of 1.
    drafted = 4 if is_taken_back else 1
    parts = [(1, _BEGUN_TOK, drafted), (0, _BEGUN_TOK, 1), (3, 0, 32)]
    others = [(Slot(0, 256, 4), 1, 0), (Slot(3, 256, 4), 32, 0)]
    back.before_step([(slot, drafted, drafted - 1), *others])
    decode(context, parts)
    slot.cached += 1
    if is_taken_back:
        back.reject(slot, slot.cached)
    # Where a copy was put back, its first token is computed again.
    words = [decode(context, [(1, place, 1)]) for place in range(slot.cached, 60)]
    return words[_BEGUN_TOK + 1 - slot.cached :]


def test_that_a_rejected_draft_is_taken_back_where_others_moved_its_states(
    context: Context,
) -> None:
    assert context.rollback_tok == 3
    assert words_behind(context, is_taken_back=True) == words_behind(context, is_taken_back=False)
