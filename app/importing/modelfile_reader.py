"""Ollama's Modelfile: instructions and parameters, some over several lines.

Knows the format; must not know any parameter.
"""

from __future__ import annotations

import re

from app.importing.call import once
from app.importing.invocation import Invocation
from app.importing.name_sets import names

_LINE = re.compile(r"[ \t]*([A-Za-z]+)[ \t]+(.*)", re.DOTALL)
_TYPED = re.compile(r"[ \t]*>{0,3}[ \t]*/set[ \t]+(parameter|system|template)[ \t]+(.*)")
# A session begins with the model: "ollama run name", whatever stands around it.
_STARTED = re.compile(r".{0,200}?\bollama[ \t]+run[ \t]+(?:--\S+[ \t]+)*([\w./:-]+)")
_BEHIND = re.compile(r"[ \t]+#(?:[ \t].*)?$")
_WRITTEN_OTHERWISE = re.compile(r"(\w+)[ \t]*[=:][ \t]*(\S.*)", re.DOTALL)
_INSTRUCTIONS = names(
    "FROM PARAMETER TEMPLATE SYSTEM ADAPTER LICENSE MESSAGE REQUIRES RENDERER PARSER DRAFT"
)
_MOST_PROBLEMS = 20
_LONG = '"""'


def read_modelfile(text: str) -> tuple[Invocation, ...]:
    """What the file says, by instructions in capitals and parameters in lower case."""
    values: dict[str, list[str]] = {}
    problems: list[str] = []
    (text, is_session), at = _as_file(text), 0
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        match = _LINE.match(text[at:end])
        word = match.group(1).upper() if match else ""
        bare = text[at:end].strip()
        if match is None or word not in _INSTRUCTIONS:
            if bare and bare[0] != "#" and len(problems) < _MOST_PROBLEMS:
                problems.append(f"broken_file: “{bare[:60]}” is no instruction; it is left out")
            at = end + 1
            continue
        start = at + match.start(2)
        value, at, is_closed = _value(text, start, end)
        if not is_closed:
            problems.append(f"broken_file: the {_LONG} of {word} is never closed")
        _add(word, value, values, problems)
    if not values:
        return ()
    if is_session and "FROM" not in values:
        problems.append("fragment: the text names no model; it goes on top of what is set")
    found = {key: tuple(said) for key, said in values.items()}
    return (Invocation("modelfile", "", values=found, problems=once(problems)),)


def _as_file(text: str) -> tuple[str, bool]:
    """What was typed into a session (``/set parameter num_ctx 4096``) as a file; whether it was."""
    lines = text.split("\n")
    typed = [match for match in map(_TYPED.match, lines) if match]
    if not typed:
        return text, False
    started = [match.group(1) for match in map(_STARTED.match, lines) if match]
    found = [f"FROM {name}" for name in started[-1:]]
    return "\n".join([*found, *(f"{m.group(1).upper()} {m.group(2)}" for m in typed)]), True


def _value(text: str, start: int, end: int) -> tuple[str, int, bool]:
    '''The value that begins at ``start``, the place behind it, and whether its ``"""`` closes.'''
    opening = text.find(_LONG, start, end)
    if opening < 0:
        return text[start:end].strip(), end + 1, True
    before = text[start:opening]
    closing = text.find(_LONG, opening + len(_LONG))
    is_closed = closing >= 0
    closing = closing if is_closed else len(text)
    behind = text.find("\n", closing)
    at = len(text) if behind < 0 else behind + 1
    return before + text[opening + len(_LONG) : closing], at, is_closed


def _add(word: str, value: str, values: dict[str, list[str]], problems: list[str]) -> None:
    key = word
    behind = _BEHIND.search(value) if word in {"FROM", "ADAPTER", "PARAMETER"} else None
    if behind and not value.lower().startswith("stop"):
        problems.append(
            f"broken_file: Ollama takes the comment behind “{word} {value[: behind.start()][:60]}” "
            "for a part of it; it is left out"
        )
        value = value[: behind.start()]
    if word == "PARAMETER":
        otherwise = _WRITTEN_OTHERWISE.fullmatch(value)
        if otherwise:
            problems.append(
                f"broken_file: “PARAMETER {value[:60]}” is written “PARAMETER "
                f"{otherwise.group(1)} {otherwise.group(2)[:60]}”, and was read as that"
            )
            value = f"{otherwise.group(1)} {otherwise.group(2)}"
        name, _, value = value.partition(" ") if " " in value else value.partition("\t")
        key, value = name.lower(), value.strip()
        if not value:
            problems.append(f"broken_file: PARAMETER {name} has no value")
            return
    values.setdefault(key, []).append(_unquoted(value) if word != "MESSAGE" else value)


def _unquoted(value: str) -> str:
    is_quoted = len(value) > 1 and value[0] == value[-1] == '"' and not value.startswith(_LONG)
    return value[1:-1] if is_quoted else value
