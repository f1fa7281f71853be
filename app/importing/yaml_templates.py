"""Templates of Helm: YAML with lines and values that only Helm can make.

Its lines are left out and told; its values stand as they are written, for a person to say.
"""

from __future__ import annotations

import re

_LINE = re.compile(r"^[ \t]*(?:\{\{-?[^{}\n]*-?\}\}[ \t]*)+$")
_VALUE = re.compile(r"^([ \t]*(?:- )?(?:[\w./-]+:[ \t]+|- )?)(\{\{-?[^\n]*\}\}[^\n]*?)[ \t]*$")
_CONDITION = re.compile(r"\{\{-?[ \t]*(?:if|else|range|with)\b")
NOTE = "The lines of a template in double braces are Helm's; what stands between them was read."
CONDITION = (
    "unresolved_variable: Helm decides by its values which of the lines between “if” and “end” "
    "there are; all of them were read"
)


def without_templates(text: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """``text`` as YAML, with problems and notes; unchanged where there are no templates."""
    if "{{" not in text:
        return text, (), ()
    lines = text.split("\n")
    kept = [_quoted(line) for line in lines if not _LINE.match(line)]
    has_condition = any(_CONDITION.search(line) for line in lines if _LINE.match(line))
    is_changed = len(kept) != len(lines)
    return (
        "\n".join(kept),
        (CONDITION,) if has_condition else (),
        (NOTE,) if is_changed else (),
    )


def _quoted(line: str) -> str:
    """A value that begins with braces in quotes, since YAML would read a mapping."""
    match = _VALUE.match(line)
    if match is None or not match.group(1).strip():
        return line
    value = match.group(2).replace("'", "''")
    return f"{match.group(1)}'{value}'"
