"""That a header's vocabulary is the one that llama.cpp makes of the file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine_bridge.child.llama import LIB, Model
from engine_bridge.gguf_vocabulary import read_vocabulary
from engine_bridge.settings.config import EngineConfig
from tests import models
from tests.tiny_model import write_tiny_llama, write_tiny_mamba

pytestmark = pytest.mark.engine


@pytest.mark.parametrize(
    "find",
    [
        models.gemma_path,
        models.qwen_path,
        lambda folder: write_tiny_llama(folder / "llama.gguf"),
        lambda folder: write_tiny_mamba(folder / "mamba.gguf"),
    ],
    ids=["gemma", "qwen", "tiny llama", "tiny mamba"],
)
def test_that_the_special_tokens_are_those_of_the_loaded_model(
    find: Callable[..., Path], tmp_path: Path
) -> None:
    takes_folder = find not in (models.gemma_path, models.qwen_path)
    path = str(find(tmp_path) if takes_folder else find())
    read = read_vocabulary(path)
    model = Model.load(path, EngineConfig(model_path=path), no_alloc=True, quiet=True)
    try:
        assert read.size == model.vocab
        assert (read.adds_bos, read.bos) == (model.adds_bos, model.bos)
        adds_eos = LIB.llama_vocab_get_add_eos(LIB.llama_model_get_vocab(model.handle))
        assert (read.adds_eos, read.eos) == (adds_eos, model.eos)
        for token in (5, 6, read.size // 2):
            assert model.text_of(token).encode() in read.texts
    finally:
        model.close()
