"""Bad input: a sentence that says what is wrong and what to do, and the engine goes on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import gguf
import numpy as np
import pytest

from engine_bridge.protocol import (
    Applied,
    Apply,
    Cancel,
    CancelLoad,
    ChatMessage,
    Forget,
    Generate,
    Load,
    LoadProgressed,
    Refused,
)
from tests.engine.harness import InProcess, random_tokens, tiny_config
from tests.engine.tiny_hybrid import write_tiny_hybrid
from tests.tiny_model import TinyLlama, write_tiny_llama

pytestmark = pytest.mark.engine


def _missing(folder: Path, good: Path) -> Path:
    return folder / "nowhere.gguf"


def _truncated(folder: Path, good: Path) -> Path:
    path = folder / "truncated.gguf"
    path.write_bytes(good.read_bytes()[:100_000])
    return path


def _no_gguf(folder: Path, good: Path) -> Path:
    path = folder / "notes.gguf"
    path.write_text("This is no model.\n" * 1000)
    return path


def _unknown_architecture(folder: Path, good: Path) -> Path:
    path = folder / "strange.gguf"
    writer = gguf.GGUFWriter(path, "perceptron")
    writer.add_block_count(2)
    writer.add_context_length(512)
    writer.add_embedding_length(8)
    writer.add_token_list([b"a", b"b"])
    writer.add_tokenizer_model("llama")
    writer.add_tensor("token_embd.weight", np.zeros((2, 8), np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _part_missing(folder: Path, good: Path) -> Path:
    path = folder / "split-00001-of-00002.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_uint16("split.no", 0)
    writer.add_uint16("split.count", 2)
    writer.add_block_count(1)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _folder(folder: Path, good: Path) -> Path:
    return folder


def _no_vocabulary(folder: Path, good: Path) -> Path:
    return write_tiny_hybrid(folder / "bare.gguf")


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (_no_vocabulary, "vocabulary"),
        (_missing, "nowhere.gguf"),
        (_truncated, "truncated.gguf"),
        (_no_gguf, "GGUF"),
        (_unknown_architecture, "perceptron"),
        (_part_missing, "missing"),
        (_folder, "folder"),
    ],
)
def test_that_a_file_that_is_no_model_is_refused_in_a_sentence(
    desk: InProcess,
    few_words_path: Path,
    tmp_path: Path,
    make: Callable[[Path, Path], Path],
    says: str,
) -> None:
    desk.load(tiny_config(few_words_path))
    whole, _ = desk.answer(random_tokens(8), max_new_tok=10, ignore_eog=True)
    request_id = desk.number()
    desk.send(Load(request_id, tiny_config(make(tmp_path, few_words_path))))
    answer = desk.answer_to(request_id)
    assert isinstance(answer, Refused)
    assert answer.command == "load"
    assert says in answer.problem.message
    assert answer.problem.message.endswith(".")
    assert "model_path" in answer.problem.keys
    assert desk.answer(random_tokens(8), max_new_tok=10, ignore_eog=True)[0] == whole


@pytest.mark.parametrize("missing", [b"<0x0A>", b"<0x42>"])
def test_that_a_file_that_would_abort_the_engine_is_refused_beside_a_model(
    desk: InProcess, few_words_path: Path, tmp_path: Path, missing: bytes
) -> None:
    """A token that stands twice ends llama.cpp; a header cannot tell."""
    desk.load(tiny_config(few_words_path))
    whole, _ = desk.answer(random_tokens(8), max_new_tok=10, ignore_eog=True)
    harmful = tmp_path / "harmful.gguf"
    harmful.write_bytes(few_words_path.read_bytes().replace(missing, b"<0x41>", 1))
    request_id = desk.number()
    desk.send(Load(request_id, tiny_config(harmful)))
    refused = desk.refused(request_id)
    assert "harmful.gguf" in refused.problem.message
    assert "damaged" in refused.problem.message
    assert desk.answer(random_tokens(8), max_new_tok=10, ignore_eog=True)[0] == whole


def test_that_looking_at_a_file_can_be_cancelled(
    desk: InProcess, few_words_path: Path, tmp_path: Path
) -> None:
    config = tiny_config(few_words_path)
    desk.load(config)
    stranger = write_tiny_llama(tmp_path / "stranger.gguf", TinyLlama(vocab_tok=512))
    request_id = desk.number()
    desk.send(Load(request_id, tiny_config(stranger)))

    def is_looking() -> bool:
        desk.send(Forget("nobody"))  # or the loop sleeps until the look is over
        return any(event.stage == "Trying the file" for event in desk.all_of(LoadProgressed))

    desk.until(is_looking)
    desk.send(CancelLoad())
    assert desk.refused(request_id).is_cancelled
    desk.load(config)
    assert not desk.all_of(Applied, request_id)


@pytest.mark.parametrize(
    ("values", "says", "fix"),
    [
        ({"cache_type_v": "q4_0", "flash_attn": "off"}, "flash attention", {"flash_attn": "auto"}),
        ({"slots": 64, "batch_tok": 32, "ubatch_tok": 32}, "64 slots", {"batch_tok": 64}),
        ({"ctx_per_slot_tok": 8_388_608, "slots": 4}, "33,554,432", None),
    ],
)
def test_that_a_configuration_that_would_abort_is_refused_with_a_repair(
    desk: InProcess,
    few_words_path: Path,
    values: dict[str, object],
    says: str,
    fix: dict[str, object] | None,
) -> None:
    desk.load(tiny_config(few_words_path))
    answer = desk.apply(tiny_config(few_words_path, **values))
    assert isinstance(answer, Refused)
    assert says in answer.problem.message
    if fix is not None:
        assert answer.problem.fix == fix
    repaired = tiny_config(few_words_path, **{**values, **answer.problem.fix})
    if answer.problem.fix and repaired.pool_tok < 100_000:
        assert isinstance(desk.apply(repaired), Applied)


def test_that_a_context_that_does_not_fit_is_refused_before_it_is_built(
    desk: InProcess, tmp_path: Path
) -> None:
    """16 million cells of 8 KiB: without the question, the system would kill the process."""
    path = write_tiny_llama(tmp_path / "deep.gguf", TinyLlama(layers=16, vocab_tok=512))
    desk.load(tiny_config(path))
    huge = {"slots": 16, "ctx_per_slot_tok": 1_048_576}
    answer = desk.apply(tiny_config(path, **huge, cache_type_k="f32", cache_type_v="f32"))
    assert isinstance(answer, Refused)
    assert "suffice" in answer.problem.message
    assert "ctx_per_slot_tok" in answer.problem.fix
    assert desk.answer(random_tokens(8), max_new_tok=2, ignore_eog=True)[1].timing.new_tok == 2


def test_that_a_prompt_longer_than_the_slot_is_refused_with_figures(
    desk: InProcess, few_words_path: Path
) -> None:
    desk.load(tiny_config(few_words_path))
    refused = desk.refused(desk.ask(random_tokens(600)))
    assert refused.command == "generate"
    assert "600" in refused.problem.message
    assert "512" in refused.problem.message
    wanted = refused.problem.fix["ctx_per_slot_tok"]
    assert isinstance(wanted, int)
    assert isinstance(desk.apply(tiny_config(few_words_path, ctx_per_slot_tok=wanted)), Applied)
    assert desk.answer(random_tokens(600), max_new_tok=20)[1].timing.prompt_tok == 600


def test_that_a_prompt_beyond_training_has_no_false_repair(
    desk: InProcess, few_words_path: Path
) -> None:
    desk.load(tiny_config(few_words_path, ctx_per_slot_tok=4096))
    refused = desk.refused(desk.ask(random_tokens(5000)))
    assert "trained" in refused.problem.message
    assert not refused.problem.fix


def test_that_a_prompt_beyond_training_says_so_where_the_slot_is_smaller(
    desk: InProcess, few_words_path: Path
) -> None:
    desk.load(tiny_config(few_words_path, ctx_per_slot_tok=1024))
    refused = desk.refused(desk.ask(random_tokens(5000)))
    assert "holds 1,024; a larger one would not help" in refused.problem.message
    assert "trained for 4,096" in refused.problem.message
    assert not refused.problem.fix


def test_that_requests_without_a_model_are_refused(desk: InProcess) -> None:
    assert "No model" in desk.refused(desk.ask(random_tokens(8))).problem.message
    request_id = desk.number()
    desk.send(Apply(request_id, tiny_config("x.gguf")))
    assert "No model" in desk.refused(request_id).problem.message


def test_that_empty_and_foreign_prompts_are_refused(desk: InProcess, few_words_path: Path) -> None:
    desk.load(tiny_config(few_words_path))
    assert "empty" in desk.refused(desk.ask([])).problem.message
    assert "vocabulary" in desk.refused(desk.ask([5, 99_999])).problem.message
    assert "vocabulary" in desk.refused(desk.ask([5, -1])).problem.message
    assert "vocabulary" in desk.refused(desk.ask([5, 2**31])).problem.message
    assert "vocabulary" in desk.refused(desk.ask([5, 2**63])).problem.message


def test_that_an_impossible_length_is_refused(desk: InProcess, few_words_path: Path) -> None:
    desk.load(tiny_config(few_words_path))
    assert "-99" in desk.refused(desk.ask(random_tokens(8), max_new_tok=-99)).problem.message


def test_that_a_number_in_use_is_refused(desk: InProcess, few_words_path: Path) -> None:
    desk.load(tiny_config(few_words_path))
    first = desk.ask(random_tokens(8), max_new_tok=50, ignore_eog=True)
    desk.started(first)
    desk.send(Generate(first, "b", (ChatMessage("user", "x"),), as_completion=True))
    assert "already under way" in desk.refused(first).problem.message
    assert desk.finished(first).reason == "token_limit"


def test_that_a_number_used_again_answers_its_own_prompt(
    desk: InProcess, few_words_path: Path
) -> None:
    desk.load(tiny_config(few_words_path))
    number = desk.number()
    for tokens in (random_tokens(30), random_tokens(7)):
        desk.send(Cancel(number))
        desk.send(Generate(number, "a", (), prompt_tokens=tuple(tokens), max_new_tok=2))
    assert desk.finished(number).timing.prompt_tok == 7
    assert desk.refused(number).is_cancelled
    assert desk.started(number).prompt_tok == 7


def test_that_a_prompt_that_is_ready_too_late_is_refused(
    desk: InProcess, few_words_path: Path
) -> None:
    """The model is lost, and those who waited answered, while a prompt is still prepared."""
    desk.load(tiny_config(few_words_path))
    requests = desk.loop._requests
    with requests._worker.lock:
        number = desk.number()
        desk.send(Generate(number, "a", (ChatMessage("user", "x"),), as_completion=True))
        desk.loop.turn()
    engine = requests.engine
    requests.engine = None
    try:
        assert "No model" in desk.refused(number).problem.message
    finally:
        requests.engine = engine


def test_that_a_change_during_a_load_is_refused(desk: InProcess, few_words_path: Path) -> None:
    config = tiny_config(few_words_path)
    desk.load(config)
    load_id, apply_id = desk.number(), desk.number()
    desk.send(Load(load_id, config))
    desk.send(Apply(apply_id, config.with_values({"slots": 2})))
    assert "being loaded" in desk.refused(apply_id).problem.message
    assert isinstance(desk.answer_to(load_id), Applied)


def test_that_a_newer_load_replaces_one_under_way(desk: InProcess, few_words_path: Path) -> None:
    config = tiny_config(few_words_path)
    first, second = desk.number(), desk.number()
    desk.send(Load(first, config))
    desk.send(Load(second, config.with_values({"slots": 2})))
    assert desk.refused(first).is_cancelled
    answer = desk.answer_to(second)
    assert isinstance(answer, Applied)
    assert answer.effective.slots == 2
