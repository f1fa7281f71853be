"""KoboldCpp's ``.kcpps``: its flags as keys of one JSON object.

Knows how to tell such a file, and which of its keys hold one value; must not know what they mean.
"""

from __future__ import annotations

from collections.abc import Mapping

from app.export.engine_words import Word, engine_words
from app.importing.invocation import Invocation
from app.importing.name_sets import names
from app.importing.typed_numbers import decimal
from app.importing.yaml_text import Node, flat

# Some of these are in every file that KoboldCpp writes, and together in no other.
_MARKS = names(
    "model_param contextsize gpulayers blasbatchsize usecublas usecuda usevulkan useclblast "
    "flashattention noshift quantkv moeexperts skiplauncher launch onready multiuser "
    "nommap usemmap usemlock ropeconfig smartcontext debugmode"
)
_LEAST_MARKS = 2
# These are no flags; each holds one value.
_ALONE = ("model_param", "port_param")
_NUMBERS = ("int", "float")
# What a key of a number holds as well where nobody set it.
_NO_NUMBERS = ("", "true", "false")
_SHOWN_CHARACTERS = 40
_MOST_PROBLEMS = 50


def is_kcpps(document: Mapping[str, Node]) -> bool:
    """Whether an object has the keys that KoboldCpp writes."""
    return len(_MARKS.intersection(document)) >= _LEAST_MARKS


def read_kcpps(document: Mapping[str, Node]) -> tuple[Invocation, ...]:
    """What the file sets; keys as written, lists as several values, no value of a wrong type."""
    engine = engine_words("koboldcpp")
    faults = {key: _fault(key, node, engine.flag(f"--{key}")) for key, node in document.items()}
    kept = {key: node for key, node in document.items() if not faults[key]}
    problems = tuple(f"bad_value: {key} {why}; left out" for key, why in faults.items() if why)
    return (Invocation("kcpps", "", values=flat(kept), problems=problems[:_MOST_PROBLEMS]),)


def _fault(key: str, node: Node, flag: Word | None) -> str:
    """Why KoboldCpp cannot have written ``node`` under ``key``; empty where it can."""
    if isinstance(node, dict):
        return "holds an object, and KoboldCpp has none there"
    is_single = key in _ALONE or (flag is not None and flag.arity in (0, 1, "?"))
    if isinstance(node, list):
        if not all(isinstance(item, str) for item in node):
            return "holds lists inside a list"
        is_more = len(node) > 1 or key in _ALONE or _takes_number(flag)
        return "holds a list, where KoboldCpp takes one value" if is_single and is_more else ""
    if key == "port_param" or (is_single and _takes_number(flag)):
        is_number = decimal(node) is not None or node in _NO_NUMBERS
        return "" if is_number else f"cannot be “{_shortened(node)}”, which is no number for it"
    return ""


def _takes_number(flag: Word | None) -> bool:
    return flag is not None and flag.kind in _NUMBERS and not flag.choices


def _shortened(text: str) -> str:
    if len(text) <= _SHOWN_CHARACTERS:
        return text
    return f"{text[: _SHOWN_CHARACTERS - 1]}…"
