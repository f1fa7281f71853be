"""Why a text gives nothing to import."""

from __future__ import annotations


class TextError(ValueError):
    """Nothing can be read from the text; the message is a sentence for the person."""


class NotOfThisKindError(TextError):
    """The text looks like a kind of file and is none, so it may be something else."""
