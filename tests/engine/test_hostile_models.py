"""Files that end llama.cpp only where it computes: they never come near the model that runs."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from engine_bridge.protocol import Load
from tests.chaos.gguf_fields import Kind, fields_of
from tests.engine.harness import InProcess, random_tokens, tiny_config

pytestmark = pytest.mark.engine
_I32 = 26


def _whole_number_weights(content: bytes) -> bytes:
    """Weights of the feed-forward part that claim to be 32-bit integers."""
    field = next(f for f in fields_of(content) if f.kind is Kind.TENSOR_TYPE and "ffn_up" in f.key)
    return content[: field.at] + struct.pack("<I", _I32) + content[field.end :]


def _negative_epsilon(content: bytes) -> bytes:
    field = next(f for f in fields_of(content) if f.kind is Kind.VALUE and "epsilon" in f.key)
    return content[: field.at] + struct.pack("<f", -1.0) + content[field.end :]


@pytest.mark.parametrize("spoil", [_whole_number_weights, _negative_epsilon])
def test_that_a_file_that_cannot_be_computed_is_refused_beside_a_model(
    desk: InProcess, few_words_path: Path, tmp_path: Path, spoil: Callable[[bytes], bytes]
) -> None:
    desk.load(tiny_config(few_words_path))
    whole, _ = desk.answer(random_tokens(8), max_new_tok=10, ignore_eog=True)
    harmful = tmp_path / "harmful.gguf"
    harmful.write_bytes(spoil(few_words_path.read_bytes()))
    request_id = desk.number()
    desk.send(Load(request_id, tiny_config(harmful)))
    refused = desk.refused(request_id)
    assert "harmful.gguf" in refused.problem.message
    assert "damaged" in refused.problem.message
    assert desk.answer(random_tokens(8), max_new_tok=10, ignore_eog=True)[0] == whole
