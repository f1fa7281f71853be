"""Bad input: a sentence that says what is wrong and what to do, and the engine goes on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import gguf
import numpy as np
import pytest

from engine_bridge.protocol import Applied, Apply, ChatMessage, Generate, Load, Refused
from tests.engine.harness import InProcess, random_tokens, tiny_config
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


@pytest.mark.parametrize(
    ("make", "says"),
    [
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


def test_that_a_number_in_use_is_refused(desk: InProcess, few_words_path: Path) -> None:
    desk.load(tiny_config(few_words_path))
    first = desk.ask(random_tokens(8), max_new_tok=50, ignore_eog=True)
    desk.started(first)
    desk.send(Generate(first, "b", (ChatMessage("user", "x"),), as_completion=True))
    assert "already under way" in desk.refused(first).problem.message
    assert desk.finished(first).reason == "token_limit"


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
