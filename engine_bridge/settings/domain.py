"""What values a setting may take. Strict: a value outside is refused, never clipped.

Knows text and numbers; must not know widgets, the engine or other settings.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TypeAlias

from engine_bridge.typed_text import quoted

# Digits in one run or in groups of three: "8,192" is a number, "1,5" might mean one and a half.
_WHOLE_NUMBER = re.compile(r"([-−]?)(\d+|\d{1,3}(?:[,_ \u202f]\d{3})+)([kK]?)", re.ASCII)

_COMMA_NUMBER = re.compile(r"-?\d{0,15},\d{1,15}", re.ASCII)

# Python refuses to read thousands of digits; no setting needs thirty.
_LONGEST_NUMBER = 30

# The engine holds such numbers in 32 bits. llama.cpp's programs refuse on their command line what
# is nearer to nothing than this (std::stof), and nothing can be told from it.
_LEAST_FLOAT32 = 2.0**-126

Value: TypeAlias = int | float | str | bool | tuple[str, ...]


class DomainError(ValueError):
    """A value that a setting cannot take; the message is a sentence for the user."""


def _plain_minus(text: str) -> str:
    """``text`` with the minus sign of printed text, which help texts use, as the keyboard's."""
    return text.replace("\N{MINUS SIGN}", "-")


@dataclass(frozen=True)
class IntDomain:
    """Whole numbers from ``minimum`` to ``maximum``, plus the named ``words``.

    Attributes:
        minimum: Least number allowed.
        maximum: Largest number allowed.
        stops: Where a slider rests, ascending; any number in between may be typed.
        words: Words allowed instead of a number, e.g. ``("auto",)``. On a slider they come
            before the stops, except ``all``, which comes after them.
    """

    minimum: int
    maximum: int
    stops: tuple[int, ...]
    words: tuple[str, ...] = ()

    def check(self, value: object) -> int | str:
        """Return ``value`` if it is allowed.

        Raises:
            DomainError: If it is not, with the sentence to show.
        """
        if isinstance(value, str) and value in self.words:
            return value
        if isinstance(value, bool) or not isinstance(value, int):
            raise DomainError(f"{quoted(value)} is not {self.describe()}.")
        if not self.minimum <= value <= self.maximum:
            raise DomainError(f"{value:,} is outside {self.minimum:,} to {self.maximum:,}.")
        return value

    def parse(self, text: str) -> int | str:
        """Read what a person typed: a number, thousands grouped or not, or a word.

        ``4k`` is 4096.

        Raises:
            DomainError: If the text is no allowed value.
        """
        cleaned = text.strip()
        if cleaned.lower() in self.words:
            return cleaned.lower()
        found = _WHOLE_NUMBER.fullmatch(cleaned)
        if found is None or len(cleaned) > _LONGEST_NUMBER:
            raise DomainError(f"{quoted(text)} is not {self.describe()}.")
        sign, digits, kilo = found.groups()
        number = int(re.sub(r"\D", "", digits)) * (1024 if kilo else 1)
        return self.check(-number if sign else number)

    def format(self, value: object) -> str:
        """The value as ``parse`` reads it."""
        return str(value)

    def describe(self) -> str:
        """What may be set, in words."""
        words = "".join(f" or {quoted(word)}" for word in self.words)
        return f"a whole number from {self.minimum:,} to {self.maximum:,}{words}"


@dataclass(frozen=True)
class FloatDomain:
    """Decimal numbers from ``minimum`` to ``maximum``.

    Attributes:
        minimum: Least value.
        maximum: Largest value.
        step: Distance of the slider's stops.
        decimals: Digits shown after the point.
    """

    minimum: float
    maximum: float
    step: float
    decimals: int = 2

    def check(self, value: object) -> float:
        """Return ``value`` as float if it is allowed; one that is next to nothing as zero.

        Raises:
            DomainError: If it is not.
        """
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise DomainError(
                f"{quoted(value)} is not a number from {self.minimum} to {self.maximum}."
            )
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number) or not self.minimum <= number <= self.maximum:
            raise DomainError(f"{value} is outside {self.minimum} to {self.maximum}.")
        return number if abs(number) >= _LEAST_FLOAT32 else 0.0

    def parse(self, text: str) -> float:
        """Read a decimal number, with a point, or with a comma that can only be a decimal one.

        Raises:
            DomainError: If the text is no allowed value, or may be two of them.
        """
        cleaned = _plain_minus(text.strip())
        if not _COMMA_NUMBER.fullmatch(cleaned):
            return self.check(self._number(text, cleaned))
        readings = {self._number(text, cleaned.replace(",", "."))}
        if _WHOLE_NUMBER.fullmatch(cleaned) and not cleaned.startswith("0"):
            readings.add(self._number(text, cleaned.replace(",", "")))
        allowed = [number for number in readings if self.minimum <= number <= self.maximum]
        if len(allowed) == 2:
            small, large = sorted(allowed)
            raise DomainError(
                f"{quoted(text)} may be {small:g} or {large:g}: write it with a point."
            )
        return self.check(allowed[0] if allowed else min(readings))

    def _number(self, text: str, cleaned: str) -> float:
        try:
            return float(cleaned)
        except ValueError:
            example = (self.minimum + self.maximum) / 2
            raise DomainError(
                f"{quoted(text)} is not a number from {self.minimum} to {self.maximum}. Write it "
                f"with a point, such as {example:.{self.decimals}f}."
            ) from None

    def describe(self) -> str:
        """What may be set, in words."""
        return f"a number from {self.minimum:g} to {self.maximum:g}"

    def format(self, value: object) -> str:
        """The value as ``parse`` reads it."""
        return repr(value)


