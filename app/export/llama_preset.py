"""An INI preset for llama.cpp's server as a router, ``llama-server --models-preset FILE``.

Its rules are llama.cpp's own (``common/preset.cpp``): keys are flags without dashes, a value ends
at ``;``, ``#`` or the end of its line, blanks around it are dropped, nothing is quoted or escaped,
and of a key that stands twice the last one holds.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Sequence

import msgspec

from app.export import llama_answers, llama_flags
from app.export.carried import Carried, not_carried, translated
from app.export.dialect import Export, ExportedFile, exported, refused
from app.export.engine_words import Word, engine_words
from app.export.llama_flag import Situation, situation_of
from app.export.told import (
    GRAMMAR_FILE,
    PROGRAM,
    grammar_file,
    in_a_file,
    model_name,
    paths_in,
    why_not_in_file,
    without_grammar,
    words_of,
)
from app.quoting import Shell
from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.extra_flag import flag_words
from engine_bridge.settings.table import BY_KEY

TARGET = "llama-preset"
FILE = "models.ini"
_ENDS_A_VALUE = re.compile(r"[;#\x00-\x08\x0a-\x1f\x7f]")
# One value a key; llama.cpp itself takes one a time of these.
_ONE_AT_A_TIME = {"logit_bias": "--logit-bias", "dry_sequence_breakers": "--dry-sequence-breaker"}
# Texts that may hold what ends a value.
_TEXTS = ("override_tensor", "override_kv", "dry_sequence_breakers")
# The router listens, and its line says where and to whom.
_ON_ITS_LINE = {
    "--host", "--port", "--api-key", "--api-key-file", "--ssl-key-file", "--ssl-cert-file",
    "--models-dir", "--models-max", "--models-autoload",
}  # fmt: skip
# The router gives these to itself or takes them away.
_OF_THE_ROUTER = _ON_ITS_LINE | {"--models-preset", "--alias"}
# --samplers cuts its list at semicolons, which end a value; --sampler-seq says the same in letters.
_LETTERS = {
    "penalties": "e", "dry": "d", "top_n_sigma": "s", "top_k": "k", "typ_p": "y", "top_p": "p",
    "min_p": "m", "xtc": "x", "temperature": "t", "adaptive_p": "a",
}  # fmt: skip
_SAMPLERS = "--samplers"


def export(
    config: EngineConfig,
    effective: EffectiveConfig | None,
    facts: ModelFacts | None,
    shell: Shell = Shell.POSIX,
) -> Export:
    """``config`` as a section of a preset, and the line that uses it."""
    whole = situation_of(config, effective, facts, PROGRAM)
    answers = llama_answers.answers(whole)
    if reason := _why_not(config):
        return refused(TARGET, reason, answers)
    plain, grammar = without_grammar(config)
    s, missing = _sayable(situation_of(plain, effective, facts, PROGRAM))
    values = dict(_pairs(llama_flags.words(s)))
    if grammar:
        values["grammar-file"] = GRAMMAR_FILE
        answers |= in_a_file(config)
    lines = [f"[{model_name(config, facts)}]", *(f"{key} = {values[key]}" for key in values)]
    files = [
        ExportedFile(
            FILE,
            "\n".join(lines) + "\n",
            f"Put it in the folder {PROGRAM} is started in; sections of more models may follow.",
        )
    ]
    if grammar:
        files.append(grammar_file(grammar, f"Put it beside {FILE}."))
    own = (word for item in _router_flags(config) for word in flag_words(item))
    return exported(
        TARGET, (PROGRAM, "--models-preset", FILE, *own), _notes(s), answers | missing, shell,
        files=tuple(files),
    )  # fmt: skip


def _notes(s: Situation) -> tuple[str, ...]:
    name = model_name(s.config, s.facts)
    own = (
        f"{PROGRAM} starts as a router: the first request whose model is {name} loads it, in a "
        "process of its own. load-on-startup = true in its section loads it with the program.",
    )
    return own + tuple(_in_keys(note) for note in llama_flags.notes(s))


def _in_keys(note: str) -> str:
    """A note about a line, in the words of a section."""
    for flag, key in (("-m", "model"), ("-md", "model-draft")):
        missing = f"so the line names none: add {flag} FILE."
        note = note.replace(missing, f"so the section names none: add {key} = FILE.")
    return note


# --- What a value can be ------------------------------------------------------------------------


def _why_not(config: EngineConfig) -> str:
    """Why a path cannot stand in a preset; else empty."""
    if reason := why_not_in_file(config, "an INI preset"):
        return reason
    for key, paths in paths_in(config).items():
        for path in paths:
            if not _is_value(path):
                return (
                    f"{BY_KEY[key].label}: a value of an INI preset ends at ; and at #, loses "
                    f"blanks at its ends and cannot be quoted, so {path!r} would be another path. "
                    "Rename the file or its folder."
                )
    return ""


def _is_value(text: str) -> bool:
    """Whether a value stays what it is."""
    return bool(text) and text.strip(" \t") == text and _ENDS_A_VALUE.search(text) is None


def _sayable(s: Situation) -> tuple[Situation, dict[str, Carried]]:
    """The situation without what a preset cannot hold, and the answers for that."""
    missing: dict[str, Carried] = {}
    for key, flag in _ONE_AT_A_TIME.items():
        if words_of(s, key).count(flag) > 1:
            missing[key] = not_carried(
                f"A preset takes one value a key, and {flag} says one at a time: several cannot "
                "be said."
            )
    for key in _TEXTS:
        if key not in missing and not all(map(_is_value, words_of(s, key))):
            missing[key] = not_carried(
                "A value of a preset ends at ; and at #, loses blanks at its ends and cannot be "
                "quoted: this one would be another."
            )
    changes: dict[str, object] = {key: BY_KEY[key].default for key in missing}
    config = msgspec.structs.replace(s.config, **changes)
    kept = _flags_kept(dataclasses.replace(s, config=config))
    own = _router_flags(config)
    dropped = [item for item in config.extra_flags if item not in (*kept, *own)]
    if dropped:
        missing["extra_flags"] = not_carried(_why_dropped(dropped))
    elif own:
        flags = ", ".join(flag_words(item)[0] for item in own)
        missing["extra_flags"] = translated(
            f"{flags} on the router's own line, since it is what listens; others as keys."
            if kept
            else f"{flags} on the router's own line, since it is what listens."
        )
    config = msgspec.structs.replace(config, extra_flags=kept)
    return dataclasses.replace(s, config=config), missing


def _router_flags(config: EngineConfig) -> tuple[str, ...]:
    """Flags beside the settings that say how the router itself listens."""
    found = []
    for item in config.extra_flags:
        known = engine_words("llama_cpp").flag(flag_words(item)[0])
        if known is not None and not known.removed and _ON_ITS_LINE & set(known.names):
            found.append(item)
    return tuple(found)


def _why_dropped(items: Sequence[str]) -> str:
    words = engine_words("llama_cpp")
    unknown = [item for item in items if words.flag(flag_words(item)[0]) is None]
    others = [item for item in items if item not in unknown]
    said = []
    if unknown:
        said.append(
            f"{PROGRAM} refuses a section with a key that it does not know: {', '.join(unknown)}."
        )
    if others:
        said.append(
            "A preset cannot hold these, or the router sets them for each model itself: "
            f"{', '.join(others)}."
        )
    return " ".join(said)


def _flags_kept(s: Situation) -> tuple[str, ...]:
    """Flags beside the settings that a preset can hold."""
    plain = msgspec.structs.replace(s.config, extra_flags=())
    said = {key for key, _ in _pairs(llama_flags.words(dataclasses.replace(s, config=plain)))}
    kept = []
    for item in s.config.extra_flags:
        flag, *values = flag_words(item)
        known = engine_words("llama_cpp").flag(flag)
        # An unknown key is refused; of one that stands twice the last value holds.
        if known is None or not _fits(known, values) or (known.repeats and _key(known) in said):
            continue
        said.add(_key(known))
        kept.append(item)
    return tuple(kept)


def _fits(known: Word, values: Sequence[str]) -> bool:
    is_pair = known.arity == len(values) and len(values) <= 1
    if known.removed or _OF_THE_ROUTER & set(known.names) or not is_pair:
        return False
    if _SAMPLERS in known.names:
        return set(values[0].split(";")) <= _LETTERS.keys()
    return all(map(_is_value, values))


# --- Keys and values ----------------------------------------------------------------------------


def _pairs(words: Iterable[str]) -> list[tuple[str, str]]:
    llama_cpp = engine_words("llama_cpp")
    pairs = []
    rest = iter(words)
    for flag in rest:
        known = llama_cpp.flag(flag)
        assert known is not None, flag
        if known.arity == 0:
            is_on = llama_cpp.spelt(flag) not in known.negated
            pairs.append((_key(known), "true" if is_on else "false"))
        elif _SAMPLERS in known.names:
            pairs.append(("sampler-seq", "".join(_LETTERS[name] for name in next(rest).split(";"))))
        else:
            pairs.append((_key(known), next(rest)))
    return pairs


def _key(flag: Word) -> str:
    """The first long name that switches it on, without its dashes."""
    names = [name for name in flag.names if name not in flag.negated]
    return next((name for name in names if name.startswith("--")), names[0]).lstrip("-")
