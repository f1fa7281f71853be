"""The nearest smaller configuration that fits, tried out with dry runs.

What is given up, in this order, each change on top of the ones before it and each with the longest
context that fits with it: nothing but context; finer caches than q8_0; slots; the micro-batch; the
draft model; layers on the boards. First with a context that is still of use for the same work, then
with any. What turns out not to be needed is taken back. Context first, because every token reserved
costs memory whether or not it is used; layers last, because one on the CPU costs more speed than
all the others. Knows rooms and shapes; how a dry run is made is ``planner``'s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from engine_bridge.child.auto_placement import TryOut, most_that_fit
from engine_bridge.child.fit_search import FitSearch, NoTrialError
from engine_bridge.child.memory_shape import HOST, MemoryShape
from engine_bridge.child.room import Room, problem_of_room
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.cache_type import CACHE_TYPES
from engine_bridge.settings.config import CONTEXT_PAD_TOK, EngineConfig, pad_context_tok
from engine_bridge.settings.domain import Value
from engine_bridge.settings.rules import errors_of

# A context below this is no repair; another one is offered instead.
_LEAST_CTX_TOK = 512
# A context that serves the same work: at least this, and this share of what was asked for.
_USEFUL_CTX_TOK, _USEFUL_SHARE = 4096, 0.125
_COARSE = "q8_0"
_SMALL_UBATCH_TOK = 128
# Dry contexts that look for the longest one, at one step; all dry runs of one search.
_CONTEXT_RUNS, _MOST_RUNS = 4, 64


_Change: TypeAlias = Callable[[EngineConfig], dict[str, object]]


def nearest_that_fits(
    config: EngineConfig, facts: ModelFacts, room: Room, try_out: TryOut
) -> dict[str, Value]:
    """The values to change so that ``config`` fits; empty where none of these changes helps.

    Args:
        config: What does not fit, its rules checked and its layers placed.
        facts: The model.
        room: Free memory of every device.
        try_out: Makes dry runs; may raise ``NoTrialError``.
    """
    return _Search(config, facts, room, try_out).find()


def ways_that_fit(
    config: EngineConfig, facts: ModelFacts, room: Room, try_out: TryOut
) -> tuple[dict[str, Value], ...]:
    """The nearest smaller configuration first, then others that keep all of the context.

    Args:
        config: What does not fit, its rules checked and its layers placed.
        facts: The model.
        room: Free memory of every device.
        try_out: Makes dry runs; may raise ``NoTrialError``.
    """
    search = _Search(config, facts, room, try_out)
    ways = [search.find(), search.with_one_change(coarser_caches)]
    ways.append(search.with_one_change(_fewer_slots))
    return tuple(way for place, way in enumerate(ways) if way and way not in ways[:place])


class _Search(FitSearch):
    """The search for one configuration."""

    MOST_RUNS = _MOST_RUNS

    def find(self) -> dict[str, Value]:
        # What is beyond the training length serves nothing.
        asked = _useful(_ctx_of(self._config), self._config, self._facts)
        useful = min(asked, max(_USEFUL_CTX_TOK, int(asked * _USEFUL_SHARE)))
        for least in dict.fromkeys((useful, min(asked, _LEAST_CTX_TOK))):
            for rung in self._ladder():
                if (fitting := self._with_longest_context(rung, least)) is not None:
                    return self._without_the_needless(fitting)
        return {}

    def with_one_change(self, change: _Change) -> dict[str, Value]:
        """As much of one kind of change as it takes, all else as asked for; empty if too little."""
        rung = self._config
        while values := change(rung):
            rung = rung.with_values(values)
            if errors_of(rung, self._facts):
                break
            shape = self._shape(rung)
            if shape is not None and self._fits(shape, rung):
                return {key: getattr(rung, key) for key in rung.changed_from(self._config)}
        return {}

    def _ladder(self) -> Iterator[EngineConfig]:
        """Ever smaller configurations, the first as it was asked for."""
        rung = self._config
        yield rung
        for change in (coarser_caches, *[_fewer_slots] * 8, _smaller_ubatch, _no_draft):
            if values := change(rung):
                smaller = rung.with_values(values)
                if not errors_of(smaller, self._facts):
                    rung = smaller
                    yield rung
        if (fewer := self._fewer_layers(rung)) is not None:
            yield fewer

    def _fewer_layers(self, config: EngineConfig) -> EngineConfig | None:
        """As many layers as the boards hold, with the shortest context."""
        shape = self._shape(config)
        wanted = config.n_gpu_layers
        most = self._facts.gpu_layers_max if isinstance(wanted, str) else wanted
        if shape is None or not any(d.weights for d in shape.devices if d.name != HOST):
            return None

        def missing(layers: int) -> int:
            found = self._shape(config.with_values({"n_gpu_layers": layers}))
            if found is None:
                raise NoTrialError
            boards = [need for need in found.devices if need.name != HOST and need.needed]
            return max((self._room.missing_bytes(need) for need in boards), default=0)

        try:
            layers = most_that_fit(min(most, self._facts.gpu_layers_max), missing)
        except NoTrialError:
            return None
        return config.with_values({"n_gpu_layers": layers}) if 0 <= layers < most else None

    def _with_longest_context(self, config: EngineConfig, least: int) -> EngineConfig | None:
        """``config`` with as much of its context as fits, at least ``least``; None if less."""
        shape = self._shape(config)
        if shape is None:
            return None
        if self._fits(shape, config):
            return config
        tried = [(_ctx_of(config), shape)]
        just_fitting: EngineConfig | None = None
        for _ in range(_CONTEXT_RUNS):
            tokens = _useful(self._roomy.tokens_that_fit(tried), config, self._facts)
            if tokens < least:
                tokens = _useful(self._room.tokens_that_fit(tried), config, self._facts)
            if tokens < least or tokens == tried[-1][0]:
                break
            candidate = config.with_values({_ctx_key(config): tokens})
            found = None if errors_of(candidate, self._facts) else self._shape(candidate)
            if found is None:
                break
            if problem_of_room(found, self._roomy, candidate) is None:
                return candidate
            if self._fits(found, candidate):
                just_fitting = candidate
            tried.append((tokens, found))
        return just_fitting

    def _without_the_needless(self, config: EngineConfig) -> dict[str, Value]:
        """The changes that made ``config`` of what was asked for, less those it fits without."""
        for keys in (("cache_type_k", "cache_type_v"), ("slots",), ("ubatch_tok",)):
            back = {key: getattr(self._config, key) for key in keys}
            if all(getattr(config, key) == value for key, value in back.items()):
                continue
            candidate = config.with_values(back)
            if errors_of(candidate, self._facts):
                continue
            shape = self._shape(candidate)
            if shape is not None and self._fits(shape, candidate):
                config = candidate
        return {key: getattr(config, key) for key in config.changed_from(self._config)}

    def _fits(self, shape: MemoryShape, config: EngineConfig) -> bool:
        return problem_of_room(shape, self._room, config) is None


def coarser_caches(config: EngineConfig) -> dict[str, object]:
    """The change to q8_0 of the caches that are finer, and what it needs; empty without any."""
    coarse = CACHE_TYPES[_COARSE].bits_per_value
    values: dict[str, object] = {
        key: _COARSE
        for key in ("cache_type_k", "cache_type_v")
        if CACHE_TYPES[getattr(config, key)].bits_per_value > coarse
    }
    if "cache_type_v" in values and config.flash_attn == "off":
        values["flash_attn"] = "auto"
    return values


def _fewer_slots(config: EngineConfig) -> dict[str, object]:
    return {"slots": config.slots // 2} if config.slots > 1 else {}


def _smaller_ubatch(config: EngineConfig) -> dict[str, object]:
    small = config.ubatch_tok > _SMALL_UBATCH_TOK
    return {"ubatch_tok": _SMALL_UBATCH_TOK} if small else {}


def _no_draft(config: EngineConfig) -> dict[str, object]:
    if config.draft is None:
        return {}
    kept = [config.with_values({"spec_types": kinds}) for kinds in _kinds_less_one(config)]
    free = next((other for other in kept if other.draft is None), None)
    return {"spec_types": () if free is None else free.spec_types}


def _kinds_less_one(config: EngineConfig) -> Iterator[tuple[str, ...]]:
    for kind in config.spec_types:
        yield tuple(other for other in config.spec_types if other != kind)


def _useful(tokens: int, config: EngineConfig, facts: ModelFacts) -> int:
    """``tokens`` rounded down to what llama.cpp makes contexts of, and to what a slot can use."""
    trained = pad_context_tok(facts.ctx_train_tok) or tokens
    most = trained * config.slots if _has_own_pool_size(config) else trained
    return min(tokens, most) // CONTEXT_PAD_TOK * CONTEXT_PAD_TOK


def _has_own_pool_size(config: EngineConfig) -> bool:
    return config.kv_unified and config.ctx_total_tok != "auto"


def _ctx_of(config: EngineConfig) -> int:
    """The number that makes the pool larger or smaller."""
    return config.pool_tok if _has_own_pool_size(config) else config.ctx_per_slot_tok


def _ctx_key(config: EngineConfig) -> str:
    return "ctx_total_tok" if _has_own_pool_size(config) else "ctx_per_slot_tok"
