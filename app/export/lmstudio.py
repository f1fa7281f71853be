"""LM Studio: its command ``lms load``, and the load configuration of its SDK and server as JSON.

The command says the context, the slots, the share of layers and drafts; the file says all.
"""

from __future__ import annotations

import json

from app.export.carried import answers_for_all
from app.export.dialect import Export, ExportedFile, exported
from app.export.llama_alone import why_not
from app.export.llama_flag import situation_of
from app.export.llama_placement import layers_lost
from app.export.lmstudio_load import ENGINE, LmStudioSheet, say_drafts, say_load, say_room
from app.quoting import Shell
from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig

TARGET = "lmstudio"
FILE_NAME = "lmstudio-load.json"
MODEL_PLACE = "<MODEL KEY: see lms ls>"


def export(
    config: EngineConfig,
    effective: EffectiveConfig | None,
    facts: ModelFacts | None,
    shell: Shell = Shell.POSIX,
) -> Export:
    """``config`` as an ``lms load`` command line with the whole load configuration."""
    sheet = LmStudioSheet(situation_of(config, effective, facts, ENGINE, shell))
    sheet.leave(
        "model_path", f"{ENGINE} calls a model by a key of its own; {MODEL_PLACE} is its place."
    )
    sheet.notes += [
        f"{ENGINE} finds a GGUF file in its models folder, as PUBLISHER/MODEL/FILE, and lms ls "
        f"says its key: put that in the place of {MODEL_PLACE}. The line does not run before.",
        f"lms load takes no file: {FILE_NAME} is the config of llm.load() in the SDK, and says "
        "what the line has no word for.",
    ]
    for part in (say_room, say_load, say_drafts):
        part(sheet)
    file = ExportedFile(
        FILE_NAME,
        json.dumps(sheet.load, indent=2) + "\n",
        "The load configuration: config of llm.load() in LM Studio's SDK.",
    )
    return exported(
        TARGET,
        ("lms", "load", MODEL_PLACE, *sheet.words),
        tuple(sheet.notes),
        answers_for_all(
            why_not(ENGINE, is_built_on_llama_cpp=True),
            sheet.answers,
            layers_lost(sheet.situation),
        ),
        shell,
        (file,),
    )
