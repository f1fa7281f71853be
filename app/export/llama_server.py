"""llama.cpp's server under its classic name, ``llama-server``."""

from __future__ import annotations

from app.export.dialect import Export, exported
from app.export.told import told
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
    server = told(config, effective, facts, TARGET, shell)
    return exported(TARGET, ("llama-server", *server.words), server.notes, server.answers, shell)
