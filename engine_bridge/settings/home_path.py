"""Paths that somebody typed, of which the first part may be a home folder: ``~`` or ``~name``."""

from __future__ import annotations

from pathlib import Path

from engine_bridge.settings.domain import DomainError
from engine_bridge.typed_text import quoted


def home_path(text: str | Path) -> Path:
    """``text`` as a path, with the home folder that it names.

    Raises:
        DomainError: If there is no such home folder, in a sentence.
    """
    path = Path(text)
    try:
        return path.expanduser()
    except RuntimeError:
        raise DomainError(
            f"There is no home folder {quoted(path.parts[0])}. Write the whole path, or ./ before "
            "a name that begins so."
        ) from None


def whole_path(text: str) -> str:
    """``text`` as a path from the root on, as settings hold one.

    Raises:
        DomainError: If it begins with a home folder that there is none of, in a sentence.
    """
    return str(home_path(text).absolute())
