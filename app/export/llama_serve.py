"""llama.cpp's server as a command of the program that unites its tools, ``llama serve``."""

from __future__ import annotations

from app.export.dialect import Export, exported
from app.export.told import told
from app.quoting import Shell
from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig

TARGET = "llama serve"


def export(
    config: EngineConfig,
    effective: EffectiveConfig | None,
    facts: ModelFacts | None,
    shell: Shell = Shell.POSIX,
) -> Export:
    """``config`` as a ``llama serve`` command line."""
    server = told(config, effective, facts, TARGET, shell)
    return exported(TARGET, ("llama", "serve", *server.words), server.notes, server.answers, shell)
