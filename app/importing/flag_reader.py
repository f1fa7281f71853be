"""Words of a command line as flags with their values, by what an engine is known to take.

For engines whose flags Python's argparse, click or a like of them reads; must not know what any
flag means.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from app.export.engine_words import EngineWords, Word
from app.importing.loose_json import depth_after
from app.importing.typed_numbers import decimal, is_variable, truth, whole

_DASHES = re.compile(r"[\u2010-\u2015\u2212]+")
MOST_WORDS = 2_000
"""Words of a command that are read; the longest that people start engines with have hundreds."""
_MOST_GUESSED = 100
"""Flags that no engine has and that are looked for under other spellings; more is no command."""
# What a script is called with in its turn, which nobody knows here.
_OF_SCRIPT = ("%*", "$@", "$*", "${@}", "@args")
# People write these for a number; no file is called so.
_AMOUNTS = ("all", "auto", "max")
_MOST_JSON_WORDS = 400
"""Words that the value of one flag can fall apart into; more is another text."""


@dataclass(frozen=True)
class Said:
    """A flag and what stood behind it, or a word that belongs to no flag.

    Attributes:
        words: As they stood, to be handed on.
        written: The flag as it was written, without a value joined to it; empty for a word alone.
        name: The first name that the engine has for the flag; as written where it knows none.
        part: What a dotted flag names in its value: ``method`` of ``--speculative-config.method``.
        values: What belongs to it.
        word: What the engine knows of it; None where it does not know it.
        off: Whether it is a spelling that switches off.
    """

    words: tuple[str, ...]
    written: str = ""
    name: str = ""
    part: str = ""
    values: tuple[str, ...] = ()
    word: Word | None = None
    off: bool = False

    @property
    def value(self) -> str:
        """The last of the values; empty where there is none."""
        return self.values[-1] if self.values else ""


@dataclass(frozen=True)
class Reading:
    """A command line taken apart.

    Attributes:
        said: In the order of the text.
        problems: ``code: sentence``.
    """

    said: tuple[Said, ...]
    problems: tuple[str, ...]


def read_flags(
    words: Sequence[str], engine: EngineWords, meant: Mapping[str, str] | None = None
) -> Reading:
    """Take ``words`` apart.

    Args:
        words: What the program gets behind its name and its command.
        engine: What it knows.
        meant: Beginnings that stand for several flags by now, each with the one that they stood
            for when people wrote them.
    """
    reader = _Reader(words[:MOST_WORDS], engine, meant or {})
    reader.read()
    if len(words) > MOST_WORDS:
        reader.problems.append(
            f"log_paste: of {len(words):,} words the first {MOST_WORDS:,} were read; no command "
            "has more"
        )
    return Reading(tuple(reader.said), tuple(dict.fromkeys(reader.problems)))


def is_flag(word: str) -> bool:
    """Whether a word begins a flag; a negative number is none."""
    if len(word) < 2 or decimal(word) is not None:
        return False
    return word.startswith("-") or _DASHES.match(word) is not None


class _Reader:
    def __init__(self, words: Sequence[str], engine: EngineWords, meant: Mapping[str, str]) -> None:
        self._words = words
        self._engine = engine
        self._meant = meant
        self._at = 0
        self._guessed = 0
        self.said: list[Said] = []
        self.problems: list[str] = []

    def read(self) -> None:
        while self._at < len(self._words):
            word = self._words[self._at]
            self._at += 1
            if word in _OF_SCRIPT:
                continue
            if word == "--":
                self.said += [Said((rest,), values=(rest,)) for rest in self._words[self._at :]]
                return
            self.said.append(self._flag(word) if is_flag(word) else Said((word,), values=(word,)))

    def _flag(self, word: str) -> Said:
        head, equals, tail = word.partition("=")
        said = self._named(self._plain(head))
        if equals:
            begin = self._at - 1
            value = self._whole_json(tail, said)
            words = tuple(self._words[begin : self._at])
            return _turned(replace(said, words=words, values=(value,)))
        if said.values:  # joined to a short flag
            return replace(said, words=(word,))
        begin = self._at
        values = self._values(said)
        words = (word, *self._words[begin : self._at])
        return _turned(replace(said, words=words, values=values))

    def _plain(self, head: str) -> str:
        """The flag with dashes that a keyboard has."""
        if not _DASHES.match(head):
            return head
        plain = "--" + _DASHES.sub("-", head).lstrip("-")
        self.problems.append(
            f"typographic: “{head}” begins with a printer's dash, where {plain} was meant"
        )
        return plain

    # --- Which flag ---------------------------------------------------------------------------

    def _named(self, head: str) -> Said:
        found = self._engine.flag(head)
        if found is not None:
            return self._said(head, found)
        found_otherwise = self._dotted(head) or self._joined(head)
        if found_otherwise is None and self._guessed < _MOST_GUESSED:
            self._guessed += 1
            found_otherwise = self._otherwise_spelt(head) or self._abbreviated(head)
        return found_otherwise or Said((), head, head)

    def _said(self, written: str, found: Word) -> Said:
        spelt = self._engine.spelt(written)
        off = spelt in map(self._engine.spelt, found.negated)
        return Said((), written, found.names[0], word=found, off=off)

    def _dotted(self, head: str) -> Said | None:
        """A part of a value that is JSON, where the engine takes those."""
        base, dot, part = head.partition(".")
        found = self._engine.flag(base) if dot else None
        if found is None or found.kind != "json":
            return None
        return replace(self._said(base, found), written=head, part=part.removesuffix("+"))

    def _joined(self, head: str) -> Said | None:
        """A short flag with its value behind it, such as ``-O3``."""
        if head.startswith("--") or len(head) < 3:
            return None
        found = self._engine.flag(head[:2])
        if found is None or found.arity == 0 or decimal(head[2:]) is None:
            return None
        return replace(self._said(head[:2], found), values=(head[2:],))

    def _otherwise_spelt(self, head: str) -> Said | None:
        """The flag that was meant with ``_`` for ``-`` or in other case."""
        if not head.startswith("--"):
            return None
        meant = head.lower().replace("_", "-")
        for flag in self._engine.flags:
            for name in flag.names:
                if not flag.positional and name.lower().replace("_", "-") == meant:
                    self.problems.append(
                        f"broken_flag: {head} is written {name}, and was read as that"
                    )
                    return replace(self._said(name, flag), written=head)
        return None

    def _abbreviated(self, head: str) -> Said | None:
        if not self._engine.abbreviates or not head.startswith("--") or len(head) < 4:
            return None
        candidates = self._engine.beginning_with(head)
        if not candidates:
            return None
        meant = self._engine.flag(self._meant.get(self._engine.spelt(head), ""))
        if len(candidates) > 1 and meant is None:
            names = ", ".join(flag.names[0] for flag in candidates[:4])
            self.problems.append(
                f"abbreviated_flag: {head} may stand for {names}"
                f"{' and more' if len(candidates) > 4 else ''}; it was not read"
            )
            return None
        found = meant or candidates[0]
        full = next(name for name in found.names if self._engine.spelt(name).startswith(
            self._engine.spelt(head))) if meant is None else found.names[0]  # fmt: skip
        self.problems.append(
            f"abbreviated_flag: {head} stands for {full}"
            + (f", though {self._engine.engine} takes it for several by now" if meant else "")
        )
        return replace(self._said(full, found), written=head)

    # --- What belongs to it -------------------------------------------------------------------

    def _values(self, said: Said) -> tuple[str, ...]:
        word = said.word
        if word is None:
            return self._one_if_any()
        if word.arity == 0:
            return self._of_switch(said)
        if word.arity == 1:
            return self._one(said)
        if word.arity == "?":
            is_amount = self._is_number(self._peek()) or self._peek().lower() in _AMOUNTS
            fits = word.kind not in ("int", "float") or is_amount
            return self._one_if_any() if fits else ()
        if isinstance(word.arity, int):
            return self._several(word, word.arity)
        return self._several(word, len(self._words))

    def _peek(self) -> str:
        return self._words[self._at] if self._at < len(self._words) else ""

    def _one_if_any(self) -> tuple[str, ...]:
        if self._at >= len(self._words) or is_flag(self._peek()):
            return ()
        self._at += 1
        return (self._words[self._at - 1],)

    def _one(self, said: Said) -> tuple[str, ...]:
        values = self._one_if_any()
        if not values:
            self.problems.append(f"bad_value: {said.written} has no value, and needs one")
            return ()
        return (self._whole_json(values[0], said),)

    def _of_switch(self, said: Said) -> tuple[str, ...]:
        if self._peek().lower() not in ("true", "false"):
            return ()
        self._at += 1
        value = self._words[self._at - 1]
        self.problems.append(
            f"changed_arity: {said.written} takes no value; “{value}” behind it was taken for one"
        )
        return (value,)

    def _several(self, word: Word, most: int) -> tuple[str, ...]:
        values: list[str] = []
        while len(values) < most and self._at < len(self._words) and not is_flag(self._peek()):
            if not self._fits(word, self._peek()):
                break
            values.append(self._words[self._at])
            self._at += 1
        return tuple(values)

    def _fits(self, word: Word, value: str) -> bool:
        if word.choices:
            return value in map(str, word.choices)
        if "int" in (word.kind, word.item) or "float" in (word.kind, word.item):
            return self._is_number(value)
        return True

    @staticmethod
    def _is_number(value: str) -> bool:
        if is_variable(value) or decimal(value) is not None:
            return True
        parts = re.split(r"[,/]", value)
        return len(parts) > 1 and all(decimal(part) is not None for part in parts)

    def _whole_json(self, value: str, said: Said) -> str:
        """``value`` with the words that belong to it, where its quotes were lost."""
        if said.word is None or said.word.kind != "json" or not value.startswith(("{", "[")):
            return value
        depth = depth_after(value)
        end = self._at
        parts = [value]
        last = min(len(self._words), self._at + _MOST_JSON_WORDS)
        while depth > 0 and end < last and not self._words[end].startswith("--"):
            parts.append(self._words[end])
            depth = depth_after(self._words[end], depth)
            end += 1
        if depth != 0 or end == self._at:
            return value
        self._at = end
        self.problems.append(
            f"log_paste: the quotes around the value of {said.written} are lost; it was read up "
            "to its closing brace"
        )
        return " ".join(parts)


def _turned(said: Said) -> Said:
    """A switch that was given ``false`` says the contrary of its name."""
    if said.word is None or said.word.arity != 0 or truth(said.value) is not False:
        return said
    return replace(said, off=not said.off)


def number_or_none(text: str) -> int | float | None:
    """The number that ``text`` is, whole where it is written so."""
    count = whole(text)
    return count if count is not None else decimal(text)
