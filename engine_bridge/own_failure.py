"""Why a throwaway process gave no answer: the file that it looked at, or something else.

What a file does to llama.cpp ends a process by a signal of its own; Python ends one that failed by
itself with a small status, and says why on its last line. Two signals only come from outside.
"""

from __future__ import annotations

import os
import signal
from typing import IO

# An exception that nobody caught, a module that is not there; a program that cannot be started.
_OWN_STATUSES = (1, 2)
# What the system sends where memory runs out, and whoever ends programs.
_FROM_OUTSIDE = ("SIGKILL", "SIGTERM")
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
    return last_line(said.decode(errors="replace")) or "it gave no reason"


def last_line(said: str) -> str:
    """The last line of what a process said, fit to stand in a sentence; empty for none."""
    line = said.strip().rsplit("\n", 1)[-1]
    return "".join(char for char in line if char.isprintable()).strip()[:_MOST_CHARACTERS]


def last_words(said: str) -> str:
    """A sentence that quotes the last line, with a space in front; empty where there is none."""
    line = last_line(said).rstrip(".")
    return f" Its last line: {line}." if line else ""


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


def innocent_sentence(status: int, said: bytes, file_name: str) -> str:
    """What is said where the end of such a process tells nothing of the file; else the empty text.

    Args:
        status: Its exit status, negative for a signal.
        said: The end of its standard error.
        file_name: The file, for people.
    """
    if reason := own_failure(status, said):
        return own_failure_sentence(reason, file_name)
    for name in _FROM_OUTSIDE:
        if hasattr(signal, name) and status == -getattr(signal, name):
            return (
                f"{file_name} could not be tried: the process that looks at files was ended by "
                f"{name}, by another program, or by the system as memory ran out. That says "
                "nothing about the file. Close other programs if memory is short, and try again."
            )
    return ""


def overdue_sentence(file_name: str) -> str:
    """What is said where such a process came to no end in a minute and was given up."""
    return (
        f"{file_name} could not be tried within a minute, and that was given up: the machine is "
        "very busy, the file's drive is slow or gone, or the file is damaged. Try again, or choose "
        "another file."
    )
