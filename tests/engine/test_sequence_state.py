"""A sequence's memory, taken out and put back by the real library."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from engine_bridge.child.llama import Context, Model
from engine_bridge.child.sequence_state import put_back_state, state_bytes, taken_state
from engine_bridge.settings.config import EngineConfig

pytestmark = pytest.mark.engine
PROMPT = list(range(3, 60))


@pytest.fixture
def context(tiny_chat_path: Path) -> Iterator[Context]:
    config = EngineConfig(ctx_per_slot_tok=256, slots=2, threads=1)
    model = Model.load(str(tiny_chat_path), config)
    made = Context.create(model, config)
    yield made
    made.close()
    model.close()


def computed(context: Context, seq: int, tokens: list[int], first: int = 0) -> np.ndarray:
    """The logits after ``tokens``."""
    batch = context.new_batch(len(tokens))
    batch.token[:] = tokens
    batch.pos[:] = range(first, first + len(tokens))
    batch.seq[:] = seq
    batch.wants_logits[:] = 0
    batch.wants_logits[-1] = 1
    assert context.decode(batch, len(tokens)) == 0
    row: np.ndarray = context.logits()[0].copy()
    return row


def test_that_a_state_put_into_another_sequence_goes_on_as_the_first_would(
    context: Context,
) -> None:
    computed(context, 0, PROMPT)
    state = taken_state(context, 0)
    assert state.size == state_bytes(context, 0) > 0
    expected = computed(context, 0, [7], len(PROMPT))
    assert put_back_state(context, 1, state)
    assert context.seq_pos_max(1) == len(PROMPT) - 1
    np.testing.assert_array_equal(computed(context, 1, [7], len(PROMPT)), expected)


def test_that_a_state_that_is_cut_is_refused(context: Context) -> None:
    computed(context, 0, PROMPT)
    state = taken_state(context, 0)
    assert not put_back_state(context, 1, state[: state.size // 2])
