"""Chunks as servers send them, and as none should."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.experiments.chat_chunk import Chunk, ChunkError, Usage, chunk_of, error_message, shown


def _chunk(value: object) -> Chunk:
    return chunk_of(json.dumps(value).encode())


def _delta(**delta: object) -> Chunk:
    return _chunk({"choices": [{"delta": delta}]})


@pytest.mark.parametrize(
    ("delta", "text", "is_thought", "is_output"),
    [
        ({"content": "a"}, "a", False, True),
        ({"role": "assistant", "content": ""}, "", False, False),
        ({"role": "assistant", "content": None}, "", False, False),
        ({"reasoning_content": "hm"}, "", True, True),
        ({"reasoning": "hm", "content": ""}, "", True, True),
        ({"tool_calls": [{"index": 0}]}, "", False, True),
        ({"content": ["not", "text"]}, "", False, False),
        ({}, "", False, False),
    ],
)
def test_that_anything_generated_is_output(
    delta: dict[str, object], text: str, is_thought: bool, is_output: bool
) -> None:
    chunk = _delta(**delta)
    assert (chunk.text, chunk.is_thought, chunk.is_output) == (text, is_thought, is_output)


def test_that_usage_and_a_build_are_read() -> None:
    chunk = _chunk(
        {
            "choices": [],
            "system_fingerprint": "b1-abc",
            "usage": {
                "prompt_tokens": 9,
                "completion_tokens": 4,
                "prompt_tokens_details": {"cached_tokens": 3},
            },
        }
    )
    assert chunk.usage == Usage(prompt_tok=9, cached_tok=3, new_tok=4)
    assert chunk.build == "b1-abc"


def test_that_timings_of_llama_server_come_to_times_per_token_after_the_first() -> None:
    told = {"predicted_n": 5, "predicted_ms": 80.0, "prompt_n": 30, "prompt_ms": 60.0}
    timings = _chunk({"choices": [], "timings": told}).timings
    assert timings is not None
    assert timings.tpot_s == pytest.approx(0.020)
    assert timings.prefill_tok_s == pytest.approx(500.0)


@pytest.mark.parametrize("told", [None, [], {"predicted_n": "5"}, {"predicted_n": 0}, "fast"])
def test_that_timings_of_another_shape_are_none(told: object) -> None:
    assert _chunk({"timings": told}).timings is None


@pytest.mark.parametrize(
    "value",
    [{"error": {"message": "out of memory"}}, {"error": "out of memory"},
     {"object": "error", "message": "out of memory", "code": 500}],
)  # fmt: skip
def test_that_an_error_in_the_middle_is_told_in_the_servers_words(value: object) -> None:
    with pytest.raises(ChunkError, match=r"broke the answer off: out of memory\.$"):
        _chunk(value)


@pytest.mark.parametrize("data", [b"", b"{", b"\xff\xfe", b"<html>", b"[1]", b"null", b"[" * 9_999])
def test_that_nonsense_is_refused_in_a_sentence(data: bytes) -> None:
    with pytest.raises(ChunkError, match="The server sent what is no"):
        chunk_of(data)


_NAMES = st.sampled_from(
    ["choices", "delta", "content", "finish_reason", "usage", "timings", "predicted_n",
     "predicted_ms", "prompt_tokens", "prompt_tokens_details", "cached_tokens", "x"]
)  # fmt: skip
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=6),
    max_leaves=20,
)


@given(st.dictionaries(_NAMES, _JSON, max_size=6))
def test_that_fields_of_any_shape_are_borne(value: dict[str, object]) -> None:
    chunk = chunk_of(json.dumps(value).encode().replace(b"NaN", b"0").replace(b"Infinity", b"0"))
    assert isinstance(chunk.text, str)
    assert chunk.usage is None or (chunk.usage.new_tok or 0) >= 0


def test_that_a_servers_words_are_one_short_line() -> None:
    assert shown("two\nlines\x1b[31m") == "two lines [31m"
    assert len(shown("x" * 10_000)) < 200
    assert error_message({"error": {"message": "No slot"}}) == "No slot."
    assert error_message({"detail": [{"msg": "bad"}]}) == '[{"msg":"bad"}].'
    assert error_message({}) == "it does not say why."
