"""LoRA adapters on a loaded model: files that bend its weights, each with a strength of its own.

Part of the facade. An adapter lies where the weights lie that it bends; its strength can change
between two steps, its file only with a new context, whose graph is sized for the adapters there
are (``llama_adapter_lora_init``).
"""

from __future__ import annotations

import ctypes
import os

from engine_bridge.child.llama import LIB, LOG, Context, Model
from engine_bridge.child.llama_error import LlamaError
from engine_bridge.gguf_window import shown_name
from engine_bridge.lora_facts import loras_of
from engine_bridge.settings.config import EngineConfig


class LoraError(LlamaError):
    """An adapter that does not go onto the model; the message is a sentence.

    Attributes:
        path: Its file.
    """

    def __init__(self, path: str, said: str) -> None:
        """Say it of the file at ``path`` in llama.cpp's words."""
        super().__init__(
            f"The LoRA adapter {shown_name(path)} does not go onto this model: {said.rstrip('.')}. "
            "It was made for another one; choose its own, or none."
        )
        self.path = path


def load_adapters(model: Model, config: EngineConfig) -> None:
    """Load the adapters of ``config`` that ``model`` has not yet; those not wanted stay.

    Before the context is made: no context may be there that is to be used with a new one.

    Raises:
        LoraError: If one does not fit; the others stay.
    """
    for path, _ in loras_of(config):
        if path in model.adapters:
            continue
        with LOG.captured() as log:
            handle = LIB.llama_adapter_lora_init(model.handle, os.fsencode(path))
        if not handle:
            raise LoraError(path, log.cause or "llama.cpp gave no reason")
        model.adapters[path] = handle


def drop_adapters(model: Model, config: EngineConfig) -> None:
    """Free the adapters that ``config`` does not name; no context may use them any more."""
    wanted = {path for path, _ in loras_of(config)}
    for path in [path for path in model.adapters if path not in wanted]:
        LIB.llama_adapter_lora_free(model.adapters.pop(path))


def apply_adapters(context: Context, config: EngineConfig) -> None:
    """Give the adapters their strengths from the next step on; all are loaded."""
    found = loras_of(config)
    count = len(found)
    handles = (LIB.llama_adapter_lora_p_ctypes * max(1, count))(
        *(context.model.adapters[path] for path, _ in found)
    )
    scales = (ctypes.c_float * max(1, count))(*(scale for _, scale in found))
    LIB.llama_set_adapters_lora(context.handle, handles, count, scales)
