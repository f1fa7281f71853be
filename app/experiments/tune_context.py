"""How much context a tuner gives each slot. Pure.

The user's own stays where it fits and suffices. It is sized to the work where it is too small,
where memory is short, and where nobody chose it: at the model's whole maximum, or beyond.
"""

from __future__ import annotations

from app.experiments.runner import longest_variant
from app.experiments.tune_goal import VARIANTS, TuneGoal
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig, pad_context_tok

_KEY, _POOL_KEY = "ctx_per_slot_tok", "ctx_total_tok"
_SIZED = "A context is sized to the work, not to the model's maximum."


def longest_tok(goal: TuneGoal) -> int:
    """Context that the longest conversation of any of the workload's texts takes, in tokens."""
    return longest_variant(goal.run_workload, VARIANTS).needed_ctx_tok()


class ContextNeed:
    """The context that a goal needs, beside the one that is set."""

    def __init__(self, goal: TuneGoal, model: ModelFacts | None) -> None:
        """Take what is needed from ``goal``; ``model`` is None where its facts are not known."""
        self._goal = goal
        self._trained_tok = 0 if model is None else model.ctx_train_tok
        # A domain says itself what may change.
        self._is_free = not goal.domain and _KEY not in goal.kept
        self._longest_tok = longest_tok(goal) if self._is_free else 0
        self._needed_tok = pad_context_tok(max(self._longest_tok, goal.ctx_needed_tok))

    def settled(self, config: EngineConfig) -> EngineConfig:
        """``config`` with its own context where that may stay, else with what is needed."""
        if not self._is_free:
            return config
        if self._is_too_small(config) or self._is_maximum(config):
            return self._sized(config)
        busy = min(config.slots, self._goal.users)
        if config.pool_tok < busy * self._needed_tok and _POOL_KEY not in self._goal.kept:
            # A shared pool that is too small for all.
            return config.with_values({_POOL_KEY: "auto"})
        return config

    def smaller(self, config: EngineConfig) -> EngineConfig | None:
        """``config`` with no more than is needed, for short memory; None if it has no more."""
        if not self._is_free:
            return None
        sized = self._sized(config)
        return sized if sized.pool_tok < config.pool_tok else None

    def notes(self, before: EngineConfig, after: EngineConfig) -> list[str]:
        """What became of the context of ``before`` and why; nothing where it was not asked."""
        if not self._is_free:
            return []
        old, new, takes = before.ctx_per_slot_tok, after.ctx_per_slot_tok, self._takes()
        if old == new:
            return [f"Context per slot: kept at {new:,} tokens: it fits, and {takes}."]
        change = f"Context per slot: {new:,} tokens in place of {old:,}"
        if self._is_too_small(before):
            return [f"{change}, for {takes}."]
        if not self._is_maximum(before):
            return [f"{change}, for memory is short, and {takes}."]
        if old > pad_context_tok(self._trained_tok):
            beyond = f"which is more than the {self._trained_tok:,} that the model was trained for"
            return [f"{change}, {beyond}, and {takes}. {_SIZED}"]
        return [f"{change}, the model's whole maximum, for {takes}. {_SIZED}"]

    # --- Inside -------------------------------------------------------------------------

    def _takes(self) -> str:
        if self._goal.ctx_needed_tok > self._longest_tok:
            return f"{self._goal.ctx_needed_tok:,} were asked for"
        return f"the work takes {self._longest_tok:,}"

    def _is_too_small(self, config: EngineConfig) -> bool:
        return pad_context_tok(config.ctx_per_slot_tok) < self._needed_tok

    def _is_maximum(self, config: EngineConfig) -> bool:
        """Whether it is all that the model was trained for, and more than is needed."""
        trained_tok = self._trained_tok
        return 0 < trained_tok <= config.ctx_per_slot_tok and (
            pad_context_tok(config.ctx_per_slot_tok) > self._needed_tok
        )

    def _sized(self, config: EngineConfig) -> EngineConfig:
        values: dict[str, object] = {_KEY: self._needed_tok}
        if config.kv_unified and _POOL_KEY not in self._goal.kept:
            values[_POOL_KEY] = "auto"
        return config.with_values(values)
