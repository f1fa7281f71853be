"""Variables of llama.cpp's programs as the flags that they stand for."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import replace

from app.export.engine_words import engine_words
from app.importing.gathering import Gathering
from app.importing.llama_said import Said, Vocabulary
from app.importing.typed_numbers import truth

_OURS = re.compile(r"\s*LLAMA_", re.IGNORECASE)
_FLAGS = re.compile(r"\s*LLAMA_ARG_", re.IGNORECASE)
# Flags whose variables were removed with them.
_REMOVED = {
    "LLAMA_ARG_MLOCK": "--mlock",
    "LLAMA_ARG_MMAP": "--mmap",
    "LLAMA_ARG_NO_MMAP": "--no-mmap",
    "LLAMA_ARG_DIO": "--direct-io",
}
# Whose value is for nobody else and stays where it is.
_STAYING = ("HF_TOKEN",)


def flags_in(
    env: Mapping[str, str], vocabulary: Vocabulary, gathering: Gathering
) -> tuple[list[Said], dict[str, str]]:
    """The flags that variables stand for, and the variables that stand for none."""
    said: list[Said] = []
    rest: dict[str, str] = {}
    for name, value in env.items():
        flag = None if name in _STAYING else _flag_of(name, value, vocabulary)
        if flag is not None:
            said.append(flag)
            continue
        rest[name] = value
        _tell_misspelt(name, gathering)
    return said, rest


def _flag_of(name: str, value: str, vocabulary: Vocabulary) -> Said | None:
    variable = engine_words("llama_cpp").variable(name)
    spelling = _REMOVED.get(name) or (variable.flag if variable is not None else "")
    if not spelling:
        return None
    said = replace(vocabulary.said(spelling, (), name), origin="env")
    if said.word is None:
        return None
    negates = variable is not None and variable.negates
    return set_to(said, value, negates=negates)


def set_to(said: Said, value: str, *, negates: bool) -> Said:
    """A flag set to ``value`` by a variable or a key, a switch turned by it.

    Args:
        said: The flag.
        value: As written.
        negates: Whether saying it at all switches it off.
    """
    if said.word is None or said.word.arity != 0:
        return replace(said, values=(value,))
    is_off = negates or (said.is_off != (truth(value) is False))
    return replace(said, is_off=is_off)


def _tell_misspelt(name: str, gathering: Gathering) -> None:
    if not _OURS.match(name) or gathering.has_problem("misspelt_variable"):
        return
    if engine_words("llama_cpp").variable(name) is not None:
        return
    short = _by_short_flag(name)
    known = [one.names[0] for one in engine_words("llama_cpp").variables if not one.removed]
    near = [short] if short else difflib.get_close_matches(name.strip().upper(), known, 1, 0.8)
    if not near and not _FLAGS.match(name):
        return  # of the build, or of a version that had it
    hint = f"; {near[0]} is meant, perhaps" if near else ""
    gathering.problem(
        "misspelt_variable", f"llama.cpp reads no variable {name!r}, so it has no effect{hint}"
    )


def _by_short_flag(name: str) -> str:
    """The variable of the flag whose short spelling ``name`` ends in; empty where there is none."""
    match = _FLAGS.match(name)
    if match is None:
        return ""
    short = name[match.end() :].strip().lower().replace("_", "-")
    flag = engine_words("llama_cpp").flag(f"-{short}")
    if flag is None:
        return ""
    return next(
        (
            one.names[0]
            for one in engine_words("llama_cpp").variables
            if not one.removed and one.flag in flag.names
        ),
        "",
    )
