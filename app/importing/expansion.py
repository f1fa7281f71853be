"""How much the variables of one text may put into it, whatever reads it.

Each line may double what the one before set, so that a text of some hundred characters would fill
any memory. Knows no way of writing variables.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from app.importing.text_error import TextError

MOST_CHARACTERS = 1_000_000
"""Characters that variables put into one text, all uses together; real ones put in thousands."""
_LEFT: ContextVar[list[int] | None] = ContextVar("characters left to variables", default=None)


@contextmanager
def bounded() -> Iterator[None]:
    """Bound what is spent inside, in this thread."""
    token = _LEFT.set([MOST_CHARACTERS])
    try:
        yield
    finally:
        _LEFT.reset(token)


def put(value: str) -> str:
    """``value``, which is put in for a variable.

    Raises:
        TextError: If the variables of the text have put in too much.
    """
    spend(len(value))
    return value


def spend(characters: int) -> None:
    """Take from what is left.

    Args:
        characters: At least 0; work that grows otherwise is given as so many.

    Raises:
        TextError: If less was left.
    """
    left = _LEFT.get()
    if left is None:
        return
    left[0] -= characters
    if left[0] < 0:
        raise TextError(
            f"The variables of this text put in more than {MOST_CHARACTERS:,} characters, which no "
            "command has. Paste the command alone."
        )
