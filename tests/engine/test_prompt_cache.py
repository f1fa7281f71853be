"""The prompt cache in host memory, and prefixes that are taken from other slots."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine_bridge.child import engine
from engine_bridge.child.host_room import HostRoom
from engine_bridge.child.memory_check import Checked
from engine_bridge.child.prompt_cache import PromptCache
from engine_bridge.memory_plan import MemoryPlan
from engine_bridge.protocol import Applied, Forget, TokensDelivered
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.rules import Problem
from tests.engine.harness import InProcess, random_tokens, tiny_config
from tests.engine.tiny_window import write_tiny_window

pytestmark = pytest.mark.engine
TEXTS = {name: random_tokens(200, seed=seed) for seed, name in enumerate("abcd")}
_MIB = 1 << 20


def config_of(path: Path, **values: object) -> EngineConfig:
    return tiny_config(path, **({"batch_tok": 128, "ubatch_tok": 64} | values))


def cache_of(desk: InProcess) -> PromptCache:
    return desk.batcher.reuse.cache


def asked(
    desk: InProcess, prompt: list[int], conversation: str, new_tok: int = 20
) -> tuple[str, int, str]:
    """The answer, the tokens reused and why others were computed again."""
    request_id = desk.ask(prompt, conversation=conversation, max_new_tok=new_tok, ignore_eog=True)
    desk.finished(request_id)
    started = desk.started(request_id)
    return desk.text(request_id), started.reused_tok, started.recompute_reason


def text_of(desk: InProcess, slot: int) -> list[int]:
    """What a slot holds."""
    held = desk.batcher.slots[slot]
    tokens: list[int] = held.tokens[: held.cached].tolist()
    return tokens


@pytest.mark.parametrize("is_unified", [False, True])
def test_that_a_conversation_that_lost_its_slot_comes_back(
    desk: InProcess, memory_path: Path, is_unified: bool
) -> None:
    desk.load(config_of(memory_path, kv_unified=is_unified))
    asked(desk, TEXTS["a"], "a")
    second = [*text_of(desk, 0), *random_tokens(30, seed=9)]
    asked(desk, TEXTS["b"], "b")
    answer, reused, reason = asked(desk, second, "a")
    assert reused == len(second) - 30
    assert reason == ""
    desk.load(config_of(memory_path, cache_prompt=False))
    assert asked(desk, second, "a")[0] == answer


@pytest.mark.parametrize("is_unified", [False, True])
def test_that_another_slot_gives_what_it_holds_while_it_works(
    desk: InProcess, memory_path: Path, is_unified: bool
) -> None:
    desk.load(config_of(memory_path, kv_unified=is_unified, slots=2))
    first = desk.ask(TEXTS["a"], conversation="a", max_new_tok=250, ignore_eog=True)
    desk.until(lambda: len(desk.batcher.streams) == 1 and desk.batcher.streams[0].new_tok > 20)
    branch = text_of(desk, 0) + random_tokens(40, seed=8)
    answer, reused, _ = asked(desk, branch, "b")
    # A state has moved on since, and goes back to the prompt's checkpoint.
    keeps_state = memory_path.stem in ("mamba", "hybrid")
    expected = {196} if keeps_state else {len(branch) - 40}
    if memory_path.stem == "window":  # it may have moved on meanwhile
        expected.add(196)
    assert reused in expected
    desk.finished(first)
    beginning = desk.text(first)
    desk.load(config_of(memory_path, cache_prompt=False))
    assert asked(desk, branch, "b")[0] == answer
    assert asked(desk, TEXTS["a"], "a", 250)[0] == beginning, "who gave goes on undisturbed"


def test_that_slots_of_one_pool_share_cells(desk: InProcess, few_words_path: Path) -> None:
    """A pool of 512 holds three times 200 tokens where 150 of them are the same."""
    desk.load(
        config_of(few_words_path, kv_unified=True, slots=3, ctx_total_tok=512, cache_ram_mib=0)
    )
    answers = {}
    for name in "abc":
        prompt = [*TEXTS["a"][:150], *random_tokens(50, seed=ord(name))]
        answers[name], reused, _ = asked(desk, prompt, name)
        assert reused == (0 if name == "a" else 150)
    assert sum(slot.cached for slot in desk.batcher.slots) > 512
    # Two leave; the third still has all of it.
    asked(desk, TEXTS["b"], "d")
    asked(desk, TEXTS["c"], "e")
    desk.load(config_of(few_words_path, cache_prompt=False))
    for name, answer in answers.items():
        prompt = [*TEXTS["a"][:150], *random_tokens(50, seed=ord(name))]
        assert asked(desk, prompt, name)[0] == answer


@pytest.mark.parametrize("is_unified", [False, True])
def test_that_a_new_conversation_has_what_it_begins_with_and_robs_nobody(
    desk: InProcess, memory_path: Path, is_unified: bool
) -> None:
    """Whether its beginning is copied, or it takes the slot and what was there is kept."""
    desk.load(config_of(memory_path, slots=2, kv_unified=is_unified))
    asked(desk, TEXTS["a"], "a", 1)
    other = [*TEXTS["a"][:150], *random_tokens(50, seed=6)]
    answer, reused, _ = asked(desk, other, "b")
    # A state goes back to a checkpoint only.
    assert reused == (132 if memory_path.stem in ("mamba", "hybrid") else 150)
    assert asked(desk, [*TEXTS["a"], 301, 302], "a", 1)[1] == 200
    desk.load(config_of(memory_path, cache_prompt=False))
    assert asked(desk, other, "b")[0] == answer


def test_that_shared_cells_are_counted_once(desk: InProcess, few_words_path: Path) -> None:
    desk.load(config_of(few_words_path, kv_unified=True, slots=3, cache_ram_mib=0))
    prompt = [*TEXTS["a"][:150], *random_tokens(50, seed=1)]
    asked(desk, TEXTS["a"], "a", 1)
    asked(desk, prompt, "b", 1)
    batcher = desk.batcher
    total = batcher.context.ctx_tok
    assert batcher._pool.make_room(0) == total - 200 - 50
    batcher.slots[0].clear(batcher.context)
    assert batcher._pool.make_room(0) == total - 200


def test_that_who_may_shift_shares_no_cells(desk: InProcess, few_words_path: Path) -> None:
    """Positions of shared cells would change for both; sharing ends when a shift is allowed."""
    config = config_of(few_words_path, kv_unified=True, slots=2)
    desk.load(config)
    prompt = [*TEXTS["a"][:150], *random_tokens(50, seed=1)]
    asked(desk, TEXTS["a"], "a", 1)
    answer, _, _ = asked(desk, prompt, "b", 1)
    assert desk.batcher.slots[0].shared
    desk.apply(config.with_values({"context_shift": True}))
    assert not desk.batcher.slots[0].shared
    assert not desk.batcher.slots[1].shared
    again, reused, _ = asked(desk, prompt, "b", 1)
    assert reused == 199
    assert again == answer


def test_that_the_budget_holds_and_the_oldest_goes(desk: InProcess, few_words_path: Path) -> None:
    # 200 tokens are 100 KiB here (2 layers × 2 × 2 heads × 32 values × 2 bytes).
    desk.load(config_of(few_words_path, cache_ram_mib=1))
    for number in range(12):
        asked(desk, random_tokens(400, seed=number), f"conversation {number}", 1)
    cache = cache_of(desk)
    assert 0.6 * _MIB < cache.bytes <= _MIB
    kept = [entry.conversation_id for entry in cache.kept]
    assert kept == [f"conversation {number}" for number in range(11 - len(kept), 11)]
    config = config_of(few_words_path, cache_ram_mib=0)
    desk.apply(config)
    assert not cache.kept
    assert asked(desk, random_tokens(400, seed=10), "conversation 10", 1)[1] == 0


def test_that_what_was_used_lately_stays(desk: InProcess, few_words_path: Path) -> None:
    desk.load(config_of(few_words_path, cache_ram_mib=1))
    for number in range(4):
        asked(desk, random_tokens(400, seed=number), f"conversation {number}", 1)
    asked(desk, random_tokens(400, seed=0), "conversation 0", 1)
    for number in range(4, 8):
        asked(desk, random_tokens(400, seed=number), f"conversation {number}", 1)
    kept = {entry.conversation_id for entry in cache_of(desk).kept}
    assert "conversation 0" in kept
    assert "conversation 1" not in kept


def test_that_nothing_is_kept_where_memory_is_short(
    desk: InProcess, few_words_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HostRoom, "has", lambda _, size_bytes: False)
    desk.load(config_of(few_words_path))
    asked(desk, TEXTS["a"], "a")
    asked(desk, TEXTS["b"], "b")
    assert not cache_of(desk).kept
    _, reused, reason = asked(desk, TEXTS["a"], "a")
    assert reused == 0
    assert "another conversation took the slot" in reason


def test_that_kept_texts_make_way_for_a_context_that_needs_their_memory(
    desk: InProcess, few_words_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is kept counts as memory to be had; it is dropped where the change needs it."""
    config = config_of(few_words_path)
    desk.load(config)
    asked(desk, TEXTS["a"], "a")
    asked(desk, TEXTS["b"], "b")
    kept = cache_of(desk).bytes
    running = desk.loop.running().memory
    assert running is not None
    assert running.host_kept == kept > 0
    seen = []

    def fits_without(
        _: object, __: object, running: MemoryPlan, *___: object, **more: object
    ) -> Checked:
        seen.append(running.host_kept)
        problem = None if running.host_kept else Problem((), "There is no memory.")
        return Checked(problem)

    monkeypatch.setattr(engine, "check_memory", fits_without)
    assert isinstance(desk.apply(config.with_values({"ctx_per_slot_tok": 1024})), Applied)
    assert seen == [0, kept]
    assert not cache_of(desk).kept


