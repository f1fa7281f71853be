"""What expressions of PowerShell are by the text alone: texts, lists, sums, formats, conditions.

Nothing is executed: no cmdlet, no method; what only PowerShell could work out is not known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from app.importing.cmd_variables import worked_out
from app.importing.name_sets import names
from app.importing.open_values import Values
from app.importing.posix_tokens import Piece, Token
from app.importing.powershell_tree import Group, Item, Statement, bare, is_sign, parted

_TYPE = re.compile(r"\[[\w.\[\]]+\]$")
_NUMBER = re.compile(r"(-?\d{1,15})(kb|mb|gb)?$", re.IGNORECASE)
_SUM = re.compile(r"[\d\s()]{1,60}(?:[-+*/%][\d\s()]{1,60}){1,10}$")
_SIZES = {"kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30}
_CONSTANTS: dict[str, Values] = {"true": ("True",), "false": ("False",), "null": ()}
_FALSE = names("False 0")
_LOWEST = (("-join", "-split", "-csplit", "-isplit"), ("+", "-"), ("*", "/", "%"), ("-f",))
_COMPARED: dict[str, Callable[[float, float], bool]] = {
    "-gt": lambda left, right: left > right,
    "-ge": lambda left, right: left >= right,
    "-lt": lambda left, right: left < right,
    "-le": lambda left, right: left <= right,
}
_EQUAL = {"-eq": True, "-ceq": True, "-ieq": True, "-ne": False, "-cne": False, "-ine": False}
_QUESTIONS = (*_EQUAL, *_COMPARED, "??")
_FIELD = re.compile(r"\{(\d{1,2})(?::[^{}]{0,20})?\}")
_BLANKS = frozenset({"", " ", r"\s+", r"\s", r"\s*"})
_DEEPEST = 30
_MOST_WORDS = 2_000


@dataclass(frozen=True)
class Value:
    """What an expression is.

    Attributes:
        words: A text is one.
        is_list: Whether it is a list, however many it has.
    """

    words: Values
    is_list: bool = False


class Expressions:
    """Works out what the text alone tells."""

    def __init__(
        self,
        values: dict[str, Values],
        lists: set[str],
        text_of: Callable[[Sequence[Piece]], str],
        is_open: Callable[[str], bool],
        member_of: Callable[[Sequence[Piece]], Values | None],
    ) -> None:
        """Begin.

        Args:
            values: Of variables, by their names.
            lists: Names of those that are lists.
            text_of: One word with its variables put in.
            is_open: Whether a condition decides what a variable is.
            member_of: What a word asks of a hash table; None where it asks nothing of one.
        """
        self._values = values
        self._lists = lists
        self._text_of = text_of
        self._is_open = is_open
        self._member_of = member_of

    # --- values -------------------------------------------------------------------------------

    def value(self, items: Sequence[Item], depth: int = 0) -> Value | None:
        """What ``items`` are together; None where only PowerShell could tell."""
        items = [item for item in items if not _TYPE.fullmatch(_whole(item))]
        if not items or depth > _DEEPEST:
            return None if items else Value((), True)
        unary = bare(items[0]).lower()
        if unary == "-join":
            joined = self.value(items[1:], depth + 1)
            return None if joined is None else Value(("".join(joined.words),))
        if unary in {"-not", "!"} or _places(items, _QUESTIONS):
            return self._of_question(items, depth)
        for signs in _LOWEST:
            places = _places(items, signs)
            if places:
                return self._folded(items, places, depth)
        if any(is_sign(item, ",") for item in items):
            return self._listed(list(parted(items)), depth)
        return self._one(items, depth)

    def _of_question(self, items: Sequence[Item], depth: int) -> Value | None:
        """What a comparison is, and ``a ?? b``, which is b where nobody set a."""
        places = _places(items, ("??",))
        if places:
            left = self._side(items[: places[0]], depth)
            kept = items[places[0] + 1 :] if left == "" else items[: places[0]]
            return self.value(kept, depth + 1)
        holds = self.verdict(items, depth + 1)
        return None if holds is None else Value((str(holds),))

    def _folded(self, items: Sequence[Item], places: list[int], depth: int) -> Value | None:
        """What stands between signs of one kind, put together from the left."""
        found = self.value(items[: places[0]], depth + 1)
        for at, end in pairwise([*places, len(items)]):
            right = self.value(items[at + 1 : end], depth + 1)
            if found is None or right is None or len(found.words) > _MOST_WORDS:
                return None
            found = _both(found, bare(items[at]).lower(), right)
        return found

    def _listed(self, parts: list[list[Item]], depth: int) -> Value | None:
        words: list[str] = []
        for part in parts:
            found = self.value(part, depth + 1) if part else Value(())
            if found is None or len(words) > _MOST_WORDS:
                return None
            words += found.words
        return Value(tuple(words), True)

    def _one(self, items: Sequence[Item], depth: int) -> Value | None:
        first = items[0]
        if bare(first).lower() == "join-path":
            return self._path(items[1:], depth)
        if len(items) > 1:
            return None
        if isinstance(first, Group):
            return self._group(first, depth)
        return None if first.operator else self._word(first)

    def _group(self, group: Group, depth: int) -> Value | None:
        if group.opening not in {"(", "@("} or any(map(_is_command, group.statements)):
            return None
        parts = [self.value(statement.items, depth + 1) for statement in group.statements]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        words = tuple(word for part in known for word in part.words)
        return Value(words, group.opening == "@(" or any(part.is_list for part in known))

    def _path(self, items: Sequence[Item], depth: int) -> Value | None:
        """``Join-Path folder name``."""
        kept = [item for item in items if bare(item).lower() not in _PATH_FLAGS]
        parts = [self.value([item], depth + 1) for item in kept if not is_sign(item, ",")]
        words = [word for part in parts if part is not None for word in part.words]
        if len(words) < 2 or None in parts:
            return None
        return Value(("\\".join([*(w.rstrip("\\/") for w in words[:-1]), words[-1]]),))

    def _word(self, token: Token) -> Value | None:
        pieces = token.pieces
        member = self._member_of(pieces)
        if member is not None:
            return Value(member, len(member) != 1)
        only = pieces[0] if len(pieces) == 1 else None
        if only and only.name and not only.operator and not only.is_quoted:
            return self._variable(only)
        if _is_worked_out(pieces):
            return None
        parts = [piece for piece in pieces if piece.is_quoted or piece.text != "+"]
        text = self._text_of(parts)
        if any(piece.is_quoted for piece in pieces):
            return Value((text,))
        number = _NUMBER.fullmatch(text)
        if number and number.group(2):
            text = str(int(number.group(1)) * _SIZES[number.group(2).lower()])
        elif _SUM.fullmatch(text):
            found = worked_out(text, lambda _: None)
            text = text if found is None else str(found)
        return Value((text,))

    def _variable(self, piece: Piece) -> Value | None:
        if piece.name in self._values:
            words = self._values[piece.name]
            text = words if piece.name in self._lists else (self._text_of([piece]),)
            return Value(text, piece.name in self._lists)
        if piece.name in _CONSTANTS:
            return Value(_CONSTANTS[piece.name])
        return Value((self._text_of([piece]),))

    # --- conditions ---------------------------------------------------------------------------

    def verdict(self, items: Sequence[Item], depth: int = 0) -> bool | None:
        """Whether a condition holds; None where that is decided when the text runs.

        A variable of the environment that the text does not set counts as not set: such a question
        is how defaults are written.
        """
        if not items or depth > _DEEPEST:
            return None
        for sign, decides in (("-or", True), ("-and", False)):
            at = _last(items, (sign,))
            if at > 0:
                sides = [self.verdict(part, depth + 1) for part in (items[:at], items[at + 1 :])]
                return _joined(sides, decides)
        first = bare(items[0]).lower()
        if first in {"-not", "!"}:
            found = self.verdict(_behind_not(items), depth + 1)
            return None if found is None else not found
        if first.startswith("!"):
            return None
        return self._compared(items, depth)

    def _compared(self, items: Sequence[Item], depth: int) -> bool | None:
        signs = (*_EQUAL, *_COMPARED)
        at = _last(items, signs)
        if at > 0:
            left, right = self._side(items[:at], depth), self._side(items[at + 1 :], depth)
            sign = bare(items[at]).lower()
            return None if left is None or right is None else _compare(left, sign, right)
        only = items[0] if len(items) == 1 else None
        if isinstance(only, Group) and only.opening == "(" and len(only.statements) == 1:
            return self.verdict(only.statements[0].items, depth + 1)
        text = self._side(items, depth)
        return None if text is None else bool(text) and text not in _FALSE

    def _side(self, items: Sequence[Item], depth: int) -> str | None:
        """A side of a comparison as text; None where it is not known."""
        only = items[0] if len(items) == 1 else None
        named = [p for p in only.pieces if p.name] if isinstance(only, Token) else []
        if _asks_count(named, only):
            return "0"
        for piece in named:
            is_known = piece.name in self._values and not self._is_open(piece.name)
            is_known |= piece.name in _CONSTANTS or piece.name.startswith("env:")
            if not is_known:
                return None
        if len(named) == 1 and isinstance(only, Token) and len(only.pieces) == 1:
            name = named[0].name
            return " ".join(self._values.get(name, _CONSTANTS.get(name, ())))
        if any(piece.name not in self._values for piece in named):
            return None
        found = self.value(items, depth + 1)
        return None if found is None else " ".join(found.words)


_PATH_FLAGS = names("-path -childpath -additionalchildpath")


def _is_command(statement: Statement) -> bool:
    """Whether a statement calls something, as a word that begins one does."""
    first = _whole(statement.items[0]) if statement.items else ""
    is_listed = len(statement.items) > 1 and is_sign(statement.items[1], ",")
    is_word = re.fullmatch(r"[A-Za-z][\w.-]*", first) is not None
    return is_word and not is_listed and first.lower() != "join-path"


def _asks_count(named: Sequence[Piece], item: Item | None) -> bool:
    """Whether a word is ``$args.Count``: what a script is called with is nothing here."""
    is_args = len(named) == 1 and named[0].name == "args" and isinstance(item, Token)
    return is_args and isinstance(item, Token) and item.written.lower() == "$args.count"


def _is_worked_out(pieces: Sequence[Piece]) -> bool:
    """Whether only PowerShell can tell what a word is."""
    if any(piece.operator == "?" for piece in pieces if not piece.is_quoted):
        return True
    is_of_type = not pieces[0].is_quoted and "]::" in pieces[0].text
    return is_of_type or any(_is_member(*two) for two in pairwise(pieces))


def _is_member(before: Piece, piece: Piece) -> bool:
    """Whether a piece asks something of the variable before it, as ``$x.Count``."""
    is_bare = bool(before.name) and not before.is_quoted and not piece.is_quoted
    return is_bare and not piece.name and re.match(r"\.[A-Za-z]\w*$|\[", piece.text) is not None


def _whole(item: Item) -> str:
    """A word that is one piece without quotes, as a type is."""
    is_plain = isinstance(item, Token) and len(item.pieces) == 1
    return bare(item) if is_plain else ""


def _last(items: Sequence[Item], signs: Sequence[str]) -> int:
    """The place of the last of some operators that stands as a word; -1 where none does."""
    places = (at for at in range(len(items) - 2, 0, -1) if _whole(items[at]).lower() in signs)
    return next(places, -1)


def _places(items: Sequence[Item], signs: Sequence[str]) -> list[int]:
    """The places of all of them."""
    return [at for at in range(1, len(items) - 1) if _whole(items[at]).lower() in signs]


def _behind_not(items: Sequence[Item]) -> Sequence[Item]:
    first = items[0]
    if isinstance(first, Token) and len(first.pieces) > 1:
        return [Token(first.pieces[1:]), *items[1:]]
    return items[1:]


def _joined(sides: Sequence[bool | None], decides: bool) -> bool | None:
    if decides in sides:
        return decides
    return None if None in sides else not decides


def _compare(left: str, sign: str, right: str) -> bool | None:
    if sign in _EQUAL:
        is_same = left == right if sign.startswith("-c") else left.lower() == right.lower()
        return is_same is _EQUAL[sign]
    try:
        return _COMPARED[sign](float(left or "0"), float(right or "0"))
    except ValueError:
        return None


def _both(left: Value, sign: str, right: Value) -> Value | None:
    if sign == "+" and left.is_list:
        return Value(left.words + right.words, True)
    if sign == "-f":
        return _formatted(left, right)
    if sign == "-join":
        return Value(("".join(right.words).join(left.words),))
    if sign.endswith("split"):
        return _split(left, right)
    texts = [" ".join(side.words) for side in (left, right)]
    if all(_NUMBER.fullmatch(text) for text in texts):
        found = worked_out(f"({texts[0]}){sign}({texts[1]})", lambda _: None)
        return None if found is None else Value((str(found),))
    return Value(("".join(texts),)) if sign == "+" else None


def _formatted(left: Value, right: Value) -> Value | None:
    words = right.words
    text = " ".join(left.words)
    if any(int(number) >= len(words) for number in _FIELD.findall(text)):
        return None
    return Value((_FIELD.sub(lambda match: words[int(match.group(1))], text),))


def _split(left: Value, right: Value) -> Value | None:
    text, sign = " ".join(left.words), "".join(right.words)
    if sign in _BLANKS:
        return Value(tuple(text.split()), True)
    is_plain = re.fullmatch(r"[\w,;:]+", sign) is not None
    return Value(tuple(text.split(sign)), True) if is_plain else None
