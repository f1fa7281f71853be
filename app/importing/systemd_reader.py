"""Units of systemd, and containers that podman makes units of. No file that they name is read.

Knows the format; must not know any engine's flags.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from app.importing.call import Call, home_problems, once
from app.importing.docker_run_reader import Container, mounts_of, ports_of, take_flags
from app.importing.expansion import put
from app.importing.invocation import Invocation
from app.importing.name_sets import names
from app.importing.posix_tokens import unescaped
from app.importing.posix_words import comment_problem
from app.importing.unwrapping import of_container, unwrapped

_LINE = re.compile(r"[ \t]*([A-Za-z]+)[ \t]*=[ \t]*(.*)")
_QUOTED = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:x[0-9A-Fa-f]{1,2}|[0-7]{1,3}|.)", re.DOTALL)
_PLAIN = re.compile(r"[^\s\"'\\]+")
_VARIABLE = re.compile(r"\$(?:(\$)|\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")
_SPECIFIER = re.compile(r"%(.)")
_WHOLE_VARIABLE = re.compile(r"\$([A-Za-z_]\w*)$")
_BRACED_VARIABLE = re.compile(r"\$\{([A-Za-z_]\w*)\}$")
# What begins a comment elsewhere, without quotes; no text that is read holds the mark itself.
_MARK = "\0"
_BARE_MARK = re.compile(rf"{_QUOTED.pattern}|\\.|(?<=\s)#", re.DOTALL)
# Before a program: how its failure and its rights are taken.
_PREFIXES = "-@:+!|"
_SHOWN_CHARACTERS = 60
_RELATIVE = re.compile(r"(?!/|~|-|\$|%)\S*\.(?:gguf|bin|jinja|ini)$")
_SPECIFIERS = {
    "h": "the home folder of the unit's user",
    "i": "what stands behind the @ of the unit's name",
    "I": "what stands behind the @ of the unit's name",
    "u": "the unit's user",
    "t": "the folder for what runs, /run or the user's",
    "S": "the folder for states, /var/lib or the user's",
    "C": "the folder for caches, /var/cache or the user's",
    "E": "the folder for settings, /etc or the user's",
    "n": "the unit's name",
    "N": "the unit's name",
    "H": "the machine's name",
}
# Keys that say how fast a program runs, or with how much; what else a unit says is no one's here.
_MATTERING = names(
    "nice cpuaffinity cpuquota cpuweight cpuschedulingpolicy numapolicy numamask memorymax "
    "memoryhigh limitmemlock ioschedulingclass allowedcpus execstartpre adddevice podmanargs "
    "gidmap network ulimit shmsize"
)


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
        exec: What it has the container start.
        left: Keys that say something of how the program runs and nothing to it.
        problems: ``code: sentence``.
    """

    title: str = ""
    commands: list[str] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)
    env_files: list[str] = field(default_factory=list)
    folder: str = ""
    container: Container = field(default_factory=Container)
    exec: str = ""
    left: dict[str, None] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def read_systemd(text: str) -> tuple[Invocation, ...]:
    """What the unit starts; its variables alone where it starts nothing, as a drop-in does."""
    unit = _Unit()
    for line in _joined(text):
        match = _LINE.match(line)
        if match:
            name, value = match.group(1), match.group(2).strip()
            _take(name.lower(), value, unit)
            if name.lower() in _MATTERING:
                unit.left[f"{name}={value}" if len(value) <= _SHOWN_CHARACTERS else name] = None
    notes = tuple(
        f"The variables in {name} are not in this text and were not read."
        for name in unit.env_files
    )
    if unit.left:
        notes += (f"How the unit runs it is not carried: {', '.join(unit.left)}.",)
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
        problems = [*unit.problems]
        unit.container.words = tuple(_words(unit.exec, unit, problems))
        unit.container.env |= unit.env
        problems += home_problems(unit.container.words)
        call = Call((), title=unit.title, problems=once(problems), notes=notes)
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
    elif key == "exec":
        unit.exec = value
    else:
        _take_for_container(key, value, unit)


def _take_for_container(key: str, value: str, unit: _Unit) -> None:
    container = unit.container
    if key == "image":
        container.image = value
    elif key == "podmanargs":
        take_flags(_split(value), container)
    elif key == "workingdir":
        container.folder = value
    elif key == "entrypoint":
        container.entrypoint = value
    elif key == "volume":
        container.mounts += mounts_of(_specified(value, unit.problems))
    elif key == "publishport":
        container.ports += ports_of(value)


# --- words ----------------------------------------------------------------------------------


def _words(command: str, unit: _Unit, problems: list[str]) -> list[str]:
    words: list[str] = []
    marked = _BARE_MARK.sub(
        lambda match: _MARK + "#" if match.group() == "#" else match.group(), command
    )
    for word in _without_comment(_split(marked), problems):
        if word == ";" and words:
            break
        whole = _WHOLE_VARIABLE.match(word)
        if whole and whole.group(1) in unit.env:
            # As a word of its own a variable is as many words as it has.
            words += _split(unit.env[whole.group(1)])
        elif (braced := _BRACED_VARIABLE.match(word)) and _is_flags(unit.env.get(braced.group(1))):
            problems.append(
                f"shell_quoting: systemd makes one word of {word}; it is read as the words that "
                f"were meant, write ${braced.group(1)}"
            )
            words += _split(unit.env[braced.group(1)])
        else:
            words.append(_put_in(_specified(word, problems), unit, problems))
    return words


def _is_flags(value: str | None) -> bool:
    return value is not None and value.startswith("-") and " " in value.strip()


def _without_comment(words: list[str], problems: list[str]) -> list[str]:
    """The words without what was meant as a comment: from ``#`` up to the next flag."""
    start = next((at for at, word in enumerate(words) if word.startswith(_MARK)), -1)
    if start < 0:
        return words
    end = start + 1
    while end < len(words) and not re.match(r"--?[A-Za-z]", words[end]):
        end += 1
    said = [word.replace(_MARK, "") for word in words[start:end]]
    problems.append(comment_problem(said, "systemd"))
    return words[:start] + _without_comment(words[end:], problems)


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
            meant = _SPECIFIERS.get(match.group(1))
            said = f": {meant}" if meant else ""
            problems.append(f"macro: {match.group()} is put in by systemd{said}")
        return match.group()

    return _SPECIFIER.sub(one, word)


def _put_in(word: str, unit: _Unit, problems: list[str]) -> str:
    def one(match: re.Match[str]) -> str:
        escaped, braced, bare = match.groups()
        name = braced or bare
        if escaped:
            return "$"
        if name in unit.env:
            return put(unit.env[name])
        files = f" from {', '.join(unit.env_files)}" if unit.env_files else ""
        problems.append(f"unresolved_variable: {name}{files} has no value in this text")
        return match.group()

    return _VARIABLE.sub(one, word)
