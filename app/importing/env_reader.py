"""A block of variables: ``NAME=value`` line by line, as files of variables have them.

Knows the format; must not know any variable.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from app.importing.call import once
from app.importing.expansion import put
from app.importing.invocation import Invocation
from app.importing.openrc_service import service_of
from app.importing.unwrapping import unwrapped

_LINE = re.compile(r"[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)([ \t]*)=([ \t]*)(.*)")
_QUOTED = re.compile(r"(['\"])(.*?)\1[ \t]*(?:#.*)?$")
_COMMENT = re.compile(r"(?:^|[ \t])#.*")
_SEVERAL = re.compile(r"(\S+)((?:[ \t]+[A-Z][A-Z0-9_]*=\S*)+)")
_USE = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")
_PUT = (
    "Variables are put into the values below them, as a shell and compose do; docker's --env-file "
    "and systemd leave them as they are."
)
_HOME = "home_path: ~ in {name} is not expanded by every program; write the full path"


def read_env(text: str) -> tuple[Invocation, ...]:
    """The variables of ``text`` as the environment of a program that it does not name."""
    env: dict[str, str] = {}
    problems: list[str] = []
    notes: list[str] = []
    for line in text.split("\n"):
        match = _LINE.match(line)
        if match is None or line.lstrip().startswith("#"):
            continue
        name, blank, after, rest = match.groups()
        if blank or after:
            problems.append(
                f"misspelt_variable: blanks stand around the “=” of {name}, which programs read "
                "in more than one way; it is read without them"
            )
        quoted = _QUOTED.match(rest)
        value = quoted.group(2) if quoted else _COMMENT.sub("", rest).strip()
        several = None if quoted else _SEVERAL.fullmatch(value)
        if several:
            # Several on one line, as they stand before a command.
            pairs = [part.partition("=")[::2] for part in several.group(2).split()]
            env |= {each: text.strip("'\"") for each, text in pairs}
            value = several.group(1)
        if not quoted or quoted.group(1) == '"':
            value = _put_in(value, env, notes)
        if value.startswith("~/") and quoted:
            problems.append(_HOME.format(name=name))
        env[name] = value
    service = service_of(env)
    if service is not None:
        return unwrapped(replace(service, problems=once(problems), notes=once(notes)), "openrc")
    told = (once(problems), once(notes))
    return (Invocation("env", "", env=env, problems=told[0], notes=told[1]),) if env else ()


def _put_in(value: str, env: Mapping[str, str], notes: list[str]) -> str:
    """The value with variables of lines above; what is not there stays as it is written."""

    def one(match: re.Match[str]) -> str:
        name = match.group(1) or match.group(2)
        if name not in env:
            return match.group()
        notes.append(_PUT)
        return put(env[name])

    return _USE.sub(one, value)
