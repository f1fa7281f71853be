"""Tasks and services of Windows as XML: a program, its words and its environment.

Looked at by its tags alone: nothing is looked up, and no entity but those of characters is put in.
"""

from __future__ import annotations

import html
import re

from app.importing.call import Call
from app.importing.invocation import Invocation
from app.importing.unwrapping import unwrapped
from app.importing.windows_words import windows_words

_BEGINS = re.compile(r"\s*(?:<\?xml\b|<Task\b|<service\b|<configuration\b|<Exec\b)", re.IGNORECASE)
_PROGRAM = re.compile(r"<(command|executable)>([^<>]{1,1000})</\1>", re.IGNORECASE)
_WORDS = re.compile(r"<(arguments|startarguments)>([^<>]{0,20000})</\1>", re.IGNORECASE)
_FOLDER = re.compile(r"<(workingdirectory)>([^<>]{0,1000})</\1>", re.IGNORECASE)
_TITLE = re.compile(r"<(id|name|uri)>([^<>]{1,200})</\1>", re.IGNORECASE)
_VARIABLE = re.compile(
    r"<env\s+name=\"([^\"<>]{1,200})\"\s+value=\"([^\"<>]{0,2000})\"", re.IGNORECASE
)
_MOST_CALLS = 50


def is_windows_xml(text: str) -> bool:
    """Whether a text is a task of the scheduler, or a service of WinSW."""
    return _BEGINS.match(text) is not None and _PROGRAM.search(text) is not None


def read_windows_xml(text: str) -> tuple[Invocation, ...]:
    """What the tasks and services of ``text`` start."""
    programs = list(_PROGRAM.finditer(text))[:_MOST_CALLS]
    env = {html.unescape(name): html.unescape(value) for name, value in _VARIABLE.findall(text)}
    title = _said(_TITLE, text).lstrip("\\")
    found: list[Invocation] = []
    for number, match in enumerate(programs):
        last = number + 1 == len(programs)
        part = text[match.end() : len(text) if last else programs[number + 1].start()]
        words, problems = windows_words(_said(_WORDS, part))
        program = html.unescape(match.group(2)).strip().strip('"')
        call = Call((program, *words), env, title, _said(_FOLDER, part), tuple(problems))
        found += unwrapped(call, "cmd")
    return tuple(found)


def _said(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return html.unescape(match.group(2)).strip() if match else ""
