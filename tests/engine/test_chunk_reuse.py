"""Chunk reuse: pieces behind a change are found, and moved to where the prompt has them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engine_bridge.child.chunk_reuse import chunks_in_common
from tests.engine.harness import InProcess, random_tokens, tiny_config
from tests.engine.tiny_window import write_tiny_window
from tests.tiny_model import TinyLlama, write_tiny_llama

pytestmark = pytest.mark.engine


def tokens(*parts: range | list[int]) -> NDArray[np.int32]:
    return np.array([token for part in parts for token in part], np.int32)


@pytest.mark.parametrize(
    ("text", "prompt", "found"),
    [
        (tokens(range(50)), tokens(range(10), range(20, 50)), [(20, 30)]),
        (tokens(range(50)), tokens(range(10), range(20, 30), range(40, 50)), [(20, 10), (40, 10)]),
        (tokens(range(50)), tokens(range(10), range(12, 16), range(40, 50)), []),
        (tokens(range(50)), tokens(range(50), [99]), []),
        (tokens(range(10)), tokens([77]), []),
        (tokens([]), tokens(range(10)), []),
        # The first occurrence that is long enough, not the first one.
        (tokens([1, 2, 3, 9, 9, 9, 5, 6, 9, 9, 9, 7, 8, 4, 4]), tokens([1, 9, 9, 9, 7, 8, 4, 4]),
         [(8, 7)]),
    ],
)  # fmt: skip
def test_that_pieces_are_found_in_order(
    text: NDArray[np.int32], prompt: NDArray[np.int32], found: list[tuple[int, int]]
) -> None:
    assert chunks_in_common(text, prompt, 6) == found


@pytest.mark.parametrize("is_unified", [False, True])
def test_that_what_follows_a_removed_message_is_moved(
    desk: InProcess, few_words_path: Path, is_unified: bool
) -> None:
    """The figures are llama-server's, the moved cells at the positions of their tokens."""
    desk.load(tiny_config(few_words_path, slots=2, kv_unified=is_unified, cache_reuse_tok=32))
    first, removed, rest = (random_tokens(count, seed=count) for count in (100, 60, 150))
    desk.answer([*first, *removed, *rest], max_new_tok=1, conversation="a")
    request_id = desk.ask([*first, *rest, 301, 302], max_new_tok=20, conversation="a")
    desk.finished(request_id)
    started = desk.started(request_id)
    assert started.reused_tok == 250
    assert "150 tokens behind a change were moved" in started.recompute_reason
    slot = desk.batcher.slots[started.slot]
    context = desk.batcher.context
    assert (context.seq_pos_min(slot.index), context.seq_pos_max(slot.index)) == (
        0,
        slot.cached - 1,
    )


def test_that_a_moved_first_layer_is_as_if_computed(
    desk: InProcess, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """With a single layer keys and values depend on their own token alone: nothing is lost."""
    path = write_tiny_llama(
        tmp_path_factory.mktemp("models") / "one.gguf", TinyLlama(layers=1, vocab_tok=512)
    )
    first, removed, rest = (random_tokens(count, seed=count) for count in (100, 60, 150))
    prompt = [*first, *rest, 301, 302]
    config = tiny_config(path, cache_type_k="f32", cache_type_v="f32", flash_attn="off")
    desk.load(config)
    whole, _ = desk.answer(prompt, max_new_tok=30, ignore_eog=True)
    desk.load(config.with_values({"cache_reuse_tok": 32}))
    desk.answer([*first, *removed, *rest], max_new_tok=1, conversation="a")
    moved, finished = desk.answer(prompt, max_new_tok=30, ignore_eog=True, conversation="a")
    assert finished.timing.reused_tok == 250
    assert moved == whole


def test_that_short_pieces_are_computed(desk: InProcess, few_words_path: Path) -> None:
    desk.load(tiny_config(few_words_path, cache_reuse_tok=200))
    first, rest = random_tokens(100, seed=1), random_tokens(150, seed=2)
    desk.answer([*first, 303, *rest], max_new_tok=1, conversation="a")
    _, finished = desk.answer([*first, *rest], max_new_tok=1, conversation="a")
    assert finished.timing.reused_tok == 100


def test_that_a_window_is_never_moved(desk: InProcess, tmp_path: Path) -> None:
    """Not even where it is as large as the rest of the cache: it has cells of the end alone."""
    path = write_tiny_window(tmp_path / "window.gguf")
    config = tiny_config(path, ctx_per_slot_tok=256, kv_unified=True, context_shift=True)
    config = config.with_values({"keep_tok": 200, "cache_reuse_tok": 16})
    desk.load(config)
    _, finished = desk.answer(
        random_tokens(240), max_new_tok=150, ignore_eog=True, conversation="a"
    )
    assert finished.timing.dropped_tok > 0
    slot = desk.batcher.slots[0]
    text = slot.tokens[: slot.cached].tolist()
    prompt = [*text[:10], *text[30:70], *random_tokens(60, seed=5)]
    changed, finished = desk.answer(prompt, max_new_tok=20, conversation="a")
    assert finished.timing.reused_tok == 0
    assert desk.batcher.context.seq_pos_max(0) == slot.cached - 1
    desk.load(config)
    assert desk.answer(prompt, max_new_tok=20)[0] == changed


def test_that_a_state_is_never_moved(desk: InProcess, tiny_mamba_path: Path) -> None:
    config = tiny_config(tiny_mamba_path, cache_reuse_tok=16)
    desk.load(config)
    first, rest = random_tokens(100, seed=1), random_tokens(150, seed=2)
    desk.answer([*first, *random_tokens(40, seed=3), *rest], max_new_tok=1, conversation="a")
    changed, finished = desk.answer([*first, *rest], max_new_tok=20, conversation="a")
    assert finished.timing.reused_tok == 0
    desk.load(config)
    assert desk.answer([*first, *rest], max_new_tok=20)[0] == changed
