"""Reads the form's fields one by one; what is wrong is a sentence beside the field. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from app.experiments.terminal import SENTENCES
from engine_bridge.typed_text import quoted, without_long_words
from widgets.experiments.form_fields import BY_NAME
from widgets.experiments.form_values import FormValues

_NONE = "none"
# What a command line calls a part of the form.
_OPTIONS = re.compile(r"--[a-z-]+ ?")


class FormError(Exception):
    """The form asks for something that cannot be.

    Attributes:
        problems: A sentence for each field that is wrong; the empty name is of the whole.
    """

    def __init__(self, problems: Mapping[str, str]) -> None:
        """Keep ``problems``; the first one is the message."""
        super().__init__(next(iter(problems.values()), ""))
        # Whoever made the sentence; a path can be as long as somebody likes.
        self.problems = {name: without_long_words(sentence) for name, sentence in problems.items()}


class Fields:
    """The fields that stand in the form of one kind.

    Attributes:
        values: What was typed.
        problems: What was found wrong so far.
    """

    def __init__(self, values: FormValues) -> None:
        """Read ``values``."""
        self.values = values
        self.problems: dict[str, str] = {}

    def text(self, name: str) -> str:
        """What stands in a field; empty where it is empty, or does not stand in this form."""
        spec = BY_NAME[name]
        if self.values.kind not in spec.kinds or spec.is_never_with(self.values.source):
            return ""
        if spec.when is not None and self.values.text(spec.when[0]) != spec.when[1]:
            return ""
        return self.values.text(name)

    def whole(self, name: str, usual: int, low: int, high: int) -> int:
        """A whole number from ``low`` to ``high``; ``usual`` for an empty field."""
        text = self.text(name)
        if not text:
            return usual
        digits = re.sub(r"[,_ \u202f]", "", text)
        if re.fullmatch(r"\d{1,12}", digits) and low <= int(digits) <= high:
            return int(digits)
        self.wrong(name, f"takes a whole number from {low:,} to {high:,}; got {quoted(text)}.")
        return usual

    def number(self, name: str, usual: float, low: float, high: float) -> float:
        """A number from ``low`` to ``high``; ``usual`` for an empty field."""
        text = self.text(name)
        if not text:
            return usual
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if low <= value <= high:
            return value
        self.wrong(name, f"takes a number from {low:g} to {high:,g}; got {quoted(text)}.")
        return usual

    def limit(self, name: str, high: float) -> str:
        """A limit above 0 as it was typed, ``none`` included; empty for an empty field."""
        text = self.text(name)
        if not text or text.lower() == _NONE:
            return text.lower()
        try:
            value = float(text)
        except ValueError:
            value = 0.0
        if 0 < value <= high:
            return text
        unit = BY_NAME[name].unit
        self.wrong(
            name,
            f"takes a number above 0 and at most {high:,.0f} {unit}, or none; got {quoted(text)}.",
        )
        return ""

    def wrong(self, name: str, what: str) -> None:
        """Note what is wrong with a field: what follows behind its label."""
        self.problems.setdefault(name, f"{BY_NAME[name].label} {what}")

    def refuse(self) -> None:
        """Go no further where something is wrong.

        Raises:
            FormError: With all that is.
        """
        if self.problems:
            raise FormError(self.problems)

    @contextmanager
    def at(self, name: str) -> Iterator[None]:
        """Tell what is refused inside beside the field that the sentence names, else ``name``.

        Raises:
            FormError: With that sentence.
        """
        try:
            yield
        except SENTENCES as error:
            sentence = plain(str(error))
            field = next(
                (each for each in ("users", "requests") if sentence.startswith(f"{each} ")), name
            )
            raise FormError({field: sentence}) from None


def plain(sentence: str) -> str:
    """A sentence of the command line without its options."""
    without = _OPTIONS.sub("", sentence.replace("--api-key-env", "the field “Key from”"))
    return without[:1].upper() + without[1:]
