"""Where one model is to go, as the pointers that ``llama_model_params`` takes.

Knows devices, buffer types and llama.cpp's own patterns for ``--cpu-moe`` and its like
(``common/common.h``); the structs are handed in, so that the library is not imported here.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from engine_bridge.child.ggml import Ggml
from engine_bridge.child.native_params import fill_model_params
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.placement_items import (
    KvKind,
    KvOverride,
    kv_override,
    proportion,
    tensor_override,
)

# LLM_FFN_EXPS_REGEX, LLM_FFN_DENSE_REGEX and llm_ffn_block_regex of common/common.h.
EXPERTS_PATTERN = r"\.ffn_(up|down|gate|gate_up)_(ch|)exps"
DENSE_FFN_PATTERN = r"\.ffn_(up|down|gate)\."
HOST_BUFFER = "CPU"
NO_DEVICES = ("none",)
# enum llama_model_kv_override_type
_KV_TAGS: dict[KvKind, int] = {"int": 0, "float": 1, "bool": 2, "str": 3}
_KV_FIELDS: dict[KvKind, str] = {
    "int": "val_i64", "float": "val_f64", "bool": "val_bool", "str": "val_str",
}  # fmt: skip


class PlacementError(ValueError):
    """A device or buffer type that is not there; the message is a sentence for the user.

    Attributes:
        key: The setting that names it.
    """

    def __init__(self, key: str, sentence: str) -> None:
        """Say it of the setting ``key``."""
        super().__init__(sentence)
        self.key = key


class _TensorOverride(ctypes.Structure):
    """llama_model_tensor_buft_override; the list ends with one of nulls."""

    _fields_ = (("pattern", ctypes.c_char_p), ("buffer_type", ctypes.c_void_p))


class ModelParams:
    """A filled ``llama_model_params`` with all it points to; must live as long as the model.

    Attributes:
        config: What it was filled from.
        struct: The parameters; the caller sets the progress callback.
        devices: Handles of the devices that may take layers, in order.
        device_names: Their names.
        is_dry: Whether the load is only pretended.
        workers: Remote workers that a model loaded with it holds a connection to.
    """

    def __init__(
        self,
        config: EngineConfig,
        lib: Any,  # noqa: ANN401
        ggml: Ggml,
        *,
        no_alloc: bool = False,
        fast_vocab: tuple[str, int] | None = None,
    ) -> None:
        """Look up what ``config`` names.

        Args:
            config: Placement, load mode and metadata overrides are taken from it.
            lib: The binding's raw calls and structs.
            ggml: Knows devices and buffer types.
            no_alloc: Whether the load is only pretended.
            fast_vocab: See ``kv_overrides_of``.

        Raises:
            PlacementError: If a device or a buffer type is not there.
        """
        self.config = config
        self.workers = () if no_alloc else config.rpc_servers
        self.devices = devices_of(config, ggml)
        self.device_names = tuple(ggml.name_of(handle) for handle in self.devices)
        self.is_dry = no_alloc
        self._kept: list[Any] = []
        self.struct = params = lib.llama_model_default_params()
        fill_model_params(params, config, no_alloc=no_alloc)
        # Left to llama.cpp where it chooses the same: it also sees one GPU behind two backends.
        if config.devices or not ggml.uses_every_worker:
            ended = (*self.devices, None)
            params.devices = self._address_of((ctypes.c_void_p * len(ended))(*ended))
        if (overrides := _overrides_of(config, ggml)) is not None:
            params.tensor_buft_overrides = self._address_of(overrides)
        if config.tensor_split:
            params.tensor_split = _shares_of(config, lib.llama_max_devices())
        params.kv_overrides = kv_overrides_of(config, lib.llama_model_kv_override, fast_vocab)

    def _address_of(self, array: Any) -> int:  # noqa: ANN401
        """Where ``array`` lies; it is kept from now on, which an address alone does not do."""
        self._kept.append(array)
        return ctypes.addressof(array)


def devices_of(config: EngineConfig, ggml: Ggml) -> tuple[int, ...]:
    """Handles of the devices that ``config`` lets take layers.

    Raises:
        PlacementError: If one is not there.
    """
    if config.devices == NO_DEVICES:
        return ()
    boards = ggml.boards()
    if not config.devices:
        return boards
    by_name = {ggml.name_of(handle): handle for handle in ggml.handles()}
    by_name = {n: h for n, h in by_name.items() if ggml.kind_of(h) != "cpu"}
    for name in config.devices:
        if name not in by_name:
            there = ", ".join(by_name)
            ways = f"there are: {there}. Choose others." if there else "nor any other but the CPU."
            raise PlacementError("devices", f"There is no device {name!r} here; {ways}")
    return tuple(by_name[name] for name in config.devices)


def override_patterns(config: EngineConfig) -> tuple[tuple[str, str], ...]:
    """Patterns of tensor names and the buffer each goes to, in the order that decides.

    The order is that of the exported line: experts, dense FFN, then what was written by hand.
    """
    found: list[tuple[str, str]] = []
    if config.cpu_moe:
        found.append((EXPERTS_PATTERN, HOST_BUFFER))
    for layers, pattern in (
        (config.n_cpu_moe, EXPERTS_PATTERN),
        (config.n_cpu_ffn, DENSE_FFN_PATTERN),
    ):
        found += [(rf"blk\.{layer}{pattern}", HOST_BUFFER) for layer in range(layers)]
    return (*found, *(tensor_override(text) for text in config.override_tensor))


def _shares_of(config: EngineConfig, most: int) -> Any:  # noqa: ANN401
    """Shares of the devices, as many as the library reads (``llama_max_devices``)."""
    shares = [proportion(text) for text in config.tensor_split[:most]]
    return (ctypes.c_float * most)(*shares)


def buffers_of(patterns: Sequence[tuple[str, str]], ggml: Ggml) -> list[int]:
    """Handles of the buffer types that ``patterns`` name.

    Raises:
        PlacementError: If one is not there.
    """
    if not patterns:
        return []
    buffers = ggml.buffer_types()
    for _, buffer in patterns:
        if buffer not in buffers:
            raise PlacementError(
                "override_tensor",
                f"There is no buffer type {buffer!r} here; there are: {', '.join(buffers)}. Name "
                "one of these behind the =.",
            )
    return [buffers[buffer] for _, buffer in patterns]


def _overrides_of(config: EngineConfig, ggml: Ggml) -> Any | None:  # noqa: ANN401
    patterns = override_patterns(config)
    buffers = buffers_of(patterns, ggml)
    if not patterns:
        return None
    array = (_TensorOverride * (len(patterns) + 1))()
    for entry, (pattern, _), buffer in zip(array, patterns, buffers, strict=False):
        entry.pattern, entry.buffer_type = pattern.encode(), buffer
    return array


def kv_overrides_of(
    config: EngineConfig,
    struct: Any,  # noqa: ANN401
    fast_vocab: tuple[str, int] | None = None,
) -> Any | None:  # noqa: ANN401
    """An array of ``llama_model_kv_override`` that an empty key ends; None without any.

    Args:
        config: What a user overrides.
        struct: The struct's class.
        fast_vocab: Architecture and vocabulary size of a model whose vocabulary is not to be built;
            the size is what the model then believes.
    """
    wanted = [kv_override(text) for text in config.override_kv]
    if fast_vocab is not None:
        architecture, size = fast_vocab
        wanted = [one for one in wanted if not one.key.startswith("tokenizer.")]
        wanted.append(KvOverride("tokenizer.ggml.model", "str", "none"))
        wanted.append(KvOverride(f"{architecture}.vocab_size", "int", size))
    if not wanted:
        return None
    array = (struct * (len(wanted) + 1))()
    for entry, (key, kind, value) in zip(array, wanted, strict=False):
        entry.tag, entry.key = _KV_TAGS[kind], key.encode()
        held = value.encode() if isinstance(value, str) else value
        setattr(entry.value, _KV_FIELDS[kind], held)
    return array