def test_that_a_closed_conversation_is_not_kept(desk: InProcess, few_words_path: Path) -> None:
    desk.load(config_of(few_words_path))
    asked(desk, TEXTS["a"], "a")
    desk.send(Forget("a"))
    asked(desk, TEXTS["b"], "b")
    assert not cache_of(desk).kept


def test_that_idle_slots_of_a_full_pool_are_kept(desk: InProcess, few_words_path: Path) -> None:
    desk.load(config_of(few_words_path, slots=3, kv_unified=True, ctx_total_tok=512))
    for name in "abc":
        asked(desk, TEXTS[name], name, 1)
    _, reused, _ = asked(desk, TEXTS["a"], "a", 1)
    assert reused == 199


def test_that_caching_can_be_switched_off_and_says_so(
    desk: InProcess, few_words_path: Path
) -> None:
    config = config_of(few_words_path)
    desk.load(config)
    whole, _, _ = asked(desk, TEXTS["a"], "a")
    desk.apply(config.with_values({"cache_prompt": False}))
    again, reused, reason = asked(desk, TEXTS["a"], "a")
    assert (again, reused) == (whole, 0)
    assert "caching is off" in reason


def test_that_a_lost_pool_is_named(desk: InProcess, few_words_path: Path) -> None:
    desk.load(
        config_of(few_words_path, slots=2, kv_unified=True, ctx_total_tok=512, cache_ram_mib=0)
    )
    asked(desk, TEXTS["a"], "a")
    asked(desk, random_tokens(400, seed=7), "b")
    assert "pool" in asked(desk, TEXTS["a"], "a")[2]


