"""The variables of a text for a POSIX shell, put into its words. Nothing is asked of a real one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from app.importing.posix_lexer import pieces_of
from app.importing.posix_tokens import Piece
from app.importing.secret_words import hidden, is_secret_name
from app.importing.text_error import TextError

# Variables that double each other line by line fill any memory; no command is longer than this.
_LONGEST_WORD_CHARACTERS = 100_000
_DEEPEST_DEFAULT = 8
_SHOWN_CHARACTERS = 60


@dataclass
class Variables:
    """What the text has set so far.

    Attributes:
        scalars: Values by names.
        arrays: Those of arrays.
        exported: Names that programs find in their environment.
        used: Names that were put in somewhere.
        problems: ``code: sentence`` by what they are about, since they were last taken.
    """

    scalars: dict[str, str] = field(default_factory=dict)
    arrays: dict[str, tuple[str, ...]] = field(default_factory=dict)
    exported: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    problems: dict[str, str] = field(default_factory=dict)

    def words(self, pieces: Sequence[Piece]) -> list[str]:
        """One word of the text as the words that the shell makes of it."""
        made: list[str] = []
        parts: list[str] = []
        length = 0
        for piece in pieces:
            for number, part in enumerate(self._fields(piece)):
                if number and parts:
                    made.append("".join(parts))
                    parts = []
                parts.append(part)
                length += len(part)
            _check_length(length)
        return [*made, "".join(parts)] if parts else made

    def set_array(self, name: str, values: tuple[str, ...]) -> None:
        """An array and its words."""
        _check_length(sum(map(len, values)) + len(values))
        self.arrays[name] = values

    def text(self, pieces: Sequence[Piece]) -> str:
        """One word of the text as one word, as an assignment takes it."""
        return " ".join(self.words([_quoted(piece) for piece in pieces]))

    def env(self) -> dict[str, str]:
        """What programs find in their environment by what the text says."""
        return {name: self.scalars[name] for name in self.scalars if name in self.exported}

    def take_problems(self) -> dict[str, str]:
        """The problems since they were last taken, by what they are about."""
        taken, self.problems = self.problems, {}
        return taken

    def _fields(self, piece: Piece) -> list[str]:
        if not piece.name:
            return [piece.text]
        if piece.operator in {"[@]", "[*]"} or (not piece.operator and piece.name in self.arrays):
            return self._array(piece)
        value = self._value(piece, depth=0)
        if piece.name in {"@", "*"}:
            # What a script is given is nothing where it is only read.
            return []
        if piece.is_quoted or value == piece.text:
            return [value]
        # Without quotes a value is as many words as it has, and none where it is empty.
        return value.split()

    def _array(self, piece: Piece) -> list[str]:
        if piece.name not in self.arrays:
            return [self._value(Piece(piece.text, piece.is_quoted, piece.name), depth=0)]
        self.used.add(piece.name)
        values = self.arrays[piece.name]
        if not piece.operator:
            return list(values[:1])
        return [" ".join(values)] if piece.operator == "[*]" and piece.is_quoted else list(values)

    def _value(self, piece: Piece, depth: int) -> str:
        """What is put in; a secret is told of by a word that says no more than that."""
        value = self._whole_value(piece, depth)
        return hidden(value) if piece.name and is_secret_name(piece.name) else value

    def _whole_value(self, piece: Piece, depth: int) -> str:
        known = self.scalars.get(piece.name)
        if piece.operator == "?":
            return self._unresolved(piece)
        if known is not None:
            self.used.add(piece.name)
        if piece.operator in {":-", ":=", "-", "="}:
            is_set = known is not None and (known or not piece.operator.startswith(":"))
            return known or "" if is_set else self._default(piece, depth)
        if piece.operator in {":+", "+"}:
            return self._default(piece, depth) if known else ""
        return self._unresolved(piece) if known is None else known

    def _default(self, piece: Piece, depth: int) -> str:
        if depth >= _DEEPEST_DEFAULT:
            return self._unresolved(piece)
        operand = piece.operand
        if len(operand) > 1 and operand[0] == operand[-1] and operand[0] in "'\"":
            operand = operand[1:-1]
        text = "".join(
            self._value(part, depth + 1) if part.name else part.text for part in pieces_of(operand)
        )
        if piece.operator in {":=", "="}:
            self.scalars[piece.name] = text
        return text

    def _unresolved(self, piece: Piece) -> str:
        shown = piece.text if len(piece.text) <= _SHOWN_CHARACTERS else f"{piece.text[:59]}…"
        why = "has no value in this text"
        if piece.text.startswith("$(("):
            why = "is worked out by the shell"
        elif piece.name == "command":
            why = "is what a command prints; nothing is executed here"
        self.problems[piece.text] = f"unresolved_variable: {shown} {why}"
        return piece.text


def _quoted(piece: Piece) -> Piece:
    return Piece(piece.text, True, piece.name, piece.operator, piece.operand)


def _check_length(characters: int) -> None:
    if characters > _LONGEST_WORD_CHARACTERS:
        raise TextError(
            f"The variables of this text make words of more than {_LONGEST_WORD_CHARACTERS:,} "
            "characters, which no command has. Paste the command alone."
        )
