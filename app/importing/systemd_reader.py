"""Units of systemd, and containers that podman makes units of. No file that they name is read.

Knows the format; must not know any engine's flags.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from app.importing.call import Call, home_problems, once
from app.importing.docker_run_reader import Container, mounts_of, ports_of
from app.importing.invocation import Invocation
from app.importing.posix_tokens import unescaped
from app.importing.unwrapping import of_container, unwrapped

_LINE = re.compile(r"[ \t]*([A-Za-z]+)[ \t]*=[ \t]*(.*)")
_QUOTED = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:x[0-9A-Fa-f]{1,2}|[0-7]{1,3}|.)", re.DOTALL)
_PLAIN = re.compile(r"[^\s\"'\\]+")
_VARIABLE = re.compile(r"\$(?:(\$)|\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")
_SPECIFIER = re.compile(r"%(.)")
_WHOLE_VARIABLE = re.compile(r"\$([A-Za-z_]\w*)$")
# Before a program: how its failure and its rights are taken.
_PREFIXES = "-@:+!|"
_RELATIVE = re.compile(r"(?!/|~|-|\$|%)\S*\.(?:gguf|bin|jinja|ini)$")


@dataclass
class _Unit:
    """What the lines of a unit say.

    Attributes:
        title: Its description.
        commands: What it starts, in order.
        env: Variables that it sets.
        env_files: Files of variables that it names.
        folder: In which it starts.
        container: What podman is told.
        problems: ``code: sentence``.
    """

    title: str = ""
    commands: list[str] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)
    env_files: list[str] = field(default_factory=list)
    folder: str = ""
    container: Container = field(default_factory=Container)
    problems: list[str] = field(default_factory=list)


def read_systemd(text: str) -> tuple[Invocation, ...]:
    """What the unit starts; its variables alone where it starts nothing, as a drop-in does."""
    unit = _Unit()
    for line in _joined(text):
        match = _LINE.match(line)
        if match:
            _take(match.group(1).lower(), match.group(2).strip(), unit)
    notes = tuple(
        f"The variables in {name} are not in this text and were not read."
        for name in unit.env_files
    )
    found: list[Invocation] = []
    for command in unit.commands:
        problems = [*unit.problems]
        words = _words(command, unit, problems)
        problems += home_problems(words)
        if unit.folder and any(map(_RELATIVE.match, words)):
            problems.append(
                f"relative_path: paths are relative to {unit.folder}, where the unit starts"
            )
        call = Call(tuple(words), unit.env, unit.title, unit.folder, once(problems), notes)
        found += unwrapped(call, "systemd")
    if unit.container.image:
        unit.container.env = unit.env
        call = Call((), title=unit.title, problems=once(unit.problems), notes=notes)
        found += of_container(unit.container, call, "systemd")
    if not found and (unit.env or unit.env_files):
        alone = Invocation("systemd", "", env=unit.env, title=unit.title, notes=notes)
        found.append(replace(alone, problems=once(unit.problems)))
    return tuple(found)


def _joined(text: str) -> list[str]:
    """The lines; one that ends in a backslash goes on, comments between them left out."""
    lines: list[str] = []
    parts: list[str] = []
    for line in text.split("\n"):
        if line.lstrip().startswith(("#", ";")):
            continue
        is_open = line.rstrip().endswith("\\")
        parts.append(line.rstrip()[:-1] if is_open else line)
        if not is_open:
            lines.append(" ".join(parts))
            parts = []
    return [*lines, " ".join(parts)]


def _take(key: str, value: str, unit: _Unit) -> None:
    if key == "execstart":
        # An empty line takes back what stands before, as drop-ins do.
        unit.commands = [*unit.commands, value.lstrip(_PREFIXES)] if value else []
    elif key == "environment":
        for word in _split(value):
            name, equals, text = word.partition("=")
            if equals:
                unit.env[name] = _specified(text, unit.problems)
    elif key == "environmentfile":
        unit.env_files.append(value.lstrip("-"))
    elif key == "workingdirectory":
        unit.folder = value.lstrip("-")
    elif key in {"description", "containername"}:
        unit.title = unit.title or value
    else:
        _take_for_container(key, value, unit.container)


def _take_for_container(key: str, value: str, container: Container) -> None:
    if key == "image":
        container.image = value
    elif key == "exec":
        container.words = tuple(_split(value))
    elif key == "entrypoint":
        container.entrypoint = value
    elif key == "volume":
        container.mounts += mounts_of(value)
    elif key == "publishport":
        container.ports += ports_of(value)


# --- words ----------------------------------------------------------------------------------


def _words(command: str, unit: _Unit, problems: list[str]) -> list[str]:
    words: list[str] = []
    for word in _split(command):
        if word == ";" and words:
            break
        whole = _WHOLE_VARIABLE.match(word)
        if whole and whole.group(1) in unit.env:
            # As a word of its own a variable is as many words as it has.
            words += _split(unit.env[whole.group(1)])
        else:
            words.append(_put_in(_specified(word, problems), unit, problems))
    return words


def _split(text: str) -> list[str]:
    """Words with systemd's quotes, which are like C's."""
    words: list[str] = []
    parts: list[str] | None = None
    at = 0
    while at < len(text):
        quoted, plain = _QUOTED.match(text, at), _PLAIN.match(text, at)
        if text[at].isspace():
            if parts is not None:
                words.append("".join(parts))
            parts, at = None, at + 1
            continue
        parts = parts if parts is not None else []
        if quoted:
            parts.append(unescaped(quoted.group(1) or quoted.group(2) or ""))
            at = quoted.end()
        elif plain:
            parts.append(plain.group())
            at = plain.end()
        else:
            escape = _ESCAPE.match(text, at)
            parts.append(unescaped(escape.group()) if escape else text[at])
            at = escape.end() if escape else at + 1
    return words if parts is None else [*words, "".join(parts)]


def _specified(word: str, problems: list[str]) -> str:
    """``%%`` is a percent sign; every other specifier is put in by systemd alone."""

    def one(match: re.Match[str]) -> str:
        if match.group(1) == "%":
            return "%"
        if match.group(1).isalpha():
            problems.append(f"macro: {match.group()} is put in by systemd")
        return match.group()

    return _SPECIFIER.sub(one, word)


def _put_in(word: str, unit: _Unit, problems: list[str]) -> str:
    def one(match: re.Match[str]) -> str:
        escaped, braced, bare = match.groups()
        name = braced or bare
        if escaped:
            return "$"
        if name in unit.env:
            return unit.env[name]
        files = f" from {', '.join(unit.env_files)}" if unit.env_files else ""
        problems.append(f"unresolved_variable: {name}{files} has no value in this text")
        return match.group()

    return _VARIABLE.sub(one, word)
