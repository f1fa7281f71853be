"""Programs of Windows that start another one later or elsewhere: services, tasks, tabs.

``nssm``, ``sc create``, ``schtasks /create`` and ``wt``: what they start as if it were called.
Knows how they are written; must not know any engine's flags.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from app.importing.call import Call
from app.importing.name_sets import names
from app.importing.programs import base_name, family
from app.importing.windows_words import windows_words

_FLAG_AND_MORE = re.compile(r"--?[A-Za-z][\w-]*[\s=]")
_TAB_FLAGS = names("-w --window -p --profile -d --startingDirectory --title --tabColor -s --size")
_SHELLS = names("cmd powershell pwsh wsl ubuntu bash")


@dataclass
class _Service:
    """A service that lines of ``nssm`` describe.

    Attributes:
        call: The line that names it first.
        program: What it starts.
        words: What that gets.
        folder: Where it is started.
        env: Its environment.
    """

    call: Call
    program: str = ""
    words: list[str] = field(default_factory=list)
    folder: str = ""
    env: dict[str, str] = field(default_factory=dict)


def with_started(calls: Iterable[Call]) -> list[Call]:
    """The calls, with what services, tasks and tabs start in their place."""
    found: list[Call | _Service] = []
    services: dict[str, _Service] = {}
    for call in calls:
        name = _name(call.words[0]) if call.words else ""
        if name == "nssm" and len(call.words) > 2:
            key = call.words[2].lower()
            if key not in services:
                services[key] = _Service(call)
                found.append(services[key])
            _describe(services[key], call.words[1].lower(), call.words[3:])
        else:
            found.append(_STARTERS[name](call) if name in _STARTERS else call)
    return [_of_service(each) if isinstance(each, _Service) else each for each in found]


def _name(program: str) -> str:
    return base_name(program).lower().removesuffix(".exe")


def _describe(service: _Service, verb: str, words: Sequence[str]) -> None:
    """``nssm install name program words`` and ``nssm set name what value``."""
    what = words[0].lower() if words else ""
    if verb == "install" and words:
        service.program, service.words = words[0], _words(words[1:])
    elif verb == "set" and what == "application":
        service.program = " ".join(words[1:])
    elif verb == "set" and what == "appparameters":
        service.words = _words(words[1:])
    elif verb == "set" and what == "appdirectory":
        service.folder = " ".join(words[1:])
    elif verb == "set" and what in {"appenvironment", "appenvironmentextra"}:
        pairs = (word.lstrip(":+").partition("=") for word in words[1:])
        service.env |= {name: value for name, sign, value in pairs if sign}


def _words(texts: Sequence[str]) -> list[str]:
    """Words; a text with flags in it is several."""
    words: list[str] = []
    for text in texts:
        words += windows_words(text)[0] if _FLAG_AND_MORE.match(text) else [text]
    return words


def _of_service(service: _Service) -> Call:
    if not service.program:
        return service.call
    return replace(
        service.call,
        words=(service.program, *service.words),
        env=dict(service.call.env) | service.env,
        title=service.call.words[2],
        folder=service.folder or service.call.folder,
    )


def _task(call: Call) -> Call:
    """``schtasks /create /tn name /tr "command"``."""
    said = {word.lower(): call.words[at + 1] for at, word in enumerate(call.words[:-1])}
    inside = windows_words(said.get("/tr", ""))[0]
    return replace(call, words=tuple(inside), title=said.get("/tn", "")) if inside else call


def _windows_service(call: Call) -> Call:
    """``sc create name binPath= "command"``."""
    for at, word in enumerate(call.words):
        head, sign, tail = word.partition("=")
        if sign and head.lower() == "binpath":
            inside = windows_words(tail or " ".join(call.words[at + 1 : at + 2]))[0]
            title = call.words[2] if len(call.words) > 2 else ""
            return replace(call, words=tuple(inside), title=title) if inside else call
    return call


def _tab(call: Call) -> Call:
    """``wt -w 0 nt --title name program words``."""
    words = call.words
    at = next((at for at in range(1, len(words)) if _is_program(words, at)), 0)
    said = dict(pairwise(words[:at]))
    folder = said.get("-d", said.get("--startingDirectory", call.folder))
    title = said.get("--title", call.title)
    return replace(call, words=words[at:], folder=folder, title=title) if at else call


def _is_program(words: Sequence[str], at: int) -> bool:
    name = _name(words[at])
    is_value = words[at - 1] in _TAB_FLAGS
    return not is_value and (bool(family(name)) or name in _SHELLS)


_STARTERS = {"schtasks": _task, "sc": _windows_service, "wt": _tab}
