"""What a LoRA adapter's file says: whether it fits a model, and how large it is.

Knows llama.cpp's keys for adapters (``llama_adapter_lora_init``); reading bytes is
``gguf_header``'s. Must not know the engine.
"""

from __future__ import annotations

import functools
from pathlib import Path

from engine_bridge.gguf_header import Header, read_header
from engine_bridge.gguf_window import GgufError, shown_name
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.placement_items import LoraFile, lora_file
from engine_bridge.settings.problem import Problem

_FILES_KEPT = 32
_INVOKED = "adapter.alora.invocation_tokens"


def loras_of(config: EngineConfig) -> tuple[LoraFile, ...]:
    """The adapters of ``config`` with their strengths."""
    return tuple(lora_file(text) for text in config.lora)


def lora_bytes(config: EngineConfig) -> int:
    """Bytes that the adapters take beside the weights; what cannot be read counts nothing."""
    total = 0
    for path, _ in loras_of(config):
        try:
            total += sum(tensor.bytes for tensor in _header(path).tensors)
        except (GgufError, OSError):
            continue
    return total


def lora_problem(config: EngineConfig, model: ModelFacts) -> Problem | None:
    """Why an adapter of ``config`` cannot be put on ``model``; its tensors are llama.cpp's to try.

    Args:
        config: Names the adapters.
        model: What they are to bend.
    """
    for path, _ in loras_of(config):
        sentence = _refusal(path, model)
        if sentence:
            return refused_lora(config, path, sentence)
    paths = [path for path, _ in loras_of(config)]
    twice = next((path for path in paths if paths.count(path) > 1), None)
    if twice is not None:
        return refused_lora(config, twice, f"{shown_name(twice)} stands twice among the adapters.")
    return None


def refused_lora(config: EngineConfig, path: str, sentence: str) -> Problem:
    """``sentence`` as a problem whose repair leaves the adapter at ``path`` out."""
    others = tuple(text for text in config.lora if lora_file(text).path != path)
    return Problem(("lora",), sentence, {"lora": others})


def _refusal(path: str, model: ModelFacts) -> str:
    name = shown_name(path)
    try:
        header = _header(path)
    except (GgufError, OSError) as error:
        return f"The LoRA adapter {name} cannot be read: {_why_unread(error)}"
    if header.text("general.type") != "adapter" or header.text("adapter.type") != "lora":
        return f"{name} is no LoRA adapter in GGUF. Choose another file, or convert the adapter."
    architecture = header.text("general.architecture")
    if architecture != model.architecture:
        return (
            f"{name} is an adapter for {architecture or 'unknown'} models, and {model.name} is a "
            f"{model.architecture} model. Choose the adapter of this model, or none."
        )
    if _INVOKED in header.values:
        return (
            f"{name} acts only from certain words of a prompt on (aLoRA), which TuneDeck's engine "
            "does not do. Choose a plain adapter."
        )
    return ""


def _why_unread(error: GgufError | OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return (
            "there is no such file, or its drive is not connected. Write its whole path, or leave "
            "it out."
        )
    return f"{error.strerror or error}." if isinstance(error, OSError) else str(error)


def _header(path: str) -> Header:
    status = Path(path).stat()
    return _read(path, status.st_mtime_ns, status.st_size)


@functools.lru_cache(maxsize=_FILES_KEPT)
def _read(path: str, changed_ns: int, size: int) -> Header:
    """The header of the file that was last changed then and has that size."""
    del changed_ns, size
    return read_header(path)
