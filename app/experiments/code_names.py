"""Code that says the same in other names, so that two copies share no long run of text. Pure."""

from __future__ import annotations

import re

# What a piece of code names itself: functions, classes, attributes and variables. Names of
# libraries are not assigned to and stay.
_DEFINED = re.compile(
    r"\b(?:def|class|for) (\w+)|\bself\.(\w+)|^ *(\w+)(?:, (\w+))? [-+*/]?= ", re.MULTILINE
)
_ARGUMENTS = re.compile(r"\bdef \w+\(([^)]*)\)")
_SPECIAL = re.compile(r"__\w+__|self|cls")


def renamed(code: str, number: int) -> str:
    """``code`` in which the names that it defines have changed places.

    They stay in one piece, so it has as many tokens as before; what it does is another question.

    Args:
        code: Python, whole blocks.
        number: From 2 on; each makes another copy, as long as there are names enough.
    """
    names = {name for found in _DEFINED.findall(code) for name in found if name}
    for arguments in _ARGUMENTS.findall(code):
        names |= {part.partition("=")[0].strip() for part in arguments.split(",")}
    own = sorted(name for name in names if name.isidentifier() and not _SPECIAL.match(name))
    if len(own) < 2:
        return code
    shift = 1 + (number - 2) % (len(own) - 1)
    others = dict(zip(own, own[shift:] + own[:shift], strict=True))
    return re.sub(r"\w+", lambda word: others.get(word[0], word[0]), code)
