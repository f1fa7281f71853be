"""A reader of Modelfiles by the rules of Ollama's own parser, written down once more.

An instruction ends with its line, unless its value began with quotes that are still open; there are
no escapes, and characters that cannot be printed are dropped.
"""

from __future__ import annotations

_OPEN = ('"""', '"')


def instructions_of(text: str) -> list[tuple[str, str]]:
    """The instructions with their values, names in capitals."""
    found: list[tuple[str, str]] = []
    pending = ""
    for line in text.split("\n"):
        if not pending and (not line.strip() or line.lstrip().startswith("#")):
            continue
        pending = f"{pending}\n{line}" if pending else line.lstrip(" \t")
        name, _, value = pending.partition(" ")
        whole = _unquoted(value.strip())
        if whole is not None:
            assert name.isascii(), name
            assert name.isalpha(), name
            found.append((name.upper(), _printable(whole)))
            pending = ""
    assert not pending, f"no end of {pending!r}"
    return found


def parameters_of(text: str) -> dict[str, str]:
    """The parameters with their values; each stands once."""
    pairs = [v.partition(" ")[::2] for name, v in instructions_of(text) if name == "PARAMETER"]
    assert len(pairs) == len(dict(pairs))
    return {name: value.strip() for name, value in pairs}


def _unquoted(value: str) -> str | None:
    for quote in _OPEN:
        if value.startswith(quote):
            is_closed = len(value) >= 2 * len(quote) and value.endswith(quote)
            return value[len(quote) : -len(quote)] if is_closed else None
    return value


def _printable(value: str) -> str:
    return "".join(c for c in value if c.isprintable() or c in "\t\n\r")
