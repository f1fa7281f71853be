"""What a step is made of: the parts whose time grows with something that is known. Pure.

A time is ``exp(outer) · Σ amount · exp(inner)``: the amounts are counted from the work, the names
in ``outer`` and ``inner`` are logarithms that ``log_fit`` learns. Every name has a guess from the
size of the model and says how far off that guess may be, so that one run is enough to begin with.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from engine_bridge.metrics.observations import RunSettings, Work
from engine_bridge.model_facts import ModelFacts

# llama.cpp looks at so many cells at once (llama_kv_cache::get_n_kv).
_CELLS_PAD = 256
# Of a longer prompt some micro-batches are summed as one: the time for the sum stays bounded.
_MOST_SUMMED = 1024
_FLOATS = ("f16", "f32")
# What nobody has measured: a processor's reads and sums per second. Off by a factor of 20 either
# way is well within what is allowed for; one run puts it right.
_READ_BYTES_PER_S, _FLOPS = 2e10, 1e11


@dataclass(frozen=True)
class Part:
    """One part of a step.

    Attributes:
        amount: How much of it there is, 0 or more.
        names: What its price is made of, with their exponents.
    """

    amount: float
    names: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Cost:
    """A time as its parts.

    Attributes:
        outer: Factors of the whole, with their exponents.
        parts: What is added up; the first one's price is the unit of the others.
    """

    outer: Mapping[str, float]
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Guess:
    """What is thought of a logarithm before anything was measured."""

    mean: float
    deviation: float


@dataclass(frozen=True)
class ModelSize:
    """What of a model decides how long a step takes.

    Attributes:
        weight_bytes: Bytes of its tensors.
        parameters: Its weights.
        kv_bytes_per_tok: Bytes of a token in an f16 cache, all layers.
        window_tok: Sliding window, 0 without one.
        window_share: Part of the cache that belongs to windowed layers, 0 to 1.
    """

    weight_bytes: int
    parameters: int
    kv_bytes_per_tok: int
    window_tok: int = 0
    window_share: float = 0.0

    @classmethod
    def of(cls, facts: ModelFacts) -> ModelSize:
        """The sizes of a model."""
        kv_bytes = facts.bytes_per_token_f16
        window_bytes = 2 * (facts.window_k_values + facts.window_v_values)
        share = min(1.0, window_bytes / kv_bytes) if kv_bytes and facts.window_tok else 0.0
        return cls(facts.tensor_bytes, facts.parameters, kv_bytes, facts.window_tok, share)

    def seen_cells(self, depth_tok: float, window_tok: float) -> float:
        """Cells that a token at a depth attends to, the mean of all layers."""
        if not self.window_share:
            return depth_tok
        seen = min(depth_tok, window_tok)
        return (1 - self.window_share) * depth_tok + self.window_share * seen


@dataclass(frozen=True)
class Streams:
    """Who writes.

    Attributes:
        count: Streams, 1 or more.
        depth_tok: Mean tokens in their slots.
        pool_tok: Tokens in all slots; None for these streams alone.
        passes: Micro-batches that a step of theirs is cut into, 1 or more.
    """

    count: int
    depth_tok: float
    pool_tok: float | None = None
    passes: float = 1.0

    @property
    def used_tok(self) -> float:
        """Tokens in all slots."""
        return self.count * self.depth_tok if self.pool_tok is None else self.pool_tok


def decode_cost(settings: RunSettings, size: ModelSize, streams: Streams) -> Cost:
    """What a step takes in which each of some streams gets a token, settings as they were made."""
    count, depth_tok = streams.count, streams.depth_tok
    if settings.flash_attn:  # what is masked is skipped
        cells = count * size.seen_cells(depth_tok, size.window_tok)
    else:
        deepest = streams.used_tok if settings.kv_unified else depth_tok
        padded = _CELLS_PAD * math.ceil((deepest + 1) / _CELLS_PAD)
        cells = count * size.seen_cells(padded, _kept_window(settings, size, count))
    outer = {"decode": 1.0, f"decode rows {round(count / streams.passes)}": 1.0}
    outer |= _threads("decode", settings.threads)
    if settings.drafts:
        outer[f"decode drafts {settings.drafts}"] = 1.0
    return Cost(
        outer,
        (
            Part(streams.passes),
            Part(count, {"decode row": 1.0}),
            Part(cells / 1000, {"decode cell": 1.0} | _attention("decode", settings)),
        ),
    )


def prefill_cost(settings: RunSettings, size: ModelSize, tokens: float, depth_tok: float) -> Cost:
    """What it takes to read a prompt alone, up to its first token.

    Args:
        settings: As the engine made them.
        size: The model.
        tokens: Tokens to compute, 1 or more.
        depth_tok: Tokens of it that are in the slot already.
    """
    batches = math.ceil(max(1.0, tokens) / settings.ubatch_tok)
    together = math.ceil(batches / _MOST_SUMMED)
    summed = np.arange(1, math.ceil(batches / together) + 1)
    ends = depth_tok + np.minimum(settings.ubatch_tok * together * summed, tokens)
    rows = np.diff(ends, prepend=depth_tok)
    if settings.flash_attn:  # what is masked is skipped: half of a batch's own square
        reach, window = ends - rows / 2, float(size.window_tok)
    else:
        middle = ends - (rows - np.minimum(rows, settings.ubatch_tok)) / 2
        reach = _CELLS_PAD * np.ceil(middle / _CELLS_PAD)
        window = _kept_window(settings, size, 1)
    cells = sum(
        row * size.seen_cells(float(to), window)
        for row, to in zip(rows.tolist(), reach.tolist(), strict=True)
    )
    outer = {"prefill": 1.0} | _threads("prefill", settings.threads_batch)
    if settings.drafts:
        outer[f"prefill drafts {settings.drafts}"] = 1.0
    return Cost(
        outer,
        (
            Part(tokens),
            Part(1.0, {"prefill start": 1.0}),
            Part(batches, {"prefill batch": 1.0}),
            Part(cells / 1000, {"prefill cell": 1.0} | _attention("prefill", settings)),
        ),
    )


def guess_of(name: str, size: ModelSize) -> Guess:
    """What to think of a logarithm that no run has told yet."""
    weights, parameters = max(1, size.weight_bytes), max(1, size.parameters)
    reads = max(1.0, 1000.0 * size.kv_bytes_per_tok)
    # Two sums for each value of keys and values and of each query head that shares them.
    sums = 4 * reads / 2
    known = {
        "decode": Guess(math.log(weights / _READ_BYTES_PER_S), 3.0),
        "decode row": Guess(math.log(0.1), 1.2),
        "decode cell": Guess(math.log(reads / weights), 1.2),
        "decode threads": Guess(0.6, 0.4),
        "prefill": Guess(math.log(2 * parameters / _FLOPS), 3.0),
        "prefill start": Guess(math.log(10), 1.2),
        "prefill batch": Guess(math.log(10), 1.2),
        "prefill cell": Guess(math.log(sums / (2 * parameters)), 1.5),
        "prefill threads": Guess(0.8, 0.3),
    }
    if name in known:
        return known[name]
    _, kind, *_ = name.split(" ")
    return Guess(0.0, _DEVIATIONS[kind])


# How far one choice may be from what the amounts say: settings are alike until a run says no.
_DEVIATIONS = {"rows": 0.12, "at": 0.12, "drafts": 0.4, "path": 1.0, "k": 0.4, "v": 0.4}


def _threads(work: Work, threads: int) -> dict[str, float]:
    """A power of their number, and what this number is off by."""
    return {f"{work} threads": -math.log(threads), f"{work} at {threads}": 1.0}


def _attention(work: Work, settings: RunSettings) -> dict[str, float]:
    """Which code reads the cache, and of which types.

    Without flash attention it is two products of matrices; with it, in tiles where keys and values
    are of one floating type, else row by row (ggml_compute_forward_flash_attn_ext).
    """
    k, v = settings.cache_type_k, settings.cache_type_v
    path = "plain"
    if settings.flash_attn:
        path = "tiled" if k == v and k in _FLOATS else "by-row"
    names = {f"{work} path {path}": 1.0}
    if k not in _FLOATS:
        names[f"{work} k {k}"] = 1.0
    if v not in _FLOATS:
        names[f"{work} v {v}"] = 1.0
    return names


def _kept_window(settings: RunSettings, size: ModelSize, streams: int) -> float:
    """Cells of a windowed layer's cache (llama_kv_cache_iswa); it is read whole."""
    if settings.swa_full or not size.window_tok:
        return math.inf
    windows = size.window_tok * (streams if settings.kv_unified else 1) + settings.ubatch_tok
    return _CELLS_PAD * math.ceil(windows / _CELLS_PAD)
