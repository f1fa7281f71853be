"""What runs on this machine took: one figure for each kind of work at each settings. Pure.

An ``Observation`` is a prompt that was read alone, or a stretch in which nobody but a fixed number
of streams wrote. ``Observations`` keeps a bounded number of them: equal work at equal settings is
one, which follows the newest runs.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from typing import Annotated, Literal, TypeAlias

import msgspec

from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.model_facts import ModelFacts
from engine_bridge.protocol import Applied, Hello
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.spec_kinds import EXPORT_ONLY_KINDS, MODEL_KINDS

MOST = 240
"""Observations kept of one model on one machine; about 60 kB as JSON."""

_KEPT_S = 180 * 86_400.0
# An observation follows the newest runs: what a driver or another cooler changed is soon forgotten.
_LEAST_WEIGHT = 1 / 8
# Something else on the machine makes a run slower, never faster: a slow one is believed by and by.
_MOST_SLOWER = math.log(1.25)
# What decides where weights lie and which kernels read them, beside the layers on boards.
_PLACEMENT = (
    "n_cpu_moe", "cpu_moe", "n_cpu_ffn", "override_tensor", "split_mode", "tensor_split",
    "main_gpu", "devices", "rpc_servers", "kv_offload", "op_offload", "no_host", "repack", "lora",
    "override_kv",
)  # fmt: skip
_RESOLVED = ("threads", "threads_batch", "flash_attn")
# A stored file may say anything.
_Seconds: TypeAlias = Annotated[float, msgspec.Meta(gt=0, le=1e6)]
_Tokens: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=2**31)]
_MOST_COUNTED = 2**31
_Count: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=_MOST_COUNTED)]
Work: TypeAlias = Literal["prefill", "decode"]


class RunSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The settings that decide how long a step takes, as the engine made them.

    Attributes:
        threads: Decode threads.
        threads_batch: Prefill threads.
        ubatch_tok: Physical batch.
        flash_attn: Whether flash attention is used.
        cache_type_k: Type of the keys in the cache.
        cache_type_v: Type of the values.
        kv_unified: Whether the slots share one pool.
        swa_full: Whether windowed layers keep every token.
        drafts: What drafts, empty where nothing does.
        placement: Where the weights lie, as text that is equal for equal placements.
    """

    threads: _Count
    threads_batch: _Count
    ubatch_tok: _Count
    flash_attn: bool
    cache_type_k: str = "f16"
    cache_type_v: str = "f16"
    kv_unified: bool = False
    swa_full: bool = False
    drafts: str = ""
    placement: str = ""


