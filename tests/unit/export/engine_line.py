"""A command line taken apart by what an engine's own data say of its flags."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from app.export.engine_words import EngineWords, Word

_KINDS: dict[str, tuple[type, ...]] = {
    "bool": (bool,), "int": (int,), "float": (int, float), "list": (list,), "json": (dict, str),
    "str": (str,), "choice": (str,),
}  # fmt: skip


def flags_of(words: Sequence[str], engine: EngineWords) -> dict[str, list[str]]:
    """Flags with their values, each one checked; what stands before the first is left out."""
    found: dict[str, list[str]] = {}
    rest = list(words)
    while rest and engine.flag(rest[0]) is None:
        rest.pop(0)
    while rest:
        spelling = rest.pop(0)
        flag = engine.flag(spelling)
        assert flag is not None, f"{engine.engine} has no {spelling}"
        assert not flag.removed, f"{spelling} is removed"
        assert not flag.deprecated, f"{spelling} is deprecated"
        assert spelling not in found, f"{spelling} stands twice"
        found[spelling] = [rest.pop(0) for _ in range(_arity(flag, rest, engine))]
        for value in found[spelling]:
            check_value(flag, value, engine)
    groups = [w.exclusive for f in found if (w := engine.flag(f)) is not None and w.exclusive]
    assert len(groups) == len(set(groups)), f"{sorted(found)} exclude each other"
    return found


def check_value(flag: Word, value: str, engine: EngineWords) -> None:
    """Fails where the engine would refuse ``value`` for ``flag``."""
    if flag.kind == "json":
        read = json.loads(value)
        if flag.names[0] in engine.keys:
            check_keys(flag.names[0], read, engine)
        return
    assert flag.why_not(value) is None, f"{flag.names[0]}: {flag.why_not(value)}"


def check_keys(section: str, values: dict[str, object], engine: EngineWords) -> None:
    """Fails where a section of a file, or a JSON flag, holds what the engine does not know."""
    assert engine.keys[section], section
    for name, value in values.items():
        word = engine.key(section, name)
        assert word is not None, f"{section} has no {name}"
        assert not word.removed, name
        assert not word.deprecated, name
        for text in _texts(value):
            assert word.why_not(text) is None, f"{name}: {word.why_not(text)}"
        assert _is_of_kind(word, value), f"{name} is {word.kind}: {value!r}"


def _texts(value: object) -> Iterator[str]:
    if not isinstance(value, (bool, dict, list)):
        yield str(value)


def _is_of_kind(word: Word, value: object) -> bool:
    if word == Word(word.names):
        return True  # the name alone is known
    if isinstance(value, str) and (value in word.words or value in word.choices):
        return True
    if isinstance(value, bool):
        return word.kind == "bool"
    return isinstance(value, _KINDS[word.kind])


def _arity(flag: Word, rest: Sequence[str], engine: EngineWords) -> int:
    if isinstance(flag.arity, int):
        assert len(rest) >= flag.arity, f"{flag.names[0]} wants {flag.arity}"
        return flag.arity
    until = next((n for n, w in enumerate(rest) if engine.flag(w) is not None), len(rest))
    if flag.arity == "?":
        return min(until, 1)
    assert until or flag.arity == "*", f"{flag.names[0]} wants a value"
    return until
