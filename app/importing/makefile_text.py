"""A Makefile as a text for a shell: its variables, and the lines of its rules.

Knows make's writing of both; must not know what a command means.
"""

from __future__ import annotations

import re

_VARIABLE = re.compile(r"([A-Za-z_]\w*)[ \t]*(\?=|::?=|\+=|=)[ \t]*(.*)")
_CERTAIN = re.compile(r"^[A-Za-z_]\w*[ \t]*(?:\?|::?)=", re.MULTILINE)
_RULE = re.compile(r"^[\w.%/ -]{1,80}:(?!=)[^\n]*\n\t", re.MULTILINE)
_USE = re.compile(r"\$(?:\$|\(([A-Za-z_]\w*)\))")


def as_shell(text: str) -> str:
    """``text`` as a shell would be told; unchanged where it is no Makefile."""
    named = set(re.findall(r"(?m)^([A-Za-z_]\w*)[ \t]*(?:\?|::?|\+)?=", text))
    is_make = (_CERTAIN.search(text) or _RULE.search(text)) and any(
        match.group(1) in named for match in _USE.finditer(text) if match.group(1)
    )
    if not is_make:
        return text
    lines = [_line(line) for line in text.replace("\\\n", "\\\0").split("\n")]
    return "\n".join(line for line in lines if line is not None).replace("\0", "\n")


def _line(line: str) -> str | None:
    if line.startswith("\t"):
        return _used(line[1:].lstrip("@-+ \t"))
    variable = _VARIABLE.fullmatch(line)
    if variable is None:
        return line if line.lstrip().startswith("#") or not line.strip() else None
    name, sign, value = variable.groups()
    added = f"${{{name}}} " if sign == "+=" else ""
    plain = _used(re.sub(r"(?:^|[ \t])#.*", "", value).replace("\\\0", " ").strip())
    quoted = plain.replace("\\", "\\\\").replace('"', '\\"')
    return f'{name}="{added}{quoted}"'


def _used(text: str) -> str:
    return _USE.sub(lambda match: f"${{{match.group(1)}}}" if match.group(1) else "$", text)
