"""Values of llama.cpp's flags as what they mean, and what is wrong with them.

Each function gives the value and, where something is wrong, a half-sentence; None where the text is
no value at all. Pure text; must not know settings.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from typing import TypeAlias

from app.importing.typed_numbers import decimal as plain_decimal
from app.importing.typed_numbers import whole as plain_whole
from engine_bridge.settings.domain import Value
from engine_bridge.typed_text import quoted

Meant: TypeAlias = "tuple[Value | None, str]"
Reader: TypeAlias = Callable[[str], Meant]

_DECIMAL = re.compile(r"[+-]?(?:\d{1,25}\.?\d{0,25}|\.\d{1,25})(?:[eE][+-]?\d{1,3})?", re.ASCII)
_SUFFIXED = re.compile(r"(\d{1,9}(?:\.\d{1,3})?)\s?([kKmM])(?:i?b)?")
_GROUPED = re.compile(r"\d{1,3}(?:[,_.' ]\d{3})+")
_FACTORS = {"k": 1024, "m": 1024 * 1024}
_UINT32 = 2**32
_ON, _OFF = ("on", "enabled", "true", "1"), ("off", "disabled", "false", "0")
# How kinds of drafts were called before they had their names.
_KINDS_OF_OLD = {
    "draft": "draft-simple",
    "simple": "draft-simple",
    "eagle3": "draft-eagle3",
    "mtp": "draft-mtp",
    "nextn": "draft-mtp",
    "dflash": "draft-dflash",
    "ngram": "ngram-simple",
}


def text(value: str) -> Meant:
    """Text as it is."""
    return value, ""


def whole(value: str) -> Meant:
    """A whole number; the program reads the digits in front and drops what is behind them."""
    number = plain_whole(value)
    if number is not None:
        return number, ""
    if found := _SUFFIXED.fullmatch(value.strip()):
        meant = round(float(found[1]) * _FACTORS[found[2].lower()])
        return meant, f"llama.cpp would read {found[1].split('.')[0]}; {meant:,} is meant"
    if _GROUPED.fullmatch(value.strip()):
        meant = int(re.sub(r"\D", "", value))
        return meant, f"llama.cpp would read its first digits alone; {meant:,} is meant"
    if found := re.match(r"[+-]?\d{1,18}(?=[.,\s])", value.strip()):
        return int(found[0]), f"llama.cpp reads {found[0]} of it"
    return None, "it is no whole number"


def decimal(value: str) -> Meant:
    """A number with decimals."""
    if _DECIMAL.fullmatch(value.strip()):
        return float(value), ""
    with_point = plain_decimal(value.replace(",", ".", 1))
    if with_point is not None:
        return with_point, f"it needs a point: {with_point:g}"
    return None, "it is no number"


def seed(value: str) -> Meant:
    """A seed; the largest of 32 bits is the random one, -1."""
    number, fault = whole(value)
    return (-1 if number == _UINT32 - 1 else number), fault


def one_of(*choices: str) -> Reader:
    """One of a few words."""

    def read(value: str) -> Meant:
        word = value.strip().lower()
        if word in choices:
            return word, ""
        return None, f"there is {', '.join(choices)}"

    return read


def tri_state(value: str) -> Meant:
    """``on``, ``off`` or ``auto``, by all their names."""
    word = value.strip().lower()
    if word in _ON:
        return "on", ""
    if word in _OFF:
        return "off", ""
    if word in ("auto", "-1"):
        return "auto", ""
    return None, "there is on, off and auto"


def layers(value: str) -> Meant:
    """A number of layers, ``auto`` (also -1) or ``all`` (also -2)."""
    word = value.strip().lower()
    if word in ("auto", "all"):
        return word, ""
    number, fault = whole(value)
    if isinstance(number, int) and number < 0:
        return ("auto", "") if number == -1 else ("all", "")
    return number, fault


def items(value: str) -> Meant:
    """What stands between commas."""
    return tuple(part.strip() for part in value.split(",") if part.strip()), ""


def chain(value: str) -> Meant:
    """What stands between semicolons."""
    return tuple(part.strip() for part in value.split(";") if part.strip()), ""


def shares(value: str) -> Meant:
    """Numbers with commas or slashes between."""
    parts = [part.strip() for part in re.split(r"[,/]", value) if part.strip()]
    numbers = [plain_decimal(part) for part in parts]
    if not parts or None in numbers:
        return None, "it is no row of numbers"
    return tuple(f"{number:g}" for number in numbers if number is not None), ""


def overrides(value: str) -> Meant:
    """``PATTERN=BUFFER`` with commas between."""
    found = [part.strip() for part in value.split(",") if part.strip()]
    without = [part for part in found if "=" not in part]
    if not found or without:
        return None, f"{quoted(without[0] if without else value)} is not PATTERN=BUFFER"
    return tuple(found), ""


def row(value: str) -> Meant:
    """Cells with commas between, quoted where they hold one."""
    try:
        cells = next(csv.reader([value], strict=True), [])
    except csv.Error:
        return None, "its quotes do not close"
    return tuple(cell for cell in cells if cell), ""


def spec_types(value: str) -> Meant:
    """Kinds of drafts with commas between; ``none`` is the empty list."""
    words = [word.strip().lower() for word in value.split(",") if word.strip()]
    meant = tuple(_KINDS_OF_OLD.get(word, word) for word in words if word != "none")
    old = [word for word in words if word in _KINDS_OF_OLD]
    fault = f"{old[0]} is called {_KINDS_OF_OLD[old[0]]}" if old else ""
    return tuple(dict.fromkeys(meant)), fault


def breaker(value: str) -> Meant:
    r"""One sequence at which DRY begins anew; ``\n`` is a line feed, ``none`` stands for none."""
    if value == "none":
        return (), ""
    escapes = {"n": "\n", "t": "\t", "r": "\r"}
    plain = re.sub(r"\\(.)", lambda found: escapes.get(found[1], found[1]), value, flags=re.DOTALL)
    return (plain,), ""


def one(value: str) -> Meant:
    """A list of one."""
    return (value,), ""


def schema(value: str) -> Meant:
    """JSON as text."""
    try:
        json.loads(value)
    except (ValueError, RecursionError):
        return None, "it is no JSON"
    return value, ""
