"""What an engine made of the settings that a line is written for, and not of others.

Must not know any engine's flags.
"""

from __future__ import annotations

from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.settings.config import EngineConfig

# What decides where layers can lie at all. Beside other values of these the layers, the threads and
# flash attention of an earlier answer are those of another machine.
_DECIDING = (
    "model_path", "n_gpu_layers", "fit_margin_mib", "n_cpu_moe", "cpu_moe", "n_cpu_ffn",
    "override_tensor", "split_mode", "tensor_split", "main_gpu", "devices", "rpc_servers",
    "kv_offload",
)  # fmt: skip


def effective_for(
    wanted: EngineConfig, *answers: tuple[EngineConfig, EffectiveConfig | None]
) -> EffectiveConfig | None:
    """The answer for ``wanted``; else the first that places layers by the same settings.

    Args:
        wanted: What the line is to say.
        answers: Configurations, each with what an engine made of it, the best ones first.

    Returns:
        None where every answer is for another placement, or there is none.
    """
    known = [(config, effective) for config, effective in answers if effective is not None]
    for config, effective in known:
        if config == wanted:
            return effective
    for config, effective in known:
        if all(getattr(config, key) == getattr(wanted, key) for key in _DECIDING):
            return effective
    return None
