"""One flag of llama.cpp as a text said it, whether in words, in the environment or in a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from app.export.engine_words import EngineWords, Word

Origin = Literal["words", "env", "file"]


@dataclass(frozen=True)
class Said:
    """A flag with its values.

    Attributes:
        spelling: The flag as it can be said to the program.
        values: What belongs to it, as written.
        word: What is known of it; None where this version knows no such flag.
        origin: Where it was said.
        is_off: Whether a switch is switched off.
        written: The flag, variable or key as the text has it.
    """

    spelling: str
    values: tuple[str, ...] = ()
    word: Word | None = None
    origin: Origin = "words"
    is_off: bool = False
    written: str = ""

    @property
    def id(self) -> str:
        """The same for every spelling of one flag; the spelling itself of an unknown one."""
        return self.word.names[0] if self.word is not None else self.spelling

    @property
    def value(self) -> str:
        """The only value, or all of them with blanks between; empty where there is none."""
        return " ".join(self.values)

    @property
    def words(self) -> tuple[str, ...]:
        """The flag and its values as words for the program."""
        return (self.spelling, *self.values)

    def is_called(self, *names: str) -> bool:
        """Whether one of ``names`` is a spelling of this flag."""
        return self.word is not None and any(name in self.word.names for name in names)


class Vocabulary:
    """What one of llama.cpp's programs knows, and what its forebears knew."""

    def __init__(self, *engines: EngineWords) -> None:
        """Look into ``engines`` one after the other."""
        self._engines = engines

    def flag(self, spelling: str) -> Word | None:
        """The flag that ``spelling`` says in full; None where there is none."""
        found = (engine.flag(spelling) for engine in self._engines)
        return next((word for word in found if word is not None), None)

    def beginning_with(self, spelling: str) -> tuple[Word, ...]:
        """Flags of today with a long name that begins with ``spelling``."""
        words = (word for e in self._engines for word in e.beginning_with(spelling))
        return tuple({word.names: word for word in words}.values())

    def spelt(self, spelling: str) -> str:
        """``spelling`` as the program compares it."""
        return self._engines[0].spelt(spelling)

    def names(self) -> tuple[str, ...]:
        """Every long spelling of today."""
        return tuple(
            name
            for engine in self._engines
            for word in engine.flags
            if not word.removed
            for name in word.names
            if name.startswith("--")
        )

    def said(self, spelling: str, values: tuple[str, ...] = (), written: str = "") -> Said:
        """A known flag with its values; one that is not known without its word."""
        word = self.flag(spelling)
        plain = self.spelt(spelling) if word is not None else spelling
        is_off = word is not None and plain in map(self.spelt, word.negated)
        return Said(plain, values, word, is_off=is_off, written=written or spelling)
