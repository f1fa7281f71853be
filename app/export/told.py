"""llama.cpp's server as every dialect says it that is one way to start that program.

What such a dialect adds is how the words are quoted, and what stands around them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from app.export import llama_answers, llama_flags
from app.export.carried import Carried, translated
from app.export.dialect import ExportedFile
from app.export.engine_words import engine_words
from app.export.llama_flag import Situation, situation_of
from app.quoting import Shell, has_stray_bytes
from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings import json_schema
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.extra_flag import flag_words
from engine_bridge.settings.placement_items import lora_file
from engine_bridge.settings.table import BY_KEY

GRAMMAR_FILE = "grammar.gbnf"
PROGRAM = "llama-server"
PORT = 8080
# Settings that hold one path each.
PATH_KEYS = (
    "model_path", "draft_model_path", "mmproj_path", "lookup_cache_static_path",
    "lookup_cache_dynamic_path",
)  # fmt: skip
_CONTROL = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")
_PARTS = re.compile(r"[\\/]")
_NO_NAME = re.compile(r"[^\w.+-]+")
_SPLIT_PART = re.compile(r"-\d{5}-of-\d{5}$")


@dataclass(frozen=True)
class Told:
    """What the server is told.

    Attributes:
        words: Flags with their values, without the program.
        notes: What the user should know before running it.
        answers: What becomes of each setting.
    """

    words: tuple[str, ...]
    notes: tuple[str, ...]
    answers: dict[str, Carried]


def told(
    config: EngineConfig,
    effective: EffectiveConfig | None,
    facts: ModelFacts | None,
    program: str = PROGRAM,
    shell: Shell = Shell.POSIX,
) -> Told:
    """``config`` as flags of ``program``, which is what the server is called here."""
    return told_in(situation_of(config, effective, facts, program, shell))


def told_in(situation: Situation) -> Told:
    """The flags for ``situation``."""
    return Told(
        llama_flags.words(situation),
        llama_flags.notes(situation),
        llama_answers.answers(situation),
    )


def words_of(s: Situation, key: str) -> tuple[str, ...]:
    """The words that say the setting ``key``, with those said together with it."""
    return tuple(word for flag in llama_flags.FLAGS if key in flag.keys for word in flag.words(s))


def value_of(s: Situation, flag: str, key: str) -> str | None:
    """What the setting ``key`` is said as behind ``flag``; None where it is left to the program."""
    words = words_of(s, key)
    return words[words.index(flag) + 1] if flag in words else None


# --- Paths -----------------------------------------------------------------------------------


def paths_in(config: EngineConfig) -> dict[str, tuple[str, ...]]:
    """The paths of files that the settings name, by the setting's key; empty ones left out."""
    paths = {key: (getattr(config, key),) for key in PATH_KEYS if getattr(config, key)}
    adapters = tuple(lora_file(item).path for item in config.lora)
    return paths | ({"lora": adapters} if adapters else {})


def with_paths(config: EngineConfig, moved: Callable[[str, str], str]) -> EngineConfig:
    """``config`` with other paths.

    Args:
        config: Whose paths change.
        moved: Gets a setting's key and a path, and returns what to write instead.
    """
    changes: dict[str, object] = {
        key: moved(key, path) for key, (path, *_) in paths_in(config).items() if key != "lora"
    }
    if config.lora:
        changes["lora"] = tuple(_lora_with(item, moved) for item in config.lora)
    return msgspec.structs.replace(config, **changes)


def _lora_with(item: str, moved: Callable[[str, str], str]) -> str:
    path, scale = lora_file(item)
    return f"{moved('lora', path)}:{scale!r}"


def why_not_in_file(config: EngineConfig, file: str) -> str:
    """Why a path of ``config`` cannot stand in ``file`` (a compose file, say); else empty."""
    for key, paths in paths_in(config).items():
        for path in paths:
            if _CONTROL.search(path) or has_stray_bytes(path):
                return (
                    f"{BY_KEY[key].label}: the path {path!a} holds a line break, another "
                    f"control character or bytes that are no text, which {file} cannot hold. "
                    "Rename the file or its folder."
                )
    return ""


def model_name(config: EngineConfig, facts: ModelFacts | None = None) -> str:
    """What to call the model where a name is needed: letters, digits, ``_``, ``.``, ``+``, ``-``.

    The file's name without its ending; for a model that has none, its own name.
    """
    last = _PARTS.split(config.model_path)[-1].removesuffix(".gguf")
    name = _SPLIT_PART.sub("", last) or (facts.name if facts is not None else "")
    name = _NO_NAME.sub("-", name).strip("-.")
    return name or "model"


# --- Grammars --------------------------------------------------------------------------------


def without_grammar(config: EngineConfig) -> tuple[EngineConfig, str]:
    """``config`` without its grammar or schema, and the grammar that says the same.

    For files and shells that cannot hold a text of several lines: it goes into a file of its own.
    """
    text = config.grammar
    if not text and config.json_schema:
        text = json_schema.grammar_of(config.json_schema)
    return msgspec.structs.replace(config, grammar="", json_schema=""), text


def grammar_file(text: str, about: str) -> ExportedFile:
    """The file of a grammar; ``about`` says where it belongs."""
    return ExportedFile(GRAMMAR_FILE, text.rstrip("\n") + "\n", about)


def in_a_file(config: EngineConfig) -> dict[str, Carried]:
    """What becomes of the grammar or the schema where ``grammar_file`` holds it."""
    if config.grammar:
        return {"grammar": translated(f"--grammar-file {GRAMMAR_FILE}, a file of its own.")}
    return {
        "json_schema": translated(
            f"--grammar-file {GRAMMAR_FILE}, with the grammar that TuneDeck makes of the schema."
        )
    }


# --- Where it listens ------------------------------------------------------------------------


def port_in(config: EngineConfig) -> int:
    """The port the server listens at: 8080, or what a flag beside the settings says."""
    said = [flag_words(item)[1:] for item in config.extra_flags if is_flag(item, "--port")]
    last = said[-1][0] if said and said[-1] else ""
    port = int(last) if re.fullmatch("[0-9]{1,5}", last) else 0
    return port if 0 < port < 2**16 else PORT


def is_flag(item: str, *names: str) -> bool:
    """Whether an item of ``extra_flags`` says one of the flags ``names``, in whichever spelling."""
    word = flag_words(item)[0]
    known = engine_words("llama_cpp").flag(word)
    return not {word, *(known.names if known is not None else ())}.isdisjoint(names)


def without_flags(config: EngineConfig, *names: str) -> EngineConfig:
    """``config`` without the flags ``names`` among its ``extra_flags``."""
    kept = tuple(item for item in config.extra_flags if not is_flag(item, *names))
    return msgspec.structs.replace(config, extra_flags=kept)
