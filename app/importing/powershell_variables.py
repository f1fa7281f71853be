"""The variables of a text for PowerShell, put into its words, with what is not known of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from app.importing.open_values import OpenValues, Values
from app.importing.posix_tokens import Piece
from app.importing.powershell_values import Expressions
from app.importing.secret_words import value_without_secrets
from app.importing.text_error import TextError
from app.importing.windows_words import windows_words

_LONGEST_CHARACTERS = 100_000
_SHOWN_CHARACTERS = 80
_MOST_HELD = 200
_KEY = re.compile(r"\.(\w+)|\[\s*([^\[\]]{1,100}?)\s*\]")
_KEYS = re.compile(r"(?:\.\w+|\[[^\[\]]{1,100}\]){1,8}")
_METHOD = re.compile(r"\.[A-Za-z]\w*$")
_PLAIN_METHODS = (".split", ".trim", ".tostring")
_FLAG_AND_MORE = re.compile(r"--?[A-Za-z][\w-]*\s")
_SPLIT_LIST = (
    "shell_quoting: PowerShell makes several words of {word}; it is read as the one word that was "
    "meant, write it in quotes"
)
_SPLIT_TEXT = (
    "shell_quoting: PowerShell passes the text “{word}” as one word; it is read as the several "
    "that were meant"
)


class Variables:
    """What the text has set so far.

    Attributes:
        values: By names in lower case, those of the environment with ``env:`` before them.
        lists: Names of those that are lists.
        tables: Hash tables: the words of each key.
        used: Names of the environment that were put in somewhere.
        loops: Names of those that loops set.
        open: Which of them conditions leave open.
        expressions: Works values out.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self.values: dict[str, Values] = {}
        self.lists: set[str] = set()
        self.tables: dict[str, dict[str, Values]] = {}
        self.used: set[str] = set()
        self.loops: set[str] = set()
        self.open = OpenValues(self.values, self._written, lambda text: windows_words(text)[0])
        self.expressions = Expressions(
            self.values, self.lists, self.text, self._is_open, self.member
        )
        self._spelt: dict[str, str] = {}
        self._unresolved: list[str] = []
        # Of values, by how it was written: what a value lacks matters where it is used.
        self._held: dict[str, str] = {}

    # --- setting --------------------------------------------------------------------------------

    def set(self, piece: Piece, values: Values, *, is_list: bool = False) -> None:
        """The variable that ``piece`` is has these values."""
        if sum(map(len, values)) + len(values) > _LONGEST_CHARACTERS:
            raise TextError(
                f"The variables of this text make words of more than {_LONGEST_CHARACTERS:,} "
                "characters, which no command has. Paste the command alone."
            )
        self._spelt[piece.name] = piece.text
        self.open.assigned(piece.name)
        self.values[piece.name] = values
        self.tables.pop(piece.name, None)
        if is_list:
            self.lists.add(piece.name)
        else:
            self.lists.discard(piece.name)

    def set_table(self, piece: Piece, said: dict[str, Values]) -> None:
        """The variable that ``piece`` is is a hash table."""
        self.set(piece, ())
        self.tables[piece.name] = said

    def forget(self, piece: Piece) -> None:
        """Nobody knows the variable any more."""
        self.open.assigned(piece.name)
        self.values.pop(piece.name, None)

    def env(self) -> dict[str, str]:
        """What programs find in their environment by what the text says."""
        return {
            _env_name(self._spelt[name]): " ".join(values)
            for name, values in self.values.items()
            if name.startswith("env:") and not self._is_open(name)
        }

    def set_env(self, name: str, value: str) -> None:
        """A variable of the environment that is set by a cmdlet or a method."""
        self.set(Piece(f"$env:{name}", name=f"env:{name.lower()}"), (value,))

    def member(self, pieces: Sequence[Piece]) -> Values | None:
        """What ``$table.Name`` and ``$table[name]`` are; None where a word asks nothing of one."""
        found = self.part_of_table(pieces)
        return found.get("") if found is not None else None

    def part_of_table(self, pieces: Sequence[Piece]) -> dict[str, Values] | None:
        """The part of a hash table that a word asks for, by what is left of its keys."""
        first = pieces[0] if pieces else None
        if first is None or first.is_quoted or first.name not in self.tables:
            return None
        rest = "".join(
            " ".join(self.values.get(piece.name, (piece.text,))) if piece.name else piece.text
            for piece in pieces[1:]
        )
        if not _KEYS.fullmatch(rest):
            return None
        path = "".join(f".{name or key}" for name, key in _KEY.findall(rest)).lower()
        table = {f".{key.lower()}": values for key, values in self.tables[first.name].items()}
        return {
            key[len(path) :].removeprefix("."): values
            for key, values in table.items()
            if key == path or key.startswith(f"{path}.")
        }

    # --- putting in -----------------------------------------------------------------------------

    def text(self, pieces: Sequence[Piece]) -> str:
        """Pieces as one text; what is not known as it was written, and held for whoever uses it."""
        return "".join(self._value(piece) if piece.name else piece.text for piece in pieces)

    def words(self, pieces: Sequence[Piece], *, is_one_text: bool = False) -> list[str]:
        """One word of the text as the words that a program gets.

        Args:
            pieces: Of the word.
            is_one_text: Whether all words become one text, in which each stays as it is.
        """
        only = pieces[0] if len(pieces) == 1 else None
        if only and only.operator == "%":
            return windows_words(only.text)[0]
        if only and only.operator == "@":
            return self._splat(only)
        if only and only.name and not only.is_quoted and only.name in self.values:
            self._use(only)
            values = tuple(_told(only, value) for value in self.values[only.name])
            return list(values) if is_one_text else self._split_text(values)
        part = self.part_of_table(pieces)
        if part is not None:
            return self._of_table(pieces, part)
        asked = self._of_method(pieces)
        if asked is not None:
            return asked
        text = self.text(pieces)
        is_bare = all(not piece.name and not piece.is_quoted for piece in pieces)
        if is_bare and "," in text[1:-1]:
            self._unresolved.append(_SPLIT_LIST.format(word=text[:_SHOWN_CHARACTERS]))
        return [text]

    def _of_method(self, pieces: Sequence[Piece]) -> list[str] | None:
        """What ``$text.Split(' ')`` gives; as it was written for methods that only it knows."""
        if len(pieces) < 3 or not pieces[0].name or not _METHOD.match(pieces[1].text):
            return None
        if pieces[0].is_quoted or pieces[1].is_quoted or not pieces[2].text.startswith("("):
            return None
        values = self.values.get(pieces[0].name)
        name = pieces[1].text.lower()
        if values is not None and name in _PLAIN_METHODS and len(pieces) == 3:
            self._use(pieces[0])
            text = " ".join(_told(pieces[0], value) for value in values)
            return windows_words(text)[0] if name == ".split" else [text.strip()]
        written = "".join(piece.text for piece in pieces)
        self.tell_unknown(written, is_worked_out=True)
        return [written]

    def _of_table(self, pieces: Sequence[Piece], part: dict[str, Values]) -> list[str]:
        if "" in part:
            return list(part[""])
        written = "".join(piece.text for piece in pieces)
        self.tell_unknown(written, is_worked_out=False)
        return [written]

    def _splat(self, piece: Piece) -> list[str]:
        if piece.name in self.tables:
            table = self.tables[piece.name]
            return [word for key, values in table.items() for word in (f"-{key}", *values)]
        if piece.name in self.values:
            self._use(piece)
            return [_told(piece, value) for value in self.values[piece.name]]
        self._unresolved.append(
            f"unresolved_variable: the words of {piece.text} are not in this text"
        )
        return []

    def _split_text(self, values: Values) -> list[str]:
        text = values[0] if len(values) == 1 else ""
        if not _FLAG_AND_MORE.match(text):
            return list(values)
        self._unresolved.append(_SPLIT_TEXT.format(word=text[:_SHOWN_CHARACTERS]))
        return windows_words(text)[0]

    def _use(self, piece: Piece) -> None:
        if piece.name.startswith("env:"):
            self.used.add(_env_name(piece.text))

    def _value(self, piece: Piece) -> str:
        values = None if piece.operator == "?" else self.values.get(piece.name)
        if values is not None:
            self._use(piece)
            return _told(piece, " ".join(values))
        if piece.name in self.loops:
            self._hold(piece.text, f"{piece.text} is another one in each round of the loop")
        else:
            self.tell_unknown(piece.text, is_worked_out=piece.operator == "?")
        return piece.text

    def tell_unknown(self, text: str, *, is_worked_out: bool) -> None:
        """What was written ``text`` is not known, which matters where it is used."""
        why = "is worked out by PowerShell" if is_worked_out else "has no value in this text"
        self._hold(text, f"{text[:_SHOWN_CHARACTERS]} {why}")

    def _hold(self, text: str, why: str) -> None:
        problem = f"unresolved_variable: {why}"
        self._unresolved.append(problem)
        if len(self._held) < _MOST_HELD:
            self._held[text] = problem

    def _is_open(self, name: str) -> bool:
        return self.values.get(name) == (self._written(name),)

    def _written(self, name: str) -> str:
        return self._spelt.get(name, f"${name}")

    # --- problems -------------------------------------------------------------------------------

    def drop_problems(self, beginning: str = "") -> None:
        """Those that were found since they were last taken, and begin so, are none."""
        self._unresolved = [each for each in self._unresolved if not each.startswith(beginning)]

    def add_problems(self, problems: Iterable[str]) -> None:
        """More problems of the command that is read."""
        self._unresolved += problems

    def take_problems(self, words: list[str]) -> list[str]:
        """The problems of the command that ``words`` are."""
        problems, self._unresolved = self._unresolved, []
        whole = "\0".join(words) if self._held else ""
        problems += [problem for about, problem in self._held.items() if about in whole]
        decided = self.open.about(words)
        for name in self.values:
            decided += self.open.of(name) if name.startswith("env:") else []
        decided = list(dict.fromkeys(decided))
        open_ones = [each for each in decided if each.startswith("unresolved_variable:")]
        for each in open_ones:  # what may be is told instead
            beginning = each.partition(" is ")[0]
            problems = [p for p in problems if p != f"{beginning} has no value in this text"]
        return problems + decided


def _told(piece: Piece, value: str) -> str:
    """What is put in for a variable; a secret is told of by a word that says no more."""
    return value_without_secrets(piece.name.rpartition(":")[2], value)


def _env_name(text: str) -> str:
    """``NAME`` of ``$env:NAME``, which PowerShell does not ask for in capitals."""
    return text.partition(":")[2].rstrip("}")
