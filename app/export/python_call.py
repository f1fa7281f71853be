"""Python source of a call with named arguments. Pure; must not know what is called."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Raw:
    """A piece of source that stands as it is.

    Attributes:
        source: The expression.
    """

    source: str


def call(what: str, arguments: Mapping[str, object]) -> str:
    """``what(name=value, …)`` with an argument a line."""
    lines = [f"    {name}={_source(value)}," for name, value in arguments.items()]
    return "\n".join((f"{what}(", *lines, ")"))


def text_of(text: str) -> str:
    """``text`` as source, a line of it in each line of the source."""
    lines = text.splitlines(keepends=True)
    if len(lines) < 2:
        return repr(text)
    return "\n".join(("", *(f"        {line!r}" for line in lines), "    "))


def _source(value: object) -> str:
    if isinstance(value, Raw):
        return value.source
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_source(held)}" for key, held in value.items()) + "}"
    return repr(value)
