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
from app.importing.typed_numbers import truth, whole

_IGNORED = ("version",)


def flags_of(
    values: Mapping[str, tuple[str, ...]], vocabulary: Vocabulary, gathering: Gathering
) -> list[Said]:
    """The flags; of a key that stands several times the last value, as the program takes it."""
    said: list[Said] = []
    for key, all_values in values.items():
        value = all_values[-1] if all_values else ""
        if key in _IGNORED:
            continue
        if engine_words("llama_cpp").key("preset", key) is not None:
            _take_own_key(key, value, gathering)
            continue
        flag = _flag_of(key, value, vocabulary, gathering)
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


def _flag_of(
    key: str, value: str, vocabulary: Vocabulary, gathering: Gathering
) -> Said | None:
    spelling = _spelling_of(key, vocabulary) or _mended(key, vocabulary, gathering)
    if spelling is None:
        near = difflib.get_close_matches(
            key, [name.lstrip("-") for name in vocabulary.names()], 1, 0.8
        )
        hint = f"; did you mean {near[0]}?" if near else ""
        gathering.problem(
            "unknown_key", f"{key}: llama-server refuses a preset with such a key{hint}"
        )
        gathering.keep_words((f"--{key}", value))
        return None
    said = replace(vocabulary.said(spelling, (), key), origin="file")
    variable = engine_words("llama_cpp").variable(key)
    return set_to(said, value, negates=variable is not None and variable.negates)


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
