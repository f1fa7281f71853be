"""What a loaded model's metadata say, as text; part of the facade."""

from __future__ import annotations

import ctypes

from engine_bridge.child.llama import LIB, Model


def told(model: Model, key: str) -> str:
    """The value of ``key``, cut to 255 bytes; empty where the model has none."""
    buffer = ctypes.create_string_buffer(256)
    LIB.llama_model_meta_val_str(model.handle, key.encode(), buffer, 256)
    return buffer.value.decode(errors="replace")


def told_of_architecture(model: Model, key: str) -> str:
    """The value of ``key`` behind the name of the architecture, as most keys are written."""
    return told(model, f"{told(model, 'general.architecture')}.{key}")
