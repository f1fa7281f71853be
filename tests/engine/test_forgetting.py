"""A closed conversation leaves nothing behind: no sequence, no copy, no draft."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine_bridge.child.llama import Context
from engine_bridge.protocol import Applied, Cancel, Forget
from tests.engine.drafts import drafter_of, drafting, prompts
from tests.engine.harness import InProcess, random_tokens, tiny_config
from tests.engine.tiny_mtp import TinyMtp, write_tiny_mtp

pytestmark = pytest.mark.engine


def held(context: Context) -> list[int]:
    """Sequences with a token in the cache."""
    return [seq for seq in range(context.sequences) if context.seq_pos_max(seq) != -1]


def forget(desk: InProcess, *names: str) -> None:
    for name in names:
        desk.send(Forget(name))
    desk.until(lambda: not desk.inbox)


@pytest.mark.parametrize("is_unified", [False, True])
def test_that_closed_conversations_leave_no_sequence(
    desk: InProcess, few_words_path: Path, is_unified: bool
) -> None:
    desk.load(tiny_config(few_words_path, slots=3, kv_unified=is_unified))
    for name in "abc":
        desk.answer(random_tokens(60, seed=ord(name)), max_new_tok=5, conversation=name)
    assert held(desk.batcher.context) == [0, 1, 2]
    forget(desk, "a", "c")
    assert held(desk.batcher.context) == [1]
    assert [facts.used_tok > 0 for facts in desk.batcher.slot_facts()] == [False, True, False]
    forget(desk, "b")
    assert held(desk.batcher.context) == []


def test_that_a_copy_in_host_memory_goes_as_well(desk: InProcess, few_words_path: Path) -> None:
    desk.load(tiny_config(few_words_path, slots=1))
    for name in "ab":
        desk.answer(random_tokens(200, seed=ord(name)), max_new_tok=5, conversation=name)
    cache = desk.batcher.reuse.cache
    assert [kept.conversation_id for kept in cache.kept] == ["a"]
    forget(desk, "a")
    assert cache.kept == []
    assert held(desk.batcher.context) == [0]


def test_that_one_closed_while_its_answer_runs_goes_when_that_ends(
    desk: InProcess, few_words_path: Path
) -> None:
    desk.load(tiny_config(few_words_path, slots=2))
    request_id = desk.ask(random_tokens(50), max_new_tok=-1, ignore_eog=True, conversation="a")
    desk.started(request_id)
    forget(desk, "a")
    assert held(desk.batcher.context) == [0]
    desk.send(Cancel(request_id))
    assert desk.finished(request_id).reason == "cancelled"
    assert held(desk.batcher.context) == []


def test_that_one_closed_while_its_answer_runs_may_lose_its_slot(
    desk: InProcess, few_words_path: Path, draft_path: Path
) -> None:
    config = drafting(few_words_path, draft_path, slots=3)
    desk.load(config)
    ids = [
        desk.ask(prompt, max_new_tok=-1, ignore_eog=True, conversation=name)
        for name, prompt in zip("abc", prompts(3), strict=True)
    ]
    for request_id in ids:
        desk.started(request_id)
    forget(desk, "c")
    assert isinstance(desk.apply(config.with_values({"slots": 1})), Applied)
    assert desk.finished(ids[2]).reason == "failed"
    assert held(desk.batcher.context) == [0]


def test_that_a_draft_model_forgets_with_it(
    desk: InProcess, few_words_path: Path, draft_path: Path
) -> None:
    desk.load(drafting(few_words_path, draft_path))
    desk.answer(prompts(1)[0], max_new_tok=20, ignore_eog=True, conversation="a")
    assert held(drafter_of(desk)._context) == [0]
    forget(desk, "a")
    assert held(drafter_of(desk)._context) == []


def test_that_layers_that_guess_ahead_forget_with_it(desk: InProcess, tmp_path: Path) -> None:
    path = write_tiny_mtp(tmp_path / "mtp.gguf", TinyMtp())
    desk.load(tiny_config(path, spec_types=["draft-mtp"], slots=2))
    desk.answer(random_tokens(40), max_new_tok=20, ignore_eog=True, conversation="a")
    guesses = desk.batcher.context.mtp
    assert guesses is not None
    assert held(guesses) == [0]
    forget(desk, "a")
    assert held(guesses) == []
    _, finished = desk.answer(random_tokens(40), max_new_tok=20, ignore_eog=True)
    assert finished.timing.new_tok == 20
