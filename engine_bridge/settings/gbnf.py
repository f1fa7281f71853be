"""Whether a grammar in GBNF can be read, and where not.

llama.cpp's parser (``llama_grammar_parser`` in src/llama-grammar.cpp) says neither line nor column,
and has no bounds against a grammar that is too deep or too large for it. Reads the same language.
Knows grammars; must not know a vocabulary: whether ``<think>`` is a token, only a model can say.
"""

from __future__ import annotations

import functools
import re
import string
from dataclasses import dataclass

from engine_bridge.settings.left_recursion import Letters, Rules, Symbol, left_fault
from engine_bridge.settings.parse_stacks import piling_rule

# llama.cpp and this reader descend once for each bracket; Python allows a thousand calls.
MOST_DEEP = 128
# Elements that llama.cpp may make of a grammar; each takes 8 bytes, in every stream.
MOST_ELEMENTS = 200_000
# MAX_REPETITION_THRESHOLD in src/llama-grammar.cpp.
MOST_REPEATED = 2_000
_NO_LIMIT = -1
# Of what must come several times so many are kept: ways to read it are found in these as well.
_MOST_KEPT = 4
_ANY = Letters((), is_all_but=True)
_WRITTEN = {"t": 9, "r": 13, "n": 10}

_NAME = re.compile(r"[A-Za-z0-9-]+")
_NUMBER = re.compile(r"[0-9]+")
_SPACE = re.compile(r"(?:[ \t]|#[^\r\n]*)*")
_SPACE_AND_LINES = re.compile(r"(?:[ \t\r\n]|#[^\r\n]*)*")
_HEX_DIGITS = {"x": 2, "u": 4, "U": 8}
_ESCAPED = frozenset('trn\\"[]-')


@dataclass(frozen=True)
class TextFault:
    """What is wrong with a text, and where.

    Attributes:
        line: Line, counted from 1.
        column: Character in the line, counted from 1.
        what: What is wrong there; no sentence of its own.
    """

    line: int
    column: int
    what: str

    def __str__(self) -> str:
        """The fault as a sentence."""
        return f"Line {self.line}, column {self.column}: {self.what}."

    @classmethod
    def at(cls, text: str, place: int, what: str) -> TextFault:
        """The fault ``what`` at character ``place`` of ``text``, counted from 0."""
        line_start = text.rfind("\n", 0, place) + 1
        return cls(text.count("\n", 0, place) + 1, place - line_start + 1, what)


@functools.lru_cache(maxsize=16)  # every check of a configuration asks again
def fault_in(text: str) -> TextFault | None:
    """What llama.cpp would refuse of the grammar ``text``; None where it can be read.

    The empty text is no grammar and has no fault.
    """
    if not text:
        return None
    try:
        _Reader(text).read()
    except _FaultError as error:
        return TextFault.at(text, error.place, error.what)
    return None


