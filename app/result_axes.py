"""What varies between the cells of an experiment, as axes of charts and as names of lines. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.experiments.experiment import Cell
from app.result_names import setting_label, setting_said
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import Value
from engine_bridge.settings.table import BY_KEY
from widgets.experiments.result_sheet import Axis

LOADS = ("slots",)
"""Settings that are loads: more of them at a time, so that there may be a knee."""

# From this ratio of the largest to the smallest on, a linear axis would crowd the small ones.
_WIDE = 4.0
_SHORT = {
    "slots": "Slots",
    "ctx_per_slot_tok": "Context",
    "cache_type_k": "KV cache",
    "cache_type_v": "KV cache",
}
_FIRST = ("slots", "ctx_per_slot_tok")


@dataclass(frozen=True)
class Varied:
    """One setting, or several that always change together.

    Attributes:
        keys: The settings.
        values: What each cell has, by its number.
    """

    keys: tuple[str, ...]
    values: Mapping[int, Value | None]

    @property
    def name(self) -> str:
        """As a sweep calls it: ``cache_type_k+cache_type_v``."""
        return "+".join(self.keys)

    @property
    def is_load(self) -> bool:
        """Whether more of it is more load."""
        return self.keys[0] in LOADS

    @property
    def label(self) -> str:
        """What it is called in the window."""
        more = len(self.keys) - 2
        return setting_label(self.keys[:2]) + (f" + {more}" if more > 0 else "")

    @property
    def numbers(self) -> Mapping[int, float] | None:
        """The values where all are numbers."""
        found = {
            place: float(value)
            for place, value in self.values.items()
            if isinstance(value, int | float) and not isinstance(value, bool)
        }
        return found if len(found) == len(self.values) else None

    @property
    def unit(self) -> str:
        """What its numbers are counted in; may be empty."""
        return BY_KEY[self.keys[0]].unit if self.keys[0] in BY_KEY else ""

    @property
    def short(self) -> str:
        """A word or two for a tab."""
        return _SHORT.get(self.keys[0], self.label)

    def words(self, place: int) -> str:
        """``4 slots``."""
        return setting_said(self.keys, self._plain(place))

    def value_words(self, place: int) -> str:
        """``4``, ``1,024``."""
        value = self.values[place]
        if isinstance(value, int) and not isinstance(value, bool):
            return f"{value:,}"
        return self._plain(place)

    def _plain(self, place: int) -> str:
        return _value_words(self.keys[0], self.values[place])

    def axis(self) -> tuple[Axis, Mapping[int, float]]:
        """The horizontal axis, and where each cell stands on it."""
        numbers = self.numbers
        if numbers is not None:
            return number_axis(self.label, self.unit, list(numbers.values())), numbers
        texts = {place: self.value_words(place) for place in self.values}
        names = tuple(dict.fromkeys(texts.values()))
        return (
            Axis(self.label, names=names),
            {place: float(names.index(text)) for place, text in texts.items()},
        )


def varied_of(cells: Mapping[int, Cell]) -> list[Varied]:
    """What differs between ``cells``: loads and context first, then in the order of the settings.

    Args:
        cells: By their number in the experiment.
    """
    usual = EngineConfig()
    keys = dict.fromkeys(key for cell in cells.values() for key in cell.config)
    together: dict[tuple[Value | None, ...], list[str]] = {}
    for key in keys:
        if key == "model_path":
            continue
        values = tuple(cell.config.get(key, getattr(usual, key, None)) for cell in cells.values())
        if any(value != values[0] for value in values):
            together.setdefault(values, []).append(key)
    found = [
        Varied(tuple(names), dict(zip(cells, values, strict=True)))
        for values, names in together.items()
    ]
    return sorted(found, key=_rank)


def number_axis(title: str, unit: str, values: Sequence[float]) -> Axis:
    """An axis for ``values``, logarithmic where they are far apart."""
    low, high = min(values), max(values)
    return Axis(title, unit, is_log=low > 0 and high / low >= _WIDE, starts_at_zero=False)


# --- Inside -----------------------------------------------------------------------------


def _rank(varied: Varied) -> int:
    return _FIRST.index(varied.keys[0]) if varied.keys[0] in _FIRST else len(_FIRST)


def _value_words(key: str, value: Value | None) -> str:
    if value is None:
        return "unknown"
    text = BY_KEY[key].domain.format(value) if key in BY_KEY else str(value)
    return text or "none"
