"""A conversation's cache on the disk: saved, restored, refused where it would mean nothing."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine_bridge.child import slot_files
from engine_bridge.protocol import (
    Command,
    Refused,
    RestoreSlot,
    SaveSlot,
    SlotRestored,
    SlotSaved,
    TokensDelivered,
)
from engine_bridge.settings.config import EngineConfig
from tests import models
from tests.engine.harness import InProcess, random_tokens, tiny_config
from tests.tiny_model import TinyLlama, write_tiny_llama

pytestmark = pytest.mark.engine

_PROMPT = [1, *random_tokens(100)]


def _do(desk: InProcess, command: Command) -> SlotSaved | SlotRestored | Refused:
    """Send a command about a file and wait for its answer."""
    number = getattr(command, "request_id", None)

    def answers() -> list[SlotSaved | SlotRestored | Refused]:
        return [
            event
            for event in desk.events
            if isinstance(event, SlotSaved | SlotRestored | Refused) and event.request_id == number
        ]

    desk.send(command)
    desk.until(lambda: bool(answers()))
    return answers()[0]


def _save(desk: InProcess, path: Path, conversation: str = "a") -> SlotSaved | Refused:
    answer = _do(desk, SaveSlot(desk.number(), conversation, str(path)))
    assert not isinstance(answer, SlotRestored)
    return answer


def _restore(desk: InProcess, path: Path, conversation: str = "b") -> SlotRestored | Refused:
    answer = _do(desk, RestoreSlot(desk.number(), conversation, str(path)))
    assert not isinstance(answer, SlotSaved)
    return answer


def _saved(config: EngineConfig, path: Path) -> tuple[list[int], int]:
    """Save a conversation; the prompt that goes on with it, and the tokens in the file."""
    with InProcess() as desk:
        desk.load(config)
        desk.answer(_PROMPT, max_new_tok=20, ignore_eog=True, conversation="a")
        slot = desk.batcher.slots[0]
        prompt = [*slot.tokens[: slot.cached].tolist(), *random_tokens(10, seed=3)]
        saved = _save(desk, path)
        assert isinstance(saved, SlotSaved), saved
        assert saved.tokens == slot.cached == 120
        assert saved.bytes == path.stat().st_size
        assert saved.seconds > 0
    return prompt, saved.tokens


@pytest.fixture(scope="module")
def saved(
    few_words_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[bytes, list[int]]:
    """A file of a conversation, and the prompt that goes on with it."""
    path = tmp_path_factory.mktemp("saved") / "a.slot"
    prompt, _ = _saved(tiny_config(few_words_path), path)
    return path.read_bytes(), prompt


@pytest.fixture(scope="module")
def reader(few_words_path: Path) -> Iterator[InProcess]:
    """A loop with the model of ``saved``."""
    with InProcess() as desk:
        desk.load(tiny_config(few_words_path))
        yield desk


def _expected(config: EngineConfig, prompt: list[int]) -> str:
    with InProcess() as desk:
        desk.load(config)
        return desk.answer(prompt, max_new_tok=20, ignore_eog=True)[0]


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"slots": 3},
        {"slots": 3, "kv_unified": True},
    ],
)
@pytest.mark.parametrize("slots", [1, 4])
def test_that_a_restored_conversation_goes_on_as_if_it_had_never_left(
    few_words_path: Path, tmp_path: Path, slots: int, values: dict[str, object]
) -> None:
    """Into the same layout and into others: pools of one slot and of all."""
    path = tmp_path / "a.slot"
    prompt, tokens = _saved(tiny_config(few_words_path, slots=slots), path)
    config = tiny_config(few_words_path, **values)
    with InProcess() as desk:
        desk.load(config)
        restored = _restore(desk, path)
        assert isinstance(restored, SlotRestored), restored
        assert (restored.tokens, restored.conversation_id) == (tokens, "b")
        assert restored.bytes == path.stat().st_size  # the same figure as when it was saved
        text, finished = desk.answer(prompt, max_new_tok=20, ignore_eog=True, conversation="b")
        assert finished.timing.reused_tok == tokens
    assert text == _expected(config, prompt)


@pytest.mark.parametrize("kind", ["mamba", "gemma"])
def test_that_states_and_windows_are_restored_too(
    tiny_mamba_path: Path, tmp_path: Path, kind: str
) -> None:
    model = tiny_mamba_path if kind == "mamba" else models.gemma_path()
    config = tiny_config(model, ctx_per_slot_tok=1024)
    path = tmp_path / "a.slot"
    prompt, tokens = _saved(config, path)
    with InProcess() as desk:
        desk.load(config)
        restored = _restore(desk, path)
        assert isinstance(restored, SlotRestored), restored
        text, finished = desk.answer(prompt, max_new_tok=20, ignore_eog=True, conversation="b")
        assert finished.timing.reused_tok == tokens
    assert text == _expected(config, prompt)


def test_that_nobody_else_notices(few_words_path: Path, tmp_path: Path) -> None:
    config = tiny_config(few_words_path, slots=3)
    path = tmp_path / "a.slot"
    with InProcess() as desk:
        desk.load(config)
        desk.answer(_PROMPT, max_new_tok=20, ignore_eog=True, conversation="a")
        other = desk.ask(random_tokens(30, seed=5), max_new_tok=400, ignore_eog=True)
        desk.until(lambda: bool(desk.all_of(TokensDelivered, other)))
        assert isinstance(_save(desk, path), SlotSaved)
        assert isinstance(_restore(desk, path, "c"), SlotRestored)
        assert desk.batcher.find(other) is not None
        assert desk.finished(other).reason == "token_limit"
        text = desk.text(other)
    with InProcess() as desk:
        desk.load(config)
        alone, _ = desk.answer(random_tokens(30, seed=5), max_new_tok=400, ignore_eog=True)
    assert text == alone


def test_that_the_cache_of_a_running_answer_can_be_saved(
    desk: InProcess, few_words_path: Path, tmp_path: Path
) -> None:
    desk.load(tiny_config(few_words_path, slots=2))
    running = desk.ask(_PROMPT, max_new_tok=300, ignore_eog=True, conversation="a")
    desk.until(lambda: bool(desk.all_of(TokensDelivered, running)))
    saved = _save(desk, tmp_path / "a.slot")
    assert isinstance(saved, SlotSaved)
    assert len(_PROMPT) <= saved.tokens < len(_PROMPT) + 300
    restored = _restore(desk, tmp_path / "a.slot")
    assert isinstance(restored, SlotRestored)
    assert restored.slot == 1, "the other one is answering"
    assert desk.finished(running).timing.new_tok == 300


def test_that_what_is_not_there_cannot_be_saved(desk: InProcess, tmp_path: Path) -> None:
    path = tmp_path / "a.slot"
    for answer in (_save(desk, path), _restore(desk, path)):
        assert isinstance(answer, Refused)
        assert "No model is loaded" in answer.problem.message


def test_that_a_conversation_without_a_cache_is_told_so(
    desk: InProcess, few_words_path: Path, tmp_path: Path
) -> None:
    desk.load(tiny_config(few_words_path))
    refused = _save(desk, tmp_path / "a.slot")
    assert isinstance(refused, Refused)
    assert "nothing of this conversation" in refused.problem.message
    assert refused.command == "save_slot"


def test_that_no_slot_is_taken_from_an_answer(
    desk: InProcess, few_words_path: Path, tmp_path: Path
) -> None:
    path = tmp_path / "a.slot"
    desk.load(tiny_config(few_words_path))
    running = desk.ask(_PROMPT, max_new_tok=300, ignore_eog=True, conversation="a")
    desk.until(lambda: bool(desk.all_of(TokensDelivered, running)))
    assert isinstance(_save(desk, path), SlotSaved)
    refused = _restore(desk, path)
    assert isinstance(refused, Refused)
    assert "Every slot is answering" in refused.problem.message
    assert desk.finished(running).timing.new_tok == 300


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"cache_type_k": "q8_0"}, "K cache f16 (now q8_0)"),
        ({"cache_type_v": "f32"}, "V cache f16 (now f32)"),
        ({"flash_attn": "off"}, "flash attention on (now off)"),
        ({"ctx_per_slot_tok": 256}, ""),
    ],
)
def test_that_another_kind_of_cache_refuses_the_file(
    few_words_path: Path,
    saved: tuple[bytes, list[int]],
    tmp_path: Path,
    values: dict[str, object],
    words: str,
) -> None:
    path = tmp_path / "a.slot"
    path.write_bytes(saved[0])
    with InProcess() as desk:
        desk.load(tiny_config(few_words_path, **values))
        answer = _restore(desk, path)
        if words:
            assert isinstance(answer, Refused)
            assert words in answer.problem.message
        else:
            assert isinstance(answer, SlotRestored), "120 tokens fit into a smaller slot"
        assert desk.answer(saved[1], max_new_tok=2, ignore_eog=True)[1].reason == "token_limit"


def test_that_another_model_of_the_same_shape_and_name_is_refused(
    few_words_path: Path, saved: tuple[bytes, list[int]], tmp_path: Path
) -> None:
    path, other = tmp_path / "a.slot", tmp_path / "other" / few_words_path.name
    path.write_bytes(saved[0])
    write_tiny_llama(other, TinyLlama(vocab_tok=512, seed=1))
    assert other.stat().st_size == few_words_path.stat().st_size
    with InProcess() as desk:
        desk.load(tiny_config(other))
        refused = _restore(desk, path)
    assert isinstance(refused, Refused)
    assert "another file that calls itself few-words" in refused.problem.message


def test_that_a_larger_text_than_a_slot_is_refused(few_words_path: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.slot"
    with InProcess() as desk:
        desk.load(tiny_config(few_words_path))
        desk.answer(random_tokens(400), max_new_tok=2, ignore_eog=True, conversation="a")
        assert isinstance(_save(desk, path), SlotSaved)
    with InProcess() as desk:
        desk.load(tiny_config(few_words_path, ctx_per_slot_tok=256))
        refused = _restore(desk, path)
    assert isinstance(refused, Refused)
    assert "holds 401 tokens and a slot holds 256" in refused.problem.message


def _cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def _turned(place: int) -> Callable[[bytes], bytes]:
    def turn(content: bytes) -> bytes:
        at = place % len(content)
        return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]

    return turn


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (_cut, "is cut short"),
        (lambda content: content[:-1], "is cut short"),
        (lambda content: content[:5], "holds no cache"),
        (lambda _: b"", "holds no cache"),
        (lambda _: b"GGUF" * 100, "holds no cache"),
        (lambda content: content + b"x", "damaged"),
        (_turned(9), ""),
        (_turned(12), ""),
        (_turned(-1), "damaged"),
        (_turned(-5000), "damaged"),
        (lambda content: content.replace(b'"version":1', b'"version":2'), "another version"),
        (lambda content: content.replace(b'"slot":0', b'"slot":-1'), "damaged"),
    ],
)
def test_that_a_harmed_file_is_refused_in_words(
    reader: InProcess,
    saved: tuple[bytes, list[int]],
    tmp_path: Path,
    harm: Callable[[bytes], bytes],
    words: str,
) -> None:
    path = tmp_path / "a.slot"
    path.write_bytes(harm(saved[0]))
    refused = _restore(reader, path)
    assert isinstance(refused, Refused)
    assert words in refused.problem.message
    assert refused.problem.message.endswith(".")
    assert reader.batcher.slots[0].cached == 0


def test_that_what_is_no_file_is_not_waited_for(
    desk: InProcess, few_words_path: Path, tmp_path: Path
) -> None:
    desk.load(tiny_config(few_words_path))
    desk.answer(_PROMPT, max_new_tok=2, ignore_eog=True, conversation="a")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for answer in (_restore(desk, pipe), _save(desk, pipe), _restore(desk, tmp_path / "missing")):
        assert isinstance(answer, Refused)
        assert answer.problem.message.endswith(".")
    assert pipe.is_fifo()


def test_that_a_full_disk_leaves_the_old_file(
    desk: InProcess, few_words_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.slot"
    path.write_bytes(b"what was there")
    desk.load(tiny_config(few_words_path))
    desk.answer(_PROMPT, max_new_tok=2, ignore_eog=True, conversation="a")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    refused = _save(desk, path)
    assert isinstance(refused, Refused)
    assert "the disk is full" in refused.problem.message
    assert path.read_bytes() == b"what was there"
    assert list(tmp_path.iterdir()) == [path], "no part of a file stays"
    missing = _save(desk, tmp_path / "no such folder" / "a.slot")
    assert isinstance(missing, Refused)
    assert "could not be written" in missing.problem.message


def test_that_a_copy_that_memory_has_no_room_for_is_refused_and_all_goes_on(
    desk: InProcess, few_words_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.load(tiny_config(few_words_path))
    desk.answer(_PROMPT, max_new_tok=2, ignore_eog=True, conversation="a")

    def fail(*_: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(slot_files, "_content", fail)
        refused = _save(desk, tmp_path / "a.slot")
    assert isinstance(refused, Refused)
    assert "System memory has no room" in refused.problem.message
    assert not isinstance(_save(desk, tmp_path / "a.slot"), Refused)


def test_that_the_file_is_for_this_user_alone(few_words_path: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.slot"
    _saved(tiny_config(few_words_path), path)
    assert path.stat().st_mode & 0o077 == 0
