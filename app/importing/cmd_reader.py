"""Commands of Windows' ``cmd.exe``, at its prompt and in batch files. Nothing is executed.

Knows the shell; must not know any program's flags.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from app.importing.call import (
    MOST_CALLS,
    Call,
    Document,
    Script,
    home_problems,
    is_read_by_engines,
    is_relative_file,
    kept_env,
    once,
)
from app.importing.cmd_grammar import Event, Grammar, What
from app.importing.cmd_jumps import Jumps
from app.importing.cmd_lines import Lines, lines_of
from app.importing.cmd_variables import LEFT_OVER, answer, has_given, put_in, worked_out
from app.importing.expansion import put
from app.importing.open_values import OpenValues
from app.importing.secret_words import value_without_secrets
from app.importing.text_error import TextError
from app.importing.windows_services import with_started
from app.importing.windows_words import windows_words

# A shell that starts a shell: texts that go deeper are made to, not written.
_DEEPEST = 4
_MOST_LINES = 5_000
"""Lines that are read, those of called parts as often as they are called."""
_SET = re.compile(r"set\s+(?![\s/])(.*)", re.IGNORECASE | re.DOTALL)
_SET_NUMBER = re.compile(r"set\s+/a\s+(.*)", re.IGNORECASE | re.DOTALL)
_FORMULA = re.compile(r"([A-Za-z_]\w*)\s*([-+*/%]?)=(.*)", re.DOTALL)
_SETX = re.compile(r"setx\s+(?:/m\s+)?(\w+)\s+(.*)", re.IGNORECASE | re.DOTALL)
_START = re.compile(r'start(?:\s+"[^"]*")?(.*)', re.IGNORECASE | re.DOTALL)
_START_FLAG = re.compile(
    r'\s*/(?:d\s*("[^"]*"|\S+)|(?:affinity|node|machine)\s+\S+|\w+)(?=\s)', re.IGNORECASE
)
_SHELL = re.compile(
    r"(?:\"?[^\s\"]*\\)?cmd(?:\.exe)?\"?\s+(?:/[a-z:]+\s+)*?/[ck]\s*(.*)",
    re.IGNORECASE | re.DOTALL,
)
_GOING = re.compile(r"(?:cd|chdir|pushd)(?:\s+/d)?\s+(.*)", re.IGNORECASE | re.DOTALL)
_GOTO = re.compile(r"goto\s*:?\s*([A-Za-z_][\w.-]*)", re.IGNORECASE)
_CALL = re.compile(r"call\s+", re.IGNORECASE)
_CALLED = re.compile(r"\bcall\s+:([A-Za-z_][\w.-]*)", re.IGNORECASE)
_LABEL = re.compile(r":([A-Za-z_][\w.-]*)(.*)", re.DOTALL)
_RETURN = re.compile(r"\s*@?(?:exit\s+/b\b|goto\s*:?eof\b|exit\s*$)", re.IGNORECASE)
# A Modelfile that is written line by line.
_MODEL_LINE = re.compile(
    r"echo[ .](?:FROM|PARAMETER|SYSTEM|TEMPLATE|ADAPTER|MESSAGE|LICENSE)\s", re.IGNORECASE
)
_OWN = re.compile(
    r"(?:echo|title|pause|setlocal|endlocal|popd|goto|exit|cls|chcp|mode|color|timeout|ver|dir|"
    r"copy|xcopy|del|mkdir|md|set|prompt|taskkill|where|type|choice|cd|pushd|chdir|rem|ping|"
    r"findstr|find|tasklist|ren|move|erase|rmdir|rd|shift|vol|path|sleep)(?:[.:\s(,;/]|$)",
    re.IGNORECASE,
)
_RELATIVE = "relative_path: paths are relative to {folder}, to which the text goes before"
_LATE_VALUE = (
    "late_variable: cmd.exe puts {name} in when it reads the line or the whole block in brackets, "
    "before set changes it in there; it is read as meant, write it with ! and enable delayed "
    "expansion"
)
_GIVEN = (
    "What the script is called with is not in the text; its conditions are read as if it is called "
    "with nothing."
)
# A program in the folder of the batch file: the folder ends in a backslash, which is not written.
_OWN_FOLDER = re.compile(r"\A\"?(?:%~d?p0|%[A-Za-z_]\w*%)(?=[\w.-])", re.IGNORECASE)
_SHOWN_CHARACTERS = 80
_LONGEST_CHARACTERS = 100_000
_PERCENT = re.compile(r"%([^%\n:=\s~*]{1,100})(?::[^%\n]{1,200})?%")


def read_script(text: str) -> Script:
    """All that ``text`` starts, with what it sets before.

    Raises:
        TextError: If its variables multiply without bounds.
    """
    reading = _Reading(lines_of(text))
    reading.read()
    return reading.script()


class _Reading:
    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        # By names in capitals, since cmd.exe does not tell them apart: names as set, and values.
        self._names: dict[str, str] = {}
        self._values: dict[str, tuple[str, ...]] = {}
        self._open = OpenValues(self._values, self._written, lambda text: windows_words(text)[0])
        self._jumps = Jumps(lines.labels, self._open)
        self._at = 0
        self._used: set[str] = set()
        self._calls: list[Call] = []
        self._problems = lines.problems
        self._late: list[str] = []
        self._fresh: set[str] = set()
        self._asks_given = False
        self._folder = ""
        self._given: tuple[str, ...] | None = None
        self._lines_left = _MOST_LINES
        self._written_lines: list[str] = []

    def read(self) -> None:
        """All of the text; parts that are called are read where they are called."""
        lines, labels = self._lines.lines, self._lines.labels
        named = {name.lower() for line in lines for name in _CALLED.findall(line)}
        called = {at: self._end_of(at) for name, at in labels.items() if name in named}
        at, grammar = 0, Grammar()
        while at < len(lines):
            if at in called:
                at = called[at]
                continue
            self._jumps.begin_line(at, is_free=grammar.is_free)
            self._at = at
            self._take_line(lines[at], grammar, 0)
            at += 1
        self._take(grammar.end(), 0)
        self._open.end()

    def _end_of(self, begin: int) -> int:
        """The number of the line behind a called part, behind that with which it returns."""
        lines = self._lines.lines
        ends = (at + 1 for at in range(begin, len(lines)) if _RETURN.match(lines[at]))
        return max(begin + 1, next(ends, len(lines)))

    def _take_line(self, line: str, grammar: Grammar, depth: int) -> None:
        self._lines_left -= 1
        if self._lines_left >= 0:
            self._take(grammar.read(line), depth)

    def _take(self, events: Iterable[Event], depth: int) -> None:
        for event in events:
            match event.what:
                case What.COMMAND:
                    self._command(event.text, depth)
                case What.CONDITION:
                    self._condition(event.text)
                case What.LOOP | What.OTHERWISE:
                    self._open.enter(None)  # what is done several times, or not at all
                case What.ELSE:
                    self._open.next_branch(True)
                case What.LEAVE:
                    self._open.leave()
                case What.READ:
                    self._fresh.clear()

    def _condition(self, question: str) -> None:
        used = [name.upper() for name in _PERCENT.findall(question)]
        given = [value for name in used for value in self._values.get(name, ())]
        self._asks_given |= any(map(has_given, [question, *given]))
        self._used |= {self._names[name] for name in used if name in self._names}
        self._open.enter(answer(question, self._value))

    # --- variables ----------------------------------------------------------------------------

    def _written(self, name: str) -> str:
        return f"%{self._names.get(name, name)}%"

    def _value(self, name: str) -> str | None:
        values = self._values.get(name.upper())
        return values[0] if values else None

    def _put_in(self, command: str) -> str:
        def value(name: str) -> str | None:
            known = self._values.get(name.upper())
            if known is None:
                return None
            self._used.add(self._names[name.upper()])
            return put(value_without_secrets(self._names[name.upper()], known[0]))

        late = [name for name in _PERCENT.findall(command) if name.upper() in self._fresh]
        self._late = [_LATE_VALUE.format(name=f"%{name}%") for name in late]
        text = put_in(command, value, self._given, is_batch=self._lines.is_batch)
        if len(text) > _LONGEST_CHARACTERS and len(text) > len(command):
            raise TextError(
                f"The variables of this text make lines of more than {_LONGEST_CHARACTERS:,} "
                "characters, which no command has. Paste the command alone."
            )
        return text

    def _set_variable(self, name: str, value: str) -> None:
        key = name.upper()
        self._open.assigned(key)
        self._names[key] = name
        self._fresh.add(key)
        self._values[key] = (value,)

    # --- commands -----------------------------------------------------------------------------

    def _command(self, written: str, depth: int) -> None:
        command = self._put_in(written)
        setx = _SETX.match(command)
        number = _SET_NUMBER.match(command)
        setting = _SET.match(command)
        going = _GOING.match(command)
        jump = _GOTO.match(command)
        if setx:
            self._set_variable(setx.group(1), _unquoted(setx.group(2)))
        elif number:
            self._set_number(number.group(1))
        elif setting:
            self._set(setting.group(1))
        elif going:
            self._folder = going.group(1).strip().strip('"')
        elif jump and depth == 0:
            self._jumps.jump(jump.group(1), self._at)
        elif not self._starts(command, depth):
            self._call_or_write(command)

    def _starts(self, command: str, depth: int) -> bool:
        """Whether a command starts another one, which is read then."""
        shell, call = _SHELL.match(command), _CALL.match(command)
        if depth >= _DEEPEST:
            return False
        if re.match(r"start\s", command, re.IGNORECASE):
            self._start(command, depth)
        elif call:
            self._called(command[call.end() :].strip(), depth)
        elif shell:
            self._shell(shell.group(1).strip(), depth)
        else:
            return False
        return True

    def _call_or_write(self, command: str) -> None:
        if _MODEL_LINE.match(command):
            self._written_lines.append(command[5:])
        elif not _OWN.match(command):
            self._call(command)

    def _set(self, text: str) -> None:
        """``NAME=value``, or all of it in quotes; blanks before the ``=`` belong to the name."""
        is_quoted = text.startswith('"')
        text = (text[1:].rpartition('"')[0] or text[1:]) if is_quoted else text.rstrip()
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            return
        if name != name.strip():
            self._problems.append(
                f"misspelt_variable: a blank before “=” makes another variable, “{name}”; "
                f"{name.strip()} stays unset"
            )
        if value:
            self._set_variable(name, value)
        else:
            self._unset(name)

    def _set_number(self, text: str) -> None:
        """``set /a NAME=formula, NAME=formula``."""
        for part in text.strip().strip('"').split(","):
            match = _FORMULA.match(part.strip())
            if match is None:
                continue
            name, sign, formula = match.groups()
            found = worked_out(f"{name}{sign}({formula})" if sign else formula, self._value)
            if found is None:
                self._unset(name)
            else:
                self._set_variable(name, str(found))

    def _unset(self, name: str) -> None:
        self._open.assigned(name.upper())
        self._values.pop(name.upper(), None)

    def _called(self, command: str, depth: int) -> None:
        """``call program …``, or a part of this text by its label."""
        label = _LABEL.match(command)
        begin = self._lines.labels.get(label.group(1).lower()) if label else None
        if label is None:
            self._command(command, depth + 1)
        elif begin is not None:
            before, self._given = self._given, tuple(windows_words(label.group(2))[0])
            grammar = Grammar()
            for line in self._lines.lines[begin : self._end_of(begin)]:
                self._take_line(line, grammar, depth + 1)
            self._take(grammar.end(), depth + 1)
            self._given = before

    def _start(self, command: str, depth: int) -> None:
        match = _START.match(command)
        rest = match.group(1) if match else ""
        flag = _START_FLAG.match(rest)
        while flag:
            self._folder = (flag.group(1) or self._folder).strip('"')
            rest = rest[flag.end() :]
            flag = _START_FLAG.match(rest)
        if rest.strip():
            self._command(rest.strip(), depth + 1)

    def _shell(self, text: str, depth: int) -> None:
        """``cmd /k "…"``: one pair of quotes around the whole is not the command's."""
        if len(text) > 1 and text.startswith('"') and text.endswith('"'):
            text = text[1:-1]
        grammar = Grammar()
        self._take([*grammar.read(text), *grammar.end()], depth + 1)

    def _call(self, command: str) -> None:
        words, problems = windows_words(_OWN_FOLDER.sub(r"\g<0>\\", command))
        self._asks_given |= "%*" in words
        words = [word for word in words if word != "%*"]
        if not words or len(self._calls) >= MOST_CALLS:
            return
        left_over = once(found for word in words for found in LEFT_OVER.findall(word))
        conditional = self._open.about(words)
        for key, name in self._names.items():  # of the environment that engines read
            conditional += self._open.of(key) if is_read_by_engines(name) else []
        conditional = list(dict.fromkeys(conditional))
        problems += [
            f"unresolved_variable: {name} {_why_open(name)}"
            for name in left_over
            if not any(f" {name} is " in problem for problem in conditional)
        ]
        problems += [*conditional, *self._late, *home_problems(words)]
        if self._folder and any(map(is_relative_file, words)):
            problems.append(_RELATIVE.format(folder=self._folder[:_SHOWN_CHARACTERS]))
        notes = (_GIVEN,) if self._asks_given else ()
        self._calls.append(
            Call(tuple(words), self._env(), "", self._folder, tuple(problems), notes)
        )

    def _env(self) -> dict[str, str]:
        env = {
            self._names[key]: values[0]
            for key, values in self._values.items()
            if not self._open.of(key)
        }
        return kept_env(env, self._used)

    def script(self) -> Script:
        """All that was read."""
        written = "\n".join(self._written_lines)
        documents = (Document("Modelfile", written),) if written else ()
        calls = tuple(with_started(self._calls))
        return Script(calls, self._env(), once(self._problems), documents)


def _why_open(name: str) -> str:
    """Why nobody knows the value of what is written ``name``, behind it in a sentence."""
    if name.startswith("%%"):
        return "is another one in each round of the loop"
    if name.lower() == "%~dp0":
        return "is the folder of the batch file, which is not in this text"
    return "has no value in this text"


def _unquoted(text: str) -> str:
    words = windows_words(text)[0]
    return words[0] if words else ""
