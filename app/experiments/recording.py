"""A conversation that took place, as far as it is needed to say it again."""

from __future__ import annotations

import math

import msgspec

# Tokens per byte of UTF-8 where nothing was measured: English takes 0.22 to 0.27 and other
# languages about as much, for their letters take more bytes; above all of them, as a limit should.
_TOK_PER_BYTE = 0.3


class Exchange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question and the answer it got; an empty answer if it got none."""

    question: str
    answer: str


class Recording(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was said on one path through a conversation.

    Attributes:
        title: What the conversation is called.
        exchanges: In the order in which they took place.
        system: Said before the first; empty for nothing.
    """

    title: str
    exchanges: tuple[Exchange, ...]
    system: str = ""


def guessed_tok(text: str) -> int:
    """Tokens of a text by its size, rather too many than too few."""
    return math.ceil(len(text.encode(errors="replace")) * _TOK_PER_BYTE)
