"""Ollama, version 0.33: its server's environment, a Modelfile, and what makes and runs a model.

The server runs models by llama-server, with ``num_ctx`` times the number of slots for ``-c``.
"""

from __future__ import annotations

import re
from pathlib import PureWindowsPath

from app.export import ollama_drafts
from app.export.carried import Answers, answers_for_all, reasons_in
from app.export.conversation_room import capped_note, conversation_tok
from app.export.dialect import Export, ExportedFile, refused
from app.export.environment_lines import as_file, before_program
from app.export.llama_alone import why_not
from app.export.llama_flag import situation_of
from app.export.llama_placement import layers_lost
from app.export.modelfile import ModelfileError, instruction
from app.export.ollama_boards import say_boards
from app.export.ollama_parameters import say_loading, say_sampling
from app.export.ollama_sheet import ENGINE, OllamaSheet
from app.quoting import Shell, quote
from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.placement_items import lora_file

TARGET = "ollama"
MODELFILE, ENVIRONMENT = "Modelfile", "ollama.env"
_MODEL_PLACE = "<MODEL: a GGUF file>"
_LONGEST_NAME = 60
_PART_OF_SEVERAL = re.compile(r"-\d{5}-of-\d{5}\.gguf$", re.IGNORECASE)


def export(
    config: EngineConfig,
    effective: EffectiveConfig | None,
    facts: ModelFacts | None,
    shell: Shell = Shell.POSIX,
) -> Export:
    """``config`` as Ollama is told it: variables of its server, a Modelfile and two commands."""
    sheet = OllamaSheet(situation_of(config, effective, facts, ENGINE, shell))
    _room(sheet)
    say_loading(sheet)
    say_boards(sheet)
    _files(sheet)
    ollama_drafts.say_drafts(sheet)
    say_sampling(sheet)
    answers = answers_for_all(
        why_not(ENGINE, is_built_on_llama_cpp=True),
        sheet.answers,
        ollama_drafts.NGRAMS,
        layers_lost(sheet.situation),
    )
    try:
        modelfile = _modelfile(sheet)
    except ModelfileError as error:
        return refused(TARGET, str(error), answers)
    return _export(sheet, modelfile, answers, shell)


def model_name(config: EngineConfig) -> str:
    """What the model is called in Ollama: the file's name in the characters that it allows."""
    file = PureWindowsPath(config.model_path).name or "model"
    stem = _PART_OF_SEVERAL.sub("", file).lower().removesuffix(".gguf")
    plain = re.sub(r"[^a-z0-9._-]+", "-", stem).strip("-._")
    return plain[:_LONGEST_NAME].rstrip("-._") or "model"


def _export(sheet: OllamaSheet, modelfile: str, answers: Answers, shell: Shell) -> Export:
    name = model_name(sheet.config)
    commands = [("ollama", "create", name, "-f", MODELFILE), ("ollama", "run", name)]
    made = [quote(words, shell) for words in commands]
    program = ("ollama", "serve")
    text = "\n".join([before_program(sheet.variables, program, shell), *made])
    lines = "\n".join([before_program(sheet.variables, program, shell, is_broken=True), *made])
    notes = (
        "ollama serve keeps its terminal: the other two lines are for another one. Where Ollama "
        f"runs as a service already, give that the variables of {ENVIRONMENT} and start it anew; "
        "ollama run does not hand them on.",
        *sheet.notes,
    )
    files = (
        ExportedFile(
            MODELFILE, modelfile, "What ollama create reads, in the folder where it runs."
        ),
        ExportedFile(
            ENVIRONMENT,
            as_file(sheet.variables),
            "Variables of Ollama's server, for a service or a container.",
        ),
    )
    return Export(TARGET, text, notes, reasons_in(answers), lines, files, dict(answers))


def _modelfile(sheet: OllamaSheet) -> str:
    lines = [instruction(name, value) for name, value in sheet.instructions]
    return "".join([*lines, *sheet.parameters])


# --- The model's files -----------------------------------------------------------------------


def _files(sheet: OllamaSheet) -> None:
    config = sheet.config
    if config.model_path:
        sheet.instruct("model_path", "FROM", config.model_path)
    else:
        sheet.instruct("model_path", "FROM", _MODEL_PLACE)
        sheet.notes.append(
            f"No model is chosen: put the file in the place of {_MODEL_PLACE} in {MODELFILE}."
        )
    if _PART_OF_SEVERAL.search(config.model_path):
        sheet.notes.append(
            "The model lies in several files and FROM names one: llama-gguf-split --merge makes "
            "one of them."
        )
    elif config.model_path and not _is_whole(config.model_path):
        sheet.notes.append(
            f"The model is looked for beside {MODELFILE}: its path is not a whole one."
        )
    if config.mmproj_path:
        how = "FROM: a second one for the projector."
        sheet.instructions.append(("FROM", config.mmproj_path))
        sheet.bridge("mmproj_path", how)
    else:
        sheet.say("mmproj_path", "no second FROM")
    _adapters(sheet)


def _adapters(sheet: OllamaSheet) -> None:
    loras = [lora_file(item) for item in sheet.config.lora]
    if not loras:
        sheet.say("lora", "no ADAPTER")
        return
    if len(loras) == 1 and loras[0].scale == 1.0:
        sheet.instruct("lora", "ADAPTER", loras[0].path)
    else:
        sheet.leave("lora", "ADAPTER takes one adapter at its full strength.")


def _is_whole(path: str) -> bool:
    return path.startswith(("/", "\\", "~")) or PureWindowsPath(path).is_absolute()


# --- Context, slots and cache ----------------------------------------------------------------


def _room(sheet: OllamaSheet) -> None:
    config, per_slot = sheet.config, conversation_tok(sheet.situation)
    sheet.parameter("ctx_per_slot_tok", "num_ctx", per_slot)
    sheet.variable("slots", "OLLAMA_NUM_PARALLEL", config.slots)
    total = per_slot * config.slots
    sheet.leave(
        "ctx_total_tok",
        f"num_ctx is for each slot and multiplied by OLLAMA_NUM_PARALLEL: {total:,} tokens.",
    )
    if config.kv_unified:
        whole = f"{total:,} tokens where the pool here has {config.pool_tok:,}"
        if total == config.pool_tok:
            whole = f"{total:,} tokens together, as many as the pool here"
        sheet.leave("kv_unified", f"{ENGINE} gives every slot a context of its own: {whole}.")
    else:
        sheet.say("kv_unified", "a context for each slot, always")
    sheet.notes.extend(capped_note(sheet.situation, "num_ctx"))
