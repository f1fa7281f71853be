"""What is settled before anything is tried: context, slots of one person, and where layers lie.

The context stays where it fits and suffices, else it is what the work needs (``tune_context``); all
layers lie on the GPU where there is one. Whether that fits is the planner's word. Where memory is
the limit, and only there, the context is sized to the work and then the KV cache quantised, no
coarser than allowed.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from app.experiments.tune_context import ContextNeed
from app.experiments.tune_goal import KV_LADDER, Purpose, TuneGoal
from app.experiments.tune_trials import Trials
from engine_bridge.settings.cache_type import CACHE_TYPES
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import Value
from engine_bridge.settings.table import BY_KEY

_KV_KEYS = ("cache_type_k", "cache_type_v")
# Everything of the model and its cache on the boards.
_WHOLE: dict[str, Value] = {
    "n_gpu_layers": "all", "n_cpu_moe": 0, "cpu_moe": False, "n_cpu_ffn": 0, "kv_offload": True,
}  # fmt: skip
_SMALL_MICRO_BATCHES_TOK = (256, 128)


@dataclass(frozen=True)
class Ground:
    """Where tuning begins.

    Attributes:
        config: The settings; None where nothing that the goal needs fits.
        notes: What was settled and why, a sentence each.
        problem: Why there is none, in a sentence; empty if there is one.
    """

    config: EngineConfig | None
    notes: tuple[str, ...] = ()
    problem: str = ""


class Fitting:
    """Makes configurations that fit: with less context or a coarser KV cache if memory is short."""

    def __init__(self, trials: Trials, goal: TuneGoal, need: ContextNeed) -> None:
        """Ask the rules and the planner through ``trials``."""
        self._trials = trials
        self._goal = goal
        self._need = need
        self._may_quantise = not goal.domain and not set(_KV_KEYS) & set(goal.kept)

    def fitted(self, config: EngineConfig, asked: Collection[str] = ()) -> EngineConfig | None:
        """``config``, or the nearest to it that fits; None if there is none.

        Where memory is the limit that is one with no more context than is needed, and then one
        with a coarser KV cache; where a rule stands against it one in which a setting gives way
        that was not asked for.

        Args:
            config: What is wanted.
            asked: Keys that must stay as they are in it.

        Raises:
            StoppedError: If the user stopped meanwhile.
        """
        if not self._trials.reason(config):
            return config
        others: list[EngineConfig] = []
        if self._trials.is_misfit(config):
            sized = self._need.smaller(config)
            others += [] if sized is None else [sized]
            others += self._coarser(sized or config)
        others += self._yielding(config, asked)
        return next((other for other in others if not self._trials.reason(other)), None)

    def _yielding(self, config: EngineConfig, asked: Collection[str]) -> list[EngineConfig]:
        """``config`` with other values of what a rule says does not go with what was asked for."""
        broken = self._trials.broken_rule(config)
        if broken is None:
            return []
        domain = self._goal.domain
        found = []
        for key in broken.keys:
            if key in asked or key in self._goal.kept:
                continue
            keys = [key]
            if key in _KV_KEYS:
                keys = [kind for kind in _KV_KEYS if domain.get(kind) == domain.get(key)]
            values = domain.get(key, ()) if domain else (BY_KEY[key].default,)
            found += [config.with_values(dict.fromkeys(keys, value)) for value in values]
        return found

    def _coarser(self, config: EngineConfig) -> list[EngineConfig]:
        if not self._may_quantise:
            return []
        places = [
            KV_LADDER.index(getattr(config, key)) if getattr(config, key) in KV_LADDER else 0
            for key in _KV_KEYS
        ]
        found = []
        for kind in KV_LADDER[max(places) + 1 : KV_LADDER.index(self._goal.kv_floor) + 1]:
            values: dict[str, object] = dict.fromkeys(_KV_KEYS, kind)
            # A quantised V cache needs it; a user who keeps it off is told so by the rule.
            if config.flash_attn == "off" and "flash_attn" not in self._goal.kept:
                values["flash_attn"] = "auto"
            found.append(config.with_values(values))
        return found


def ground_of(
    start: EngineConfig,
    goal: TuneGoal,
    trials: Trials,
    fitting: Fitting,
    need: ContextNeed,
    *,
    has_board: bool,
) -> Ground:
    """Settle what is not for measuring to decide.

    Args:
        start: The settings to begin with.
        goal: What is asked for; one with a domain settles nothing.
        trials: Tells what fits.
        fitting: Makes it smaller where memory is the limit.
        need: The context that is needed.
        has_board: Whether layers can lie on a GPU.

    Raises:
        StoppedError: If the user stopped meanwhile.
    """
    if goal.domain:
        reason = trials.reason(start)
        return Ground(None, problem=reason) if reason else Ground(start)
    notes: list[str] = []
    config = _with_slots(need.settled(start), goal, notes)
    if has_board and "n_gpu_layers" not in goal.kept:
        config = _on_the_board(config, goal, fitting, notes)
    fitted = _shrunk(config, goal, fitting, notes)
    if fitted is None:
        return Ground(None, tuple(notes), trials.reason(need.smaller(config) or config))
    return Ground(fitted, (*need.notes(start, fitted), *notes))


# --- Inside -----------------------------------------------------------------------------


def _with_slots(config: EngineConfig, goal: TuneGoal, notes: list[str]) -> EngineConfig:
    most = 1 if goal.purpose is Purpose.CHAT else goal.users
    if "slots" in goal.kept or config.slots <= most:
        return config
    who = "one person" if most == 1 else f"{most:,} users"
    notes.append(
        f"Parallel slots: {most} in place of {config.slots}. More than {who} can use would only "
        "take memory."
    )
    return config.with_values({"slots": most})


def _on_the_board(
    config: EngineConfig, goal: TuneGoal, fitting: Fitting, notes: list[str]
) -> EngineConfig:
    """All on the GPU, with a coarser cache, fewer slots or smaller micro-batches if need be."""
    values: dict[str, object] = {
        key: value for key, value in _WHOLE.items() if key not in goal.kept
    }
    if "override_tensor" not in goal.kept:
        values["override_tensor"] = ()
    whole = config.with_values(values)
    for smaller in _smaller(whole, goal):
        fitted = fitting.fitted(smaller)
        if fitted is None:
            continue
        if fitted.n_gpu_layers != config.n_gpu_layers:
            notes.append(
                "Layers: all on the GPU, before anything else. One layer left on the CPU costs "
                "more than any other setting brings."
            )
        notes += _smaller_notes(whole, fitted)
        return fitted
    notes.append(
        "Layers: the model and its context do not fit on the GPU as a whole, so as many layers "
        "lie there as fit."
    )
    if config.n_gpu_layers == "all" and "n_gpu_layers" not in goal.kept:
        return config.with_values({"n_gpu_layers": "auto"})
    return config


def _shrunk(
    config: EngineConfig, goal: TuneGoal, fitting: Fitting, notes: list[str]
) -> EngineConfig | None:
    """What fits of ``config``, with fewer slots if need be; None where nothing does."""
    for smaller in _smaller(config, goal):
        fitted = fitting.fitted(smaller)
        if fitted is not None:
            notes += _smaller_notes(config, fitted)
            return fitted
    return None


def _smaller(config: EngineConfig, goal: TuneGoal) -> list[EngineConfig]:
    """``config``, then with smaller micro-batches, then with half the slots again and again."""
    found = [config]
    if "ubatch_tok" not in goal.kept:
        found += [
            config.with_values({"ubatch_tok": size})
            for size in _SMALL_MICRO_BATCHES_TOK
            if size < config.ubatch_tok
        ]
    slots, last = config.slots, found[-1]
    while slots > 1 and "slots" not in goal.kept:
        slots //= 2
        found.append(last.with_values({"slots": slots}))
    return found


def _smaller_notes(wanted: EngineConfig, fitted: EngineConfig) -> list[str]:
    notes = []
    if fitted.ubatch_tok != wanted.ubatch_tok:
        notes.append(
            f"Micro-batch: {fitted.ubatch_tok} in place of {wanted.ubatch_tok} tokens to begin "
            "with, for memory is the limit."
        )
    if fitted.slots != wanted.slots:
        notes.append(
            f"Parallel slots: {fitted.slots} in place of {wanted.slots} to begin with, for more do "
            "not fit."
        )
    return notes + _kv_notes(wanted, fitted)


def _kv_notes(wanted: EngineConfig, fitted: EngineConfig) -> list[str]:
    if fitted.cache_type_k == wanted.cache_type_k and fitted.cache_type_v == wanted.cache_type_v:
        return []
    return [
        f"KV cache: {fitted.cache_type_k} in place of {wanted.cache_type_k}. {kv_reason(fitted)}"
    ]


def kv_reason(config: EngineConfig) -> str:
    """Why the KV cache of ``config`` was quantised, and what that saves."""
    bits = CACHE_TYPES[config.cache_type_k].bits_per_value
    return (
        f"Memory is the limit, and it takes {bits / 16:.0%} of an f16 cache; what that does to "
        "answers the quality experiment measures."
    )