@dataclass(frozen=True)
class ChoiceDomain:
    """One of a few words.

    Attributes:
        choices: The words, in the order a slider or list shows them.
    """

    choices: tuple[str, ...]

    def check(self, value: object) -> str:
        """Return ``value`` if it is one of the choices.

        Raises:
            DomainError: If it is not.
        """
        if not isinstance(value, str) or value not in self.choices:
            raise DomainError(f"{quoted(value)} is not one of {', '.join(self.choices)}.")
        return value

    def parse(self, text: str) -> str:
        """Read one of the choices, in any case.

        Raises:
            DomainError: If the text is none of them.
        """
        return self.check(text.strip().lower())

    def describe(self) -> str:
        """What may be set, in words."""
        return "one of " + ", ".join(self.choices)

    def format(self, value: object) -> str:
        """The value as ``parse`` reads it."""
        return str(value)


@dataclass(frozen=True)
class FlagDomain:
    """On or off."""

    def check(self, value: object) -> bool:
        """Return ``value`` if it is a bool.

        Raises:
            DomainError: If it is not.
        """
        if not isinstance(value, bool):
            raise DomainError(f"{quoted(value)} is neither true nor false.")
        return value

    def parse(self, text: str) -> bool:
        """Read ``true/false``, ``on/off``, ``yes/no`` or ``1/0``.

        Raises:
            DomainError: If the text is none of them.
        """
        word = text.strip().lower()
        if word in ("true", "on", "yes", "1"):
            return True
        if word in ("false", "off", "no", "0"):
            return False
        raise DomainError(f"{quoted(text)} is neither on nor off.")

    def describe(self) -> str:
        """What may be set, in words."""
        return "on or off"

    def format(self, value: object) -> str:
        """The value as ``parse`` reads it."""
        return "on" if value else "off"


@dataclass(frozen=True)
class PathDomain:
    """A file path, or the empty string for none."""

    def check(self, value: object) -> str:
        """Return ``value`` if it can be a path.

        Raises:
            DomainError: If it is no text or holds a NUL.
        """
        if not isinstance(value, str) or "\0" in value:
            raise DomainError(f"{quoted(value)} is not a file path.")
        if any("\ud800" <= character <= "\udfff" for character in value):
            # Neither JSON nor a command line that others read can carry such a name.
            raise DomainError(
                f"The name {quoted(value)} holds bytes that are no text; rename the file."
            )
        return value

    def parse(self, text: str) -> str:
        """The text itself.

        Raises:
            DomainError: If it holds a NUL.
        """
        return self.check(text)

    def describe(self) -> str:
        """What may be set, in words."""
        return "a file path"

    def format(self, value: object) -> str:
        """The value as ``parse`` reads it."""
        return str(value)


@dataclass(frozen=True)
class ListDomain:
    """Several of a few words, each at most once.

    Attributes:
        choices: The words that may stand in the list.
        notes: A sentence about each, for whoever chooses; or none at all.
    """

    choices: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def check(self, value: object) -> tuple[str, ...]:
        """Return ``value`` as a tuple if every word is allowed.

        Raises:
            DomainError: If a word is unknown or stands twice.
        """
        if isinstance(value, str) or not isinstance(value, (tuple, list)):
            raise DomainError(f"{quoted(value)} is not a list of {', '.join(self.choices)}.")
        words = tuple(value)
        for word in words:
            if word not in self.choices:
                raise DomainError(f"{quoted(word)} is not one of {', '.join(self.choices)}.")
        if len(set(words)) != len(words):
            raise DomainError(f"{', '.join(words)} names a word twice.")
        return words

    def parse(self, text: str) -> tuple[str, ...]:
        """Read words separated by commas; ``none`` or nothing is the empty list.

        Raises:
            DomainError: If a word is unknown or stands twice.
        """
        words = [word.strip().lower() for word in text.split(",")]
        return self.check(tuple(word for word in words if word and word != "none"))

    def describe(self) -> str:
        """What may be set, in words."""
        return "none, or several of " + ", ".join(self.choices)

    def format(self, value: object) -> str:
        """The value as ``parse`` reads it."""
        return ",".join(value) if isinstance(value, tuple) and value else "none"


Domain: TypeAlias = IntDomain | FloatDomain | ChoiceDomain | FlagDomain | PathDomain | ListDomain
