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
from engine_bridge.child.nextn import attach_mtp, guessing_context, keep_thoughts
from engine_bridge.child.placement import override_patterns
from engine_bridge.draft_kind import GUESSES
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
# Of these llama.cpp reserves at last for one prompt that fills a micro-batch, since decay between
# its tokens takes their number squared (TAG_RESERVE_DIAG_DECAY in src/llama-context.cpp).
_RESERVED_FOR_ONE = frozenset({"kimi-linear", "minimax-01"})


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
        self._architecture = gguf.facts.architecture
        self._overrides = override_patterns(config)
        # A plain context of a file that holds nothing but guessing layers ends the process.
        self._only_guesses = gguf.facts.draft_kind == GUESSES
        self._loaded_parts = gguf.parts
        if not config.loads_mtp:
            self._loaded_parts = without_guessing_layers(gguf.parts, gguf.facts)

    def close(self) -> None:
        """Free what little there is."""
        self._model.close()

    def run(
        self, config: EngineConfig, memory: tuple[DeviceFacts, ...]
    ) -> tuple[MemoryShape, EffectiveConfig]:
        """Pretend to build a context; check the rules before.

        Args:
            config: What to build; its placement is this model's. Of a file of guessing layers
                their context is built, and the layers of another file are left to that file.
            memory: Free and total bytes of the devices, to be passed on.

        Returns:
            What it would occupy, and what would become of the configuration.

        Raises:
            LlamaError: If llama.cpp refuses, with its words.
            NotSupportedError: On other platforms than Linux.
        """
        context, flash = self._create(config)
        others: list[Context] = []
        try:
            self._let_guess(context, config)
            for other in self._reserved_besides(config):
                others.append(self._create(other)[0])
                self._let_guess(others[-1], other)
            rows = self._as_reserved(context, others)
            shape = shape_of(
                self._as_loaded(rows, config),
                output_bytes=output_bytes_of(context),
                recurrent_bytes=self._recurrent_bytes(rows, config),
                memory=memory,
            )
            shape = shape.with_more_weights(lora_bytes(config))
            if context.mtp is not None:
                guessing = [other.mtp for other in others if other.mtp is not None]
                mtp_rows = self._as_reserved(context.mtp, guessing)
                shape = shape.with_draft(mtp_shape(context.mtp, mtp_rows, with_weights=False))
            return shape, effective_of(context, config, flash)
        finally:
            for made in (context, *others):
                made.close()

    def _create(self, config: EngineConfig) -> tuple[Context, str]:
        """A dry context, and the flash attention it would run with.

        What ``auto`` becomes stands only in the log, depends on nothing but these settings, and
        listening to the log repeats its warnings: so it is asked once.
        """
        key = (config.flash_attn, config.cache_type_k, config.cache_type_v, config.kv_offload)
        known = self._flash.get(key)
        if self._only_guesses:
            assert config.mtp is not None
            context = guessing_context(self._model, config.mtp, quiet=known is not None)
        else:
            context = Context.create(self._model, config, quiet=known is not None)
        flash = self._flash.setdefault(key, context.flash_attn)
        return context, flash

    def _let_guess(self, context: Context, config: EngineConfig) -> None:
        if config.loads_mtp and not self._only_guesses:
            attach_mtp(context, config, quiet=True)
        elif config.uses_mtp and not self._only_guesses:
            keep_thoughts(context)

    def _reserved_besides(self, config: EngineConfig) -> list[EngineConfig]:
        """What a load reserves for as well, where that may take more than a micro-batch of all.

        A token of every slot, and of some architectures one prompt alone (but for its output rows,
        which are those of all slots: some hundred bytes each).
        """
        found = []
        if config.ubatch_tok < _STEPS_IN_UBATCH * config.slots:
            found.append(msgspec.structs.replace(config, ubatch_tok=config.slots))
        if config.slots > 1 and self._architecture in _RESERVED_FOR_ONE:
            # A context as long as one slot's, and at least a micro-batch, which is never longer.
            least_tok = min(config.ubatch_tok, config.pool_tok)
            pool_tok = max(config.ctx_per_slot_tok, least_tok)
            pool_tok = config.pool_tok if config.kv_unified else pool_tok
            found.append(
                msgspec.structs.replace(
                    config, slots=1, ctx_per_slot_tok=pool_tok, ctx_total_tok=pool_tok
                )
            )
        return found

    def _as_reserved(self, context: Context, others: list[Context]) -> tuple[BufferBytes, ...]:
        """What a load reserves: room for the largest of several graphs.

        A dry run counts one alone (``sched_reserve`` in src/llama-context.cpp); the others come
        from contexts of their own.
        """
        rows = context.memory_breakdown()
        besides = [other.memory_breakdown() for other in others]
        if self._architecture in _RESERVED_FOR_ONE:  # the last graph is that of one, not the first
            besides.append(context.memory_breakdown(of_last_graph=False))
        for other in besides:
            compute = {row.buffer: row.compute for row in other}
            rows = tuple(
                replace(row, compute=max(row.compute, compute[row.buffer])) for row in rows
            )
        return rows

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
        if self._only_guesses:
            return 0  # no such layer keeps a state
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
