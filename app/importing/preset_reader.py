"""Presets of llama-server: an INI file with a section for each model.

Knows the format; must not know any key.
"""

from __future__ import annotations

import re

from app.importing.call import once
from app.importing.invocation import Invocation

_SECTION = re.compile(r"[ \t]*\[([^\]\n]+)\]")
# A comment ends a value, whatever stands before it.
_COMMENT = re.compile(r"[;#].*")
_FOR_ALL = "*"
# Says which edition of the format it is.
_OF_FILE = frozenset({"version"})
_MOST_MODELS = 200
_MOST_PROBLEMS = 20

_Values = dict[str, list[str]]


def read_preset(text: str) -> tuple[Invocation, ...]:
    """A call of llama-server for each model; what stands in ``[*]`` holds for all of them."""
    common: _Values = {}
    models: dict[str, _Values] = {}
    problems: list[str] = []
    current = common
    for line in text.split("\n"):
        section = _SECTION.match(line)
        key, equals, said = line.partition("=")
        bare = line.strip()
        if not bare or bare[0] in ";#":
            continue
        if section:
            name = section.group(1).strip()
            current = common if name == _FOR_ALL else models.setdefault(name, {})
        elif equals and key.strip():
            _add(key, said, current)
        elif len(problems) < _MOST_PROBLEMS:
            problems.append(f"broken_file: “{bare[:60]}” is no line of a preset; it is left out")
    if not models:
        return (_invocation("", common, {}, problems),) if common else ()
    named = list(models.items())[:_MOST_MODELS]
    return tuple(_invocation(name, common, own, problems) for name, own in named)


def _add(key: str, text: str, values: _Values) -> None:
    value = _COMMENT.sub("", text).strip()
    values.setdefault(key.strip(), []).append(value)


def _invocation(name: str, common: _Values, own: _Values, problems: list[str]) -> Invocation:
    """The section's own values come last, so that they win where a key has two names."""
    values = {key: common[key] for key in common if key not in own} | own
    return Invocation(
        "preset",
        "",
        values={key: tuple(said) for key, said in values.items() if key not in _OF_FILE},
        title=name,
        problems=once(problems),
    )
