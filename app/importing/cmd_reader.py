"""Commands of Windows' ``cmd.exe``, at its prompt and in batch files. Nothing is executed.

Knows the shell; must not know any program's flags.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.importing.call import (
    MOST_CALLS,
    Call,
    Script,
    home_problems,
    is_relative_file,
    kept_env,
    once,
)
from app.importing.programs import is_call
from app.importing.secret_words import value_without_secrets
from app.importing.text_error import TextError
from app.importing.windows_words import windows_words

# A shell that starts a shell: texts that go deeper are made to, not written.
_DEEPEST = 4
_CONTINUED = re.compile(r"\^[^\S\n]*$")
_COMMENT = re.compile(r"\s*@?(?:rem(?:\s|$)|::|:[A-Za-z_])", re.IGNORECASE)
_VARIABLE = re.compile(r"%([^%^\n:=\s~][^%\n:=]{0,99})(?::[^%\n]{0,200})?%")
_DELAYED = re.compile(r"!([A-Za-z_]\w{0,99})!")
_LEFT_OVER = re.compile(
    r"%~[a-z]{1,8}[0-9]|%[0-9*](?![0-9A-Za-z])|%[A-Za-z_]\w*%|![A-Za-z_]\w*!", re.IGNORECASE
)
_SET = re.compile(r"set\s+(?![\s/])(.*)", re.IGNORECASE | re.DOTALL)
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
_CONDITION = re.compile(r"(?:if|for|else)\b", re.IGNORECASE)
_OWN = re.compile(
    r"(?:echo|title|pause|setlocal|endlocal|popd|goto|exit|cls|chcp|mode|color|timeout|ver|dir|"
    r"copy|xcopy|del|mkdir|md|set|prompt|taskkill|where|type|choice|cd|pushd|chdir)(?:[.:\s(]|$)",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(r"<[A-Za-z_][\w .:/|-]{0,60}>(?=[\s\"'./:]|$)")
_TARGET = re.compile(r'>?&?\s*(?:"[^"]*"|[^\s&|<>]+)')
_LATE_MARK = (
    "broken_continuation: a blank stands behind the ^ that continues a line, so that cmd.exe ends "
    "the command there; the next line is read as part of it"
)
_MISSING_MARK = (
    "broken_continuation: lines that begin with a flag are read as part of the command before "
    "them, though no ^ continues it"
)
_RELATIVE = "relative_path: paths are relative to {folder}, to which the text goes before"
_SHOWN_CHARACTERS = 80
_LONGEST_CHARACTERS = 100_000


def read_script(text: str) -> Script:
    """All that ``text`` starts, with what it sets before.

    Raises:
        TextError: If its variables multiply without bounds.
    """
    reading = _Reading(delayed="enabledelayedexpansion" in text.lower())
    for line in reading.lines(text):
        reading.take_line(line)
    return reading.script()


class _Reading:
    def __init__(self, *, delayed: bool) -> None:
        self._is_delayed = delayed
        # By names in capitals, since cmd.exe does not tell them apart: name as set, value.
        self._variables: dict[str, tuple[str, str]] = {}
        self._used: set[str] = set()
        self._calls: list[Call] = []
        self._problems: list[str] = []
        self._folder = ""

    # --- lines ------------------------------------------------------------------------------

    def lines(self, text: str) -> Iterator[str]:
        """The lines of ``text``, those that go on in the next joined."""
        whole: list[str] = []
        is_open = False
        for written in text.split("\n"):
            line = written
            if not is_open and _COMMENT.match(line):
                continue
            begins_with_flag = re.match(r"\s*--?[A-Za-z]", line) is not None
            if whole and not is_open and not begins_with_flag:
                yield "".join(whole)
                whole = []
            if whole and not is_open and not re.match(r"\s*--?[A-Za-z]", whole[0]):
                self._problems.append(_MISSING_MARK)
            continued = _CONTINUED.search(line)
            is_open = continued is not None and _is_mark(line, continued.start())
            if continued and is_open:
                if continued.group() != "^":
                    self._problems.append(_LATE_MARK)
                line = f"{line[: continued.start()]} "
            elif line.strip():
                line = f"{line} "
            if line.strip() or whole:
                whole.append(line)
        if whole:
            yield "".join(whole)

    def take_line(self, line: str, depth: int = 0) -> None:
        """One line, as many commands as it holds."""
        for command in _commands(self._put_in(line)):
            self._take(_without_brackets(command.strip().lstrip("@")), depth)

    def _put_in(self, line: str) -> str:
        def value(match: re.Match[str]) -> str:
            known = self._variables.get(match.group(1).upper())
            if known is None:
                return match.group()
            self._used.add(known[0])
            return value_without_secrets(*known)

        length = len(line)
        line = _VARIABLE.sub(value, line)
        if self._is_delayed:
            line = _DELAYED.sub(value, line)
        if len(line) > _LONGEST_CHARACTERS and len(line) > length:
            raise TextError(
                f"The variables of this text make lines of more than {_LONGEST_CHARACTERS:,} "
                "characters, which no command has. Paste the command alone."
            )
        return line

    # --- commands ---------------------------------------------------------------------------

    def _take(self, command: str, depth: int) -> None:
        shell = _SHELL.match(command)
        setx = _SETX.match(command)
        setting = _SET.match(command)
        going = _GOING.match(command)
        if setx:
            self._variables[setx.group(1).upper()] = (setx.group(1), _unquoted(setx.group(2)))
        elif setting:
            self._set(setting.group(1))
        elif going:
            self._folder = going.group(1).strip().strip('"')
        elif re.match(r"start\s", command, re.IGNORECASE) and depth < _DEEPEST:
            self._start(command, depth)
        elif re.match(r"call\s", command, re.IGNORECASE) and depth < _DEEPEST:
            self._take(command[4:].strip(), depth + 1)
        elif shell and depth < _DEEPEST:
            self._shell(shell.group(1).strip(), depth)
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
        self._variables[name.upper()] = (name, value)

    def _start(self, command: str, depth: int) -> None:
        match = _START.match(command)
        rest = match.group(1) if match else ""
        flag = _START_FLAG.match(rest)
        while flag:
            self._folder = (flag.group(1) or self._folder).strip('"')
            rest = rest[flag.end() :]
            flag = _START_FLAG.match(rest)
        if rest.strip():
            self._take(rest.strip(), depth + 1)

    def _shell(self, text: str, depth: int) -> None:
        """``cmd /k "…"``: one pair of quotes around the whole is not the command's."""
        if len(text) > 1 and text.startswith('"') and text.endswith('"'):
            text = text[1:-1]
        for command in _commands(text):
            self._take(command.strip(), depth + 1)

    def _call(self, command: str) -> None:
        words, problems = windows_words(command)
        if _CONDITION.match(command):
            at = next((at for at in range(len(words)) if is_call(words[at:])), len(words))
            words = words[at:]
        if not words or words == [")"] or len(self._calls) >= MOST_CALLS:
            return
        left_over = once(found for word in words for found in _LEFT_OVER.findall(word))
        problems += [f"unresolved_variable: {name} has no value in this text" for name in left_over]
        problems += home_problems(words)
        if self._folder and any(map(is_relative_file, words)):
            problems.append(_RELATIVE.format(folder=self._folder[:_SHOWN_CHARACTERS]))
        env = kept_env(dict(self._variables.values()), self._used)
        self._calls.append(Call(tuple(words), env, "", self._folder, tuple(problems)))

    def script(self) -> Script:
        """All that was read."""
        env = kept_env(dict(self._variables.values()), self._used)
        return Script(tuple(self._calls), env, once(self._problems))


