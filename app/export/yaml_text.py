"""YAML as other programs read it: texts in quotes or as blocks, so that none becomes a number.

Readers differ in what they take for a number, a date or a truth value where it stands bare; in
quotes they all read the same text. Written here and not by PyYAML: the command line is written anew
with every change of a setting, and of a grammar that takes a third of a second there. Must not know
who reads it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence

_INDENT = 2
# Breaks lines, cannot be seen, or is no character that YAML allows.
_ESCAPED = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
# What stands otherwise in a block than it was: a tab at a line's beginning, a blank at its end.
_UNFIT_FOR_BLOCK = re.compile(
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]| \n"
)
# Backslashes first: the others bring some.
_SHORT = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
# Words that are texts to every reader where they stand bare.
_BARE_KEY = re.compile(r"[a-z][a-z_]*[a-z]")
_NO_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null"})


class Block(str):
    """A text of several lines that stands as it is, indented, where YAML can hold it so."""

    __slots__ = ()


def yaml_text(value: Mapping[str, object]) -> str:
    """``value`` as a YAML document with a newline at its end.

    Args:
        value: Mappings, lists, texts, numbers and truth values.
    """
    return "\n".join(_mapping(value, 0)) + "\n"


def _mapping(value: Mapping[str, object], depth: int) -> Iterator[str]:
    pad = " " * depth
    for key, held in value.items():
        name = key if _BARE_KEY.fullmatch(key) and key not in _NO_WORDS else _quoted(key)
        if isinstance(held, Block) and _is_block(held):
            yield f"{pad}{name}: |"
            yield from (f"{pad}  {line}" if line else "" for line in held[:-1].split("\n"))
        elif isinstance(held, Mapping):
            yield f"{pad}{name}:"
            yield from _mapping(held, depth + _INDENT)
        elif isinstance(held, list | tuple):
            yield f"{pad}{name}:"
            yield from _items(held, depth + _INDENT)
        else:
            yield f"{pad}{name}: {_scalar(held)}"


def _items(items: Sequence[object], depth: int) -> Iterator[str]:
    pad = " " * depth
    for item in items:
        if isinstance(item, Mapping):
            first, *rest = _mapping(item, depth + _INDENT)
            yield f"{pad}- {first.lstrip()}"
            yield from rest
        else:
            yield f"{pad}- {_scalar(item)}"


def _scalar(value: object) -> str:
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        text = repr(value)  # readers of YAML 1.1 want a point before an exponent
        return text if "." in text else text.replace("e", ".0e")
    raise TypeError(f"{value!r} is nothing that is written as YAML here")


def _quoted(text: str) -> str:
    for character, short in _SHORT.items():
        text = text.replace(character, short)
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def _is_block(text: str) -> bool:
    """Whether a block of lines holds exactly this text."""
    is_ended = text.endswith("\n") and not text.endswith("\n\n")
    return is_ended and not text.startswith((" ", "\n")) and not _UNFIT_FOR_BLOCK.search(text)
