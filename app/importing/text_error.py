"""Why a text gives nothing to import."""

from __future__ import annotations


class TextError(ValueError):
    """Nothing can be read from the text; the message is a sentence for the person."""
