"""Which model may draft for which: llama.cpp's rule, read from two headers (S37)."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from engine_bridge.gguf_vocabulary import Vocabulary, read_vocabulary, why_incompatible
from engine_bridge.gguf_window import GgufError
from tests import models
from tests.tiny_model import TinyLlama, write_tiny_llama, write_tiny_mamba
from tests.unit.gguf_bytes import Gguf, llama_values

_WORDS = ["<unk>", "<s>", "</s>", "x", "y", *(f"word{number}" for number in range(20))]


def vocabulary(folder: Path, words: list[str], **keys: object) -> Vocabulary:
    """A vocabulary as read from a file; ``a__b`` stands for the key ``tokenizer.ggml.a.b``."""
    values = llama_values() | {"tokenizer.ggml.tokens": words, "tokenizer.ggml.model": "llama"}
    for name, value in keys.items():
        values[f"tokenizer.ggml.{name}"] = value
    path = folder / "model.gguf"
    path.write_bytes(Gguf(values).file())
    return read_vocabulary(path)


def test_that_a_model_may_draft_for_itself(tmp_path: Path) -> None:
    one = vocabulary(tmp_path, _WORDS)
    assert why_incompatible(one, one) == ""


def test_that_what_the_header_lacks_is_what_llama_cpp_takes(tmp_path: Path) -> None:
    words = _WORDS * 6  # 150 tokens, so that the default ids exist
    sentence_piece = vocabulary(tmp_path, words)
    assert (sentence_piece.adds_bos, sentence_piece.bos, sentence_piece.eos) == (True, 1, 2)
    bpe = vocabulary(tmp_path, words, model="gpt2")
    assert (bpe.adds_bos, bpe.bos, bpe.adds_eos, bpe.eos) == (False, 11, False, 11)
    assert vocabulary(tmp_path, words, model="gpt2", pre="llama-bpe").adds_bos
    assert vocabulary(tmp_path, words, model="gpt2", pre="glm4").bos == -1
    # llama.cpp overrides what a file of this kind says.
    assert vocabulary(tmp_path, words, model="gpt2", pre="gemma4", add_bos_token=0).adds_bos
    unigram = vocabulary(tmp_path, words, model="t5")
    assert (unigram.adds_bos, unigram.bos, unigram.adds_eos, unigram.eos) == (False, -1, True, 1)
    said = vocabulary(tmp_path, words, bos_token_id=7, eos_token_id=9_999, add_bos_token=0)
    assert (said.adds_bos, said.bos, said.eos) == (False, 7, 2)  # 9,999 is beyond the vocabulary


def test_that_the_first_token_that_differs_is_named(tmp_path: Path) -> None:
    target = vocabulary(tmp_path, _WORDS)
    words = [*_WORDS]
    words[7], words[9] = "other", "third"
    reason = why_incompatible(target, vocabulary(tmp_path, words))
    assert "token 7 is “word2” here and “other” in the draft" in reason
    words = [*_WORDS]
    words[7] = "wordX"  # as long as the target's
    assert "token 7 is “word2” here and “wordX”" in (
        why_incompatible(target, vocabulary(tmp_path, words))
    )


def test_that_control_characters_of_a_token_are_escaped(tmp_path: Path) -> None:
    words = [*_WORDS]
    words[6] = "a\x1b[31m\n" + "b" * 100
    reason = why_incompatible(vocabulary(tmp_path, _WORDS), vocabulary(tmp_path, words))
    assert "“a\\x1b[31m\\nbbbb" in reason
    assert len(reason) < 300


def test_that_the_first_five_tokens_may_differ(tmp_path: Path) -> None:
    words = ["first", "</s>", "<s>", "z", "other words", *_WORDS[5:]]
    assert why_incompatible(vocabulary(tmp_path, _WORDS), vocabulary(tmp_path, words)) == ""


def test_that_sizes_may_differ_by_128(tmp_path: Path) -> None:
    target = vocabulary(tmp_path, _WORDS)
    more = [*_WORDS, *(f"extra{number}" for number in range(128))]
    assert why_incompatible(target, vocabulary(tmp_path, more)) == ""
    assert why_incompatible(vocabulary(tmp_path, more), target) == ""
    reason = why_incompatible(target, vocabulary(tmp_path, [*more, "one more"]))
    assert "154 tokens and the target 25" in reason
    assert "token" in reason


def test_that_an_empty_text_and_its_stand_in_are_one(tmp_path: Path) -> None:
    """llama.cpp writes ``[EMPTY_n]`` for a token without text."""
    empty, named = [*_WORDS], [*_WORDS]
    empty[8], named[8] = "", "[EMPTY_8]"
    assert why_incompatible(vocabulary(tmp_path, empty), vocabulary(tmp_path, named)) == ""
    named[9] = "other"
    reason = why_incompatible(vocabulary(tmp_path, empty), vocabulary(tmp_path, named))
    assert "token 9 is" in reason


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"model": "gpt2"}, "byte-level BPE, the target's SentencePiece"),
        ({"bos_token_id": 3}, "begins a text with token 3, the target with token 1"),
        ({"add_bos_token": 0}, "begins a text with no special token, the target with token 1"),
        ({"add_eos_token": 1}, "ends a text with token 2, the target with no special token"),
    ],
)
def test_that_kind_and_special_tokens_must_agree(
    tmp_path: Path, keys: dict[str, object], words: str
) -> None:
    assert words in why_incompatible(
        vocabulary(tmp_path, _WORDS), vocabulary(tmp_path, _WORDS, **keys)
    )


def test_that_an_end_that_is_not_added_may_differ(tmp_path: Path) -> None:
    other = vocabulary(tmp_path, _WORDS, eos_token_id=4)
    assert why_incompatible(vocabulary(tmp_path, _WORDS), other) == ""


def test_that_a_file_without_a_vocabulary_is_refused_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(Gguf(llama_values() | {"tokenizer.ggml.model": "none"}).file())
    with pytest.raises(GgufError, match="has no vocabulary that could be compared"):
        read_vocabulary(path)
    with pytest.raises(GgufError, match="There is no file"):
        read_vocabulary(tmp_path / "absent.gguf")


def test_that_models_of_one_family_may_draft_for_each_other(tmp_path: Path) -> None:
    target = read_vocabulary(write_tiny_llama(tmp_path / "target.gguf", TinyLlama(vocab_tok=512)))
    draft = read_vocabulary(
        write_tiny_llama(tmp_path / "draft.gguf", TinyLlama(vocab_tok=512, layers=1, seed=1))
    )
    assert why_incompatible(target, draft) == ""
    assert read_vocabulary(write_tiny_mamba(tmp_path / "mamba.gguf")).kind == "SentencePiece"
    assert dataclasses.replace(draft, name="").texts == target.texts


def test_that_gemma_cannot_draft_for_qwen() -> None:
    """S37: found from the headers, before anything is loaded."""
    qwen, gemma = read_vocabulary(models.qwen_path()), read_vocabulary(models.gemma_path())
    reason = why_incompatible(qwen, gemma)
    assert "cannot draft for" in reason.partition("it has another vocabulary (")[0]
    assert "vocabulary is SentencePiece, the target's byte-level BPE" in reason
    assert "token 5 is “&” here and “[multimodal]” in the draft" in reason
    assert why_incompatible(gemma, gemma) == ""
