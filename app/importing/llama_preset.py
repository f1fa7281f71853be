"""Keys of a preset of llama-server as the flags that they stand for.

A key is a flag without its dashes, or the variable of one.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import replace

from app.export.engine_words import engine_words
from app.importing.gathering import Gathering
from app.importing.llama_environment import set_to
from app.importing.llama_said import Said, Vocabulary
from app.importing.llama_scan import LONGEST_NAME
from app.importing.typed_numbers import truth, whole

# Cells of a row may be quoted.
_ROWS = ("--lora", "--lora-scaled", "--override-kv", "--control-vector", "--control-vector-scaled")
_MOST_KEYS = 500
_MOST_HINTED = 60
"""Keys of a section up to which a hint is looked for, since that takes its time."""
_IGNORED = ("version",)


def flags_of(
    values: Mapping[str, tuple[str, ...]], vocabulary: Vocabulary, gathering: Gathering
) -> list[Said]:
    """The flags; of a key that stands several times the last value, as the program takes it."""
    said: list[Said] = []
    if len(values) > _MOST_KEYS:
        gathering.problem(
            "too_long", f"{len(values):,} keys are no preset; the first {_MOST_KEYS:,} were read"
        )
    for key, all_values in list(values.items())[:_MOST_KEYS]:
        value = all_values[-1] if all_values else ""
        if key in _IGNORED:
            continue
        if len(all_values) > 1:
            gathering.problem("duplicate_option", f"{key} stands more than once; the last is taken")
        if engine_words("llama_cpp").key("preset", key) is not None:
            _take_own_key(key, value, gathering)
            continue
        flag = _flag_of(key, value, vocabulary, gathering)
        flag = _unquoted(flag, gathering) if flag is not None else None
        if flag is not None:
            said.append(flag)
    return said


def _take_own_key(key: str, value: str, gathering: Gathering) -> None:
    """What a preset alone can say."""
    number, is_true = whole(value), truth(value)
    gathering.understood(
        key.replace("-", "_"),
        is_true if number is None and is_true is not None else value if number is None else number,
    )


def _flag_of(key: str, value: str, vocabulary: Vocabulary, gathering: Gathering) -> Said | None:
    spelling = _spelling_of(key, vocabulary) or _mended(key, vocabulary, gathering)
    if spelling is None:
        hint = _hint(key, vocabulary) if len(gathering.invocation.values) <= _MOST_HINTED else ""
        gathering.problem(
            "unknown_key", f"{key}: llama-server refuses a preset with such a key{hint}"
        )
        gathering.keep_words((f"--{key}", value))
        return None
    said = replace(vocabulary.said(spelling, (), key), origin="file")
    variable = engine_words("llama_cpp").variable(key)
    return set_to(said, value, negates=variable is not None and variable.negates)


def _hint(key: str, vocabulary: Vocabulary) -> str:
    names = [name.lstrip("-") for name in vocabulary.names()]
    near = difflib.get_close_matches(key[:LONGEST_NAME], names, 1, 0.8)
    return f"; did you mean {near[0]}?" if near else ""


def _unquoted(said: Said, gathering: Gathering) -> Said:
    """Without the quotes around a value; the program takes them for a part of it.

    In a row they keep a comma, and in JSON they make a text.
    """
    value = said.value
    is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
    has_rows = said.word is not None and (said.word.kind == "json" or said.is_called(*_ROWS))
    if not is_quoted or has_rows:
        return said
    gathering.problem(
        "shell_quoting",
        f"{said.written}: a preset has no quotes, and llama-server takes them for a part of it",
    )
    return replace(said, values=(value[1:-1],))


def _spelling_of(key: str, vocabulary: Vocabulary) -> str | None:
    for spelling in (f"--{key}", f"-{key}"):
        if vocabulary.flag(spelling) is not None and "_" not in key:
            return spelling
    variable = engine_words("llama_cpp").variable(key)
    return variable.flag if variable is not None and variable.flag else None


def _mended(key: str, vocabulary: Vocabulary, gathering: Gathering) -> str | None:
    """A key with dashes in front or with underscores, which the program does not know."""
    plain = key.lstrip("-").replace("_", "-")
    spelling = _spelling_of(plain, vocabulary) if plain != key else None
    if spelling is not None:
        gathering.problem("unknown_key", f"{key} is written {plain} in a preset; read as that")
        gathering.heal(key, plain)
    return spelling
