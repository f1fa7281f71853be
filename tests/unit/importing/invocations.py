"""Invocations as readers would make them, for tests of what their words mean."""

from __future__ import annotations

import shlex

from app.importing.found import Found
from app.importing.invocation import Invocation


def call(line: str, kind: str = "posix", **env: str) -> Invocation:
    """The call that a plain shell line is, the program first."""
    program, *words = shlex.split(line)
    return Invocation(kind, program, tuple(words), env)


def document(kind: str, **values: str | tuple[str, ...]) -> Invocation:
    """A file; ``__`` in a key stands for a dot."""
    return Invocation(
        kind,
        "",
        values={
            key.replace("__", "."): (value,) if isinstance(value, str) else value
            for key, value in values.items()
        },
    )


def codes(found: Found) -> set[str]:
    """Codes of the problems."""
    return {problem.partition(":")[0] for problem in found.problems}


def problem(found: Found, code: str) -> str:
    """The one problem with this code."""
    (text,) = [p for p in found.problems if p.startswith(f"{code}:")]
    return text
