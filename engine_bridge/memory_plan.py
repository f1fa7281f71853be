"""What a configuration would occupy, in bytes: the planner's answer.

Knows the shape of the answer; ``child.planner`` computes it.
"""

from __future__ import annotations

import msgspec

from engine_bridge.settings.domain import Value
from engine_bridge.settings.rules import Problem


class BytesByUse(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Bytes by what they are for, over all devices.

    Attributes:
        weights: Weight buffers, repacked copies included.
        weights_mapped: Weights in file-backed, reclaimable pages (mmap).
        kv: KV cache.
        recurrent: Recurrent state.
        compute: Compute buffers.
        output: Logits buffer, which grows at run time.
        draft: Everything that drafts: weights, caches, compute and output buffers of a draft model,
            tables, and copies of states to take drafts back.
        draft_mapped: The part of ``draft`` in file-backed pages.
        host: The part of all the above that lies in host memory.
        total: Sum of all but ``draft_mapped`` and ``host``.
    """

    weights: int = 0
    weights_mapped: int = 0
    kv: int = 0
    recurrent: int = 0
    compute: int = 0
    output: int = 0
    draft: int = 0
    draft_mapped: int = 0
    host: int = 0
    total: int = 0


class DeviceBytes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Bytes on one device.

    Attributes:
        name: As ggml calls it (``CUDA0``, ``RPC0``), or ``CPU`` for host memory.
        weights: Weights, mapped ones included.
        kv: KV cache and recurrent state.
        compute: Compute and output buffers.
        draft: Everything that drafts there; the numbers above are the target's alone.
        free: Free before this configuration is loaded, -1 if unknown.
        total: Size of the device's memory, -1 if unknown.
    """

    name: str
    weights: int
    kv: int
    compute: int
    free: int = -1
    total: int = -1
    draft: int = 0

    @property
    def needed(self) -> int:
        """Bytes of all that lies there."""
        return self.weights + self.kv + self.compute + self.draft


class EffectiveConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the engine makes of a configuration.

    Attributes:
        ctx_per_slot_tok: Tokens one slot may use (padded, capped by training length and cap).
        slots: Sequences.
        kv_unified: Whether the slots share one pool.
        ctx_total_tok: Cells of the pool.
        flash_attn: ``on`` or ``off`` where the engine decided it; ``auto`` where unknown.
        n_gpu_layers: Layers on a GPU, the output layer included.
        batch_tok: Logical batch.
        ubatch_tok: Physical batch.
        threads: Decode threads.
        threads_batch: Prefill threads.
        outputs_max: Logit rows the context was built for.
        can_shift: Whether a full slot could drop earlier tokens and go on.
        placed: The values that ``auto`` came to where layers are placed; empty where nothing was
            left to it, or there is no board.
        placement: What was placed and why, a sentence or two; empty where ``placed`` is.
    """

    ctx_per_slot_tok: int
    slots: int
    kv_unified: bool
    ctx_total_tok: int
    flash_attn: str
    n_gpu_layers: int
    batch_tok: int
    ubatch_tok: int
    threads: int
    threads_batch: int
    outputs_max: int
    can_shift: bool = True
    placed: dict[str, Value] = {}
    placement: str = ""


class MemoryPlan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The planner's answer for one configuration.

    Attributes:
        bytes: Bytes by use.
        devices: Bytes by device.
        effective: What the engine would make of the configuration.
        fits: Whether every device has room, counting what the running engine would give back.
        problems: Rules broken and devices overfull, errors first.
        seconds: Time the dry run took.
        ways: Changes with which it was tried and fits, the nearest first; only where asked for.
        host_caches: Host memory that prompt caches may take beside all that, at most. They take it
            as conversations come and only while there is room, so ``fits`` does not count it.
        host_kept: What kept prompts hold of it now; it is given back where it is needed.
        weights_read: Bytes of the model's weights that steps read, each once and every expert
            counted; tables of which a step looks up a row are not among them. 0 where not known.
    """

    bytes: BytesByUse
    devices: tuple[DeviceBytes, ...]
    effective: EffectiveConfig | None
    fits: bool
    problems: tuple[Problem, ...]
    seconds: float
    ways: tuple[dict[str, Value], ...] = ()
    host_caches: int = 0
    host_kept: int = 0
    weights_read: int = 0


def moves_weights(before: EffectiveConfig, after: EffectiveConfig | None) -> bool:
    """Whether ``auto`` places the weights of the model itself elsewhere, which takes a load."""
    if after is None:
        return False
    keys = (before.placed.keys() | after.placed.keys()) - {"draft_n_gpu_layers"}
    return any(before.placed.get(key) != after.placed.get(key) for key in keys)
