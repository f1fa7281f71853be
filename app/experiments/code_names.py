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
    """``code`` with the names that it defines ending in ``number``.

    Args:
        code: Python, whole blocks.
        number: Another one for each copy.
    """
    names = {name for found in _DEFINED.findall(code) for name in found if name}
    for arguments in _ARGUMENTS.findall(code):
        names |= {part.partition("=")[0].strip() for part in arguments.split(",")}
    names = {name for name in names if name.isidentifier() and not _SPECIAL.match(name)}
    if not names:
        return code
    word = re.compile(rf"\b({'|'.join(sorted(names, key=len, reverse=True))})\b")
    return word.sub(rf"\g<1>_{number}", code)
