"""Keys of a file as the flags that they stand for."""

from __future__ import annotations

from collections.abc import Mapping

from app.export.engine_words import EngineWords
from app.importing.typed_numbers import truth


def flags_from_values(values: Mapping[str, tuple[str, ...]], engine: EngineWords) -> list[str]:
    """The words that say what ``values`` say, for an engine whose file has its flags as keys.

    A key with dots is a part of a value that is JSON, which stays as it is.
    """
    words: list[str] = []
    for key, items in values.items():
        base, dot, rest = key.partition(".")
        if engine.flag(base) is not None:  # a word that stands without a flag
            continue
        name = _spelt(base, engine)
        word = engine.flag(name)
        if word is not None and word.arity == 0:
            words += _switch(name, items, engine)
        elif dot:
            words += [f"{name}.{rest}={item}" for item in items[-1:]]
        elif items:
            words += [f"{name}={items[0]}"] if len(items) == 1 else [name, *items]
    return words


def _spelt(key: str, engine: EngineWords) -> str:
    """The long flag of ``key``, with dashes or underscores as the engine has it."""
    for spelling in (f"--{key}", f"--{key.replace('_', '-')}", f"--{key.replace('-', '_')}"):
        if engine.flag(spelling) is not None:
            return spelling
    return f"--{key}"


def _switch(name: str, items: tuple[str, ...], engine: EngineWords) -> list[str]:
    if truth(items[-1] if items else "true") is not False:
        return [name]
    contrary = f"--no-{name.removeprefix('--')}"
    return [contrary] if engine.flag(contrary) is not None else []
