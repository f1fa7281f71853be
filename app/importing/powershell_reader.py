"""Commands of PowerShell, as people paste them. Nothing is executed.

Knows the shell; must not know any program's flags.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from app.importing.call import (
    MOST_CALLS,
    Call,
    Script,
    home_problems,
    is_relative_file,
    kept_env,
    once,
)
from app.importing.name_sets import names
from app.importing.posix_tokens import Piece, Token
from app.importing.powershell_lexer import tokens_of
from app.importing.secret_words import value_without_secrets
from app.importing.text_error import TextError
from app.importing.windows_words import windows_words

_LONGEST_CHARACTERS = 100_000
_DEEPEST = 4
_SEPARATORS = frozenset({"\n", ";", "|", "&&", "||", "{", "}", ")", "("})
_OPENING = {"@(": ")", "@{": "}"}
_CMDLET = re.compile(r"[A-Za-z]+-[A-Z][A-Za-z]+$|(?:param|function|return|throw|exit)$")
_KEYWORDS = names("if else elseif foreach for while do try catch finally switch")
_GOING = frozenset({"set-location", "push-location", "cd", "sl", "pushd", "chdir"})
_SET_VARIABLE = re.compile(
    r"\[(?:System\.)?Environment\]::SetEnvironmentVariable\(\s*['\"](\w+)['\"]\s*,"
    r"\s*(?:'([^']*)'|\"([^\"]*)\"|(\w+))",
    re.IGNORECASE,
)
_TYPE = re.compile(r"\[[\w.\[\]]+\]$")
_MISSING_MARK = (
    "broken_continuation: lines that begin with a flag are read as part of the command before "
    "them, though no ` continues it"
)
_LOST_QUOTES = (
    "shell_quoting: Windows PowerShell 5 takes the double quotes out of {word} before the program "
    "gets it; PowerShell 7.3 and newer leave them"
)
_SPLIT_LIST = (
    "shell_quoting: PowerShell makes several words of {word}; it is read as the one word that was "
    "meant, write it in quotes"
)
_SPLIT_TEXT = (
    "shell_quoting: PowerShell passes the text “{word}” as one word; it is read as the several "
    "that were meant"
)
_RELATIVE = "relative_path: paths are relative to {folder}, to which the text goes before"
_SHOWN_CHARACTERS = 80
_MOST_HELD = 200
_Value = tuple[str, ...]


@dataclass
class _Statement:
    """One statement; an array in it is a list of its tokens.

    Attributes:
        items: Words, commas and arrays.
        ends: The operator behind it.
    """

    items: list[Token | list[Token]] = field(default_factory=list)
    ends: str = "\n"


def read_script(text: str, depth: int = 0) -> Script:
    """All that ``text`` starts, with what it sets before.

    Raises:
        TextError: If its variables multiply without bounds.
    """
    tokens, problems = tokens_of(text)
    reading = _Reading(list(problems), depth)
    for statement in reading.joined(_statements(tokens)):
        reading.take(statement)
    return reading.script()


# --- statements -----------------------------------------------------------------------------


def _statements(tokens: Sequence[Token]) -> Iterator[_Statement]:
    statement, at = _Statement(), 0
    while at < len(tokens):
        token = tokens[at]
        at += 1
        if token.operator in _OPENING:
            inside, at = _inside(tokens, at, _OPENING[token.operator])
            statement.items.append(inside)
        elif token.operator in _SEPARATORS:
            statement.ends = token.operator
            yield statement
            statement = _Statement()
        else:
            statement.items.append(token)
    yield statement


def _inside(tokens: Sequence[Token], at: int, closing: str) -> tuple[list[Token], int]:
    """The tokens up to the ``closing`` that belongs to what was opened, and the place behind."""
    found: list[Token] = []
    depth = 1
    while at < len(tokens):
        operator = tokens[at].operator
        depth += operator[-1:] == {")": "(", "}": "{"}[closing]
        depth -= operator == closing
        at += 1
        if not depth:
            break
        if not operator:
            found.append(tokens[at - 1])
    return found, at


def _bare(item: Token | list[Token] | None) -> str:
    """The beginning of a word that stands without quotes and without variables."""
    if not isinstance(item, Token) or not item.pieces:
        return ""
    first = item.pieces[0]
    return "" if first.name or first.is_quoted else first.text


def _operator(item: Token | list[Token]) -> str:
    return item.operator if isinstance(item, Token) else ""


def _is_flag(statement: _Statement) -> bool:
    bare = _bare(statement.items[0]) if statement.items else ""
    return len(bare) > 1 and bare[0] in "-–—"


# --- what they mean -------------------------------------------------------------------------


class _Reading:
    def __init__(self, problems: list[str], depth: int) -> None:
        self._problems = problems
        self._depth = depth
        self._variables: dict[str, _Value] = {}
        self._arrays: set[str] = set()
        self._env: dict[str, str] = {}
        self._used: set[str] = set()
        self._unresolved: list[str] = []
        # Of values, by how it was written: what a value lacks matters where it is used.
        self._held: dict[str, str] = {}
        self._calls: list[Call] = []
        self._folder = ""

    def joined(self, statements: Iterator[_Statement]) -> Iterator[_Statement]:
        """The statements, where lines that begin with a flag belong to the one before."""
        before: _Statement | None = None
        for statement in statements:
            if not statement.items:
                continue
            if before is not None and before.ends == "\n" and _is_flag(statement):
                if not _is_flag(before):
                    self._problems.append(_MISSING_MARK)
                before.items += statement.items
                before.ends = statement.ends
                continue
            if before is not None:
                yield before
            before = statement
        if before is not None:
            yield before

    def take(self, statement: _Statement) -> None:
        """One statement: what it sets, goes to, or calls."""
        items = statement.items
        while items and _bare(items[0]).lower() in _KEYWORDS:
            items = items[1:]
        target = _target(items)
        if target is not None:
            self._assign(*target)
            return
        while items and (_bare(items[0]) == "." or _operator(items[0])):
            items = items[1:]
        name = _bare(items[0] if items else None)
        written = items[0].written if items and isinstance(items[0], Token) else ""
        setting = _SET_VARIABLE.match(written)
        if setting:
            self._env[setting.group(1)] = next(filter(None, setting.groups()[1:]), "")
        elif name.lower() in _GOING:
            self._folder = " ".join(self._words(items[1:]))
        elif name.lower() in {"start-process", "start", "saps"}:
            self._start(self._words(items[1:]))
        elif name.lower() in {"invoke-expression", "iex"} and self._depth < _DEEPEST:
            inside = read_script(" ".join(self._words(items[1:])), self._depth + 1)
            self._calls += inside.calls
        elif items and not _CMDLET.match(name):
            self._call(items)

    def _assign(self, piece: Piece, adds: bool, items: list[Token | list[Token]]) -> None:
        first = items[0] if items else None
        if first is None:
            return
        if _operator(first) == "&" or _CMDLET.match(_bare(first)):
            self.take(_Statement(items))
            return
        is_array = any(map(self._is_array, items))
        values = tuple(self._words(items))
        self._unresolved.clear()
        if not is_array:
            # A text, put together of several by "+".
            values = ("".join(word for word in values if len(values) == 1 or word != "+"),)
        before = self._variables.get(piece.name, ()) if adds else ()
        if before and not is_array and piece.name not in self._arrays:
            values = (before[0] + values[0],)
        else:
            values = before + values
        _check_length(values)
        self._variables[piece.name] = values
        if is_array:
            self._arrays.add(piece.name)
        if piece.name.startswith("env:"):
            self._env[_env_name(piece)] = " ".join(values)

    def _is_array(self, item: Token | list[Token]) -> bool:
        if isinstance(item, list) or item.operator == ",":
            return True
        return len(item.pieces) == 1 and item.pieces[0].name in self._arrays

    def _words(self, items: Sequence[Token | list[Token]]) -> list[str]:
        words: list[str] = []
        for item in items:
            tokens = item if isinstance(item, list) else [item]
            for token in tokens:
                if not token.operator:
                    words += self._expanded(token.pieces)
        return words

    def _expanded(self, pieces: Sequence[Piece]) -> list[str]:
        """One word of the text as the words that the program gets."""
        only = pieces[0] if len(pieces) == 1 else None
        if only and only.operator == "%":
            return windows_words(only.text)[0]
        if only and only.name and not only.is_quoted and only.name in self._variables:
            self._use(only)
            return self._split_text(tuple(_told(only, v) for v in self._variables[only.name]))
        text = "".join(self._value(piece) if piece.name else piece.text for piece in pieces)
        is_bare = all(not piece.name and not piece.is_quoted for piece in pieces)
        if is_bare and "," in text[1:-1]:
            self._unresolved.append(_SPLIT_LIST.format(word=text[:_SHOWN_CHARACTERS]))
        return [text]

    def _split_text(self, values: _Value) -> list[str]:
        text = values[0] if len(values) == 1 else ""
        if not re.match(r"--?[A-Za-z][\w-]*\s", text):
            return list(values)
        self._unresolved.append(_SPLIT_TEXT.format(word=text[:_SHOWN_CHARACTERS]))
        return windows_words(text)[0]

    def _use(self, piece: Piece) -> None:
        if piece.name.startswith("env:"):
            self._used.add(_env_name(piece))

    def _value(self, piece: Piece) -> str:
        values = None if piece.operator == "?" else self._variables.get(piece.name)
        if values is not None:
            self._use(piece)
            return _told(piece, " ".join(values))
        shown = piece.text[:_SHOWN_CHARACTERS]
        is_worked_out = piece.operator == "?"
        why = "is worked out by PowerShell" if is_worked_out else "has no value in this text"
        problem = f"unresolved_variable: {shown} {why}"
        self._unresolved.append(problem)
        if len(self._held) < _MOST_HELD:
            self._held[piece.text] = problem
        return piece.text

    # --- calls --------------------------------------------------------------------------------

    def _call(self, items: Sequence[Token | list[Token]]) -> None:
        words: list[str] = []
        for item in items:
            words += self._words([item])
        self._add(list(map(_meant, words)), words)

    def _add(self, words: list[str], written: Sequence[str]) -> None:
        if not words or not words[0] or len(self._calls) >= MOST_CALLS:
            return
        problems = [*self._unresolved]
        self._unresolved.clear()
        whole = "\0".join(words) if self._held else ""
        problems += [problem for about, problem in self._held.items() if about in whole]
        problems += [
            _LOST_QUOTES.format(word=word[:_SHOWN_CHARACTERS])
            for word in written[1:]
            if '"' in word.replace('\\"', "")
        ]
        problems += home_problems(words)
        if self._folder and any(map(is_relative_file, words)):
            problems.append(_RELATIVE.format(folder=self._folder[:_SHOWN_CHARACTERS]))
        env = kept_env(self._env, self._used)
        self._calls.append(Call(tuple(words), env, "", self._folder, once(problems)))

    def _start(self, words: list[str]) -> None:
        """``Start-Process program -ArgumentList …``: one text, whatever parts it is given in."""
        said: dict[str, list[str]] = {}
        name = ""
        for word in words:
            if word.lower() in _START_FLAGS:
                name = "" if word.lower() in _START_SWITCHES else word.lower()
            else:
                said.setdefault(name, []).append(word)
        self._folder = " ".join(said.get("-workingdirectory", [self._folder]))
        # The program may be said by its place alone, and its words too.
        program, *texts = [*said.get("-filepath", []), *said.get("", [])] or [""]
        texts += said.get("-argumentlist", []) + said.get("-args", [])
        self._unresolved = [each for each in self._unresolved if not each.startswith("shell_")]
        if not re.match(r"[a-z]{3,}:", program):
            inside, problems = windows_words(" ".join(texts))
            self._unresolved += problems
            self._add([program, *inside], ())

    def script(self) -> Script:
        """All that was read."""
        env = kept_env(self._env, self._used)
        return Script(tuple(self._calls), env, once(self._problems))


_START_SWITCHES = frozenset({"-nonewwindow", "-passthru", "-wait"})
_START_FLAGS = _START_SWITCHES | names(
    "-filepath -argumentlist -args -workingdirectory -windowstyle -verb -credential "
    "-redirectstandardoutput -redirectstandarderror"
)


def _target(
    items: Sequence[Token | list[Token]],
) -> tuple[Piece, bool, list[Token | list[Token]]] | None:
    """What a statement assigns to, whether it adds, and the value; None where it does not."""
    first = items[0] if items else None
    if not isinstance(first, Token):
        return None
    pieces = list(first.pieces)
    if len(pieces) > 1 and not pieces[0].name and _TYPE.match(pieces[0].text):
        pieces = pieces[1:]
    if not pieces or not pieces[0].name or pieces[0].is_quoted or pieces[0].operator:
        return None
    rest: list[Token | list[Token]] = list(items[1:])
    sign = pieces[1].text if len(pieces) > 1 and not pieces[1].is_quoted else ""
    if len(pieces) == 1 and rest and _bare(rest[0]) in {"=", "+="}:
        return pieces[0], _bare(rest[0]) == "+=", rest[1:]
    match = re.match(r"(\+?=)(.*)", sign, re.DOTALL)
    if not match:
        return None
    value = [*([Piece(match.group(2))] if match.group(2) else []), *pieces[2:]]
    return pieces[0], match.group(1) == "+=", [*([Token(value)] if value else []), *rest]


def _meant(word: str) -> str:
    r"""JSON whose quotes were written ``\"`` for Windows PowerShell, as the program gets it."""
    if '\\"' not in word or word[:1] not in "{[":
        return word
    plain = word.replace('\\"', '"')
    return plain if _is_json(plain) and not _is_json(word) else word


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _told(piece: Piece, value: str) -> str:
    """What is put in for a variable; a secret is told of by a word that says no more."""
    return value_without_secrets(piece.name.rpartition(":")[2], value)


def _env_name(piece: Piece) -> str:
    """``NAME`` of ``$env:NAME``, which PowerShell does not ask for in capitals."""
    return piece.text.partition(":")[2].rstrip("}")


def _check_length(values: _Value) -> None:
    if sum(map(len, values)) + len(values) > _LONGEST_CHARACTERS:
        raise TextError(
            f"The variables of this text make words of more than {_LONGEST_CHARACTERS:,} "
            "characters, which no command has. Paste the command alone."
        )
