"""Which configurations a sweep measures: settings × values, without those that cannot run.

A combination is left out with the reason that stands against it: the rule's own sentence, the
planner's, or that the workload needs more tokens than a slot has. Nothing is found out by running
out of memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

from app.figures import bytes_text
from app.planning import PlanAnswer, PlanningError
from engine_bridge.memory_plan import MemoryPlan
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.assignments import parse_assignments
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import DomainError, Value
from engine_bridge.settings.rules import errors_of
from engine_bridge.settings.table import BY_KEY, SETTINGS
from engine_bridge.typed_text import quoted, without_long_words

MOST_CELLS = 400
"""A sweep of more would take days, and its table be read by nobody."""

Plan = Callable[[EngineConfig], PlanAnswer]
"""Plans a configuration; may raise ``PlanningError``."""

TooLong = Callable[[int], str]
"""Says why the workload does not fit into a slot of so many tokens; empty where it does."""

_OF_THE_MODEL = ("model_path",)
_HOST = "CPU"
# More of them make no title.
_MOST_NAMED = 5


@dataclass(frozen=True)
class Axis:
    """One setting, or several that change together, with the values to try.

    Attributes:
        keys: Settings that all take the same value.
        values: At least one, each of them allowed for every key.
    """

    keys: tuple[str, ...]
    values: tuple[Value, ...]

    @property
    def name(self) -> str:
        """What it is called: ``cache_type_k+cache_type_v``."""
        return "+".join(self.keys)

    def words(self, value: Value) -> str:
        """``slots=4``."""
        return f"{self.name}={BY_KEY[self.keys[0]].domain.format(value)}"

    @property
    def title(self) -> str:
        """``slots 1/2/4``; of many values only the first ones and the last, with their number."""
        texts = [BY_KEY[self.keys[0]].domain.format(value) for value in self.values]
        if len(texts) > _MOST_NAMED:
            texts = [*texts[:2], f"…/{texts[-1]} ({len(texts)} values)"]
        return f"{self.name} {'/'.join(texts)}"


@dataclass(frozen=True)
class GridCell:
    """One combination.

    Attributes:
        name: What tells it from the others: ``slots=4, cache_type_k=q8_0``.
        config: All settings.
        skipped: Why it cannot be measured, in a sentence; empty if it can.
    """

    name: str
    config: EngineConfig
    skipped: str = ""


def axis_of(word: str) -> Axis:
    """Read ``slots=1,2,4`` or ``cache_type_k+cache_type_v=f16,q8_0``.

    Values that contain commas themselves are separated by semicolons.

    Raises:
        DomainError: In a sentence, for an unknown setting or a value it cannot take.
    """
    left, found, right = word.partition("=")
    if not found:
        raise DomainError(f"--vary takes setting=value,value; {quoted(word)} has no '='.")
    keys = tuple(key.strip() for key in left.split("+"))
    if twice := _first_twice(keys):
        raise DomainError(without_long_words(f"--vary {word} names {twice} twice."))
    texts = [text.strip() for text in right.split(";" if ";" in right else ",")]
    if texts == [""]:
        raise DomainError(without_long_words(f"--vary {word} has no values to try."))
    values = tuple(_value_of(keys, text) for text in texts)
    for key in keys:
        if key in _OF_THE_MODEL:
            raise DomainError(f"A sweep measures one model; {key} cannot vary in it.")
    if twice := _first_twice(values):
        sentence = f"--vary {word} has the value {twice} twice."
        raise DomainError(without_long_words(sentence))
    return Axis(keys, values)


def grid_of(base: EngineConfig, words: Sequence[str]) -> tuple[GridCell, ...]:
    """All combinations of the values in ``words``, the last axis moving fastest.

    Args:
        base: The settings that do not vary.
        words: Each as ``axis_of`` reads it; at least one.

    Raises:
        DomainError: In a sentence, for a word that is wrong, a setting that stands in two of them,
            none at all, or more than ``MOST_CELLS`` combinations.
    """
    axes = [axis_of(word) for word in words]
    if not axes:
        raise DomainError("A sweep needs at least one --vary setting=value,value.")
    if twice := _first_twice([key for axis in axes for key in axis.keys]):
        raise DomainError(f"{twice} stands in two --vary; put all its values into one.")
    count = 1
    for axis in axes:
        count *= len(axis.values)
    if count > MOST_CELLS:
        raise DomainError(
            f"These values make {count:,} combinations; a sweep takes {MOST_CELLS} at most. Vary "
            "fewer settings at a time."
        )
    return tuple(_cell(base, axes, values) for values in product(*(axis.values for axis in axes)))


def title_of(words: Sequence[str]) -> str:
    """What is varied, for a list: ``slots 1/2/4 × cache_type_k f16/q8_0``.

    Args:
        words: Each as ``axis_of`` reads it, and none that it refuses.
    """
    return " × ".join(axis_of(word).title for word in words)


def with_reasons(
    cells: Sequence[GridCell],
    too_long: TooLong,
    plan: Plan,
    model: ModelFacts | None = None,
    progressed: Callable[[int, int], None] | None = None,
) -> tuple[GridCell, ...]:
    """The same cells; those that cannot run say why.

    Args:
        cells: Combinations.
        too_long: Says why the workload does not fit into a slot of so many tokens.
        plan: Plans one; asked only for combinations that keep the rules, and once for all that
            need the same memory.
        model: The model's facts if they are known; the first plan tells them.
        progressed: Told how many cells are judged, and how many there are.
    """
    judge = Judge(too_long, plan, model)
    judged: list[GridCell] = []
    for cell in cells:
        judged.append(cell if cell.skipped else replace(cell, skipped=judge.reason(cell.config)))
        if progressed is not None:
            progressed(len(judged), len(cells))
    return tuple(judged)


class Judge:
    """Says why a configuration cannot run, remembering plans."""

    def __init__(
        self, too_long: TooLong, plan: Plan, model: ModelFacts | None, margin_bytes: int = 0
    ) -> None:
        """Judge nothing yet.

        Args:
            too_long: Says why the workload does not fit into a slot of so many tokens.
            plan: Plans one.
            model: The model's facts if they are known; the first plan tells them.
            margin_bytes: Memory that must stay free on every device beside what the planner
                leaves to the system.
        """
        self._too_long = too_long
        self._plan = plan
        self._model = model
        self._margin_bytes = margin_bytes
        self._planned: dict[EngineConfig, MemoryPlan | str] = {}

    def reason(self, config: EngineConfig) -> str:
        """The sentence; empty where nothing stands against it."""
        if broken := errors_of(config, self._model):
            return broken[0].message
        planned = self._plan_of(config)
        if isinstance(planned, str):
            return planned
        if not planned.fits or planned.effective is None:
            found = [problem.message for problem in planned.problems]
            return found[0] if found else "It does not fit in memory."
        if too_full := _short_of_margin(planned, self._margin_bytes):
            return too_full
        # The model's facts came with the plan, and rules that need them speak now.
        if broken := errors_of(config, self._model):
            return broken[0].message
        return self._too_long(planned.effective.ctx_per_slot_tok)

    def _plan_of(self, config: EngineConfig) -> MemoryPlan | str:
        key = _memory_alone(config)
        if key not in self._planned:
            try:
                answer = self._plan(config)
            except PlanningError as error:
                self._planned[key] = str(error)
            else:
                self._model = answer.model or self._model
                self._planned[key] = answer.plan
        return self._planned[key]


# --- Inside -----------------------------------------------------------------------------


def _short_of_margin(plan: MemoryPlan, margin_bytes: int) -> str:
    """Which device keeps less than the margin free, in a sentence; empty where none does."""
    for device in plan.devices:
        left_bytes = device.free - device.needed
        if device.total > 0 and device.needed and left_bytes < margin_bytes:
            where = "System memory" if device.name == _HOST else device.name
            return (
                f"{where} would keep {bytes_text(max(0, left_bytes))} free, less than the margin "
                f"of {bytes_text(margin_bytes)}."
            )
    return ""


def _memory_alone(config: EngineConfig) -> EngineConfig:
    """``config`` with everything that takes no memory at its default."""
    return config.with_values({row.key: row.default for row in SETTINGS if not row.affects_memory})


def _value_of(keys: Sequence[str], text: str) -> Value:
    """``text`` as a value that all ``keys`` can take."""
    values: list[Value] = []
    for key in keys:
        read = parse_assignments([f"{key}={text}"])
        values += [BY_KEY[known].domain.check(value) for known, value in read.items()]
    if any(value != values[0] for value in values):
        raise DomainError(f"{' and '.join(keys)} read {quoted(text)} differently; vary them apart.")
    return values[0]


def _cell(base: EngineConfig, axes: Sequence[Axis], values: Sequence[Value]) -> GridCell:
    pairs = list(zip(axes, values, strict=True))
    changed: dict[str, object] = {key: value for axis, value in pairs for key in axis.keys}
    name = ", ".join(axis.words(value) for axis, value in pairs)
    return GridCell(name, base.with_values(changed))


def _first_twice(items: Sequence[Value]) -> str:
    """The first that stands there twice, as text; empty where each is alone."""
    for place, item in enumerate(items):
        if item in items[:place]:
            return ",".join(item) if isinstance(item, tuple) else str(item)
    return ""
