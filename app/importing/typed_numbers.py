"""Numbers as command lines and files of engines write them, and what stands for one.

Pure text; must not know any engine's flags.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_WHOLE = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
_DECIMAL = re.compile(r"[+-]?(?:[0-9]{1,18}\.?[0-9]{0,40}|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,3})?")
_SUFFIXED = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)([A-Za-z]{1,2})")
_VARIABLE = re.compile(
    r"\$[{(]?\w.*|%[A-Za-z_][\w()]*%.*|%~\w*[0-9].*|%[0-9*]|%%~?[A-Za-z].*|![A-Za-z_]\w*!.*"
    r"|\{\{.*\}\}",
    re.DOTALL,
)
_PLACEHOLDER = re.compile(
    r"<[^<>]*>|\[[^\[\]]*\]|\{[\w \-]*\}|[xX]{1,4}|[nN]|\.{2,3}|…|\?+|YOUR[_ -].*", re.IGNORECASE
)


def whole(text: str) -> int | None:
    """The whole number that ``text`` is; None where it is none."""
    cleaned = text.strip()
    return int(cleaned) if _WHOLE.fullmatch(cleaned) else None


def decimal(text: str) -> float | None:
    """The number that ``text`` is; None where it is none."""
    cleaned = text.strip()
    return float(cleaned) if _DECIMAL.fullmatch(cleaned) else None


def whole_with_suffix(
    text: str, suffixes: Mapping[str, int], with_decimals: str | None = None
) -> int | None:
    """A whole number that may end in one of ``suffixes``, each with what it multiplies by.

    Args:
        text: As written.
        suffixes: Case matters.
        with_decimals: Suffixes before which decimals may stand; every one where None.
    """
    found = _SUFFIXED.fullmatch(text.strip())
    if found is None or found[2] not in suffixes:
        return whole(text)
    if "." in found[1] and with_decimals is not None and found[2] not in with_decimals:
        return None
    return round(float(found[1]) * suffixes[found[2]])


def is_variable(text: str) -> bool:
    """Whether ``text`` is a variable of a shell or a macro, whose value is not in the text."""
    return _VARIABLE.fullmatch(text.strip()) is not None


def is_placeholder(text: str) -> bool:
    """Whether ``text`` only says that something has to be put in, as ``<port>`` does."""
    return _PLACEHOLDER.fullmatch(text.strip()) is not None


def truth(text: str) -> bool | None:
    """What a switch is set to; None where the word is neither."""
    word = text.strip().strip("\"'").lower()
    if word in ("1", "t", "true", "on", "yes", "y"):
        return True
    if word in ("0", "f", "false", "off", "no", "n"):
        return False
    return None
