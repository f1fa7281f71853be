"""What a decode step reads, and how that compares with what the memory can deliver.

Pure arithmetic; knows no engine and no hardware. Bytes are bytes, rates bytes per second.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class WeightReads:
    """Weights that a decode step can touch.

    Attributes:
        shared_bytes: Bytes every step reads: all but the routed experts. A separate token embedding
            table does not count, since a step reads one row of it.
        expert_bytes: Bytes of all routed experts of all layers; 0 for a dense model.
        experts: Routed experts of a layer; 0 for a dense model.
        experts_used: Experts one token is sent to.
        output_bytes: Of ``shared_bytes`` those of the output matrix, which a step reads only where
            it wants logits.
        body_parameters: Weights that each token is multiplied with on its way through the layers;
            of the routed experts those that one token uses.
        output_parameters: Weights of the output matrix.
    """

    shared_bytes: float
    expert_bytes: float = 0.0
    experts: int = 0
    experts_used: int = 0
    output_bytes: float = 0.0
    body_parameters: float = 0.0
    output_parameters: float = 0.0

    @property
    def read_bytes(self) -> float:
        """Bytes of all that a step may read, every expert included."""
        return self.shared_bytes + self.expert_bytes

    def per_step_bytes(self, tokens: float, *, has_output: bool = True) -> float:
        """Bytes expected to be read by one step.

        Args:
            tokens: Its tokens, drafted ones included; a mean where it is cut into micro-batches.
            has_output: Whether it wants logits.
        """
        shared = self.shared_bytes if has_output else self.shared_bytes - self.output_bytes
        if self.experts <= 0 or self.expert_bytes <= 0:
            return shared
        distinct = expected_distinct_experts(self.experts, self.experts_used, tokens)
        return shared + self.expert_bytes * distinct / self.experts

    def operations(self, tokens: float, rows: float) -> float:
        """Operations of the matrices: a multiplication and an addition for each weight.

        Args:
            tokens: Tokens computed.
            rows: Of them those whose logits are wanted.
        """
        return 2.0 * (self.body_parameters * tokens + self.output_parameters * rows)


@dataclass(frozen=True)
class KvReads:
    """KV cache and state that one stream reads in a step.

    Attributes:
        full_bytes_per_tok: Bytes per token over the layers that attend to everything.
        window_bytes_per_tok: Bytes per token over the layers with a sliding window.
        window_tok: Length of that window.
        state_bytes: Recurrent state, read whole whatever the depth.
    """

    full_bytes_per_tok: float
    window_bytes_per_tok: float = 0.0
    window_tok: int = 0
    state_bytes: float = 0.0

    def at_depth_bytes(self, depth_tok: int) -> float:
        """Bytes one stream with ``depth_tok`` tokens in its slot reads in a step."""
        in_window = min(depth_tok, self.window_tok)
        return (
            self.full_bytes_per_tok * depth_tok
            + self.window_bytes_per_tok * in_window
            + self.state_bytes
        )


def expected_distinct_experts(experts: int, experts_used: int, tokens: float) -> float:
    """Experts of a layer that at least one of ``tokens`` tokens is sent to.

    ``E · (1 − (1 − k/E)^B)``: each token misses a given expert with probability ``1 − k/E``.
    Routing is taken as even and independent; real routers prefer some experts, so this is an
    upper estimate.

    Args:
        experts: E, routed experts of a layer, at least 1.
        experts_used: k, experts a token uses, 0 to E.
        tokens: B, tokens in the step, 0 or more.

    Raises:
        ValueError: If a number is out of its range.
    """
    if experts < 1 or not 0 <= experts_used <= experts or tokens < 0:
        raise ValueError(
            f"No such routing: {tokens} tokens to {experts_used} of {experts} experts."
        )
    return float(experts * (1.0 - (1.0 - experts_used / experts) ** tokens))


def bytes_per_step(
    weights: WeightReads | float,
    kv: KvReads | float,
    depths_tok: Iterable[int],
    rows: int | None = None,
) -> float:
    """Bytes one decode step reads: the weights once, and the cache of every stream.

    Args:
        weights: What there is to read, or plain bytes for a dense model.
        kv: What a stream reads, or plain bytes per token.
        depths_tok: Tokens in the slot of each stream of the step.
        rows: Tokens in the batch where drafts make it more than one per stream.

    Returns:
        Bytes; 0 for a step without streams, which is no step.
    """
    depths = list(depths_tok)
    if not depths:
        return 0.0
    reads = weights if isinstance(weights, WeightReads) else WeightReads(weights)
    cache = kv if isinstance(kv, KvReads) else KvReads(kv)
    kv_bytes = sum(cache.at_depth_bytes(depth) for depth in depths)
    return reads.per_step_bytes(len(depths) if rows is None else rows) + kv_bytes


def achieved_bytes_per_s(decode_bytes: float, decode_s: float) -> float | None:
    """Achieved bandwidth of decode steps, None where no such step ran."""
    if decode_s <= 0 or decode_bytes <= 0:
        return None
    achieved = decode_bytes / decode_s
    return achieved if math.isfinite(achieved) else None


def mbu(achieved: float | None, peak: float | None) -> float | None:
    """Share of the peak that decode achieves, 0 to about 1; None where either is unknown.

    Above 1 says that the peak or the bytes per step are wrong, and is shown as it is.
    """
    if achieved is None or peak is None or peak <= 0:
        return None
    return achieved / peak


def decode_ceiling_steps_per_s(peak_bytes_per_s: float | None, step_bytes: float) -> float | None:
    """Steps per second that the memory allows at most; None where the peak is unknown.

    Without drafts every stream gets one token a step, so this is tokens per second and stream.
    """
    if peak_bytes_per_s is None or peak_bytes_per_s <= 0 or step_bytes <= 0:
        return None
    return peak_bytes_per_s / step_bytes


def effective_peak_bytes_per_s(parts: Iterable[tuple[float, float | None]]) -> float | None:
    """Peak of weights that lie on several devices, read one after the other as layers are.

    ``Σ bytes / Σ (bytes / peak)``: a slow device counts by the time it takes. A tensor split reads
    them at once and can exceed this.

    Args:
        parts: (bytes, peak bytes per second) of each device; devices without bytes do not count.

    Returns:
        Bytes per second; None if a peak is unknown or nothing is read.
    """
    read = [(size, peak) for size, peak in parts if size > 0]
    if not read or any(peak is None or peak <= 0 for _, peak in read):
        return None
    seconds = sum(size / peak for size, peak in read if peak)
    return sum(size for size, _ in read) / seconds if seconds > 0 else None
