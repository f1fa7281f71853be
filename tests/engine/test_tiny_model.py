"""That the tiny models are models: llama.cpp loads each and computes finite, repeatable logits."""

from __future__ import annotations

from pathlib import Path

import gguf
import llama_cpp
import numpy as np
import numpy.typing as npt
import pytest

from tests.tiny_model import TinyLlama, write_tiny_llama

pytestmark = pytest.mark.engine
_TEXT = b"hello"


def _logits(path: Path) -> npt.NDArray[np.float32]:
    """Logits after the text, from a load of its own."""
    model = llama_cpp.llama_model_load_from_file(
        str(path).encode(), llama_cpp.llama_model_default_params()
    )
    assert model
    settings = llama_cpp.llama_context_default_params()
    settings.n_ctx = 256
    settings.n_threads = settings.n_threads_batch = 1
    context = llama_cpp.llama_init_from_model(model, settings)
    try:
        assert context
        vocab = llama_cpp.llama_model_get_vocab(model)
        tokens = (llama_cpp.llama_token * 16)()
        count = llama_cpp.llama_tokenize(vocab, _TEXT, len(_TEXT), tokens, 16, True, False)
        assert count > 1
        assert llama_cpp.llama_decode(context, llama_cpp.llama_batch_get_one(tokens, count)) == 0
        row = llama_cpp.llama_get_logits_ith(context, -1)
        size = llama_cpp.llama_vocab_n_tokens(vocab)
        return np.array(np.ctypeslib.as_array(row, (size,)), dtype=np.float32)
    finally:
        llama_cpp.llama_free(context)
        llama_cpp.llama_model_free(model)


@pytest.mark.parametrize(
    "fixture", ["tiny_path", "tiny_chat_path", "tiny_moe_path", "tiny_mamba_path"]
)
def test_that_a_tiny_model_loads_and_decodes(fixture: str, request: pytest.FixtureRequest) -> None:
    path: Path = request.getfixturevalue(fixture)
    first, second = _logits(path), _logits(path)
    assert first.std() > 0.1
    assert np.isfinite(first).all()
    assert np.array_equal(first, second)


def test_that_an_odd_head_size_reaches_the_header(tmp_path: Path) -> None:
    shape = TinyLlama(head_dim=80, ctx_train_tok=2048, vocab_tok=512)
    path = write_tiny_llama(tmp_path / "odd.gguf", shape)
    fields = gguf.GGUFReader(path).fields
    assert fields["llama.attention.key_length"].contents() == 80
    assert fields["llama.context_length"].contents() == 2048
    assert np.isfinite(_logits(path)).all()


def test_that_the_same_arguments_give_the_same_bytes(tmp_path: Path) -> None:
    shape = TinyLlama(vocab_tok=512)
    first = write_tiny_llama(tmp_path / "one" / "tiny.gguf", shape)
    second = write_tiny_llama(tmp_path / "two" / "tiny.gguf", shape)
    assert first.read_bytes() == second.read_bytes()