def _without_brackets(command: str) -> str:
    """``(program …)`` of a block as the command in it."""
    bare = command.lstrip("( \t")
    return bare.removesuffix(")").strip() if bare != command else command


def _is_mark(line: str, at: int) -> bool:
    """Whether the ``^`` at a place is no plain character: others before it pair up."""
    before = line[:at]
    return (len(before) - len(before.rstrip("^"))) % 2 == 0


def _commands(line: str) -> list[str]:
    """The commands of a line, each without its marks ``^`` and without redirections."""
    found: list[str] = []
    parts: list[str] = []
    at, is_in_quotes = 0, False
    while at < len(line):
        character = line[at]
        if character == '"':
            is_in_quotes = not is_in_quotes
        if is_in_quotes or character not in "^&|<>":
            parts.append(character)
            at += 1
        elif character == "^":
            parts.append(line[at + 1 : at + 2])
            at += 2
        elif character in "&|":
            found.append("".join(parts))
            parts = []
            at += 1
        else:
            at = _redirect(line, at, parts)
    return [*found, "".join(parts)]


def _redirect(line: str, at: int, parts: list[str]) -> int:
    """Leaves a redirection out, or keeps a placeholder in angle brackets; the place behind it."""
    placeholder = _PLACEHOLDER.match(line, at)
    if placeholder:
        parts.append(placeholder.group())
        return placeholder.end()
    if parts and parts[-1].isdigit() and (len(parts) < 2 or parts[-2].isspace()):
        parts.pop()
    target = _TARGET.match(line, at + 1)
    return target.end() if target else at + 1


def _unquoted(text: str) -> str:
    words = windows_words(text)[0]
    return words[0] if words else ""
