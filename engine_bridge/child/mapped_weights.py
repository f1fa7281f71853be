"""How much of a model's file will be mapped as weights, predicted from its tensor table.

llama.cpp maps, of each file, the stretch from the first to the last tensor that stays in plain host
memory. Tensors it repacks or puts onto a board lie elsewhere; inside the stretch they still count.
Pure: knows tensors and byte counts only.
"""

from __future__ import annotations

import itertools
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable

from engine_bridge.gguf_header import TensorFacts
from engine_bridge.model_facts import ModelFacts

_BLOCK = re.compile(r"blk\.(\d+)\.")
# The input layer is never offloaded (load_tensors in src/llama-model.cpp); the norm behind it goes
# with the first layer. LFM2's output norm bears that name too and goes with the output, but lies
# between what stays on the host wherever the first layer does, so it counts all the same.
_INPUT = frozenset({"token_embd", "per_layer_token_embd", "position_embd", "token_types"})
_INPUT_NORM = "token_embd_norm"
# Types that ggml may repack for some processor (ggml-cpu/repack.cpp).
_REPACKABLE = frozenset({"Q1_0", "Q4_0", "Q4_K", "Q2_K", "Q5_K", "Q6_K", "Q8_0", "IQ4_NL", "MXFP4"})
# Buffers are padded by less than this a tensor.
_PADDING_BYTES = 64
_HOST_BUFFER = "CPU"


def without_guessing_layers(
    parts: Iterable[tuple[TensorFacts, ...]], facts: ModelFacts
) -> tuple[tuple[TensorFacts, ...], ...]:
    """The tensors that are loaded where nothing asks the layers behind the model's own (NextN)."""

    def is_loaded(tensor: TensorFacts) -> bool:
        block = _BLOCK.match(tensor.name)
        return not block or int(block[1]) < facts.layers

    return tuple(tuple(filter(is_loaded, part)) for part in parts)


def mapped_bytes(
    parts: Iterable[tuple[TensorFacts, ...]],
    repacked_bytes: int,
    first_gpu_layer: int | None,
    overrides: Iterable[tuple[str, str]] = (),
) -> int:
    """Bytes of the mapped stretches of all parts.

    Args:
        parts: Tensors of each file, in file order.
        repacked_bytes: What the dry model says is repacked.
        first_gpu_layer: First layer on a board, None without one.
        overrides: Patterns of tensor names and the buffer type each goes to; the first that finds
            a name decides.
    """
    files = tuple(parts)
    patterns = [(_compiled(pattern), buffer) for pattern, buffer in overrides]

    def is_on_host(tensor: TensorFacts) -> bool:
        for pattern, buffer in patterns:
            if pattern.search(tensor.name):
                return buffer == _HOST_BUFFER
        return first_gpu_layer is None or _is_on_host(tensor, first_gpu_layer)

    on_host = tuple(tuple(filter(is_on_host, file)) for file in files)
    is_repacked = _repacking(on_host, repacked_bytes)

    def is_mapped(tensor: TensorFacts) -> bool:
        return is_on_host(tensor) and not is_repacked(tensor)

    return sum(_stretch(file, is_mapped) for file in files)


def _compiled(pattern: str) -> re.Pattern[str]:
    """A pattern of llama.cpp, whose dialect differs only in what the settings refuse."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return re.compile(pattern)


def _stretch(file: tuple[TensorFacts, ...], is_mapped: Callable[[TensorFacts], bool]) -> int:
    mapped = [tensor for tensor in file if is_mapped(tensor)]
    if not mapped:
        return 0
    return mapped[-1].offset + mapped[-1].bytes - mapped[0].offset


def _is_on_host(tensor: TensorFacts, first_gpu_layer: int) -> bool:
    block = _BLOCK.match(tensor.name)
    if block:
        return int(block[1]) < first_gpu_layer
    is_norm = _stem(tensor) == _INPUT_NORM
    return _stem(tensor) in _INPUT or (is_norm and first_gpu_layer > 0)


def _stem(tensor: TensorFacts) -> str:
    return tensor.name.partition(".")[0]


def _repacking(
    files: tuple[tuple[TensorFacts, ...], ...], repacked_bytes: int
) -> Callable[[TensorFacts], bool]:
    """Which tensors are repacked: the types whose tensors together have just those bytes.

    Which types a processor repacks is ggml's knowledge; the sum tells it without a copy of the
    table. Where no sum fits, none is assumed: only a repacked tensor at the very edge of a file
    would make a difference.
    """
    sizes: Counter[str] = Counter()
    for tensor in itertools.chain.from_iterable(files):
        if _may_be_repacked(tensor):
            sizes[tensor.type_name] += tensor.bytes
    slack = _PADDING_BYTES * sum(len(file) for file in files)
    for count in range(len(sizes) + 1):
        for types in itertools.combinations(sizes, count):
            if abs(sum(sizes[kind] for kind in types) - repacked_bytes) <= slack:
                return lambda tensor: _may_be_repacked(tensor) and tensor.type_name in types
    return lambda _: False


def _may_be_repacked(tensor: TensorFacts) -> bool:
    is_matrix = len(tensor.shape) > 1 and _stem(tensor) not in _INPUT
    return is_matrix and tensor.type_name in _REPACKABLE
