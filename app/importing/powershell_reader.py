"""Commands of PowerShell, as people paste them. Nothing is executed.

Knows the shell; must not know any program's flags.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from app.importing.call import MOST_CALLS, Document, Script, kept_env, once
from app.importing.name_sets import names
from app.importing.posix_tokens import Piece, Token
from app.importing.powershell_assignment import assigned, member, table, ternary, without_type
from app.importing.powershell_calls import Calls, bound, item_set, meant, model_files, started
from app.importing.powershell_functions import Function, function_of, param_block, parameters_of
from app.importing.powershell_lexer import tokens_of
from app.importing.powershell_tree import (
    Group,
    Item,
    Statement,
    bare,
    is_block,
    is_flag,
    is_sign,
    parted,
    pieces_of,
    statements_of,
    written,
)
from app.importing.powershell_values import Value
from app.importing.powershell_variables import Variables
from app.importing.windows_services import with_started

_DEEPEST = 4
_MOST_STATEMENTS = 5_000
"""Statements that are read, those of functions as often as they are called."""
_CMDLET = re.compile(r"[A-Za-z]+-[A-Z][A-Za-z]+$|(?:param|return|throw|exit|break|continue)$")
_LOOPS = names("foreach for while foreach-object")
_PLAIN_BLOCKS = names("try finally do begin process end else")
_GOING = frozenset({"set-location", "push-location", "cd", "sl", "pushd", "chdir"})
_SET_VARIABLE = re.compile(
    r"\[(?:System\.)?Environment\]::SetEnvironmentVariable\(\s*['\"](\w+)['\"]\s*,"
    r"\s*(?:'([^']*)'|\"([^\"]*)\"|(\w+))",
    re.IGNORECASE,
)
_ADDED = re.compile(r"\.add(?:range)?$", re.IGNORECASE)
_MISSING_MARK = (
    "broken_continuation: lines that begin with a flag are read as part of the command before "
    "them, though no ` continues it"
)
_GIVEN = "What the script is called with is not in the text; it is read as called with nothing."


def read_script(text: str, depth: int = 0) -> Script:
    """All that ``text`` starts, with what it sets before.

    Raises:
        TextError: If its variables multiply without bounds.
    """
    tokens, problems = tokens_of(text)
    reading = _Reading(list(problems), depth, model_files(tokens))
    reading.read(statements_of(tokens))
    return reading.script()


class _Reading:
    def __init__(self, problems: list[str], depth: int, documents: tuple[Document, ...]) -> None:
        self._documents = documents
        self._problems = problems
        self._depth = depth
        self._variables = Variables()
        self._functions: dict[str, Function] = {}
        self._called: set[str] = set()
        self._calls = Calls(self._variables)
        self._left = _MOST_STATEMENTS
        self._notes: list[str] = []
        # What objects of the text were given, by their variables.
        self._members: dict[str, dict[str, str]] = {}

    def read(self, statements: Sequence[Statement]) -> None:
        """All of the text; functions that nothing calls come last."""
        self._block(statements)
        for name in list(self._functions):
            if name not in self._called:
                self._run(name, [])
        self._variables.open.end()

    def _block(self, statements: Iterable[Statement]) -> None:
        for statement in self._joined(statements):
            self._left -= 1
            if self._left > 0:
                self._take(statement.items)

    def _joined(self, statements: Iterable[Statement]) -> list[Statement]:
        """The statements, where lines that begin with a flag belong to the one before."""
        kept: list[Statement] = []
        for statement in statements:
            before = kept[-1] if kept else None
            if before is not None and before.ends == "\n" and is_flag(statement):
                if not is_flag(before):
                    self._problems.append(_MISSING_MARK)
                before.items += statement.items
                before.ends = statement.ends
            else:
                kept.append(Statement(list(statement.items), statement.ends))
        return kept

    # --- one statement ------------------------------------------------------------------------

    def _take(self, items: Sequence[Item]) -> None:
        """One statement: what it decides, sets, goes to, or calls."""
        target, of_object = assigned(items), member(items)
        if target is not None:
            self._assign(*target)
        elif of_object is not None:
            self._set_member(*of_object)
        elif items and not self._is_grammar(bare(items[0]).lower(), items):
            self._command(items)

    def _is_grammar(self, first: str, items: Sequence[Item]) -> bool:
        """Whether a statement begins with a word of PowerShell's grammar, and is done with then."""
        if first == "param" and param_block(items):
            self._bind_script(items)
        elif first in {"function", "filter"} and len(items) > 2:
            self._define(items)
        elif first == "if":
            self._if(items)
        elif first == "switch":
            self._switch(items)
        elif first in _LOOPS or first in _PLAIN_BLOCKS or first in {"catch", "trap"}:
            self._blocks(items, is_certain=first in _PLAIN_BLOCKS)
        elif first == "return":
            self._take(items[1:])
        else:
            return False
        return True

    def _command(self, items: Sequence[Item]) -> None:
        is_called = False
        while items and (bare(items[0]) == "." or is_sign(items[0], "&")):
            items, is_called = items[1:], True
        if not items:
            return
        first = items[0]
        name = bare(first).lower() if isinstance(first, Token) else ""
        text = first.written if isinstance(first, Token) else ""
        setting = _SET_VARIABLE.match(text)
        if isinstance(first, Group) and (first.opening == "{" or not is_called):
            self._block(first.statements)
        elif setting:
            self._variables.set_env(setting.group(1), next(filter(None, setting.groups()[1:]), ""))
        elif name in self._functions:
            self._run(name, self._words(items[1:]))
        elif isinstance(first, Token) and self._is_addition(first):
            return
        elif not self._is_own(name, items):
            self._call(items)

    def _is_own(self, name: str, items: Sequence[Item]) -> bool:
        """Whether a command is one of PowerShell's own, which is done with then."""
        if name in _GOING:
            self._calls.folder = " ".join(self._words(items[1:]))
        elif name in {"start-process", "start", "saps", "new-scheduledtaskaction", "start-job"}:
            self._blocks(items, is_certain=True)
            kept = [item for item in items[1:] if not is_block(item)]
            self._start(self._words(kept, is_one_text=True))
        elif name in {"invoke-expression", "iex"}:
            self._read_inside(" ".join(self._words(items[1:], is_one_text=True)))
        elif name in {"set-item", "new-item", "setx", "si"}:
            setting = item_set(self._words(items[1:]))
            if setting:
                self._variables.set_env(*setting)
        elif _CMDLET.match(bare(items[0])):
            self._blocks(items, is_certain=name != "foreach-object")
        else:
            return False
        self._variables.drop_problems()
        return True

    def _read_inside(self, text: str) -> None:
        if self._depth < _DEEPEST:
            inside = read_script(text, self._depth + 1)
            self._calls.found += inside.calls

    # --- conditions, loops, blocks ------------------------------------------------------------

    def _if(self, items: Sequence[Item]) -> None:
        """``if (…) {…} elseif (…) {…} else {…}``."""
        branches: list[tuple[Sequence[Item] | None, Group]] = []
        for before, item in pairwise(items):
            if isinstance(item, Group) and item.opening == "{":
                branches.append((before.items if isinstance(before, Group) else None, item))
        self._branches(branches)

    def _switch(self, items: Sequence[Item]) -> None:
        """``switch (…) { value { … } default { … } }``."""
        body = items[-1]
        asked = next((item for item in items if isinstance(item, Group)), None)
        if not isinstance(body, Group) or body.opening != "{" or asked is body or asked is None:
            return
        branches: list[tuple[Sequence[Item] | None, Group]] = []
        for label, block in zip(body.items[::2], body.items[1::2], strict=False):
            question = [*asked.items, Token([Piece("-eq")]), label]
            if isinstance(block, Group):
                branches.append((None if bare(label).lower() == "default" else question, block))
        self._branches(branches)

    def _branches(self, branches: Sequence[tuple[Sequence[Item] | None, Group]]) -> None:
        """Blocks with the question that each is asked; None for what is done where none holds."""
        for at, (question, block) in enumerate(branches):
            ask = self._variables.expressions.verdict
            self._branch(True if question is None else ask(question), at > 0)
            self._block(block.statements)
        if branches:
            self._variables.open.leave()

    def _blocks(self, items: Sequence[Item], *, is_certain: bool) -> None:
        """What stands in braces behind a word; what a loop does is done several times or never."""
        for item in items[1:2]:
            named = item.items[:1] if isinstance(item, Group) and bare(items[0]) != "for" else []
            self._variables.loops |= {p.name for each in named if isinstance(each, Token)
                                      for p in each.pieces if p.name}  # fmt: skip
        for item in items:
            if not is_block(item):
                continue
            if not is_certain:
                self._variables.open.enter(None)
            self._block(item.statements if isinstance(item, Group) else ())
            if not is_certain:
                self._variables.open.leave()

    # --- functions ----------------------------------------------------------------------------

    def _define(self, items: Sequence[Item]) -> None:
        if (found := function_of(items[2:])) is not None:
            self._functions[bare(items[1]).lower()] = found

    def _bind_script(self, items: Sequence[Item]) -> None:
        """The parameters of the script itself, which gets nothing."""
        inside = param_block(items)
        parameters = tuple(parameters_of(inside)) if inside else ()
        self._bind(Function(parameters, ()), [])
        self._notes.append(_GIVEN)
        self._take(items[2:])

    def _bind(self, function: Function, words: list[str]) -> None:
        given, rest = bound(function, words)
        for parameter in function.parameters:
            name = parameter.piece.name
            if name in given:
                self._variables.set(parameter.piece, given[name])
            elif parameter.default:
                self._assign(parameter.piece, False, list(parameter.default))
            elif parameter.is_switch:
                self._variables.set(parameter.piece, ("False",))
            else:
                self._variables.forget(parameter.piece)
        self._variables.set(Piece("$args", name="args"), tuple(rest), is_list=True)

    def _run(self, name: str, words: list[str]) -> None:
        """A call of a function: what it sets is its own, but for the environment."""
        self._called.add(name)
        if self._depth >= _DEEPEST:
            return
        self._depth += 1
        values, lists = dict(self._variables.values), set(self._variables.lists)
        self._bind(self._functions[name], words)
        self._variables.drop_problems()
        self._block(self._functions[name].body)
        env = {k: v for k, v in self._variables.values.items() if k.startswith("env:")}
        self._variables.values.clear()
        self._variables.values.update(values | env)
        self._variables.lists.clear()
        self._variables.lists.update(lists)
        self._depth -= 1

    # --- setting ------------------------------------------------------------------------------

    def _assign(self, piece: Piece, adds: bool, items: list[Item]) -> None:
        first = bare(items[0] if items else None)
        if first.lower() == "if":
            self._assign_if(piece, items)
            return
        sides = ternary(items)
        if sides is not None:
            self._either(piece, self._variables.expressions.verdict(sides[0]), sides[1:])
            return
        if items and isinstance(items[0], Group) and items[0].opening == "@{":
            self._variables.set_table(piece, table(items[0], self._variables.expressions))
            return
        part = self._variables.part_of_table(pieces_of(items))
        if part and "" not in part:
            self._variables.set_table(piece, part)
            return
        found = self._variables.expressions.value(items)
        if found is not None:
            self._variables.drop_problems()
            self._set(piece, adds, found)
            return
        self._variables.drop_problems()
        self._variables.forget(piece)
        if items and (is_sign(items[0], "&") or _CMDLET.match(first)):
            self._take(items)

    def _set(self, piece: Piece, adds: bool, found: Value) -> None:
        before = self._variables.values.get(piece.name, ()) if adds else ()
        is_list = found.is_list or (adds and piece.name in self._variables.lists)
        is_longer = before and not is_list
        words = (before[0] + " ".join(found.words),) if is_longer else before + found.words
        self._variables.set(piece, words, is_list=is_list)

    def _assign_if(self, piece: Piece, items: Sequence[Item]) -> None:
        """``$x = if (…) { a } elseif (…) { b } else { c }``."""
        begun = False
        for before, item in pairwise(items):
            if not isinstance(item, Group) or not is_block(item):
                continue
            ask = self._variables.expressions.verdict
            self._branch(ask(before.items) if isinstance(before, Group) else True, begun)
            begun = True
            self._assign(piece, False, item.items)
        if begun:
            self._variables.open.leave()
        else:
            self._variables.forget(piece)

    def _branch(self, verdict: bool | None, goes_on: bool) -> None:
        if goes_on:
            self._variables.open.next_branch(verdict)
        else:
            self._variables.open.enter(verdict)
        self._variables.drop_problems()

    def _either(self, piece: Piece, verdict: bool | None, sides: Sequence[Sequence[Item]]) -> None:
        self._variables.open.enter(verdict)
        self._assign(piece, False, list(sides[0]))
        self._variables.open.next_branch(True)
        self._assign(piece, False, list(sides[1]))
        self._variables.open.leave()

    def _set_member(self, piece: Piece, name: str, items: list[Item]) -> None:
        """``$start.FileName = …``: what a process is started with."""
        found = self._variables.expressions.value(items)
        said = self._members.setdefault(piece.name, {})
        said[name] = " ".join(found.words) if found else ""
        if said.get("filename") and said.get("arguments"):
            self._start([said.pop("filename"), said.pop("arguments")])

    def _is_addition(self, first: Token) -> bool:
        """``$list.Add('…')``, which adds to a list that the text began."""
        pieces = without_type(first.pieces)
        if len(pieces) < 3 or not pieces[0].name or not _ADDED.match(pieces[1].text):
            return False
        inside = statements_of(tokens_of(pieces[2].text)[0])
        found = self._variables.expressions.value([i for each in inside for i in each.items])
        if found is not None:
            self._variables.lists.add(pieces[0].name)
            self._set(pieces[0], True, Value(found.words, True))
        return True

    # --- calls --------------------------------------------------------------------------------

    def _words(self, items: Sequence[Item], *, is_one_text: bool = False) -> list[str]:
        """The words that a command gets; a text stays whole where they become one anyway."""
        words: list[str] = []
        for item in items:
            if isinstance(item, Group):
                words += self._of_brackets(item)
            elif not item.operator:
                words += self._variables.words(item.pieces, is_one_text=is_one_text)
        return words

    def _of_brackets(self, group: Group) -> list[str]:
        found = self._variables.expressions.value([group])
        if found is not None:
            return list(found.words)
        text = written([group])
        self._variables.tell_unknown(text, is_worked_out=True)
        return [text]

    def _call(self, items: Sequence[Item]) -> None:
        words: list[str] = []
        for part in parted(items):
            words += self._words(part)
        if len(self._calls.found) < MOST_CALLS:
            self._calls.add(list(map(meant, words)), words)

    def _start(self, words: list[str]) -> None:
        found = started(words, self._calls) or []
        if len(self._calls.found) < MOST_CALLS:
            self._calls.add(found, ())

    def script(self) -> Script:
        """All that was read."""
        env = kept_env(self._variables.env(), self._variables.used)
        calls = [replace(c, notes=once([*self._notes, *c.notes])) for c in self._calls.found]
        return Script(tuple(with_started(calls)), env, once(self._problems), self._documents)
