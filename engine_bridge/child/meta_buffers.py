"""Split mode tensor: what ggml says of the one device that stands for several, said of each.

ggml joins the devices to a "Meta" device whose buffers are as large as the largest part in a loaded
model, and as large as all parts together in a pretended one (``ggml-backend-meta.cpp``). What each
device gets of the weights and caches is asked of llama.cpp (``split_tensors``). Every device
computes on all tokens, so compute buffers stand in each whole. Not counted, neither here nor by
llama.cpp: room for the sums that devices exchange, which the first step takes (at most the
activations of a micro-batch).
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from weakref import WeakKeyDictionary

from engine_bridge.child.breakdown import BufferBytes
from engine_bridge.child.ggml import BufferType, Ggml
from engine_bridge.child.placement import ModelParams
from engine_bridge.child.split_tensors import Cut, SplitTensors
from engine_bridge.gguf_header import read_header
from engine_bridge.gguf_windows import windowed_layers
from engine_bridge.settings.cache_type import CACHE_TYPES
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.placement_items import proportion

_META = "Meta("


class _Joined(Protocol):
    """A model, as far as it is needed here."""

    handle: Any
    native: ModelParams
    window_tok: int
    layers: int


@dataclass(frozen=True)
class _Parts:
    """What is known of the devices that are joined.

    Attributes:
        native: What the model was loaded with: the devices, their shares, pretended or not.
        cut: How llama.cpp cuts the tensors, None where it does not say.
        windowed: Layers that look back over a window only.
    """

    native: ModelParams
    cut: Cut | None
    windowed: frozenset[int]


class JoinedDevices:
    """Takes apart what is said of devices that are joined.

    Args:
        libllama: The library.
        ggml: Knows buffers.
    """

    def __init__(self, libllama: ctypes.CDLL, ggml: Ggml) -> None:
        """Know no model yet."""
        self._tensors = SplitTensors(libllama, ggml)
        # Asking takes a tenth of a millisecond a tensor, and a slider asks at every step.
        self._known: WeakKeyDictionary[ModelParams, _Parts] = WeakKeyDictionary()

    def said_of_each(
        self, rows: tuple[BufferBytes, ...], model: _Joined, pool_tok: int
    ) -> tuple[BufferBytes, ...]:
        """``rows`` with those of a Meta device said of its parts.

        Args:
            rows: Bytes by buffer type.
            model: The model they belong to, dry or loaded.
            pool_tok: Tokens for which a cache without a window has room.
        """
        devices = model.native.device_names
        if not devices or not any(row.buffer.device.startswith(_META) for row in rows):
            return rows
        parts = self._parts_of(model)
        found: list[BufferBytes] = []
        for row in rows:
            if not row.buffer.device.startswith(_META):
                found.append(row)
                continue
            weights, caches = _by_shares(row, parts.native)
            if parts.cut is not None:
                weights = parts.cut.weights
                caches = _caches(row.context, parts, parts.cut, pool_tok) or caches
            for name, model_bytes, context_bytes in zip(devices, weights, caches, strict=True):
                buffer = BufferType(name, name, False)
                found.append(BufferBytes(buffer, model_bytes, context_bytes, row.compute))
        return tuple(found)

    def _parts_of(self, model: _Joined) -> _Parts:
        native = model.native
        parts = self._known.get(native)
        if parts is None:
            address = ctypes.cast(model.handle, ctypes.c_void_p).value or 0
            cut = self._tensors.cut_of(address, len(native.device_names))
            parts = self._known[native] = _Parts(native, cut, _windowed_layers(model))
        return parts


def _windowed_layers(model: _Joined) -> frozenset[int]:
    if not model.window_tok:
        return frozenset()
    header = read_header(model.native.config.model_path)
    arch = header.text("general.architecture")
    flags = windowed_layers(header, arch, model.layers)[1]
    return frozenset(layer for layer, is_windowed in enumerate(flags) if is_windowed)


def _caches(size: int, parts: _Parts, cut: Cut, pool_tok: int) -> tuple[int, ...]:
    """The caches on each device; empty where the tensors do not tell.

    Those without a window are known by their layers, so what is left of ``size`` is the others':
    windowed ones, or states, of which nothing more is known than that they are cut alike.
    """
    config = parts.native.config
    count = len(parts.native.device_names)
    full, other = [0.0] * count, [0.0] * count
    for layer, cache in cut.caches.items():
        into = other if layer in parts.windowed else full
        for device in range(count):
            into[device] += _bytes(cache.k_values[device], config.cache_type_k)
            into[device] += _bytes(cache.v_values[device], config.cache_type_v)
    if not any(full) and not any(other):
        return ()
    whole = sum if parts.native.is_dry else max
    known = [bytes_per_tok * pool_tok for bytes_per_tok in full]
    if whole(known) > size:  # of a context that has fewer layers, as that of guessing layers
        return _cut(size, full, whole(full))
    shape = other if any(other) else full
    rest = _cut(size - round(whole(known)), shape, whole(shape))
    return tuple(round(one) + more for one, more in zip(known, rest, strict=True))


def _cut(size: int, shape: Sequence[float], whole: float) -> tuple[int, ...]:
    return tuple(round(size * one / whole) for one in shape)


def _bytes(values: int, cache_type: str) -> float:
    return values * CACHE_TYPES[cache_type].bits_per_value / 8


def _by_shares(row: BufferBytes, native: ModelParams) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Weights and caches on each device by the shares asked for, which is right within a layer."""
    shares = _shares(native.config, len(native.device_names))
    whole = 1.0 if native.is_dry else max(shares)
    return _cut(row.model, shares, whole), _cut(row.context, shares, whole)


def _shares(config: EngineConfig, count: int) -> list[float]:
    """Shares that add up to 1; equal ones where none are asked for."""
    asked = [proportion(text) for text in config.tensor_split[:count]]
    asked += [0.0] * (count - len(asked))
    total = sum(asked)
    return [share / total for share in asked] if total else [1 / max(1, count)] * count
