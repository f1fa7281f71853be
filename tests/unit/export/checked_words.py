"""Whether an engine would take words: by its data in the product, and by the table beside it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from app.export.engine_words import EngineWords, Word, engine_words

SHARED = Path(__file__).resolve().parents[4] / "shared" / "flags"


def said_in(words: Iterable[str], engine: str = "llama_cpp") -> list[tuple[Word, str, str | None]]:
    """Each flag with its spelling and its value, where it is one that the engine takes."""
    known = engine_words(engine)
    said: list[tuple[Word, str, str | None]] = []
    rest = iter(words)
    for spelling in rest:
        flag = known.flag(spelling)
        assert flag is not None, f"{spelling} is no flag of {known.engine}"
        assert not flag.removed, f"{spelling} was removed"
        value = next(rest) if flag.arity == 1 else None
        assert flag.arity in (0, 1), spelling
        if value is not None:
            assert flag.why_not(value) is None, f"{spelling} {value}: {flag.why_not(value)}"
        said.append((flag, spelling, value))
    return said


def values_in(words: Iterable[str], engine: str = "llama_cpp") -> dict[str, list[str | None]]:
    """Values by the first name of their flag; a switch has None, or "no" where it is negated."""
    values: dict[str, list[str | None]] = {}
    for flag, spelling, value in said_in(words, engine):
        is_negated = engine_words(engine).spelt(spelling) in flag.negated
        values.setdefault(flag.names[0], []).append("no" if is_negated else value)
    return values


def shared_table(name: str) -> dict[str, dict[str, object]]:
    """The table of flags beside the checkout, by every spelling; the test is skipped without."""
    path = SHARED / f"{name}.json"
    if not path.exists():
        pytest.skip("the tables of flags are not beside this checkout")
    table = json.loads(path.read_text(encoding="utf-8"))
    return {spelling: flag for flag in table["flags"] for spelling in flag["names"]}


def assert_shared_takes(words: Sequence[str], name: str, known: EngineWords) -> None:
    """Every flag of ``words`` is one of the table, of the same arity and choices."""
    table = shared_table(name)
    for flag, spelling, value in said_in(words, name):
        row = table[known.spelt(spelling)]
        assert not row["removed"]
        assert row["nargs"] == flag.arity
        choices, literal = row.get("choices"), row.get("words") or []
        assert isinstance(literal, list)
        if isinstance(choices, list) and value is not None and value not in literal:
            assert set(value.split(",")) <= set(map(str, choices))