def test_that_a_setting_that_made_another_cache_is_named(
    desk: InProcess, few_words_path: Path
) -> None:
    config = config_of(few_words_path)
    desk.load(config)
    asked(desk, TEXTS["a"], "a")
    asked(desk, TEXTS["b"], "b")
    assert cache_of(desk).kept
    desk.apply(config.with_values({"cache_type_k": "q8_0"}))
    assert not cache_of(desk).kept
    _, reused, reason = asked(desk, TEXTS["a"], "a")
    assert reused == 0
    assert "setting" in reason


def test_that_a_kept_text_outlives_a_longer_context(desk: InProcess, few_words_path: Path) -> None:
    config = config_of(few_words_path)
    desk.load(config)
    asked(desk, TEXTS["a"], "a")
    asked(desk, TEXTS["b"], "b")
    desk.apply(config.with_values({"ctx_per_slot_tok": 1024}))
    assert asked(desk, TEXTS["a"], "a")[1] == 199


def test_that_others_go_on_while_texts_come_and_go(desk: InProcess, memory_path: Path) -> None:
    """Two streams decode while a third conversation is put back into the last slot."""
    desk.load(config_of(memory_path, slots=3))
    asked(desk, TEXTS["c"], "c")
    asked(desk, TEXTS["d"], "d")
    ids = [
        desk.ask(TEXTS[name], conversation=name, max_new_tok=100, ignore_eog=True) for name in "ab"
    ]
    desk.until(lambda: all(desk.all_of(TokensDelivered, number) for number in ids))
    whole = asked(desk, TEXTS["c"], "c")[0]
    assert len(desk.batcher.streams) == 2
    answers = [desk.finished(number) and desk.text(number) for number in ids]
    desk.load(config_of(memory_path, cache_prompt=False))
    assert asked(desk, TEXTS["c"], "c")[0] == whole
    assert [asked(desk, TEXTS[name], name, 100)[0] for name in "ab"] == answers


def test_that_cells_are_shared_only_where_the_window_still_has_them(
    desk: InProcess, tmp_path: Path
) -> None:
    """Of a text that came along into a new context even a full window cache has the end alone."""
    path = write_tiny_window(tmp_path / "window.gguf")
    config = tiny_config(path, slots=2, kv_unified=True, swa_full=True, ctx_per_slot_tok=512)
    desk.load(config)
    text = random_tokens(400, seed=1)
    asked(desk, text, "a")
    desk.apply(config.with_values({"batch_tok": 1024}))
    prompt = [*text[:100], *random_tokens(30, seed=5)]
    answer, reused_tok, _ = asked(desk, prompt, "b")
    assert reused_tok == 0
    assert asked(desk, [*prompt, 301], "c")[1] == 130, "what was computed here is shared"
    desk.load(config)
    assert asked(desk, prompt, "b")[0] == answer
