"""Settings that were made for one model, and what becomes of them when another one is opened.

Pure; knows configurations.
"""

from __future__ import annotations

from engine_bridge.settings.config import EngineConfig

# Files beside the model's own, corrections of its metadata, and what was counted in its tokens.
OF_ONE_MODEL = (
    "lora", "override_kv", "mmproj_path", "lookup_cache_static_path", "lookup_cache_dynamic_path",
)  # fmt: skip


def for_file(config: EngineConfig, path: str) -> EngineConfig:
    """``config`` without what was made for one model, where ``path`` is another one's."""
    if config.model_path in ("", path):
        return config
    defaults = EngineConfig()
    return config.with_values({key: getattr(defaults, key) for key in OF_ONE_MODEL})


def with_model_of(loaded: EngineConfig, config: EngineConfig) -> EngineConfig:
    """``config`` with the model of ``loaded``, and what was made for it where it is another."""
    if config.model_path == loaded.model_path:
        return config
    keys = ("model_path", *OF_ONE_MODEL)
    return config.with_values({key: getattr(loaded, key) for key in keys})
