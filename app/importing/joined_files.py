"""Calls of programs together with the files that the same text writes for them.

``cat > extra.yml <<EOF … EOF`` and ``trtllm-serve … --config extra.yml`` are one thing, and so are
a Modelfile and ``ollama create``. Must not know what a file says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from app.importing.call import once
from app.importing.invocation import Invocation
from app.importing.programs import base_name, family

# They read a file of their flags' names.
_READING = ("vllm", "sglang", "tensorrt-llm")


def with_file(
    calls: Sequence[Invocation], name: str, said: Sequence[Invocation]
) -> list[Invocation]:
    """``calls`` with what a file says; beside them where none reads it.

    Args:
        calls: Of the text.
        name: Of the file that the text writes; empty where none is named.
        said: What it says.
    """
    only = said[0] if len(said) == 1 else None
    if only is None or not only.values or only.program:
        return [*calls, *said]
    if only.kind == "modelfile":
        return _created(calls, name, only)
    found = [_with_values(each, only) if _reads(each, name) else each for each in calls]
    return found if found != list(calls) else [*calls, *said]


def _reads(call: Invocation, name: str) -> bool:
    if not name or family(call.program) not in _READING:
        return False
    return any(base_name(word.rpartition("=")[2]) == base_name(name) for word in call.words)


def _with_values(call: Invocation, said: Invocation) -> Invocation:
    return replace(
        call,
        values=dict(call.values) | dict(said.values),
        problems=once([*call.problems, *said.problems]),
        notes=once([*call.notes, *said.notes]),
    )


def _created(calls: Sequence[Invocation], name: str, said: Invocation) -> list[Invocation]:
    """A Modelfile by the name that ``ollama create`` gives it, instead of the calls that use it."""
    title = next((made for each in calls if (made := _made(each, name))), "")
    if not title:
        return [*calls, said]
    kept = [each for each in calls if not _uses(each, title)]
    env = {key: value for each in calls if _uses(each, title) for key, value in each.env.items()}
    return [*kept, replace(said, title=title, env=dict(said.env) | env)]


def _made(call: Invocation, name: str) -> str:
    """What a call creates from the file; empty where it does nothing of the kind."""
    if family(call.program) != "ollama" or call.words[:1] != ("create",):
        return ""
    words = list(call.words[1:])
    files = [word for before, word in pairwise(words) if before in _FILE]
    alone = [word for at, word in enumerate(words)
             if word[:1] != "-" and (not at or words[at - 1] not in _FILE)]  # fmt: skip
    file = base_name(files[-1]) if files else "Modelfile"
    return alone[0] if alone and file == base_name(name or "Modelfile") else ""


_FILE = ("-f", "--file")


def _uses(call: Invocation, title: str) -> bool:
    is_ollama = family(call.program) == "ollama"
    return is_ollama and call.words[:1] in {("create",), ("run",)} and title in call.words
