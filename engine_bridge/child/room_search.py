"""What still fits beside a configuration, found with dry runs: slots, context, and both with q8_0.

A straight line through two dry runs guesses, since memory grows nearly evenly with both; the guess
and the value next to it are tried, so that what is told was answered by the engine. Knows rooms and
shapes; how a dry run is made is ``planner``'s.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from engine_bridge.child.auto_placement import TryOut
from engine_bridge.child.fit_search import FitSearch
from engine_bridge.child.memory_shape import MemoryShape
from engine_bridge.child.room import Room
from engine_bridge.child.smaller import coarser_caches
from engine_bridge.memory_room import MOST_CELLS, CoarseRoom, Most, most_slots_asked
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import CONTEXT_PAD_TOK, EngineConfig, pad_context_tok
from engine_bridge.settings.domain import Value
from engine_bridge.settings.row import MAX_CONTEXT_TOK
from engine_bridge.settings.rules import errors_of
from engine_bridge.settings.table import MAX_SLOTS

# Guesses on a straight line before what is left is halved; halving takes twelve at most.
_STRAIGHT_GUESSES, _MOST_GUESSES = 8, 20
_MANY_SLOTS = f"llama.cpp takes at most {MAX_SLOTS} slots."
_REFUSED = "llama.cpp refuses the next one."
# More than any device lacks: the engine refuses.
_NEVER = 1 << 62


@dataclass(frozen=True)
class _Scale:
    """What is searched along, in equal steps from 1 on.

    Attributes:
        top: The last step.
        limit: Why there is none behind it.
        why: The sentence of that rule, where it is one.
        present: The step of the configuration itself, or the next below.
        config_of: The configuration at a step.
    """

    top: int
    limit: Literal["training", "rule", "search"]
    why: str
    present: int
    config_of: Callable[[int], EngineConfig]


def room_beside(
    config: EngineConfig, facts: ModelFacts, room: Room, try_out: TryOut
) -> tuple[Most, Most, CoarseRoom]:
    """Slots at the context of ``config``, context at its slots, and what q8_0 would buy.

    Args:
        config: Its rules checked and its layers placed.
        facts: The model.
        room: Free memory of every device.
        try_out: Makes dry runs; may raise ``NoTrialError``.
    """
    search = _Search(config, facts, room, try_out)
    return search.slots(config), search.context(config), search.coarse()


class _Search(FitSearch):
    """The search for one configuration."""

    def __init__(
        self, config: EngineConfig, facts: ModelFacts, room: Room, try_out: TryOut
    ) -> None:
        super().__init__(config, facts, room, try_out)
        # A search for what nobody uses must not cost more than what is used.
        self._most_cells = max(MOST_CELLS, config.pool_tok)

    def slots(self, base: EngineConfig) -> Most:
        """The most slots at the context of ``base``."""
        full = _with_full_pool(base)
        top = most_slots_asked(base)
        limit: Literal["rule", "search"] = "rule" if top == MAX_SLOTS else "search"
        scale = _Scale(
            top=top,
            limit=limit,
            why=_MANY_SLOTS if limit == "rule" else "",
            present=base.slots,
            config_of=lambda slots: full.with_values({"slots": slots}),
        )
        found, limit_found, why = self._largest(scale)
        return Most(found, limit_found, why, self._changes(base, full, {"slots": found}))

    def context(self, base: EngineConfig) -> Most:
        """The longest context at the slots of ``base``."""
        full = _with_full_pool(base)
        trained = pad_context_tok(self._facts.ctx_train_tok)
        cells = self._most_cells // base.slots
        top_tok = min(trained or MAX_CONTEXT_TOK, MAX_CONTEXT_TOK, cells)
        limit: Literal["training", "search"] = "training" if top_tok == trained else "search"
        scale = _Scale(
            top=max(1, top_tok // CONTEXT_PAD_TOK),
            limit=limit,
            why="",
            present=base.ctx_per_slot_tok // CONTEXT_PAD_TOK,
            config_of=lambda step: full.with_values({"ctx_per_slot_tok": step * CONTEXT_PAD_TOK}),
        )
        step, limit_found, why = self._largest(scale)
        tokens = step * CONTEXT_PAD_TOK
        if limit_found == "training":
            tokens = self._facts.ctx_train_tok  # padding is not for use
        settable = max(tokens, CONTEXT_PAD_TOK)
        changes = self._changes(base, full, {"ctx_per_slot_tok": settable} if tokens else {})
        return Most(tokens, limit_found, why, changes)

    def coarse(self) -> CoarseRoom:
        """What q8_0 caches would buy."""
        changes = coarser_caches(self._config)
        if not changes:
            return CoarseRoom()
        coarse = self._config.with_values(changes)
        if errors := errors_of(coarse, self._facts):
            return CoarseRoom(problem=errors[0].message)
        before, after = self._shape(self._config), self._shape(coarse)
        if before is None or after is None:
            return CoarseRoom(problem="llama.cpp refuses to make this context with a q8_0 cache.")
        return CoarseRoom(
            saved_bytes=before.bytes.total - after.bytes.total,
            slots=self.slots(coarse),
            ctx=self.context(coarse),
            values=_of(coarse, self._config),
        )

    # --- Inside -------------------------------------------------------------------------

    def _changes(
        self, base: EngineConfig, full: EngineConfig, values: dict[str, object]
    ) -> dict[str, Value]:
        """What to set for a value that was found; empty where it stands there or none was."""
        if not all(values.values()) or not values:
            return {}
        wanted = full.with_values(values)
        is_there = wanted.slots == base.slots and pad_context_tok(
            wanted.ctx_per_slot_tok
        ) == pad_context_tok(base.ctx_per_slot_tok)
        return {} if is_there and wanted.pool_tok == base.pool_tok else _of(wanted, self._config)

    def _largest(
        self, scale: _Scale
    ) -> tuple[int, Literal["memory", "training", "rule", "search"], str]:
        """The last step that fits, 0 if none does; what stops the next one, and why."""
        missing: dict[int, int] = {}
        low, high = 0, scale.top + 1  # fits; does not, or is not there
        guess = min(max(1, scale.present), scale.top)
        while len(missing) < _MOST_GUESSES:
            step = self._allowed_near(scale, guess, low, high)
            if step is None:
                break
            missing[step] = self._missing(scale.config_of(step))
            if missing[step] <= 0:
                low = step
            else:
                high = step
            guess = _next_guess(missing, low, high)
        if low == scale.top:
            return low, scale.limit, scale.why
        if high not in missing:  # nothing in between keeps the rules
            errors = errors_of(scale.config_of(low + 1), self._facts)
            return low, "rule", errors[0].message if errors else ""
        if missing[high] == _NEVER:
            return low, "rule", _REFUSED
        return low, "memory", self._short_device(scale.config_of(high))

    def _allowed_near(self, scale: _Scale, guess: int, low: int, high: int) -> int | None:
        """The step between two others that is nearest to a guess and keeps all rules, if any is."""
        first = min(guess, high - 1)
        for step in chain(range(first, low, -1), range(first + 1, high)):
            if not errors_of(scale.config_of(step), self._facts):
                return step
        return None

    def _missing(self, config: EngineConfig) -> int:
        """Bytes that the worst device lacks; 0 or less where it fits."""
        shape = self._shape(config)
        if shape is None:
            return _NEVER
        if config == self._config and _worst(shape, self._room) <= 0:
            return min(0, _worst(shape, self._roomy))  # it fits, however little is left
        return _worst(shape, self._roomy)

    def _short_device(self, config: EngineConfig) -> str:
        shape = self._shape(config)
        assert shape is not None
        return max(shape.devices, key=self._roomy.missing_bytes).name


def _next_guess(missing: dict[int, int], low: int, high: int) -> int:
    """Where a straight line through the nearest two tries says that the last one fits."""
    if len(missing) == 1:
        return 2 * low if low else high // 2
    if len(missing) > _STRAIGHT_GUESSES or _NEVER in missing.values():
        return (low + high) // 2
    fitting = sorted((s for s in missing if s <= low), reverse=True)
    short = sorted(s for s in missing if s >= high)
    near = sorted((*fitting[:1], *short[:1])) if fitting and short else sorted([*fitting, *short])
    first, second = near[-2:] if fitting else near[:2]
    growth = missing[second] - missing[first]
    if growth <= 0:
        return high - 1 if not short else (low + high) // 2
    found = first + (-missing[first]) * (second - first) // growth
    return min(max(found, low + 1), high - 1)


def _worst(shape: MemoryShape, room: Room) -> int:
    return max(room.missing_bytes(need) for need in shape.devices)


def _with_full_pool(config: EngineConfig) -> EngineConfig:
    """Every slot with its whole context, also where they share a smaller pool."""
    return config.with_values({"ctx_total_tok": "auto"}) if config.kv_unified else config


def _of(config: EngineConfig, before: EngineConfig) -> dict[str, Value]:
    return {key: getattr(config, key) for key in config.changed_from(before)}
