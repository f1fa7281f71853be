"""What the values of the placement's settings mean here, and which of them need a board."""

from __future__ import annotations

from collections.abc import Callable

from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig

Words = Callable[[EngineConfig, ModelFacts | None], str]

# Settings that say nothing where there is nothing but the CPU.
OF_BOARDS = frozenset(
    {
        "n_gpu_layers", "fit_margin_mib", "draft_n_gpu_layers", "kv_offload", "op_offload",
        "no_host", "n_cpu_moe", "cpu_moe", "n_cpu_ffn", "split_mode", "tensor_split", "main_gpu",
    }
)  # fmt: skip
NEEDS_A_BOARD = "takes effect with a GPU or a remote worker"
_NO_EXPERTS = "this model has no experts"
_SPLIT_WORDS = {
    "none": "the main GPU takes the whole model",
    "layer": "each GPU takes some of the layers",
    "row": "every GPU takes some rows of the weights",
    "tensor": "all GPUs compute each layer; experimental",
}
_LOAD_WORDS = {
    "none": "copied into RAM",
    "mmap": "mapped: the system may drop and reread pages",
    "mlock": "copied into RAM and pinned there",
    "mmap+mlock": "mapped and pinned in RAM",
    "dio": "read past the page cache",
}


def leaves_layers_to_auto(config: EngineConfig) -> bool:
    """Whether the number of some model's layers on boards is left to ``auto``."""
    return "auto" in (config.n_gpu_layers, config.draft_n_gpu_layers)


def _margin(config: EngineConfig, _: ModelFacts | None) -> str:
    return "" if leaves_layers_to_auto(config) else "takes effect where layers are left to auto"


def _of_layers(count: int, what: str, model: ModelFacts | None) -> str:
    if not count:
        return f"none: {what} go where their layer goes"
    if model is None:
        return f"{what} of the first {count} layers stay in RAM"
    return f"{what} of {min(count, model.layers)} of {model.layers} layers stay in RAM"


def _experts(config: EngineConfig, model: ModelFacts | None) -> str:
    if model is not None and not model.experts:
        return _NO_EXPERTS
    return _of_layers(config.n_cpu_moe, "experts", model)


def _all_experts(config: EngineConfig, model: ModelFacts | None) -> str:
    if model is not None and not model.experts:
        return _NO_EXPERTS
    return "" if config.cpu_moe else "off: experts go where their layer goes"


def _ffn(config: EngineConfig, model: ModelFacts | None) -> str:
    return _of_layers(config.n_cpu_ffn, "FFN weights", model)


def _overrides(config: EngineConfig, _: ModelFacts | None) -> str:
    count = len(config.override_tensor)
    return f"{count} patterns: the first that finds a name decides" if count > 1 else ""


def _shares(config: EngineConfig, _: ModelFacts | None) -> str:
    if not config.tensor_split:
        return "auto: by the memory that is free"
    parts = [float(text) for text in config.tensor_split]
    total = sum(parts)
    return " · ".join(f"{part / total:.0%}" for part in parts) if total else ""


def _main_gpu(config: EngineConfig, _: ModelFacts | None) -> str:
    if config.split_mode in ("none", "row"):
        return f"GPU {config.main_gpu} of those there are, counted from 0"
    return "takes effect with split mode none or row"


def _devices(config: EngineConfig, _: ModelFacts | None) -> str:
    if config.devices == ("none",):
        return "everything stays on the CPU"
    return "these and no others, in this order" if config.devices else ""


def _kv_offload(config: EngineConfig, _: ModelFacts | None) -> str:
    return "" if config.kv_offload else "off: in RAM, which slows long contexts"


def _load_mode(config: EngineConfig, _: ModelFacts | None) -> str:
    return _LOAD_WORDS.get(config.load_mode, "")


def _repack(config: EngineConfig, _: ModelFacts | None) -> str:
    return "" if config.repack else "off: less memory, slower on the CPU"


PLACEMENT_WORDS: dict[str, Words] = {
    "fit_margin_mib": _margin,
    "n_cpu_moe": _experts,
    "cpu_moe": _all_experts,
    "n_cpu_ffn": _ffn,
    "override_tensor": _overrides,
    "split_mode": lambda config, _: _SPLIT_WORDS[config.split_mode],
    "tensor_split": _shares,
    "main_gpu": _main_gpu,
    "devices": _devices,
    "kv_offload": _kv_offload,
    "load_mode": _load_mode,
    "repack": _repack,
}
