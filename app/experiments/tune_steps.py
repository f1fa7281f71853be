"""The steps of a tuner in the practitioners' order, each with the options it may try. Pure.

Slots come first, for they decide how much is computed at once; then threads, batches, flash
attention, drafts and their lengths. Where a domain is given, the same order holds for its keys, and
its values are the options.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import psutil

from app.experiments.experiment import Cell
from app.experiments.tune_drafts import draft_options, length_steps, uses
from app.experiments.tune_goal import KV_LADDER, Purpose, TuneGoal
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig, pad_context_tok
from engine_bridge.settings.domain import Value
from engine_bridge.settings.table import BY_KEY

Option: TypeAlias = Mapping[str, Value]
"""Settings that change together."""

# In which order the keys of a domain are tried; keys in one group with the same values go together.
ORDER = (
    ("ctx_per_slot_tok",), ("n_gpu_layers",), ("n_cpu_moe",), ("slots",), ("kv_unified",),
    ("cache_type_k", "cache_type_v"), ("threads",), ("threads_batch",), ("batch_tok",),
    ("ubatch_tok",), ("prefill_chunk_tok",), ("flash_attn",), ("spec_types",),
)  # fmt: skip
_BATCHES_TOK = (512, 1024, 2048, 4096)
_MICRO_BATCHES_TOK = (64, 128, 256, 512, 1024, 2048)
_CHUNKS_TOK = (128, 512)
# With more values than these, one goes from one to the next while that pays.
_MOST_AT_ONCE = 4


@dataclass(frozen=True)
class Cores:
    """Processors that this process may use.

    Attributes:
        physical: Cores, at least 1.
        logical: Their threads, at least as many.
    """

    physical: int
    logical: int


@dataclass(frozen=True)
class Step:
    """One thing to decide.

    Attributes:
        title: What it is called.
        keys: What it may change.
        options: Says for the best so far, and what is known of it, all that may be chosen, in an
            order in which neighbours are alike; what the best has is among them or left out.
        is_ladder: Whether it goes from one option to the next while that pays, instead of trying
            all of them at once.
    """

    title: str
    keys: tuple[str, ...]
    options: Callable[[EngineConfig, Cell], Sequence[Option]]
    is_ladder: bool = False

    @property
    def name(self) -> str:
        """Its title with its keys, as settings are called everywhere: ``Drafts (spec_types)``."""
        return f"{self.title} ({', '.join(self.keys)})"


def steps_of(
    goal: TuneGoal, model: ModelFacts | None, *, has_board: bool, cores: Cores | None = None
) -> tuple[Step, ...]:
    """The steps for ``goal``, without those whose keys are to be kept.

    Args:
        goal: What is asked for.
        model: The model's facts; None if they are not known.
        has_board: Whether layers can lie on a GPU.
        cores: Of this machine by default.
    """
    if goal.domain:
        steps = _domain_steps(goal)
    else:
        steps = _own_steps(goal, model, has_board=has_board, cores=cores or cores_here())
    return tuple(step for step in steps if not set(step.keys) & set(goal.kept))


def cores_here() -> Cores:
    """The processors that this process may use."""
    try:
        logical = len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        logical = os.cpu_count() or 1
    physical = min(psutil.cpu_count(logical=False) or logical, logical)
    return Cores(max(1, physical), max(1, logical))


def is_applied(option: Option, config: EngineConfig) -> bool:
    """Whether ``config`` has what ``option`` says."""
    return all(getattr(config, key) == value for key, value in option.items())


# --- The tuner's own --------------------------------------------------------------------


def _own_steps(
    goal: TuneGoal, model: ModelFacts | None, *, has_board: bool, cores: Cores
) -> list[Step]:
    steps = []
    if goal.purpose is not Purpose.CHAT:
        steps.append(_step("slots", _slots(goal.users), is_ladder=True))
    if not has_board:  # a GPU's work does not wait for cores
        steps += [
            _step("threads", _threads("threads", cores)),
            _step("threads_batch", _threads("threads_batch", cores)),
        ]
    if goal.users > 1:
        steps.append(_step("batch_tok", _batches, is_ladder=True))
    steps.append(_step("ubatch_tok", _micro_batches(goal), is_ladder=True))
    if goal.users > 1:
        steps.append(_step("prefill_chunk_tok", _chunks))
    steps.append(_step("flash_attn", _flash))
    steps.append(
        _step("spec_types", lambda best, _: draft_options(best, model, goal.drafts, goal.kept))
    )
    return [*steps, *(_step(key, options, is_ladder=True) for key, options in length_steps())]


def _step(
    key: str, options: Callable[[EngineConfig, Cell], Sequence[Option]], *, is_ladder: bool = False
) -> Step:
    """A step called as the setting is in the tune column."""
    return Step(BY_KEY[key].label, (key,), options, is_ladder)


def _slots(users: int) -> Callable[[EngineConfig, Cell], list[Option]]:
    """Doubled up to the number of users; more would stand idle."""

    def options(best: EngineConfig, _: Cell) -> list[Option]:
        doubled = {2**power for power in range(users.bit_length()) if 2**power < users}
        return [{"slots": slots} for slots in sorted({*doubled, users, min(best.slots, users)})]

    return options


def _threads(key: str, cores: Cores) -> Callable[[EngineConfig, Cell], list[Option]]:
    """Half of the cores, the cores and their threads; auto stands for the cores."""

    def options(best: EngineConfig, _: Cell) -> list[Option]:
        # Auto takes the cores to decode, and as many as that to prefill.
        decode = cores.physical if best.threads == "auto" else best.threads
        auto = cores.physical if key == "threads" else decode
        numbers = {max(1, cores.physical // 2), cores.physical, cores.logical} - {auto}
        return [{key: "auto"}, *({key: number} for number in sorted(numbers))]

    return options


def _batches(best: EngineConfig, _: Cell) -> list[Option]:
    sizes = sorted({*_BATCHES_TOK, best.batch_tok})
    return [{"batch_tok": size} for size in sizes if size >= best.ubatch_tok]


def _micro_batches(goal: TuneGoal) -> Callable[[EngineConfig, Cell], list[Option]]:
    """No more than twice what can be read at once; the batch grows with it where it may."""

    def options(best: EngineConfig, _: Cell) -> list[Option]:
        most_tok = 2 * pad_context_tok(best.slots * best.ctx_per_slot_tok)
        sizes = sorted({*_MICRO_BATCHES_TOK, best.ubatch_tok})
        found: list[Option] = []
        for size in sizes:
            if size <= best.batch_tok:
                found.append({"ubatch_tok": size})
            elif "batch_tok" not in goal.kept and size <= most_tok:
                found.append({"ubatch_tok": size, "batch_tok": size})
        return found

    return options


def _chunks(_: EngineConfig, __: Cell) -> list[Option]:
    return [{"prefill_chunk_tok": value} for value in ("auto", *_CHUNKS_TOK)]


def _flash(best: EngineConfig, cell: Cell) -> list[Option]:
    """What auto came to need not be tried beside it."""
    made = cell.effective.get("flash_attn", "")
    is_auto = best.flash_attn == "auto"
    return [
        {"flash_attn": value} for value in ("auto", "on", "off") if not (is_auto and value == made)
    ]


# --- A domain ---------------------------------------------------------------------------


def _domain_steps(goal: TuneGoal) -> list[Step]:
    domain = {key: values for key, values in goal.domain.items() if len(values) > 1}
    groups = [tuple(key for key in group if key in domain) for group in ORDER]
    named = {key for group in groups for key in group}
    groups += [(key,) for key in domain if key not in named]
    steps: list[Step] = []
    for group in filter(None, groups):
        is_together = len({tuple(domain[key]) for key in group}) == 1
        steps += [
            _domain_step(keys, _allowed(keys[0], domain[keys[0]], goal.kv_floor))
            for keys in ([group] if is_together else [(key,) for key in group])
        ]
    return steps


def _domain_step(keys: tuple[str, ...], values: Sequence[Value]) -> Step:
    numbers = [value for value in values if isinstance(value, int)]
    is_ordered = len(numbers) == len(values)
    is_ladder = is_ordered and (keys == ("slots",) or len(values) > _MOST_AT_ONCE)
    ordered: list[Value] = sorted(numbers) if is_ordered else list(values)

    def options(best: EngineConfig, _: Cell) -> list[Option]:
        if not uses(best, keys[0]):
            return []
        return [dict.fromkeys(keys, value) for value in ordered]

    return Step("+".join(BY_KEY[key].label for key in keys), keys, options, is_ladder)


def _allowed(key: str, values: Sequence[Value], kv_floor: str) -> list[Value]:
    """``values`` without KV types that are coarser than the floor."""
    if not key.startswith("cache_type"):
        return list(values)
    coarser = KV_LADDER[KV_LADDER.index(kv_floor) + 1 :]
    return [value for value in values if value not in coarser]