class _FaultError(Exception):
    def __init__(self, place: int, what: str) -> None:
        super().__init__(what)
        self.place, self.what = place, what


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._rules: Rules = {}
        self._mentioned: dict[str, int] = {}  # names and where each stood first
        self._defined: dict[str, int] = {}  # and where each stands as a rule
        self._made = 0
        self._elements = 0
        self._depth = 0
        self._tokens: dict[str, int] = {}
        self._owners: dict[int, str] = {}  # the named rule in which one was made

    def read(self) -> None:
        self._skip(lines=True)
        while self._at < len(self._text):
            self._rule()
        for name, place in self._mentioned.items():
            if name not in self._rules:
                raise _FaultError(place, f"there is no rule with the name {name!r}")
        if "root" not in self._rules:
            raise _FaultError(0, "there is no rule with the name 'root', where an answer begins")
        found = left_fault(self._rules)
        if found is not None:
            raise _FaultError(self._mentioned.get(found[0], 0), found[1])
        piling = piling_rule(self._rules)
        if piling is not None:
            name = piling if isinstance(piling, str) else self._owners[piling]
            raise _FaultError(
                self._defined[name],
                f"by the rule {name!r} a short text can be read in more than a thousand ways, each "
                "of which llama.cpp follows; let what is alike at the beginning stand once",
            )

    def _rule(self) -> None:
        begin = self._at
        name = self._name()
        self._defined[name] = begin
        self._skip()
        if not self._text.startswith("::=", self._at):
            raise _FaultError(self._at, "'::=' should stand here, behind the name of a rule")
        self._at += 3
        self._skip(lines=True)
        made = self._made
        self._rules[name] = self._alternatives(is_nested=False)
        self._owners.update(dict.fromkeys(range(made + 1, self._made + 1), name))
        if self._here() not in ("", "\n", "\r"):
            raise _FaultError(self._at, f"{self._here()!r} cannot stand here")
        self._skip(lines=True)

    def _alternatives(self, *, is_nested: bool) -> list[list[Symbol]]:
        rule = [self._sequence(is_nested=is_nested)]
        while self._here() == "|":
            self._at += 1
            self._skip(lines=True)
            rule.append(self._sequence(is_nested=is_nested))
        return rule

    def _sequence(self, *, is_nested: bool) -> list[Symbol]:
        symbols: list[Symbol] = []
        last: list[Symbol] = []  # what a repetition would repeat
        rules = 1  # how many rules that is, as llama.cpp counts them
        while (letter := self._here()) and letter not in "|)\r\n":
            if letter in "*+?{":
                rules = self._repeat(symbols, last, rules, is_nested=is_nested)
            else:
                before = len(self._mentioned) + self._made
                last = self._element(letter)
                rules = len(self._mentioned) + self._made - before if letter == "(" else 1
                rules = max(1, rules)
                symbols += last
                self._count(len(last))
            self._skip(lines=is_nested)
        return symbols

    def _element(self, letter: str) -> list[Symbol]:
        if letter == '"':
            return self._literal()
        if letter == "[":
            return self._characters()
        if letter in "<!":
            return self._token()
        if letter == "(":
            return self._group()
        if letter == ".":
            self._at += 1
            return [_ANY]
        if _NAME.match(letter):
            return [self._name()]
        raise _FaultError(self._at, f"{letter!r} cannot stand here")

    def _literal(self) -> list[Symbol]:
        begin = self._at
        self._at += 1
        letters: list[Symbol] = []
        while self._here() != '"':
            letter = self._character(begin, "this text is not closed with a '\"'")
            letters.append(Letters(((letter, letter),)))
        self._at += 1
        return letters

    def _characters(self) -> list[Symbol]:
        begin = self._at
        self._at += 1
        is_all_but = self._here() == "^"
        self._at += is_all_but
        open_ended = "these characters are not closed with a ']'"
        ranges: list[tuple[int, int]] = []
        while self._here() != "]":
            low = high = self._character(begin, open_ended)
            if self._here() == "-" and self._text[self._at + 1 : self._at + 2] != "]":
                self._at += 1
                high = self._character(begin, open_ended)
            ranges.append((low, high))
        self._at += 1
        self._count(len(ranges))
        return [Letters(tuple(ranges), is_all_but)] if ranges else []

    def _character(self, begin: int, open_ended: str) -> int:
        """Read a character; its code point."""
        letter = self._here()
        if not letter:
            raise _FaultError(begin, open_ended)
        self._at += 1
        if letter != "\\":
            return ord(letter)
        kind = self._here()
        digits = _HEX_DIGITS.get(kind, 0)
        code = self._text[self._at + 1 : self._at + 1 + digits]
        is_code = len(code) == digits and all(digit in string.hexdigits for digit in code)
        if not is_code or not (digits or kind in _ESCAPED) or not kind:
            raise _FaultError(self._at - 1, f"'\\{kind}' is no character that can be written so")
        self._at += 1 + digits
        return int(code, 16) if digits else _WRITTEN.get(kind, ord(kind))

    def _token(self) -> list[Symbol]:
        begin = self._at
        is_all_but = self._here() == "!"
        self._at += is_all_but
        if self._here() != "<":
            raise _FaultError(self._at, "a token in '<' and '>' should stand here")
        if self._text.startswith("<[", self._at):
            found = re.compile(r"<\[([0-9]+)\]>").match(self._text, self._at)
            if found is None or int(found[1][:20]) >= 2**32:
                raise _FaultError(begin, "a token by its number is written <[123]>")
            self._at = found.end()
            return [self._token_of(found[0], is_all_but=is_all_but)]
        end = self._text.find(">", self._at)
        if end < 0:
            raise _FaultError(begin, "this token is not closed with a '>'")
        token, self._at = self._text[self._at : end + 1], end + 1
        return [self._token_of(token, is_all_but=is_all_but)]

    def _token_of(self, token: str, *, is_all_but: bool) -> Letters:
        number = self._tokens.setdefault(token, -1 - len(self._tokens))
        return Letters(((number, number),), is_all_but)

    def _group(self) -> list[Symbol]:
        begin = self._at
        self._depth += 1
        if self._depth > MOST_DEEP:
            raise _FaultError(begin, f"more than {MOST_DEEP:,} brackets are open")
        self._at += 1
        self._skip(lines=True)
        number = self._new_rule()
        self._rules[number] = self._alternatives(is_nested=True)
        if self._here() != ")":
            raise _FaultError(begin, "this bracket is not closed with a ')'")
        self._at += 1
        self._depth -= 1
        return [number]

    def _repeat(
        self, symbols: list[Symbol], last: list[Symbol], rules: int, *, is_nested: bool
    ) -> int:
        begin = self._at
        least, most = self._bounds(is_nested=is_nested)
        if not last or not symbols:
            raise _FaultError(begin, "nothing stands before this that could be repeated")
        total = most if most > 0 else least or 1
        if rules * total > MOST_REPEATED:
            raise _FaultError(begin, f"this repeats {rules:,} rules {total:,} times: too often")
        if least == 0:
            del symbols[len(symbols) - len(last) :]
        symbols += last * min(least - 1, _MOST_KEPT)
        optional = 1 if most == _NO_LIMIT else most - least
        self._count(len(last) * max(least - 1, 0) + (len(last) + 3) * optional)
        for number in range(optional):
            made = self._new_rule()
            tail: list[Symbol] = [made] if most == _NO_LIMIT else [made - 1] if number else []
            self._rules[made] = [[*last, *tail], []]
        if optional:
            symbols.append(made)
            last[:] = [made] if least == 0 else [*last, made]
        elif least == 0:
            last.clear()
        return rules * total

    def _bounds(self, *, is_nested: bool) -> tuple[int, int]:
        letter = self._here()
        begin = self._at
        self._at += 1
        if letter != "{":
            return {"*": (0, _NO_LIMIT), "+": (1, _NO_LIMIT), "?": (0, 1)}[letter]
        self._skip(lines=is_nested)
        least = most = self._number(begin)
        self._skip(lines=is_nested)
        if self._here() == ",":
            self._at += 1
            self._skip(lines=is_nested)
            most = self._number(begin) if _NUMBER.match(self._here()) else _NO_LIMIT
            self._skip(lines=is_nested)
        if self._here() != "}":
            raise _FaultError(begin, "a repetition is written {3}, {3,} or {3,5}")
        self._at += 1
        if least > MOST_REPEATED:
            raise _FaultError(begin, f"more than {MOST_REPEATED:,} repetitions")
        if most < least and most != _NO_LIMIT:  # llama.cpp would never come to an end
            raise _FaultError(begin, f"{most} are fewer than {least}")
        return least, _NO_LIMIT if most > MOST_REPEATED else most

    # --- Letters ----------------------------------------------------------------------------

    def _here(self) -> str:
        return self._text[self._at : self._at + 1]

    def _skip(self, *, lines: bool = False) -> None:
        found = (_SPACE_AND_LINES if lines else _SPACE).match(self._text, self._at)
        assert found is not None
        self._at = found.end()

    def _name(self) -> str:
        found = _NAME.match(self._text, self._at)
        if found is None:
            raise _FaultError(self._at, "the name of a rule should stand here")
        self._mentioned.setdefault(found[0], self._at)
        self._at = found.end()
        return found[0]

    def _number(self, begin: int) -> int:
        found = _NUMBER.match(self._text, self._at)
        if found is None or len(found[0]) > 18:
            raise _FaultError(begin, "a repetition is written {3}, {3,} or {3,5}")
        self._at = found.end()
        return int(found[0])

    def _new_rule(self) -> int:
        self._made += 1
        return self._made

    def _count(self, elements: int) -> None:
        self._elements += elements
        if self._elements > MOST_ELEMENTS:
            raise _FaultError(self._at, "up to here the grammar is too large for llama.cpp")
