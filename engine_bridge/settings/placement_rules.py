"""Rules of placement that hold on every machine; what is there on this one is the engine's to say.

Sources: ``llama_init_from_model`` (src/llama-context.cpp), ``llm_arch_supports_sm_tensor``
(src/llama-arch.cpp), ``llama_prepare_model_devices`` (src/llama.cpp).
"""

from __future__ import annotations

import msgspec

from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import Value
from engine_bridge.settings.placement_items import endpoint
from engine_bridge.settings.problem import Problem, Rule, Severity

# Architectures whose tensors llama.cpp cannot cut for split mode tensor.
UNSPLITTABLE = frozenset(
    {
        "bailingmoe3", "bitnet", "deepseek2", "deepseek32", "dots3note", "falcon-h1", "gemma3n",
        "glm-dsa", "glm5-next", "granitehybrid", "grok", "hy_v4", "jamba", "kimi-k3",
        "kimi-linear", "mamba", "mamba2", "minicpm3", "minimax-01", "minimax-m2", "minimax-m3",
        "mistral4", "mpt", "nemotron_h", "nemotron_h_moe", "olmo2", "olmoe", "plamo2", "qwen3tts",
        "qwen4exp", "t5",
    }
)  # fmt: skip


def _tensor_split_needs_flash_attention(
    config: EngineConfig, _: ModelFacts | None
) -> Problem | None:
    if config.split_mode != "tensor" or config.flash_attn != "off":
        return None
    return Problem(
        ("split_mode", "flash_attn"),
        "Split mode tensor needs flash attention, which is off; llama.cpp refuses to make this "
        "context. Set flash attention to auto, or split by layer.",
        {"flash_attn": "auto"},
    )


def _architecture_cannot_be_cut(config: EngineConfig, model: ModelFacts | None) -> Problem | None:
    if model is None or config.split_mode != "tensor" or model.architecture not in UNSPLITTABLE:
        return None
    return Problem(
        ("split_mode",),
        f"llama.cpp cannot cut the tensors of {model.architecture} models, so split mode tensor "
        "does not load them. Split by layer.",
        {"split_mode": "layer"},
    )


def _none_stands_alone(config: EngineConfig, _: ModelFacts | None) -> Problem | None:
    if "none" not in config.devices or len(config.devices) == 1:
        return None
    others = tuple(name for name in config.devices if name != "none")
    return Problem(
        ("devices",),
        f"None means no device, and {', '.join(others)} stands beside it. Name devices or none.",
        {"devices": others},
    )


def _main_gpu_has_no_effect(config: EngineConfig, _: ModelFacts | None) -> Problem | None:
    if config.main_gpu == 0 or config.split_mode in ("none", "row"):
        return None
    return Problem(
        ("main_gpu", "split_mode"),
        f"The main GPU counts with split mode none or row; split by {config.split_mode}, every "
        "device takes its share.",
        {"main_gpu": 0},
        Severity.WARNING,
    )


def _no_experts(config: EngineConfig, model: ModelFacts | None) -> Problem | None:
    if model is None or model.experts or not (config.cpu_moe or config.n_cpu_moe):
        return None
    fix: dict[str, Value] = {"cpu_moe": False} if config.cpu_moe else {}
    if config.n_cpu_moe:
        fix["n_cpu_moe"] = 0
    return Problem(
        tuple(fix),
        f"{model.name} has no experts that could stay on the CPU. For a dense model there is the "
        "number of FFN layers on CPU.",
        fix,
        Severity.WARNING,
    )


def _only_experts(config: EngineConfig, model: ModelFacts | None) -> Problem | None:
    if not config.cpu_moe or not config.n_cpu_moe or (model is not None and not model.experts):
        return None
    return Problem(
        ("n_cpu_moe", "cpu_moe"),
        "All experts stay on the CPU, so a number of expert layers changes nothing.",
        {"n_cpu_moe": 0},
        Severity.WARNING,
    )


def _worker_beyond_this_machine(config: EngineConfig, _: ModelFacts | None) -> Problem | None:
    remote = [text for text in config.rpc_servers if not endpoint(text).is_loopback]
    if not remote:
        return None
    return Problem(
        ("rpc_servers",),
        f"{', '.join(remote)}: the workers' protocol has no password and no encryption. Whoever "
        "reaches that port can read what is computed there and harm that machine: use it only in "
        "a network you trust.",
        {"rpc_servers": tuple(text for text in config.rpc_servers if text not in remote)},
        Severity.WARNING,
    )


def without_placement(config: EngineConfig) -> EngineConfig:
    """``config`` with everything on this machine's processor, for a look at its file alone."""
    return msgspec.structs.replace(
        config,
        n_gpu_layers=0,
        n_cpu_moe=0,
        cpu_moe=False,
        n_cpu_ffn=0,
        override_tensor=(),
        split_mode="layer",
        tensor_split=(),
        main_gpu=0,
        devices=("none",),
        rpc_servers=(),
    )


PLACEMENT_RULES: tuple[Rule, ...] = (
    _tensor_split_needs_flash_attention,
    _architecture_cannot_be_cut,
    _none_stands_alone,
    _main_gpu_has_no_effect,
    _no_experts,
    _only_experts,
    _worker_beyond_this_machine,
)
