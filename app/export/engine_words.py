"""The words that engines are told by, as data: flags, variables, and the keys of their files.

The data lie in ``resources/engines/<name>.json``, facts alone, with the version they are from.
Must not know what any word means to the desk.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Literal

import msgspec

import resources

FOLDER = Path(resources.__file__).parent / "engines"

Kind = Literal["bool", "int", "float", "str", "choice", "list", "json"]
Arity = int | Literal["?", "*", "+"]


class Word(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A flag, a variable, or a key of a file.

    Attributes:
        names: Every spelling that is taken, those that switch it off as well.
        kind: What one value is; a ``bool`` with arity 0 is a switch.
        arity: Values behind it on a command line; ``?`` none or one, ``*`` any, ``+`` some.
        negated: Spellings that switch it off.
        words: Literal words that are taken beside ``kind``.
        choices: The only values that are taken.
        item: What each value of a ``list`` is, where that is known.
        default: What is taken where nothing is said; None where that follows from something else.
        least: Smallest value, where there is one.
        most: Largest value, where there is one.
        above: What a value must lie above, where there is such a bound.
        below: What a value must lie below, where there is such a bound.
        env: Variables that say the same.
        flag: Of a variable, the flag it stands for.
        negates: Of a variable, whether setting it at all switches its flag off.
        removed: Whether this version refuses it.
        heirs: What says the same today; empty where nothing does.
        deprecated: Whether it is taken, with a warning or without an effect.
        repeats: Whether the values add up where it is said again.
        exclusive: Words of the same such group cannot stand together.
        positional: Whether its value stands without a name.
        required: Whether the engine refuses to start without it.
    """

    names: tuple[str, ...]
    kind: Kind = "str"
    arity: Arity = 1
    negated: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    choices: tuple[str | int, ...] = ()
    item: Kind | None = None
    default: object = None
    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None
    env: tuple[str, ...] = ()
    flag: str = ""
    negates: bool = False
    removed: bool = False
    heirs: tuple[str, ...] = ()
    deprecated: bool = False
    repeats: bool = False
    exclusive: str = ""
    positional: bool = False
    required: bool = False

    def why_not(self, value: str) -> str | None:
        """Why ``value`` is none that the engine takes here; None where it does.

        Of a list each item is looked at, where its kind is known and commas part the items.
        """
        if value in self.words:
            return None
        if self.choices:
            allowed = {str(choice) for choice in self.choices}
            items = value.split(",") if self.kind == "list" else [value]
            unknown = [item for item in items if item not in allowed]
            return f"{unknown[0]} is none of {', '.join(sorted(allowed))}" if unknown else None
        if self.kind not in ("int", "float"):
            return None
        try:
            number = int(value) if self.kind == "int" else float(value)
        except ValueError:
            return f"{value} is no {'whole ' if self.kind == 'int' else ''}number"
        return self._out_of_bounds(number)

    def _out_of_bounds(self, number: float) -> str | None:
        if self.least is not None and number < self.least:
            return f"{number} is less than {self.least:g}"
        if self.most is not None and number > self.most:
            return f"{number} is more than {self.most:g}"
        if self.above is not None and number <= self.above:
            return f"{number} is not above {self.above:g}"
        if self.below is not None and number >= self.below:
            return f"{number} is not below {self.below:g}"
        return None


class EngineWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """What one engine is told by.

    Attributes:
        engine: What the engine is called.
        version: The version that the words are from.
        source: Where they were read.
        flags: Of its command line, in the engine's order.
        variables: Of its environment; each has one name.
        keys: Of its files, by file or by section of one.
        commands: Flags of its further commands, by the command's name.
        underscores: Beginning of names in which ``_`` is read as ``-``; empty for none.
        underscores_until: Character up to which that holds; empty for the whole name.
        abbreviates: Whether an unambiguous beginning of a long flag stands for it.
    """

    engine: str
    version: str
    source: str
    flags: tuple[Word, ...] = ()
    variables: tuple[Word, ...] = ()
    keys: dict[str, tuple[Word, ...]] = {}
    commands: dict[str, tuple[Word, ...]] = {}
    underscores: str = ""
    underscores_until: str = ""
    abbreviates: bool = False

    def flag(self, spelling: str) -> Word | None:
        """The flag that ``spelling`` says in full; None where there is none."""
        return self._by_spelling.get(self.spelt(spelling))

    def variable(self, name: str) -> Word | None:
        """The variable with the name ``name``; None where there is none."""
        return self._by_variable.get(name)

    def key(self, section: str, name: str) -> Word | None:
        """The key ``name`` of a file or a section of one; None where there is none."""
        return next((w for w in self.keys.get(section, ()) if name in w.names), None)

    def beginning_with(self, spelling: str) -> tuple[Word, ...]:
        """Flags that take words and have a long name that begins with ``spelling``.

        Whether the engine reads such a beginning as the flag is ``abbreviates``.
        """
        start = self.spelt(spelling)
        return tuple(
            flag
            for flag in self.flags
            if not flag.removed and any(self.spelt(name).startswith(start) for name in flag.names)
        )

    def spelt(self, spelling: str) -> str:
        """``spelling`` as the engine compares it."""
        if not self.underscores or not spelling.startswith(self.underscores):
            return spelling
        end = spelling.find(self.underscores_until) if self.underscores_until else -1
        head, rest = (spelling, "") if end < 0 else (spelling[:end], spelling[end:])
        return head.replace("_", "-") + rest

    @functools.cached_property
    def _by_spelling(self) -> dict[str, Word]:
        return {self.spelt(name): flag for flag in self.flags for name in flag.names}

    @functools.cached_property
    def _by_variable(self) -> dict[str, Word]:
        return {name: variable for variable in self.variables for name in variable.names}


@functools.cache
def engine_words(name: str) -> EngineWords:
    """The words of the engine whose file is ``name``, e.g. ``llama_cpp``."""
    return msgspec.json.decode((FOLDER / f"{name}.json").read_bytes(), type=EngineWords)
