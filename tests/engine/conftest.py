"""Fixtures of the engine's tests: a loop, and a model whose words come back soon."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.harness import InProcess
from tests.engine.tiny_hybrid import TinyHybrid, write_tiny_hybrid
from tests.engine.tiny_window import write_tiny_window
from tests.engine.typed import newcomer
from tests.tiny_model import TinyLlama, TinyMamba, write_tiny_llama, write_tiny_mamba


@pytest.fixture
def desk() -> Iterator[InProcess]:
    """A loop without a model."""
    with InProcess() as in_process:
        yield in_process


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """That of a user who has kept nothing yet, for commands that are typed."""
    return newcomer(dict(os.environ), tmp_path)


@pytest.fixture(scope="session")
def few_words_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model with 512 tokens: its text repeats itself, so drafts are made and accepted."""
    folder = tmp_path_factory.mktemp("models")
    return write_tiny_llama(folder / "few-words.gguf", TinyLlama(vocab_tok=512))


@pytest.fixture(scope="session")
def draft_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The few-words model without its last layer: a draft that is right now and then."""
    folder = tmp_path_factory.mktemp("models")
    return write_tiny_llama(folder / "draft.gguf", TinyLlama(vocab_tok=512, layers=1))


@pytest.fixture(scope="module", params=["llama", "window", "mamba", "hybrid"])
def memory_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of each kind of memory: a cache, a sliding window, a state, a cache and a state."""
    file = tmp_path_factory.mktemp("models") / f"{request.param}.gguf"
    match request.param:
        case "llama":
            return write_tiny_llama(file, TinyLlama(vocab_tok=512))
        case "window":
            return write_tiny_window(file)
        case "mamba":
            return write_tiny_mamba(file, TinyMamba(vocab_tok=512))
        case _:
            return write_tiny_hybrid(file, TinyHybrid(seed=1))
