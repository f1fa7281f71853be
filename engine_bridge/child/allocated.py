"""What a context and its model occupy, and what became of the configuration they were built for.

Serves the planner's dry contexts and the engine's real ones alike. Knows the facade's objects; must
not make or free any.
"""

from __future__ import annotations

from dataclasses import replace

from engine_bridge.child.breakdown import BufferBytes
from engine_bridge.child.context_shift import can_shift
from engine_bridge.child.llama import GGML, Context
from engine_bridge.child.memory_shape import HOST, MemoryShape, shape_of
from engine_bridge.child.nextn import thought_bytes
from engine_bridge.child.threads import threads_of
from engine_bridge.hardware.memory_limit import host_memory
from engine_bridge.host_caches import drafting_bytes
from engine_bridge.lora_facts import lora_bytes
from engine_bridge.memory_plan import EffectiveConfig, MemoryPlan
from engine_bridge.protocol import DeviceFacts
from engine_bridge.settings.config import EngineConfig

_LOGIT_BYTES = 4


def output_bytes_of(context: Context) -> int:
    """The logits buffer once every output row has been asked for (``output_reserve``).

    Beside logits it holds what the model thinks of each token, where guessing layers read that.
    """
    logits = context.model.vocab * _LOGIT_BYTES * max(context.outputs_max, context.sequences)
    return logits + thought_bytes(context)


def mtp_shape(mtp: Context, rows: tuple[BufferBytes, ...], *, with_weights: bool) -> MemoryShape:
    """What the context of guessing layers occupies.

    Args:
        mtp: That context.
        rows: Its buffers.
        with_weights: Whether its weights count: they are a file's own, not the model's.
    """
    return shape_of(
        rows if with_weights else [replace(row, model=0) for row in rows],
        output_bytes=output_bytes_of(mtp),
        recurrent_bytes=0,
    )


def memory_now() -> tuple[DeviceFacts, ...]:
    """Boards as ggml sees them, then host memory by what the system could still give, in bytes.

    The boards stand in the order in which llama.cpp takes layers to them.
    """
    order = [GGML.name_of(handle) for handle in GGML.boards()]
    boards = [device for device in GGML.devices() if device.kind in ("gpu", "igpu")]
    boards.sort(key=lambda board: order.index(board.name) if board.name in order else len(order))
    host = host_memory()
    return (*boards, DeviceFacts(HOST, "System memory", "cpu", "CPU", host.free, host.total))


def allocated(
    context: Context,
    config: EngineConfig,
    seconds: float,
    recurrent_bytes: int = 0,
    draft: Context | None = None,
) -> MemoryPlan:
    """What real contexts and their models occupy, for ``Applied``.

    Args:
        context: A context on a loaded model.
        config: What it was built for.
        seconds: How long that took.
        recurrent_bytes: State of a hybrid model; a recurrent model's is found here.
        draft: The draft model's context, None without one.

    Raises:
        NotSupportedError: On other platforms than Linux.
    """
    rows = context.memory_breakdown()
    state = sum(row.context for row in rows) if context.model.is_recurrent else recurrent_bytes
    shape = shape_of(
        rows,
        output_bytes=output_bytes_of(context),
        recurrent_bytes=state,
        memory=memory_now(),
    )
    shape = shape.with_more_weights(lora_bytes(config))
    if draft is not None:
        shape = shape.with_draft(
            shape_of(
                draft.memory_breakdown(), output_bytes=output_bytes_of(draft), recurrent_bytes=0
            )
        )
    if context.mtp is not None:
        mtp = context.mtp
        with_weights = mtp.model is not context.model
        rows = mtp.memory_breakdown()
        shape = shape.with_draft(mtp_shape(mtp, rows, with_weights=with_weights))
    shape = shape.with_drafting(drafting_bytes(config, state))
    effective = effective_of(context, config, context.flash_attn)
    return MemoryPlan(shape.bytes, shape.devices, effective, True, (), seconds)


def effective_of(context: Context, config: EngineConfig, flash_attn: str) -> EffectiveConfig:
    """What became of ``config`` in ``context``; a slot never exceeds the training context."""
    limits = [context.ctx_seq_tok, context.model.ctx_train_tok]
    if config.kv_unified:
        limits.append(config.ctx_per_slot_tok)
    decode, batch = threads_of(config)
    return EffectiveConfig(
        ctx_per_slot_tok=min(limit for limit in limits if limit > 0),
        slots=context.sequences,
        kv_unified=config.kv_unified,
        ctx_total_tok=context.ctx_tok,
        flash_attn=flash_attn,
        n_gpu_layers=context.model.n_gpu_layers,
        batch_tok=context.batch_tok,
        ubatch_tok=context.ubatch_tok,
        threads=decode,
        threads_batch=batch,
        outputs_max=context.outputs_max,
        can_shift=can_shift(context),
    )
