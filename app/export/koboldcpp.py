"""KoboldCpp, version 1.122: its flags, and the same as a ``.kcpps`` file."""

from __future__ import annotations

import json

from app.export.carried import answers_for_all
from app.export.dialect import Export, ExportedFile, exported
from app.export.koboldcpp_defaults import say_sampling
from app.export.koboldcpp_flags import (
    ENGINE,
    KoboldSheet,
    say_drafts,
    say_files,
    say_load,
    say_room,
)
from app.export.koboldcpp_places import say_places
from app.export.llama_alone import why_not
from app.export.llama_flag import situation_of
from app.export.llama_placement import layers_lost
from app.export.told import model_name, why_not_in_file
from app.quoting import Shell
from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig

TARGET = "koboldcpp"


def export(
    config: EngineConfig,
    effective: EffectiveConfig | None,
    facts: ModelFacts | None,
    shell: Shell = Shell.POSIX,
) -> Export:
    """``config`` as a ``koboldcpp`` command line, and as a file that it reads instead."""
    sheet = KoboldSheet(situation_of(config, effective, facts, ENGINE, shell))
    for part in (say_files, say_room, say_load, say_places, say_drafts, say_sampling):
        part(sheet)
    files = _files(sheet)
    return exported(
        TARGET,
        ("koboldcpp", *sheet.words),
        tuple(sheet.notes),
        answers_for_all(
            why_not(ENGINE, is_built_on_llama_cpp=True),
            sheet.answers,
            layers_lost(sheet.situation),
        ),
        shell,
        files,
    )


def _files(sheet: KoboldSheet) -> tuple[ExportedFile, ...]:
    """The file, where one can hold the paths."""
    reason = why_not_in_file(sheet.config, "a .kcpps file")
    if reason:
        sheet.notes.append(reason)
        return ()
    name = f"{model_name(sheet.config, sheet.situation.facts)}.kcpps"
    sheet.notes.append(
        f"koboldcpp --config {name} says the same as the line, in the folder of that file."
    )
    text = json.dumps(sheet.kcpps, indent=2, ensure_ascii=False) + "\n"
    about = "The same settings as a file, which KoboldCpp's launcher opens as well."
    return (ExportedFile(name, text, about),)
