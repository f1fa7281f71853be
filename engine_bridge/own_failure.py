"""Why a throwaway process gave no answer: the file that it looked at, or a failure of its own.

What a file does to llama.cpp ends a process by a signal; Python ends one that failed by itself with
a small status, and says why on its last line.
"""

from __future__ import annotations

import os
from typing import IO

# An exception that nobody caught, a module that is not there; a program that cannot be started.
_OWN_STATUSES = (1, 2)
_TAIL_BYTES = 4096
_MOST_CHARACTERS = 200


def own_failure(status: int, said: bytes) -> str:
    """The reason why a process of ours failed by itself; the empty string where it did not.

    Args:
        status: Its exit status, negative for a signal.
        said: The end of its standard error.
    """
    if status not in _OWN_STATUSES:
        return ""
    lines = said.decode(errors="replace").strip().splitlines()[-1:] or ["it gave no reason"]
    return "".join(char for char in lines[0] if char.isprintable())[:_MOST_CHARACTERS]


def end_of(errors: IO[bytes]) -> bytes:
    """The end of what a process wrote to a file that can be sought in."""
    size = errors.seek(0, os.SEEK_END)
    errors.seek(max(0, size - _TAIL_BYTES))
    return errors.read()


def own_failure_sentence(reason: str, file_name: str) -> str:
    """What is said of a file that could not be tried for ``reason``."""
    return (
        f"{file_name} could not be tried: the process that looks at files failed by itself "
        f"({reason.rstrip('.')}), which says nothing about the file. Try again; if it fails again, "
        "install TuneDeck anew."
    )
