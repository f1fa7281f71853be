"""Keys and passwords in a text: an importer tells that they are there and never what they are.

Narrower than ``app.redaction``, which may take a path or a flag such as ``--hf-config-path`` for a
name or a token: here everything else has to stay as it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

HIDDEN = "REDACTED"
"""What stands where a secret stood."""

_SECRET_NAME = re.compile(
    r"(?:^|[_.\-])(?:api_?key|[a-z]*token|secret|secret_?key|access_?key|passw(?:or)?d"
    r"|admin_?password|horde_?key|private_?key|credentials?)s?$"
)
# Of these names the value is a number or a word of the engine, no secret.
_HARMLESS_NAME = re.compile(r"(?:tokens|token_?map|max_?token|eos_?token|bos_?token|nobostoken)$")
_SECRETS = (
    re.compile(
        r"(?<![\w-])(?:hf_[A-Za-z0-9]{16,}|api_org_[A-Za-z0-9]{16,}|sk-[A-Za-z0-9_-]{16,}"
        r"|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|xox[abps]-[\w-]{10,}"
        r"|nvapi-[\w-]{16,}|AKIA[A-Z0-9]{12,})"
    ),
    re.compile(r"(?i)(?<=bearer )[A-Za-z0-9+/._~-]{8,}=*"),
    re.compile(r"(?<=://)[^/\s@:]{1,200}:[^/\s@]{1,200}(?=@)"),
)
_SHORTEST_KNOWN = 8
# What stands for a value that the text does not have.
_NO_VALUE = re.compile(r"\$.*|%\w+%|\{\{.*\}\}|<.*>|\[.*\]|")


def is_secret_name(name: str) -> bool:
    """Whether what a flag, a variable or a key of this name holds is for nobody else."""
    plain = name.strip().strip("-").lower().replace("-", "_")
    return _HARMLESS_NAME.search(plain) is None and _SECRET_NAME.search(plain) is not None


def hidden(value: str) -> str:
    """What may be told of the secret ``value``; a variable or a placeholder is none yet."""
    return value if _NO_VALUE.fullmatch(value) else HIDDEN


def without_secrets(text: str, known: Iterable[str] = ()) -> str:
    """``text`` without what has the form of a key or of a password in an address.

    Args:
        text: To be told.
        known: Secrets that the text was found to hold; short ones are words as well, and stay.
    """
    for secret in known:
        if len(secret) >= _SHORTEST_KNOWN:
            text = text.replace(secret, HIDDEN)
    for pattern in _SECRETS:
        text = pattern.sub(HIDDEN, text)
    return text


def value_without_secrets(name: str, value: str) -> str:
    """``value`` of the variable or key ``name`` as it may be shown."""
    return hidden(value) if is_secret_name(name) else without_secrets(value)
