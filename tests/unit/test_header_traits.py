"""What the inspector says of a header beside its numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine_bridge.gguf_header import Header, read_header
from engine_bridge.header_traits import rope_words, special_tokens, tokenizer_words
from tests.tiny_model import write_tiny_llama


def header(**values: object) -> Header:
    told = {key.replace("__", "."): value for key, value in values.items()}
    return Header("/m.gguf", told, (), 0, 0, False)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({}, ""),
        ({"llama__rope__freq_base": 1_000_000.0}, "base 1,000,000"),
        (
            {
                "llama__rope__freq_base": 10_000.0, "llama__rope__scaling__type": "yarn",
                "llama__rope__scaling__factor": 4.0,
                "llama__rope__scaling__original_context_length": 32_768,
            },
            "base 10,000 · yarn × 4 from 32,768 tokens",
        ),
        ({"llama__rope__scaling__type": "none"}, ""),
        ({"llama__rope__scaling__factor": 8.0}, "scaled × 8"),
        ({"llama__rope__freq_base": "a lot"}, ""),
    ],
)  # fmt: skip
def test_that_positions_are_told_in_words(values: dict[str, object], words: str) -> None:
    assert rope_words(header(**values), "llama") == words


def test_that_a_tokenizer_is_named_with_how_it_splits() -> None:
    told = {"tokenizer__ggml__model": "gpt2", "tokenizer__ggml__pre": "qwen2"}
    assert tokenizer_words(header(**told)) == "gpt2, split as qwen2"
    assert tokenizer_words(header(tokenizer__ggml__model="llama")) == "llama"
    assert tokenizer_words(header()) == ""


def test_that_special_tokens_have_their_texts(tmp_path: Path) -> None:
    found = dict(special_tokens(read_header(write_tiny_llama(tmp_path / "tiny.gguf"))))
    assert found["BOS"] == "<s>"
    assert found["EOS"] == "</s>"
