"""The lines of Ollama's Modelfile, written so that its parser reads them back as they were.

It ends a value at the end of its line unless it stands in quotes, of which it knows no escapes, and
it drops every character that is not printable. Must not know any parameter.
"""

from __future__ import annotations

_QUOTES = '"""'


class ModelfileError(ValueError):
    """A text that a Modelfile cannot hold; the message is a sentence for the user."""


def instruction(name: str, value: str) -> str:
    """One line, or several where ``value`` has line breaks: ``NAME value``.

    Raises:
        ModelfileError: If the value would be read as another one.
    """
    return f"{name} {_written(value)}\n"


def parameter(name: str, value: object) -> str:
    """``PARAMETER name value`` with a value that has no blanks."""
    return f"PARAMETER {name} {value}\n"


def _written(value: str) -> str:
    lost = [c for c in value if not c.isprintable() and c not in "\t\n\r"]
    if lost:
        raise ModelfileError(
            f"A Modelfile cannot hold {value!r}: Ollama drops characters that cannot be printed. "
            "Rename the file."
        )
    if value and value == value.strip() and value[0] != '"' and not set(value) & set("\n\r"):
        return value
    quoted = f"{_QUOTES}{value}{_QUOTES}"
    if _ends_early(quoted):
        raise ModelfileError(
            f"A Modelfile cannot hold {value!r}: three quotes before a line break end it there. "
            "Rename the file."
        )
    return quoted


def _ends_early(quoted: str) -> bool:
    """Whether Ollama takes the text to be complete at a line break inside it."""
    for at, character in enumerate(quoted):
        so_far = quoted[:at].strip()
        if character in "\n\r" and len(so_far) >= 2 * len(_QUOTES) and so_far.endswith(_QUOTES):
            return True
    return False
