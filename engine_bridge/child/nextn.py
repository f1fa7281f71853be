"""Layers of a model that guess the tokens after the next one (NextN, MTP); part of the facade.

Such a layer reads what the model thought of each token: the hidden state behind its last layer. It
stands in the model's own file, or in one of its own.
Knows the calls of src/llama-ext.h that give these states and choose the layer; they are C++ and
exported under mangled names, as ``llama_cpp.llama_cpp_ext`` of the binding lists them too.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine_bridge.child.llama import LIB, Context, LlamaError, Model
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


def guessing_context(model: Model, config: EngineConfig, *, quiet: bool = False) -> Context:
    """A context of the guessing layers of ``model``, which was loaded with them.

    Args:
        model: The file that holds them: the model's own, or one of nothing else.
        config: What it is built with: ``EngineConfig.mtp``.
        quiet: Do not listen to the log.

    Raises:
        LlamaError: If llama.cpp refuses; with its words.
    """
    if not can_guess():
        raise LlamaError("this build does not export the calls for the model's guessing layers.")
    context = Context.create(model, config, quiet=quiet, is_guessing=True)
    context.is_guessing = True
    _set_thoughts(context.handle, True, True)
    return context


def keep_thoughts(context: Context) -> None:
    """Let ``context`` keep what it thinks of every token, not of those with logits alone."""
    _set_thoughts(context.handle, True, False)
    context.keeps_thoughts = True


def attach_mtp(
    context: Context, config: EngineConfig, model: Model | None = None, *, quiet: bool = False
) -> None:
    """Give ``context`` the context of guessing layers, where ``config`` wants them.

    It lives and ends with ``context``, which from now on keeps what it thinks of every token.

    Args:
        context: The model's.
        config: What ``context`` was built from.
        model: The file that holds the layers, loaded with them; None if the model's own does.
        quiet: Do not listen to the log.

    Raises:
        LlamaError: If llama.cpp refuses, with its words, or the layers are another model's.
    """
    if config.mtp is None:
        return
    mtp = guessing_context(context.model if model is None else model, config.mtp, quiet=quiet)
    own, read = thought_width(context), thought_width(mtp)
    if own != read:  # they would read beyond the end
        mtp.close()
        raise LlamaError(
            f"the guessing layers read states of {read:,} values, and this model's have {own:,}."
        )
    context.mtp = mtp
    keep_thoughts(context)


def try_guesses(model: Model, config: EngineConfig, *, is_run: bool) -> None:
    """Make a context of the guessing layers of ``model``, and drop it.

    Args:
        model: A file that holds them.
        config: What the context is built with.
        is_run: Run each layer once, on a token and a thought of nothing.

    Raises:
        LlamaError: If llama.cpp refuses; with its words.
    """
    context = guessing_context(model, config, quiet=True)
    batch = context.new_batch(1, thought_width(context))
    batch.wants_logits[0] = 1
    for layer in range(guessing_layers(context) if is_run else 0):
        choose_layer(context, layer)
        context.decode(batch, 1)
        context.clear()
    context.close()


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


def thought_bytes(context: Context) -> int:
    """What the thoughts of ``context`` take in its output buffer (``output_reserve``).

    A model's own context keeps a row for each token of a batch where it keeps any, the context of
    guessing layers one for each token with logits.
    """
    rows = context.batch_tok if context.keeps_thoughts else 0
    if context.is_guessing:
        rows = max(context.outputs_max, context.sequences)
    return _FLOAT_BYTES * thought_width(context) * rows
