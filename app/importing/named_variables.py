"""Variables of engines that a note names: in a table, with blanks around the sign, as a list.

Read only where a text has nothing else in it. Knows names of variables; must not know what they
mean.
"""

from __future__ import annotations

import re

from app.importing.invocation import Invocation

_LINE = re.compile(
    r"^[ \t>|*+`\"'\d.)-]{0,12}(?:(?:export|set|setx|Environment=)[ \t]*)?[`\"'*]{0,3}"
    r"(?P<name>(?:OLLAMA|LLAMA_ARG|VLLM|SGLANG|KCPP|TRTLLM)_[A-Z0-9_]{2,60})[`\"'*]{0,3}"
    r"[ \t]*(?:[=:|]|->|to)[ \t]*[`\"'*]{0,3}(?P<value>[^\s`\"'|*][^\s`\"'|*]{0,200})"
    r"[`\"'*]{0,3}[ \t]*(?:\|[^\n]*|\([^\n]*|#[^\n]*)?[ \t,;]*$",
    re.MULTILINE,
)
_MOST_VARIABLES = 60
_NOTE = "The variables were taken out of a note; what sets them is not in the text."


def named_variables(text: str) -> tuple[Invocation, ...]:
    """An environment of the variables that lines of ``text`` name with their values."""
    found = list(_LINE.finditer(text))[:_MOST_VARIABLES]
    env = {match.group("name"): match.group("value").strip() for match in found}
    return (Invocation("env", "", env=env, notes=(_NOTE,)),) if env else ()
