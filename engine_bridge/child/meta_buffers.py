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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from weakref import WeakKeyDictionary

from engine_bridge.child.breakdown import BufferBytes
from engine_bridge.child.ggml import BufferType, Ggml
from engine_bridge.child.placement import ModelParams
from engine_bridge.child.split_tensors import Cut, LayerCache, SplitTensors
from engine_bridge.gguf_header import read_header
from engine_bridge.gguf_windows import windowed_layers
from engine_bridge.settings.cache_type import CACHE_TYPES
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.placement_items import proportion

_META = "Meta("


class _Model(Protocol):
    """A model, as far as it is needed here."""

    handle: Any
    native: ModelParams
    window_tok: int
    layers: int
    is_hybrid: bool


class _Context(Protocol):
    """A context on it, as far as it is needed here."""

    is_guessing: bool
    ctx_tok: int

    @property
    def model(self) -> _Model: ...


@dataclass(frozen=True)
class _Parts:
    """What is known of the devices that are joined.

    Attributes:
        native: What the model was loaded with: the devices, their shares, pretended or not.
        cut: How llama.cpp cuts the tensors, None where it does not say.
        windowed: Layers that look back over a window only.
        is_hybrid: Whether some layers keep a state instead.
        layers: Layers of its own, which those that guess ahead stand behind.
    """

    native: ModelParams
    cut: Cut | None
    windowed: frozenset[int]
    is_hybrid: bool
    layers: int


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
        self, rows: tuple[BufferBytes, ...], context: _Context
    ) -> tuple[BufferBytes, ...]:
        """``rows`` with those of a Meta device said of its parts.

        Args:
            rows: Bytes by buffer type.
            context: Whose they are, dry or real.
        """
        devices = context.model.native.device_names
        if not devices or not any(row.buffer.device.startswith(_META) for row in rows):
            return rows
        parts = self._parts_of(context.model)
        found: list[BufferBytes] = []
        for row in rows:
            if not row.buffer.device.startswith(_META):
                found.append(row)
                continue
            weights, caches = _by_shares(row, parts.native)
            if parts.cut is not None:
                weights = parts.cut.weights
                caches = _caches(row.context, parts, parts.cut, context) or caches
            for name, model_bytes, context_bytes in zip(devices, weights, caches, strict=True):
                buffer = BufferType(name, name, False)
                found.append(BufferBytes(buffer, model_bytes, context_bytes, row.compute))
        return tuple(found)

    def _parts_of(self, model: _Model) -> _Parts:
        native = model.native
        parts = self._known.get(native)
        if parts is None:
            address = ctypes.cast(model.handle, ctypes.c_void_p).value or 0
            cut = self._tensors.cut_of(address, len(native.device_names))
            windowed = _windowed_layers(model)
            parts = _Parts(native, cut, windowed, model.is_hybrid, model.layers)
            self._known[native] = parts
        return parts


def _windowed_layers(model: _Model) -> frozenset[int]:
    if not model.window_tok:
        return frozenset()
    header = read_header(model.native.config.model_path)
    arch = header.text("general.architecture")
    flags = windowed_layers(header, arch, model.layers)[1]
    return frozenset(layer for layer, is_windowed in enumerate(flags) if is_windowed)


def _caches(size: int, parts: _Parts, cut: Cut, context: _Context) -> tuple[int, ...]:
    """The caches on each device; empty where the tensors do not tell.

    Those without a window are known by their layers, so what is left of ``size`` is the others':
    windowed ones, or states.
    """
    own = {layer: cache for layer, cache in cut.caches.items() if layer < parts.layers}
    whole = sum if parts.native.is_dry else max
    if context.is_guessing:
        shape = _per_token(cut.caches, frozenset(own), parts, is_windowed=False)
        return _cut(size, shape, whole(shape)) if any(shape) else ()
    full = _per_token(own, parts.windowed, parts, is_windowed=False)
    known = [bytes_per_tok * context.ctx_tok for bytes_per_tok in full]
    left = size - round(whole(known))
    if parts.is_hybrid and not cut.states:  # short convolutions are computed by every device
        return tuple(round(one) + left for one in known)
    shape = _per_token(own, parts.windowed, parts, is_windowed=True)
    for values in () if any(shape) else cut.states.values():
        shape = [one + value for one, value in zip(shape, values, strict=True)]
    shape = shape if any(shape) else full
    if not any(shape) or left < 0:
        return ()
    rest = _cut(left, shape, whole(shape))
    return tuple(round(one) + more for one, more in zip(known, rest, strict=True))


def _per_token(
    caches: Mapping[int, LayerCache], windowed: frozenset[int], parts: _Parts, *, is_windowed: bool
) -> list[float]:
    """Bytes of a token on each device, over the layers that are ``windowed`` or over the others."""
    config = parts.native.config
    found = [0.0] * len(parts.native.device_names)
    for layer, cache in caches.items():
        if (layer in windowed) is not is_windowed:
            continue
        for device in range(len(found)):
            found[device] += _bytes(cache.k_values[device], config.cache_type_k)
            found[device] += _bytes(cache.v_values[device], config.cache_type_v)
    return found


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
