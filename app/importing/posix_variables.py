"""The variables of a text for a POSIX shell, put into its words. Nothing is asked of a real one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from app.importing.expansion import put, spend
from app.importing.posix_expansions import CASES, CUTTING, REPLACING, changed, total
from app.importing.posix_lexer import pieces_of
from app.importing.posix_tokens import UNKNOWN, Piece
from app.importing.secret_words import hidden, is_secret_name
from app.importing.text_error import TextError

# Variables that double each other line by line fill any memory; no command is longer than this.
_LONGEST_WORD_CHARACTERS = 100_000
_DEEPEST_DEFAULT = 8
_SHOWN_CHARACTERS = 60
GIVEN = "@"
"""What a script or a function is given, among the arrays."""
_OF_SCRIPT = frozenset("123456789@*")


@dataclass
class Variables:
    """What the text has set so far.

    Attributes:
        scalars: Values by names.
        arrays: Those of arrays.
        exported: Names that programs find in their environment.
        used: Names that were put in somewhere.
        problems: ``code: sentence`` by what they are about, since they were last taken.
        read: Names that were put in since somebody last emptied it.
    """

    scalars: dict[str, str] = field(default_factory=dict)
    arrays: dict[str, tuple[str, ...]] = field(default_factory=dict)
    exported: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    problems: dict[str, str] = field(default_factory=dict)
    read: set[str] = field(default_factory=set)

    @property
    def given(self) -> tuple[str, ...] | None:
        """What a function, or the text by ``set --``, is given; None where nobody knows."""
        return self.arrays.get(GIVEN)

    @given.setter
    def given(self, values: tuple[str, ...] | None) -> None:
        if values is None:
            self.arrays.pop(GIVEN, None)
        else:
            self.set_array(GIVEN, values)

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

    def shift(self) -> None:
        """Take away the first of what is given."""
        self.given = self.given[1:] if self.given is not None else None

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
        if piece.name in {"@", "*"}:
            return self._given(piece)
        if piece.operator[:1] == "[" or (not piece.operator and piece.name in self.arrays):
            return self._array(piece)
        value = self._value(piece, depth=0)
        if piece.is_quoted or value == piece.text:
            return [value]
        # Without quotes a value is as many words as it has, and none where it is empty.
        return value.split()

    def _array(self, piece: Piece) -> list[str]:
        if piece.name not in self.arrays:
            return [self._value(Piece(piece.text, piece.is_quoted, piece.name), depth=0)]
        self._use(piece.name)
        values = self.arrays[piece.name]
        spend(sum(map(len, values)) + len(values))
        which, colon, part = piece.operator.partition(":")
        if which not in {"[@]", "[*]"}:
            found = self._item(values, which[1:-1])
            return (
                [self._unresolved(piece)]
                if found is None
                else _as_words((found,), is_quoted=piece.is_quoted, is_joined=False)
            )
        if colon:
            values = values[_slice(part)]
        return _as_words(values, is_quoted=piece.is_quoted, is_joined=which == "[*]")

    def _item(self, values: Sequence[str], index: str) -> str | None:
        """One word of an array by its number, or by its name; None where neither is known."""
        name = self.text(pieces_of(index)) if index else "0"
        named = next((value for value in values if value.startswith(f"[{name}]=")), None)
        if named is not None:
            return named.partition("=")[2]
        at = total(name, self.scalars)
        if at is None or any(value.startswith("[") for value in values):
            return None
        return values[at] if -len(values) <= at < len(values) else ""

    def _value(self, piece: Piece, depth: int) -> str:
        """What is put in; a secret is told of by a word that says no more than that."""
        value = put(self._whole_value(piece, depth))
        return hidden(value) if piece.name and is_secret_name(piece.name) else value

    def _given(self, piece: Piece) -> list[str]:
        """What a script is given is nothing where it is only read, which is told."""
        if self.given is None:
            self._unresolved(piece)
            return []
        self._use(GIVEN)
        values = self.given
        spend(sum(map(len, values)) + len(values))
        if piece.operator[:1] == ":" and piece.operator[1:2].isdigit():
            # The first is number one; number nought is the script.
            values = ("", *self.given)[_slice(piece.operator[1:])]
        return _as_words(values, is_quoted=piece.is_quoted, is_joined=piece.name == "*")

    def _use(self, name: str) -> None:
        self.used.add(name)
        self.read.add(name)

    def _known(self, name: str) -> str | None:
        if not name.isdigit():
            return self.scalars.get(name)
        number = int(name)
        if self.given is None or number == 0:
            return None
        return self.given[number - 1] if number <= len(self.given) else ""

    def _whole_value(self, piece: Piece, depth: int) -> str:
        known = self._known(piece.name)
        if piece.operator == UNKNOWN:
            return self._worked_out(piece, known)
        if known is not None:
            self._use(piece.name)
        if piece.operator in {":-", ":=", "-", "="}:
            is_set = known is not None and (known or not piece.operator.startswith(":"))
            is_open = piece.name.isdigit() and self.given is None and not piece.operand
            if is_open:
                return self._unresolved(Piece(f"${piece.name}", name=piece.name))
            return known or "" if is_set else self._default(piece, depth)
        if piece.operator in {":+", "+"}:
            is_set = known is not None and (known or piece.operator == "+")
            return self._default(piece, depth) if is_set else ""
        if known is None:
            return self._unresolved(piece)
        return self._changed(piece, known, depth)

    def _worked_out(self, piece: Piece, known: str | None) -> str:
        """A sum, a word that a function is given; everything else the shell alone knows."""
        if piece.text.startswith("$((") and piece.text.endswith("))"):
            made = total(piece.text[3:-2], self.scalars)
            return self._unresolved(piece) if made is None else str(made)
        if piece.name == "#" and self.given is not None:
            return str(len(self.given))
        if known is not None and piece.name.isdigit():
            return known
        return self._unresolved(piece)

    def _changed(self, piece: Piece, known: str, depth: int) -> str:
        if piece.operator[:1] == ":" and piece.operator[1:2].isdigit() and "$" not in known:
            return known[_slice(piece.operator[1:])]
        if piece.operator not in {*CUTTING, *REPLACING, *CASES}:
            return known
        made = None
        # What is open, or waits for a value itself, must not be cut at a place of its name.
        if "$" not in known and depth < _DEEPEST_DEFAULT:
            made = changed(known, piece.operator, self._operand(piece, depth))
        return self._unresolved(piece) if made is None else made

    def _operand(self, piece: Piece, depth: int) -> str:
        return "".join(
            self._value(part, depth + 1) if part.name else part.text
            for part in pieces_of(piece.operand)
        )

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
        if piece.text.startswith("$((") or piece.operator in {*CUTTING, *REPLACING, *CASES}:
            why = "is worked out by the shell"
        elif piece.name == "command":
            why = "is what a command prints; nothing is executed here"
        elif piece.name in _OF_SCRIPT:
            why = "is what the script is given when it is started"
        elif piece.operator in {":?", "?"}:
            # What the shell says where it is missing is no part of the word.
            said = f"; the text asks for it: {piece.operand[:_SHOWN_CHARACTERS]}"
            why += said if piece.operand else ""
            piece, shown = Piece(f"${{{piece.name}}}"), f"${{{piece.name}}}"
        self.problems[piece.text] = f"unresolved_variable: {shown} {why}"
        return piece.text


def _slice(text: str) -> slice:
    """``2:3`` as from the second on three."""
    first, _, count = text.partition(":")
    return slice(int(first), int(first) + int(count) if count else None)


def _as_words(values: Sequence[str], *, is_quoted: bool, is_joined: bool) -> list[str]:
    if is_quoted:
        return [" ".join(values)] if is_joined else list(values)
    return [word for value in values for word in value.split()]


def _quoted(piece: Piece) -> Piece:
    return Piece(piece.text, True, piece.name, piece.operator, piece.operand)


def _check_length(characters: int) -> None:
    if characters > _LONGEST_WORD_CHARACTERS:
        raise TextError(
            f"The variables of this text make words of more than {_LONGEST_WORD_CHARACTERS:,} "
            "characters, which no command has. Paste the command alone."
        )
