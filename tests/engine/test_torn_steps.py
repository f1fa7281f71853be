"""A step that is ended halfway leaves no state behind that a text could be built on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.engine.drafts import EXACT
from tests.engine.harness import InProcess, random_tokens, tiny_config
from tests.engine.tiny_mtp import TinyMtp, write_tiny_mtp

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def state_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hybrid whose words depend on all that was said, with a layer that guesses ahead."""
    return write_tiny_mtp(tmp_path_factory.mktemp("models") / "state.gguf", TinyMtp(mixing=0.7))


def end_halfway(desk: InProcess, number: int) -> list[int]:
    """End a step, counted from 1, at its first operation; the list gets its code."""
    context, codes, steps = desk.batcher.context, list[int](), 0
    decode = context.decode

    def ended(batch: Any, count: int) -> int:
        nonlocal steps
        steps += 1
        if steps != number:
            return decode(batch, count)
        context.request_abort(True)
        codes.append(decode(batch, count))
        return codes[-1]

    context.decode = ended  # type: ignore[method-assign]
    return codes


@pytest.mark.parametrize("kinds", [(), ("draft-mtp",)])
@pytest.mark.parametrize("step", [2, 6])
def test_that_a_state_is_not_taken_for_what_was_not_computed(
    desk: InProcess, state_path: Path, kinds: tuple[str, ...], step: int
) -> None:
    """llama.cpp says where a micro-batch would have ended, computed or not."""
    prompt = random_tokens(250, seed=3)
    config = tiny_config(state_path, ubatch_tok=64, batch_tok=64, spec_types=kinds, **EXACT)
    desk.load(config)
    whole, _ = desk.answer(prompt, max_new_tok=40, ignore_eog=True)
    desk.load(config)
    codes = end_halfway(desk, step)
    again, _ = desk.answer(prompt, max_new_tok=40, ignore_eog=True)
    assert codes == [2]
    assert again == whole
