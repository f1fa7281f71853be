"""One flag of llama.cpp with its values, as an item of a list: written as a POSIX shell takes it.

Pure text; must not know which flags there are.
"""

from __future__ import annotations

import re
import shlex

from engine_bridge.settings.domain import DomainError
from engine_bridge.typed_text import quoted

_FLAG = re.compile(r"--?[A-Za-z]\S*")


def flag_words(text: str) -> tuple[str, ...]:
    """The flag and its values, as the program gets them.

    Raises:
        DomainError: If a quote is left open, no flag stands in front, or there are several.
    """
    try:
        words = tuple(shlex.split(text))
    except ValueError:
        raise DomainError(
            f"{quoted(text)} leaves a quote open; write each quote twice or in the other kind."
        ) from None
    if not words or not _FLAG.fullmatch(words[0]):
        raise DomainError(f"{quoted(text)} does not begin with a flag, such as --jinja.")
    second = next((word for word in words[1:] if _FLAG.fullmatch(word)), None)
    if second is not None:
        raise DomainError(f"{quoted(text)} holds two flags; {second} is an item of its own.")
    return words


def flag_item(words: tuple[str, ...]) -> str:
    """A flag and its values as one item."""
    return shlex.join(words)


def checked_flag(text: str) -> str:
    """A flag with its values as it is kept.

    Raises:
        DomainError: As ``flag_words`` does.
    """
    return flag_item(flag_words(text))
