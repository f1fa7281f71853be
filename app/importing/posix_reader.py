"""Commands of sh, bash and zsh, as people paste them. Nothing is executed.

Knows the shell; must not know any program's flags.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from app.importing.call import (
    MOST_CALLS,
    Call,
    Document,
    Script,
    is_relative_file,
    kept_env,
    once,
)
from app.importing.name_sets import names
from app.importing.openrc_service import service_of
from app.importing.posix_branches import Branches
from app.importing.posix_dashes import is_flag, looked_up, straight
from app.importing.posix_functions import Functions
from app.importing.posix_lexer import pieces_of, tokens_of
from app.importing.posix_loops import DEEPEST, TOO_DEEP, Loop, parts_of
from app.importing.posix_simples import (
    ASSIGNMENT,
    Simple,
    bare,
    is_assignment,
    simples,
    without_functions,
)
from app.importing.posix_tokens import Piece, Token
from app.importing.posix_variables import GIVEN, Variables
from app.importing.text_error import TextError

_PUT_IN = re.compile(r"\$\{?(\w+)")
# Words of the shell's own grammar, which stand before a command.
_KEYWORDS = names("if then else elif fi while until do done ! { } time case esac in function")
_DECLARING = frozenset({"export", "declare", "typeset", "readonly", "local", "setenv", "set"})
_GOING = frozenset({"cd", "pushd"})
_MISSING_MARK = (
    "broken_continuation: lines that begin with a flag are read as part of the command before "
    "them, though no mark continues it"
)
_HOME = "home_path: ~ in {word} is not expanded there by the shell; write the full path"
_RELATIVE = "relative_path: paths are relative to {folder}, to which the text goes before"
_SHOWN_CHARACTERS = 80
_MOST_HELD = 200
# More servers than anybody starts in a row; a loop of more goes round once.
_MOST_ROUNDS = 12
_MOST_ALL_ROUNDS = 60


def read_script(text: str, known: Mapping[str, str] | None = None) -> Script:
    """All that ``text`` starts, with what it sets before.

    Args:
        text: It.
        known: Variables that are set outside of it.

    Raises:
        TextError: If its variables multiply without bounds, or its loops lie too deep.
    """
    tokens, problems = tokens_of(text)
    reading = _Reading(list(problems), known or {})
    reading.take_all(tokens)
    return reading.script()


# --- what they mean -------------------------------------------------------------------------


class _Reading:
    """Goes through the commands in order, since each may set what the next uses."""

    def __init__(self, problems: list[str], known: Mapping[str, str]) -> None:
        self._known = known
        self._variables = Variables(scalars=dict(known))
        self._branches = Branches(self._variables)
        self._calls: list[Call] = []
        self._documents: list[Document] = []
        self._problems = problems
        self._held: dict[str, str] = {}
        self._folder = ""
        self._functions = Functions()
        self._rounds = self._depth = 0

    def take_all(self, tokens: Sequence[Token]) -> None:
        """All commands, those of functions where they are called."""
        kept, bodies = without_functions(tokens)
        self._functions.define(bodies)
        self._take_tokens(kept)
        for body in self._functions.uncalled():
            self._take_tokens(body)

    def _take_tokens(self, tokens: Sequence[Token]) -> None:
        for part in parts_of(tokens):
            if isinstance(part, Loop):
                self._loop(part)
                continue
            for simple in self.joined(simples(part)):
                self.take(simple)

    def joined(self, simples: Iterator[Simple]) -> Iterator[Simple]:
        """The commands, where lines that begin with a flag belong to the one before."""
        before: Simple | None = None
        for simple in simples:
            if not simple.words and not simple.documents:
                if before is not None and simple.ends == ";;":
                    before.ends = simple.ends
                continue
            if before is not None and self._belongs(before, simple):
                before.words += simple.words
                before.targets += simple.targets
                before.ends = simple.ends
                before.is_one_flag = len(simple.words) == 1 and is_flag(simple.words[0])
                continue
            if before is not None:
                yield before
            before = simple
            before.is_one_flag = len(simple.words) == 1 and is_flag(simple.words[0])
        if before is not None:
            yield before

    def _belongs(self, before: Simple, simple: Simple) -> bool:
        if before.ends != "\n" or not simple.words or is_assignment(before):
            return False
        begins = is_flag(simple.words[0])
        if begins and not is_flag(before.words[0] if before.words else []):
            self._problems.append(_MISSING_MARK)
        # One word a line, as fields of some programs want them: a value follows its flag.
        return begins or (before.is_one_flag and len(simple.words) == 1)

    def take(self, simple: Simple) -> None:
        """One command: what it sets, goes to, or calls."""
        words = self._without_keywords(simple)
        self._branches.begin_command()
        self._take(simple, words)
        first = bare(simple.words[0]) if simple.words else ""
        self._branches.end_command(simple.ends, first, bare(words[0]) if words else "")

    def _take(self, simple: Simple, words: list[list[Piece]]) -> None:
        name = bare(words[0]) if words else ""
        env: dict[str, str] = {}
        first = 0
        scalars = self._variables.scalars
        before: dict[str, str | None] = {}
        while first < len(words) and (match := ASSIGNMENT.match(bare(words[first]))):
            before.setdefault(match.group(1), scalars.get(match.group(1)))
            self._assign(words[first], self._array_of(simple, words[first]), env)
            # Each may use the one before.
            scalars.update(env)
            first += 1
        self._put_back(before)
        self._take_documents(simple)
        if first == len(words):
            self._set(env)
        elif self._functions.has(bare(words[first])):
            self._call_function(bare(words[first]), words[first + 1 :], env)
        elif not self._builtin(name, simple, words):
            self._call(words[first:], env)

    def _put_back(self, before: Mapping[str, str | None]) -> None:
        for name, value in before.items():
            if value is None:
                self._variables.scalars.pop(name, None)
            else:
                self._variables.scalars[name] = value

    def _builtin(self, name: str, simple: Simple, words: list[list[Piece]]) -> bool:
        """A command that changes what the next ones find; whether it is one."""
        if name in _DECLARING:
            self._declare(name, simple, words[1:])
        elif name == "unset":
            self._unset(words[1:])
        elif name == "alias":
            self._alias(words[1:])
        elif name == "launchctl":
            self._declare("setenv", simple, words[2:])
        elif name in _GOING:
            self._go([word for word in words[1:] if not bare(word).startswith("-")])
        elif name == "shift":
            self._variables.shift()
        else:
            return False
        return True

    def _go(self, words: list[list[Piece]]) -> None:
        """Into a folder, which may be inside the one that the text went to before."""
        to = self._variables.text(words[0]) if words else "~"
        is_inside = bool(self._folder) and re.match(r"[/~\\$%-]|[A-Za-z]:", to) is None
        self._folder = f"{self._folder.rstrip('/')}/{to}" if is_inside else to

    def _loop(self, loop: Loop) -> None:
        """``for NAME in WORDS``: once for each word, where they are few and stand in the text."""
        if self._depth == DEEPEST:
            raise TextError(TOO_DEEP)
        self._depth += 1
        self._rounds_of(loop)
        self._depth -= 1

    def _rounds_of(self, loop: Loop) -> None:
        values = [given for one in loop.words for given in self._variables.words(one.pieces)]
        self._hold(loop.name)
        is_known = not any(re.search(r"[$*?]", value) for value in values)
        if is_known and len(values) <= _MOST_ROUNDS and self._rounds < _MOST_ALL_ROUNDS:
            for value in values:
                self._rounds += 1
                self._branches.loop(loop.name, [value])
                self._take_tokens(loop.body)
            return
        self._branches.loop(loop.name, values)
        self._take_tokens(loop.body)

    def _call_function(self, name: str, pieces: list[list[Piece]], env: Mapping[str, str]) -> None:
        """The commands of a function, with the words that it is given."""
        body = self._functions.enter(name)
        if body is None:
            return
        outside = self._variables.given
        self._variables.scalars.update(env)
        self._variables.given = tuple(
            given for one in pieces for given in self._variables.words(one)
        )
        self._take_tokens(body)
        self._variables.given = outside
        self._functions.leave()

    def _set(self, env: Mapping[str, str]) -> None:
        self._branches.assigned(env)
        self._variables.scalars.update(env)

    def _unset(self, words: list[list[Piece]]) -> None:
        named = [name for word in words if not (name := self._variables.text(word)).startswith("-")]
        self._branches.assigned(named)
        for name in named:
            self._variables.scalars.pop(name, None)
            self._variables.arrays.pop(name, None)
            self._variables.exported.discard(name)

    def _without_keywords(self, simple: Simple) -> list[list[Piece]]:
        words = simple.words
        first = 0
        while first < len(words) and len(words[first]) == 1 and bare(words[first]) in _KEYWORDS:
            self._branches.keyword(bare(words[first]))
            first += 1
        return words[first:]

    def _array_of(self, simple: Simple, word: list[Piece]) -> list[list[Piece]] | None:
        return next((simple.arrays[at] for at in simple.arrays if simple.words[at] is word), None)

    def _assign(
        self, pieces: list[Piece], array: list[list[Piece]] | None, env: dict[str, str]
    ) -> str:
        """One ``NAME=value``; the name."""
        match = ASSIGNMENT.match(pieces[0].text)
        if match is None:
            return ""
        name, adds = match.group(1), bool(match.group(2))
        if array is not None:
            values = tuple(word for item in array for word in self._variables.words(item))
            before = self._variables.arrays.get(name, ()) if adds else ()
            self._branches.assigned([name])
            self._variables.set_array(name, before + values)
            self._hold(name)
            return name
        rest = [Piece(pieces[0].text[match.end() :]), *pieces[1:]]
        text = self._variables.text(rest)
        self._hold(name)
        env[name] = self._variables.scalars.get(name, "") + text if adds else text
        return name

    def _hold(self, name: str) -> None:
        """What a value lacks matters where the value is used; adding to itself lacks nothing."""
        for about, problem in self._variables.take_problems().items():
            put_in = _PUT_IN.match(about)
            is_itself = put_in is not None and put_in.group(1) == name
            if not is_itself and len(self._held) < _MOST_HELD:
                self._held[about] = problem

    def _of_values(self, texts: Iterable[str]) -> list[str]:
        """The problems of values that stand in ``texts``."""
        held = self._held | self._branches.problems
        whole = "\0".join(texts) if held else ""
        return [problem for about, problem in held.items() if about in whole]

    def _declare(self, command: str, simple: Simple, words: list[list[Piece]]) -> None:
        """``export``, ``declare -x``; ``setenv`` of csh and ``set -x`` of fish."""
        if command in {"setenv", "set"}:
            self._declare_by_words(command, words)
            return
        flags = [bare(word) for word in words if bare(word).startswith("-")]
        is_exported = command == "export" or any("x" in flag for flag in flags)
        env: dict[str, str] = {}
        for word in words:
            if ASSIGNMENT.match(bare(word)):
                name = self._assign(word, self._array_of(simple, word), env)
            else:
                name = bare(word)
            if is_exported and not name.startswith("-"):
                self._variables.exported.add(name)
        self._set(env)

    def _declare_by_words(self, command: str, words: list[list[Piece]]) -> None:
        values = [word for pieces in words for word in self._variables.words(pieces)]
        if command == "set" and values[:1] == ["--"]:
            self._branches.assigned([GIVEN])
            self._variables.given = tuple(values[1:])
            return
        flags = [value for value in values if value.startswith("-") and value[1:].isalpha()]
        operands = values[len(flags) :]
        # Of sh and bash it would set what the script is given, which nobody does without "--".
        is_fish = command == "set" and len(operands) > 1 and operands[0].isidentifier()
        if (command == "setenv" or is_fish) and operands:
            self._set({operands[0]: " ".join(operands[1:])})
            if command == "setenv" or any("x" in flag for flag in flags):
                self._variables.exported.add(operands[0])

    def _alias(self, words: list[list[Piece]]) -> None:
        """``alias name='command'``: its text is a command of that name."""
        for pieces in words:
            name, equals, text = self._variables.text(pieces).partition("=")
            if equals:
                script = read_script(text)
                self._calls += [
                    Call(call.words, call.env, name, self._folder, call.problems, call.notes)
                    for call in script.calls
                ]

    def _call(self, pieces: list[list[Piece]], env: dict[str, str]) -> None:
        words: list[str] = []
        self._variables.read.clear()
        for word in pieces:
            made = self._variables.words(word)
            if bare(word):
                made = [straight(each, self._problems) for each in made]
            words += made
            self._say_home(word, made)
            self._variables.problems |= looked_up(word)
        if not words or len(self._calls) >= MOST_CALLS:
            return
        used = set(self._variables.used)
        whole = kept_env(self._variables.env(), used) | env
        problems = [*self._variables.take_problems().values()]
        problems += self._of_values([*words, *whole.values()])
        for name in sorted(self._branches.left_out.keys() & self._variables.read):
            problems += self._branches.left_out[name]
        if self._folder and any(map(is_relative_file, words)):
            problems.append(_RELATIVE.format(folder=self._folder[:_SHOWN_CHARACTERS]))
        self._calls.append(Call(tuple(words), whole, "", self._folder, once(problems)))

    def _say_home(self, pieces: list[Piece], words: list[str]) -> None:
        for word in words:
            is_kept = pieces[0].is_quoted and word.startswith("~/")
            is_in_flag = word.startswith("-") and "=~/" in word
            if is_kept or is_in_flag:
                said = _HOME.format(word=word[:_SHOWN_CHARACTERS])
                self._variables.problems[said] = said

    def _take_documents(self, simple: Simple) -> None:
        for number, token in enumerate(simple.documents):
            name = ""
            if number < len(simple.targets):
                name = self._variables.text(simple.targets[number])
            elif len(simple.words) > 1 and bare(simple.words[0]) in {"tee", "sudo"}:
                name = self._variables.text(simple.words[-1])
            body, lacking = token.body, dict[str, str]()
            if not token.is_raw:
                held, self._variables.problems = self._variables.problems, {}
                body = self._variables.text(pieces_of(body))
                lacking, self._variables.problems = self._variables.problems, held
            self._documents.append(Document(name, body, lacking))

    def script(self) -> Script:
        """All that was read."""
        self._branches.end()
        used = self._variables.used
        env = self._variables.env()
        if not self._calls:
            # A block of variables alone is meant for the program that is started after it.
            env = {
                name: value
                for name, value in self._variables.scalars.items()
                if name not in self._known
            }
        env = kept_env(env, used)
        problems = [*self._problems]
        service = service_of(self._variables.scalars)
        if service is not None:
            self._calls.append(service)
        if not self._calls:
            problems += self._of_values(env.values())
        return Script(tuple(self._calls), env, once(problems), tuple(self._documents))
