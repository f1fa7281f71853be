"""Programs of supervisord: sections ``[program:NAME]`` with a command each.

Knows the format; must not know any engine's flags.
"""

from __future__ import annotations

import re

from app.importing.call import Call, is_relative_file, once
from app.importing.invocation import Invocation
from app.importing.posix_words import read_words
from app.importing.unwrapping import unwrapped

_SECTION = re.compile(r"[ \t]*\[([^\]\n]+)\]")
_KEY = re.compile(r"([A-Za-z_]+)[ \t]*=[ \t]*(.*)")
_COMMENT = re.compile(r"(?:^|[ \t]);.*")
_MARK = re.compile(r"^[ \t]*\[program:[^\]\n]+\]", re.MULTILINE)
_VARIABLE = re.compile(r"([A-Za-z_]\w*)[ \t]*=[ \t]*(\"[^\"]*\"|'[^']*'|[^,\"']*)")
_MACRO = re.compile(r"%\([A-Za-z_]\w*\)[sd]")


def is_supervisor(text: str) -> bool:
    """Whether the text has programs of supervisord."""
    return _MARK.search(text) is not None


def read_supervisor(text: str) -> tuple[Invocation, ...]:
    """What each program starts."""
    found: list[Invocation] = []
    for name, said in _sections(text).items():
        if name.startswith("program:") and said.get("command"):
            found += _read(name.partition(":")[2], said)
    return tuple(found)


def _sections(text: str) -> dict[str, dict[str, str]]:
    sections: dict[str, dict[str, str]] = {}
    said: dict[str, str] = {}
    key = ""
    for line in text.split("\n"):
        bare = _COMMENT.sub("", line).rstrip()
        section, pair = _SECTION.match(bare), _KEY.match(bare)
        if not bare or bare.startswith("#"):
            continue
        if section:
            said, key = sections.setdefault(section.group(1).strip(), {}), ""
        elif bare[0] in " \t" and key:
            # A value goes on in lines that are indented.
            said[key] += f"\n{bare.strip()}"
        elif pair:
            key = pair.group(1).lower()
            said[key] = pair.group(2)
    return sections


def _read(name: str, said: dict[str, str]) -> tuple[Invocation, ...]:
    call = read_words(said["command"])
    folder = said.get("directory", "")
    env = {key: value.strip("\"'") for key, value in _VARIABLE.findall(said.get("environment", ""))}
    problems = [*call.problems]
    problems += [
        f"macro: {macro} is put in by supervisord"
        for macro in _MACRO.findall(" ".join((*call.words, *env.values())))
    ]
    if folder and any(map(is_relative_file, call.words)):
        problems.append(f"relative_path: paths are relative to {folder}, where it is started")
    return unwrapped(Call(call.words, env, name, folder, once(problems)), "supervisor")
