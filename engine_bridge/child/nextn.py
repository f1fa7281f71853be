"""Layers of a model that guess the tokens after the next one (NextN, MTP); part of the facade.

Such a layer reads what the model thought of each token: the hidden state behind its last layer.
Knows the calls of src/llama-ext.h that give these states and choose the layer; they are C++ and
exported under mangled names, as ``llama_cpp.llama_cpp_ext`` of the binding lists them too.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine_bridge.child.llama import LIB, Context, LlamaError
from engine_bridge.settings.config import EngineConfig

_FLOAT_BYTES = 4
_POINTER = ctypes.c_void_p


def _call(names: tuple[str, ...], arguments: list[Any], result: Any) -> Any:  # noqa: ANN401
    """The first of ``names`` that the library exports, None where there is none of them."""
    for name in names:
        try:
            call = LIB._lib[name]
        except AttributeError:
            continue
        call.argtypes, call.restype = arguments, result
        return call
    return None


_set_thoughts = _call(
    (
        "llama_set_embeddings_nextn",
        "_Z26llama_set_embeddings_nextnP13llama_contextbb",
        "?llama_set_embeddings_nextn@@YAXPEAUllama_context@@_N1@Z",
    ),
    [_POINTER, ctypes.c_bool, ctypes.c_bool],
    None,
)
_get_thoughts = _call(
    (
        "llama_get_embeddings_nextn",
        "_Z26llama_get_embeddings_nextnP13llama_context",
        "?llama_get_embeddings_nextn@@YAPEAMPEAUllama_context@@@Z",
    ),
    [_POINTER],
    _POINTER,
)
_set_layer = _call(
    (
        "llama_set_nextn_layer_offset",
        "_Z28llama_set_nextn_layer_offsetP13llama_contexti",
        "?llama_set_nextn_layer_offset@@YAXPEAUllama_context@@H@Z",
    ),
    [_POINTER, ctypes.c_int32],
    None,
)


def can_guess() -> bool:
    """Whether this build has the calls."""
    return None not in (_set_thoughts, _get_thoughts, _set_layer)


def attach_mtp(context: Context, config: EngineConfig, *, quiet: bool = False) -> None:
    """Give ``context`` the context of its model's guessing layers, where ``config`` wants them.

    It lives and ends with ``context``, which from now on keeps what it thinks of every token.

    Args:
        context: Context of a model that was loaded with its guessing layers.
        config: What ``context`` was built from.
        quiet: Do not listen to the log.

    Raises:
        LlamaError: If llama.cpp refuses; with its words.
    """
    if config.mtp is None:
        return
    if not can_guess():
        raise LlamaError("this build does not export the calls for the model's guessing layers.")
    context.mtp = Context.create(context.model, config.mtp, quiet=quiet, mtp_of=context)
    context.mtp.is_guessing = True
    _set_thoughts(context.handle, True, False)  # of every token, not of those with logits alone
    _set_thoughts(context.mtp.handle, True, True)


def guessing_layers(context: Context) -> int:
    """How many guessing layers its model has."""
    return int(LIB.llama_model_n_layer_nextn(context.model.handle))


def choose_layer(context: Context, number: int) -> None:
    """Let ``context`` (of guessing layers) run the layer ``number``, from 0."""
    _set_layer(context.handle, number)


def thought_width(context: Context) -> int:
    """Values of one thought."""
    return int(LIB.llama_model_n_embd_out(context.model.handle))


def thoughts(context: Context, count: int) -> NDArray[np.float32]:
    """What ``context`` thought in its last step, (count, width) float32.

    A view, valid until the next step. Of a model's own context: a row for each token of the batch.
    Of the context of its guessing layers: a row for each token with logits.
    """
    width = thought_width(context)
    cells = (ctypes.c_float * (count * width)).from_address(_get_thoughts(context.handle))
    return np.ctypeslib.as_array(cells).reshape(count, width)


def thought_bytes(context: Context, *, of_outputs_only: bool) -> int:
    """What the thoughts of ``context`` take in its output buffer (``output_reserve``)."""
    rows = max(context.outputs_max, context.sequences) if of_outputs_only else context.batch_tok
    return _FLOAT_BYTES * thought_width(context) * rows
