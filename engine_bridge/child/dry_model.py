"""A model that is only pretended: no weights in memory, and contexts that cost milliseconds.

Knows how to ask llama.cpp for a dry run; what fits is the planner's question.
"""

from __future__ import annotations

from dataclasses import replace

import msgspec

from engine_bridge.child.allocated import effective_of, mtp_shape, output_bytes_of
from engine_bridge.child.breakdown import BufferBytes
from engine_bridge.child.llama import Context, LlamaError, Model
from engine_bridge.child.mapped_weights import mapped_bytes, without_guessing_layers
from engine_bridge.child.memory_shape import HOST, MemoryShape, mapped_as_loaded, shape_of
from engine_bridge.child.nextn import attach_mtp
from engine_bridge.child.placement import override_patterns
from engine_bridge.gguf_file import GgufModel
from engine_bridge.lora_facts import lora_bytes
from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.protocol import DeviceFacts
from engine_bridge.settings.config import EngineConfig

_REPACKED = "CPU_REPACK"
# Load modes with which llama.cpp maps the file; auto maps wherever every device can.
_MAPPING_MODES = frozenset({"auto", "mmap", "mmap+mlock"})
# Two contexts so short that no window is full yet: in them every cache grows with the tokens.
_SHORT_TOK = 256

# A micro-batch of so many tokens a slot takes more than a step of one. Below, how buffers come to
# lie decides: the step took more at 3.5 still, and never above in 1,500 contexts of two models.
_STEPS_IN_UBATCH = 4


class DryModel:
    """One dry-loaded model at one placement. Close it."""

    def __init__(self, gguf: GgufModel, config: EngineConfig) -> None:
        """Pretend to load.

        Raises:
            LlamaError: If llama.cpp refuses the model, with its words.
        """
        self._model = _load(gguf, config)
        self._flash: dict[tuple[object, ...], str] = {}
        self._state_bytes: dict[tuple[int, int], int] = {}
        self._mapped: dict[int, int] = {}
        self._overrides = override_patterns(config)
        self._loaded_parts = gguf.parts
        if not config.uses_mtp:
            self._loaded_parts = without_guessing_layers(gguf.parts, gguf.facts)

    def close(self) -> None:
        """Free what little there is."""
        self._model.close()

    def run(
        self, config: EngineConfig, memory: tuple[DeviceFacts, ...]
    ) -> tuple[MemoryShape, EffectiveConfig]:
        """Pretend to build a context; check the rules before.

        Args:
            config: What to build; its placement is this model's.
            memory: Free and total bytes of the devices, to be passed on.

        Returns:
            What it would occupy, and what would become of the configuration.

        Raises:
            LlamaError: If llama.cpp refuses, with its words.
            NotSupportedError: On other platforms than Linux.
        """
        context, flash = self._create(config)
        step = None
        try:
            attach_mtp(context, config, quiet=True)
            step = self._step_of_all_slots(config)
            rows = _as_reserved(context, step)
            shape = shape_of(
                self._as_loaded(rows, config),
                output_bytes=output_bytes_of(context),
                recurrent_bytes=self._recurrent_bytes(rows, config),
                memory=memory,
            )
            shape = shape.with_more_weights(lora_bytes(config))
            if context.mtp is not None:
                mtp_rows = _as_reserved(context.mtp, None if step is None else step.mtp)
                shape = shape.with_draft(mtp_shape(context.mtp, mtp_rows))
            return shape, effective_of(context, config, flash)
        finally:
            context.close()
            if step is not None:
                step.close()

    def _create(self, config: EngineConfig) -> tuple[Context, str]:
        """A dry context, and the flash attention it would run with.

        What ``auto`` becomes stands only in the log, depends on nothing but these settings, and
        listening to the log repeats its warnings: so it is asked once.
        """
        key = (config.flash_attn, config.cache_type_k, config.cache_type_v, config.kv_offload)
        known = self._flash.get(key)
        context = Context.create(self._model, config, quiet=known is not None)
        flash = self._flash.setdefault(key, context.flash_attn)
        return context, flash

    def _step_of_all_slots(self, config: EngineConfig) -> Context | None:
        """A dry context for a token a slot, where that may take more than a micro-batch."""
        if config.ubatch_tok >= _STEPS_IN_UBATCH * config.slots:
            return None
        wider = msgspec.structs.replace(config, ubatch_tok=config.slots)
        context, _ = self._create(wider)
        attach_mtp(context, wider, quiet=True)
        return context

    def _as_loaded(
        self, rows: tuple[BufferBytes, ...], config: EngineConfig
    ) -> tuple[BufferBytes, ...]:
        if config.load_mode not in _MAPPING_MODES:
            return rows
        repacked = sum(row.model for row in rows if row.buffer.name == _REPACKED)
        if repacked not in self._mapped:
            is_offloaded = any(row.model and row.buffer.device != HOST for row in rows)
            first = self._model.blocks + 1 - self._model.n_gpu_layers if is_offloaded else None
            self._mapped[repacked] = mapped_bytes(
                self._loaded_parts, repacked, first, self._overrides
            )
        return mapped_as_loaded(rows, self._mapped[repacked])

    def _recurrent_bytes(self, rows: tuple[BufferBytes, ...], config: EngineConfig) -> int:
        if self._model.is_recurrent:
            return _context_bytes(rows)
        if not self._model.is_hybrid:
            return 0
        key = (config.slots, config.rollback_tok)
        if key not in self._state_bytes:
            self._state_bytes[key] = self._measure_state(config)
        return self._state_bytes[key]

    def _measure_state(self, config: EngineConfig) -> int:
        """The part of the context's bytes that does not grow with its length.

        It depends on the number of states alone, so two short contexts tell it exactly.
        """
        sizes = []
        for tokens in (_SHORT_TOK, 2 * _SHORT_TOK):
            short = msgspec.structs.replace(config, ctx_per_slot_tok=tokens, kv_unified=False)
            context, _ = self._create(short)
            sizes.append(_context_bytes(context.memory_breakdown()))
            context.close()
        return max(0, 2 * sizes[0] - sizes[1])


def _as_reserved(context: Context, step: Context | None) -> tuple[BufferBytes, ...]:
    """What a load reserves: room for a micro-batch and for a step of a token a slot.

    A dry run counts the micro-batch alone (``sched_reserve`` in src/llama-context.cpp).
    """
    rows = context.memory_breakdown()
    if step is None:
        return rows
    compute = {row.buffer: row.compute for row in step.memory_breakdown()}
    return tuple(replace(row, compute=max(row.compute, compute[row.buffer])) for row in rows)


def _context_bytes(rows: tuple[BufferBytes, ...]) -> int:
    return sum(row.context for row in rows)


def _load(gguf: GgufModel, config: EngineConfig) -> Model:
    """Without its vocabulary where llama.cpp takes it so: the bytes are the same."""
    facts = gguf.facts
    if facts.vocab:
        try:
            return Model.load(
                facts.path,
                config,
                no_alloc=True,
                fast_vocab=(facts.architecture, facts.vocab),
                quiet=True,
            )
        except LlamaError:
            pass  # the whole load below gives the reason, or works
    return Model.load(facts.path, config, no_alloc=True, quiet=True)
