"""A reload with other settings: what was computed goes on, or the turn says why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine_bridge.child.changes import Changes
from engine_bridge.child.loader import LoadJob, RoomWanted
from engine_bridge.protocol import Applied, RequestStarted, TokensDelivered, Unloaded
from engine_bridge.settings.config import EngineConfig
from tests.engine.harness import InProcess, random_tokens, tiny_config

pytestmark = pytest.mark.engine
TEXTS = {name: random_tokens(150, seed=seed) for seed, name in enumerate("abc")}
MORE = random_tokens(60, seed=7)
RELOAD: dict[str, object] = {"load_mode": "none"}


def config_of(path: Path) -> EngineConfig:
    return tiny_config(path, slots=2, batch_tok=128, ubatch_tok=64)


def asked(desk: InProcess, prompt: list[int], conversation: str) -> tuple[str, RequestStarted]:
    number = desk.ask(prompt, conversation=conversation, max_new_tok=12, ignore_eog=True)
    desk.finished(number)
    return desk.text(number), desk.started(number)


def reloaded(desk: InProcess, config: EngineConfig) -> None:
    applied = desk.apply(config)
    assert isinstance(applied, Applied)
    assert applied.cost == "reload"


@pytest.mark.parametrize("more", [{}, {"slots": 3}, {"slots": 1, "kv_unified": True}], ids=str)
def test_that_conversations_go_on_after_a_reload(
    desk: InProcess, memory_path: Path, more: dict[str, object]
) -> None:
    """Two of them hold slots, one is kept in RAM."""
    config = config_of(memory_path)
    desk.load(config)
    for name, text in TEXTS.items():
        desk.answer(text, conversation=name, max_new_tok=0)
    reloaded(desk, config.with_values(RELOAD | more))
    answers = {}
    for name, text in TEXTS.items():
        answers[name], started = asked(desk, [*text, *MORE], name)
        assert (started.reused_tok, started.recompute_reason) == (len(text), "")
    desk.load(config.with_values({"cache_prompt": False}))
    for name, text in TEXTS.items():
        assert asked(desk, [*text, *MORE], name)[0] == answers[name]


def test_that_an_answer_that_was_cut_short_is_not_read_again(
    desk: InProcess, few_words_path: Path
) -> None:
    config = config_of(few_words_path)
    desk.load(config)
    number = desk.ask(TEXTS["a"], conversation="a", max_new_tok=-1, ignore_eog=True)
    desk.until(lambda: bool(desk.all_of(TokensDelivered, number)))
    reloaded(desk, config.with_values(RELOAD))
    assert desk.finished(number).reason == "failed"
    assert asked(desk, TEXTS["a"], "a")[1].reused_tok == len(TEXTS["a"]) - 1


@pytest.mark.parametrize(
    "change",
    [
        {"cache_type_k": "f32"},
        {"flash_attn": "off"},
        {"override_kv": ("llama.rope.freq_base=float:20000.0",)},
    ],
    ids=str,
)
def test_that_what_is_not_handed_on_is_said_to_be_lost(
    desk: InProcess, few_words_path: Path, change: dict[str, object]
) -> None:
    config = config_of(few_words_path).with_values({"flash_attn": "on"})
    desk.load(config)
    for name, text in TEXTS.items():
        desk.answer(text, conversation=name, max_new_tok=0)
    reloaded(desk, config.with_values(RELOAD | change))
    for name, text in TEXTS.items():
        started = asked(desk, [*text, *MORE], name)[1]
        assert started.reused_tok == 0
        assert started.recompute_reason == (
            "150 tokens are computed again: a changed setting made another cache."
        )


def test_that_a_model_that_had_to_make_room_for_itself_says_what_was_lost(
    desk: InProcess, few_words_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = config_of(few_words_path)
    desk.load(config)
    for name, text in TEXTS.items():
        desk.answer(text, conversation=name, max_new_tok=0)
    begin = Changes._begin

    def needs_room(changes: Changes, job: LoadJob) -> None:
        begin(changes, job)
        changes.handle(RoomWanted(job))

    monkeypatch.setattr(Changes, "_begin", needs_room)
    reloaded(desk, config.with_values(RELOAD))
    assert desk.all_of(Unloaded)
    for name, text in TEXTS.items():
        reason = asked(desk, [*text, *MORE], name)[1].recompute_reason
        assert reason == "150 tokens are computed again: a changed setting made another cache."


def test_that_another_load_begins_with_nothing(desk: InProcess, few_words_path: Path) -> None:
    config = config_of(few_words_path)
    desk.load(config)
    desk.answer(TEXTS["a"], conversation="a", max_new_tok=0)
    desk.load(config)
    started = asked(desk, TEXTS["a"], "a")[1]
    assert (started.reused_tok, started.recompute_reason) == (0, "")
