"""Which of a program's words are its own command, and which its flags."""

from __future__ import annotations

from collections.abc import Sequence


def command_and_rest(words: Sequence[str], commands: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """The leading words that are one of ``commands``, and what follows.

    Args:
        words: What a program gets.
        commands: Of one or two words; the longer ones are looked for first.
    """
    for command in sorted(commands, key=len, reverse=True):
        parts = tuple(command.split())
        if tuple(words[: len(parts)]) == parts:
            return command, tuple(words[len(parts) :])
    return "", tuple(words)
