"""Variables without a value that nothing of what is taken over holds.

The folder of a program, or what a container gets besides, may hold ``$HOME``; nobody has to say
what that is before the settings can be used.
"""

from __future__ import annotations

import re
from dataclasses import replace

from app.importing.invocation import Invocation

_TOLD = re.compile(
    r"unresolved_variable: (\$\{?[A-Za-z_][\w:]*\}?|%[^%\s]+%) has no value in this text$"
)


def without_idle_variables(call: Invocation) -> Invocation:
    """``call`` without the problems of variables that stand in none of its words."""
    texts = [call.program, *call.words, *call.env.values()]
    texts += [text for values in call.values.values() for text in values]
    texts += [host for host, inside in call.mounts if _is_asked_for(inside, call.words)]
    whole = "\0".join(texts)
    kept = [each for each in call.problems if not _is_idle(each, whole)]
    return call if len(kept) == len(call.problems) else replace(call, problems=tuple(kept))


def _is_idle(problem: str, whole: str) -> bool:
    told = _TOLD.match(problem)
    name = re.sub(r"[${}%]", "", told.group(1)) if told else ""
    # It may be written with braces in one place and without them in another.
    return bool(name) and re.search(rf"[${{%]{re.escape(name)}(?!\w)", whole) is None


def _is_asked_for(folder: str, words: tuple[str, ...]) -> bool:
    base = folder.rstrip("/")
    return any(word == base or word.startswith(f"{base}/") for word in words)
