"""Split mode tensor: how llama.cpp cuts each tensor of a model, asked of llama.cpp itself.

Parts follow heads, blocks of quantisation and a rotation by layer, so they are not the shares that
were asked for: of 8 experts of 96 values with shares 3:1 one device holds all, not three quarters.
Knows the layout of libstdc++'s ``std::vector`` and the head of ``ggml_tensor``; must not know
contexts.
"""

from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from engine_bridge.child.ggml import Ggml

# llama_meta_device_get_split_state and llama_internal_get_tensor_map of src/llama-model.h and
# src/llama-ext.h, as the Itanium ABI spells them.
_STATE_SYMBOL = "_Z33llama_meta_device_get_split_statePK11ggml_tensorPv"
_TENSORS_SYMBOL = "_Z29llama_internal_get_tensor_mapB5cxx11PK11llama_model"
# GGML_BACKEND_META_MAX_DEVICES and the segments of one tensor.
_MOST_DEVICES, _MOST_SEGMENTS = 16, 16
_MOST_AXES = 4
# std::pair<std::string, ggml_tensor *> of libstdc++: the string takes 32 bytes.
_PAIR_BYTES, _POINTER_AT = 40, 32
_LAYER = re.compile(r"blk\.(\d+)\.")


class _Tensor(ctypes.Structure):
    """The head of ggml_tensor."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("buffer", ctypes.c_void_p),
        ("ne", ctypes.c_int64 * _MOST_AXES),
    )


class _State(ctypes.Structure):
    """ggml_backend_meta_split_state: values by segment and device, repeats of each segment."""

    _fields_ = (
        ("axis", ctypes.c_int),
        ("ne", ctypes.c_int64 * (_MOST_SEGMENTS * _MOST_DEVICES)),
        ("nr", ctypes.c_uint32 * _MOST_SEGMENTS),
        ("n_segments", ctypes.c_uint32),
    )


class _UserData(ctypes.Structure):
    """llama_meta_device_get_split_state_userdata."""

    _fields_ = (("n_devices", ctypes.c_size_t), ("model", ctypes.c_void_p))


@dataclass(frozen=True)
class LayerCache:
    """What the cache of one layer holds of a token, by device.

    Attributes:
        k_values: Values of the keys.
        v_values: Values of the values; 0 everywhere where they are a part of the keys.
    """

    k_values: tuple[int, ...]
    v_values: tuple[int, ...]


@dataclass(frozen=True)
class Cut:
    """How the tensors of one model are cut.

    Attributes:
        weights: Bytes of them on each device.
        caches: Layers on the devices that keep a cache of keys and values, by their number.
        states: Of layers that keep a state instead the values of their output on each device.
    """

    weights: tuple[int, ...]
    caches: dict[int, LayerCache]
    states: dict[int, tuple[int, ...]]


class SplitTensors:
    """Asks one libllama.

    Args:
        libllama: The library.
        ggml: Knows buffers.
    """

    def __init__(self, libllama: ctypes.CDLL, ggml: Ggml) -> None:
        """Look the symbols up; where one is missing, ``cut_of`` knows nothing."""
        self._ggml = ggml
        self._is_known = False
        if sys.platform != "linux":
            return
        pointer = ctypes.c_void_p
        try:
            self._state = libllama[_STATE_SYMBOL]
            self._tensors = libllama[_TENSORS_SYMBOL]
            self._name = ggml.bind("ggml_get_name", [pointer], ctypes.c_char_p)
            self._size = ggml.bind("ggml_nbytes", [pointer], ctypes.c_size_t)
            self._type_of = ggml.bind("ggml_backend_buffer_get_type", [pointer], pointer)
            self._is_meta = ggml.bind("ggml_backend_buft_is_meta", [pointer], ctypes.c_bool)
        except AttributeError:
            return
        self._state.argtypes, self._state.restype = [pointer, pointer], _State
        self._tensors.argtypes = [pointer]
        self._tensors.restype = ctypes.POINTER(pointer * 3)  # begin, end, end of the room
        self._is_known = True

    def cut_of(self, model: int, devices: int) -> Cut | None:
        """How the tensors on the joined device are cut; None where this build does not say.

        Args:
            model: Address of a ``llama_model`` with split mode tensor, dry or loaded.
            devices: How many devices are joined.
        """
        if not self._is_known or not 0 < devices <= _MOST_DEVICES:
            return None
        data = _UserData(devices, model)
        weights = [0] * devices
        rows: dict[int, dict[str, tuple[int, ...]]] = {}
        for address in self._joined_tensors(model):
            name = (self._name(address) or b"").decode(errors="replace")
            state = self._state(address, ctypes.byref(data))
            for device, size in enumerate(self._sizes(address, state, devices)):
                weights[device] += size
            if layer := _LAYER.match(name):
                found = rows.setdefault(int(layer[1]), {})
                found.update(_cache_rows(name[layer.end() :], state, devices))
        none = (0,) * devices
        caches = {
            layer: LayerCache(row["k"], row.get("v", none))
            for layer, row in rows.items()
            if "k" in row
        }
        states = {layer: row["s"] for layer, row in rows.items() if "s" in row}
        return Cut(tuple(weights), caches, states)

    def _joined_tensors(self, model: int) -> Iterator[int]:
        begin, end, _ = self._tensors(model).contents
        for pair in range(begin or 0, end or 0, _PAIR_BYTES):
            address = ctypes.c_void_p.from_address(pair + _POINTER_AT).value
            buffer = _Tensor.from_address(address).buffer if address else None
            if address and buffer and self._is_meta(self._type_of(buffer)):
                yield address

    def _sizes(self, address: int, state: _State, devices: int) -> list[int]:
        """Bytes of a tensor on each device; whole on all of them where it is not cut."""
        size = int(self._size(address))
        if not 0 <= state.axis < _MOST_AXES:
            return [size] * devices
        whole = _Tensor.from_address(address).ne[state.axis]
        return [size * values // whole for values in _values(state, devices)]


def _values(state: _State, devices: int) -> tuple[int, ...]:
    """Values along the axis on each device."""
    segments = range(state.n_segments)
    return tuple(
        sum(_segment(state, number, devices)[device] * state.nr[number] for number in segments)
        for device in range(devices)
    )


def _segment(state: _State, number: int, devices: int) -> tuple[int, ...]:
    """Values of one repeat of a segment on each device."""
    return tuple(state.ne[number * devices : (number + 1) * devices])


def _cache_rows(name: str, state: _State, devices: int) -> dict[str, tuple[int, ...]]:
    """Values of a token's keys and values, or of a state, on each device, as far as a weight tells.

    A cache is cut as the weights are that fill it (``get_split_granularity``).
    """
    if name == "ssm_out.weight":
        return {"s": _values(state, devices)}
    if name in ("attn_k.weight", "attn_v.weight"):
        return {name[5]: _values(state, devices)}
    if name == "attn_qkv.weight" and state.n_segments > 1:
        last = state.n_segments - 1  # keys and values are one segment twice, or one each
        return {"k": _segment(state, 1, devices), "v": _segment(state, last, devices)}
    return {}