class Observation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What some work took.

    Attributes:
        work: ``prefill``: a prompt read while nobody else was served; ``decode``: streams writing.
        settings: With which settings.
        seconds: From sending to the first token; or per token of each stream.
        tokens: Prompt tokens computed; or tokens written in all.
        depth_tok: Tokens in the slot before; or the mean depth of a stream.
        streams: Streams that wrote, 1 for a prompt.
        pool_tok: Cells in use over all slots.
        passes: Micro-batches that a step was cut into, on average: each reads the weights.
        count: Runs it is made of.
        at_s: When the newest was, seconds since 1970.
    """

    work: Work
    settings: RunSettings
    seconds: _Seconds
    tokens: _Tokens
    depth_tok: _Tokens
    streams: _Count = 1
    pool_tok: _Tokens = 0
    passes: Annotated[float, msgspec.Meta(ge=1, le=2**16)] = 1.0
    count: _Count = 1
    at_s: float = 0.0

    @property
    def cell(self) -> tuple[object, ...]:
        """Equal for work that is the same: tokens and depth within a fifth."""
        size = round(2 * math.log2(max(1.0, self.tokens))) if self.work == "prefill" else 0
        depth = round(2 * depth_scale(self))
        return (self.settings, self.work, self.streams, round(self.passes), size, depth)

    def merged(self, newer: Observation) -> Observation:
        """This and another run of the same work as one; times as a geometric mean."""
        weight = max(1 / (self.count + 1), _LEAST_WEIGHT)

        def mean(old: float, new: float) -> float:
            return old + weight * (new - old)

        slower = min(math.log(newer.seconds / self.seconds), _MOST_SLOWER)
        return msgspec.structs.replace(
            newer,
            seconds=self.seconds * math.exp(weight * slower),
            tokens=mean(self.tokens, newer.tokens),
            depth_tok=mean(self.depth_tok, newer.depth_tok),
            pool_tok=mean(self.pool_tok, newer.pool_tok),
            passes=mean(self.passes, newer.passes),
            count=self.count + 1,
        )


def depth_scale(of: Observation) -> float:
    """Depth in doublings, where what is shallow is all alike."""
    return math.log2(of.depth_tok + 256)


class Observations:
    """All observations of one model on one machine, at most ``MOST``."""

    def __init__(self, known: Iterable[Observation] = (), now_s: float = 0.0) -> None:
        """Take up what is ``known``, but nothing older than half a year before ``now_s``."""
        self._cells: dict[tuple[object, ...], Observation] = {}
        for each in sorted(known, key=lambda observation: observation.at_s):
            if each.at_s >= now_s - _KEPT_S:
                self._put(each)

    def add(self, newer: Observation) -> None:
        """Learn from a run; the oldest work is forgotten where there is too much."""
        before = self._cells.pop(newer.cell, None)
        self._put(newer if before is None else before.merged(newer))

    def all(self) -> tuple[Observation, ...]:
        """What is known, the work seen last at the end."""
        return tuple(self._cells.values())

    def _put(self, each: Observation) -> None:
        self._cells.pop(each.cell, None)
        self._cells[each.cell] = each
        while len(self._cells) > MOST:
            del self._cells[next(iter(self._cells))]


def run_settings(config: EngineConfig, effective: EffectiveConfig) -> RunSettings:
    """What counts for speed of a configuration and of what the engine made of it."""
    return RunSettings(
        threads=_counted(effective.threads),
        threads_batch=_counted(effective.threads_batch),
        ubatch_tok=_counted(effective.ubatch_tok),
        # What is left to the engine it uses wherever it can.
        flash_attn=effective.flash_attn != "off",
        cache_type_k=config.cache_type_k,
        cache_type_v=config.cache_type_v,
        kv_unified=effective.kv_unified,
        swa_full=config.swa_full,
        drafts=_drafts(config),
        placement=_placement(config, effective),
    )


def settings_of_candidate(
    candidate: EngineConfig, applied: Applied, planned: EffectiveConfig | None
) -> RunSettings | None:
    """What counts for speed of settings that do not run yet; None while that is not known.

    Args:
        candidate: The settings.
        applied: What runs.
        planned: What the engine would make of ``candidate``, None while its plan is to come.
    """
    running, made = applied.config, applied.effective
    if planned is not None:
        if planned.flash_attn == "auto" and candidate.flash_attn == running.flash_attn:
            planned = msgspec.structs.replace(planned, flash_attn=made.flash_attn)
        return run_settings(candidate, planned)
    changed = set(candidate.changed_from(running))
    if not changed.isdisjoint((*_PLACEMENT, "n_gpu_layers", "model_path", "fit_margin_mib")):
        return None
    known: dict[str, object] = {
        "ubatch_tok": min(candidate.ubatch_tok, candidate.batch_tok),
        "kv_unified": candidate.kv_unified,
    }
    for key in changed.intersection(_RESOLVED):
        value = getattr(candidate, key)
        if value == "auto" and key == "threads":
            return None
        known[key] = value
    if candidate.threads_batch == "auto":
        known["threads_batch"] = known.get("threads", made.threads)
    return run_settings(candidate, msgspec.structs.replace(made, **known))


def model_key(facts: ModelFacts) -> str:
    """A name for the model that stays when its file is moved; fit for a file's name."""
    says = (
        facts.name, facts.architecture, facts.quantisation, facts.tensor_bytes, facts.parameters,
    )  # fmt: skip
    return _short(says)


def machine_key(hello: Hello, cores: int) -> str:
    """A name for this machine with this build of the engine; fit for a file's name.

    Args:
        hello: What the engine sees.
        cores: Processors that the system counts.
    """
    devices = sorted((d.kind, d.backend, d.description, d.total >> 30) for d in hello.devices)
    return _short((devices, cores, hello.binding_version))


def _counted(number: int) -> int:
    """As a file may have it, whatever an engine says."""
    return min(max(1, number), _MOST_COUNTED)


def _short(says: object) -> str:
    return hashlib.sha256(repr(says).encode()).hexdigest()[:16]


def _drafts(config: EngineConfig) -> str:
    kinds = [kind for kind in config.spec_types if kind not in EXPORT_ONLY_KINDS]
    if not kinds:
        return ""
    parts = [*kinds, f"{config.drafted_max_tok} tok"]
    if not MODEL_KINDS.keys().isdisjoint(kinds):
        file_name = config.draft_model_path.replace("\\", "/").rpartition("/")[2]
        parts += [file_name, str(config.draft_n_gpu_layers)]
    return " ".join(parts)


def _placement(config: EngineConfig, effective: EffectiveConfig) -> str:
    default = EngineConfig()
    parts = [
        f"{key}={getattr(config, key)}"
        for key in _PLACEMENT
        if getattr(config, key) != getattr(default, key)
    ]
    parts += [
        f"{key}={value}"
        for key, value in sorted(effective.placed.items())
        if key not in ("n_gpu_layers", "draft_n_gpu_layers")
    ]
    return " ".join([f"{effective.n_gpu_layers} layers", *parts])
