"""llama.cpp's server under its classic name, ``llama-server``."""

from __future__ import annotations

from app.export import llama_flags
from app.export.dialect import Export, written
from app.export.llama_flag import situation_of
from app.quoting import Shell
from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig

TARGET = "llama-server"


def export(
    config: EngineConfig,
    effective: EffectiveConfig | None,
    facts: ModelFacts | None,
    shell: Shell = Shell.POSIX,
) -> Export:
    """``config`` as a ``llama-server`` command line."""
    situation = situation_of(config, effective, facts, TARGET, shell)
    return written(
        TARGET,
        ("llama-server", *llama_flags.words(situation)),
        llama_flags.notes(situation),
        llama_flags.not_carried(situation),
        shell,
    )
