"""Variables of an engine's environment: which it reads, and which it only read once."""

from __future__ import annotations

import difflib
import re

from app.export.engine_words import EngineWords
from app.importing.gathering import Gathering

_NEAR = 0.84
"""How much two names have in common where one is the other misspelt."""


def look_at_variables(gathering: Gathering, engine: EngineWords, prefix: str) -> None:
    """Tell of variables that the engine does not read.

    Args:
        gathering: What gets it.
        engine: Whose variables these are.
        prefix: What the engine's own variables begin with; others are none of its business.
    """
    names = [name for word in engine.variables if not word.removed for name in word.names]
    for name in gathering.invocation.env:
        word = engine.variable(name)
        if word is not None and word.removed:
            gathering.heal(name, " ".join(word.heirs))
            instead = f"; {' or '.join(word.heirs)} is near" if word.heirs else ""
            gathering.problem(
                "removed_key", f"{engine.engine} {engine.version} does not read {name}{instead}"
            )
        elif word is None and re.match(prefix, name.strip(), re.IGNORECASE):
            _look_at_unknown(gathering, name, names, engine)


def _look_at_unknown(
    gathering: Gathering, name: str, names: list[str], engine: EngineWords
) -> None:
    if any(
        p.startswith("misspelt_variable:") and name.strip() in p
        for p in gathering.invocation.problems
    ):
        return
    near = difflib.get_close_matches(name.strip().upper(), names, 1, _NEAR)
    if near:
        gathering.problem(
            "misspelt_variable",
            f"{name!r} is no variable of {engine.engine}; {near[0]} is, and stays unset",
        )
    else:
        gathering.note(f"{engine.engine} {engine.version} is not known to read {name}.")
