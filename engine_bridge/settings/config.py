"""One complete configuration of the desk, and what it means to llama.cpp.

Knows every setting's type and the slot arithmetic; must not know the library.
"""

from __future__ import annotations

from typing import Literal, Self

import msgspec

from engine_bridge.settings.assignments import unknown_key_sentence
from engine_bridge.settings.domain import DomainError, Value
from engine_bridge.settings.spec_kinds import NGRAM_CACHE_TOK, kinds_that_use
from engine_bridge.settings.table import BY_KEY, SETTINGS

# llama.cpp pads every context to this (GGML_PAD in src/llama-context.cpp).
CONTEXT_PAD_TOK = 256

Auto = Literal["auto"]
CacheTypeName = Literal["f32", "f16", "bf16", "q8_0", "q5_1", "q5_0", "q4_1", "iq4_nl", "q4_0"]


def pad_context_tok(tokens: int) -> int:
    """``tokens`` rounded up to the multiple of 256 that llama.cpp makes of it."""
    return -(-tokens // CONTEXT_PAD_TOK) * CONTEXT_PAD_TOK


class EngineConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All settings with their values; fields are the keys of the settings table."""

    model_path: str = ""
    ctx_per_slot_tok: int = 4096
    slots: int = 4
    kv_unified: bool = False
    ctx_total_tok: int | Auto = "auto"
    cache_type_k: CacheTypeName = "f16"
    cache_type_v: CacheTypeName = "f16"
    flash_attn: Literal["auto", "on", "off"] = "auto"
    spec_types: tuple[str, ...] = ()
    ngram_size_m: int = 48
    ngram_size_n: int = 12
    ngram_min_hits: int = 1
    ngram_mod_n_match: int = 24
    ngram_mod_n_min: int = 48
    ngram_mod_n_max: int = 64
    lookup_cache_static_path: str = ""
    lookup_cache_dynamic_path: str = ""
    draft_model_path: str = ""
    draft_n_max: int = 3
    draft_n_min: int = 0
    draft_p_min: float = 0.0
    draft_n_gpu_layers: int | Literal["auto", "all"] = "auto"
    draft_cache_type_k: CacheTypeName = "f16"
    draft_cache_type_v: CacheTypeName = "f16"
    n_gpu_layers: int | Literal["auto", "all"] = "auto"
    fit_margin_mib: int = 1024
    n_cpu_moe: int = 0
    cpu_moe: bool = False
    n_cpu_ffn: int = 0
    override_tensor: tuple[str, ...] = ()
    split_mode: Literal["none", "layer", "row", "tensor"] = "layer"
    tensor_split: tuple[str, ...] = ()
    main_gpu: int = 0
    devices: tuple[str, ...] = ()
    rpc_servers: tuple[str, ...] = ()
    kv_offload: bool = True
    op_offload: bool = True
    cache_prompt: bool = True
    cache_ram_mib: int = 8192
    ctx_checkpoints: int = 32
    checkpoint_min_step_tok: int = 8192
    cache_reuse_tok: int = 0
    swa_full: bool = False
    context_shift: bool = False
    keep_tok: int = 0
    load_mode: Literal["auto", "none", "mmap", "mlock", "mmap+mlock", "dio"] = "auto"
    lazy_mode: Literal["auto", "on", "off"] = "auto"
    no_host: bool = False
    repack: bool = True
    mmproj_path: str = ""
    lora: tuple[str, ...] = ()
    override_kv: tuple[str, ...] = ()
    extra_flags: tuple[str, ...] = ()
    batch_tok: int = 2048
    ubatch_tok: int = 512
    prefill_chunk_tok: int | Auto = "auto"
    threads: int | Auto = "auto"
    threads_batch: int | Auto = "auto"
    temperature: float = 0.8
    top_k: int = 40
    top_p: float = 0.95
    min_p: float = 0.05
    repeat_penalty: float = 1.0
    repeat_last_n_tok: int = 64
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    seed: int = -1
    max_new_tok: int = -1
    dry_multiplier: float = 0.0
    dry_base: float = 1.75
    dry_allowed_tok: int = 2
    dry_last_n_tok: int = 64
    dry_sequence_breakers: tuple[str, ...] = ("\n", ":", '"', "*")
    top_n_sigma: float = -1.0
    typical_p: float = 1.0
    xtc_probability: float = 0.0
    xtc_threshold: float = 0.1
    dynatemp_range: float = 0.0
    dynatemp_exponent: float = 1.0
    adaptive_target: float = -1.0
    adaptive_decay: float = 0.9
    mirostat: int = 0
    mirostat_lr: float = 0.1
    mirostat_ent: float = 5.0
    logit_bias: tuple[str, ...] = ()
    ignore_eos: bool = False
    grammar: str = ""
    json_schema: str = ""

    @classmethod
    def from_values(cls, values: dict[str, object]) -> Self:
        """Build a configuration from some values; the rest are defaults.

        Raises:
            DomainError: For an unknown key or a value outside its domain, in one sentence.
        """
        return cls().with_values(values)

    def with_values(self, values: dict[str, object]) -> Self:
        """A copy with some values changed, each checked against its domain.

        Raises:
            DomainError: For an unknown key or a value outside its domain, in one sentence.
        """
        checked: dict[str, Value] = {}
        for key, value in values.items():
            setting = BY_KEY.get(key)
            if setting is None:
                raise DomainError(unknown_key_sentence(key))
            try:
                checked[key] = setting.domain.check(value)
            except DomainError as error:
                raise DomainError(f"{setting.label} ({key}): {error}") from None
        return msgspec.structs.replace(self, **checked)

    def values(self) -> dict[str, Value]:
        """Every key with its value, in the table's order."""
        return {setting.key: getattr(self, setting.key) for setting in SETTINGS}

    def changed_from(self, other: EngineConfig) -> tuple[str, ...]:
        """Keys whose values differ from those of ``other``, in the table's order."""
        return tuple(s.key for s in SETTINGS if getattr(self, s.key) != getattr(other, s.key))

    @property
    def slot_cap_tok(self) -> int:
        """Tokens one slot may use once llama.cpp has padded it (training length not applied)."""
        if not self.kv_unified:
            return pad_context_tok(self.ctx_per_slot_tok)
        return min(self.ctx_per_slot_tok, self.pool_tok)

    @property
    def pool_tok(self) -> int:
        """Cells of the KV pool that llama.cpp makes of this configuration.

        Split pool: slots × the padded context of one. Unified: the padded ``ctx_total_tok``.
        """
        if not self.kv_unified:
            return self.slots * pad_context_tok(self.ctx_per_slot_tok)
        total = self.ctx_total_tok
        if total == "auto":
            total = self.slots * self.ctx_per_slot_tok
        return pad_context_tok(total)

    @property
    def drafted_max_tok(self) -> int:
        """Most tokens that can be drafted for one stream in one step; 0 without speculation."""
        by_ngram = max(
            self.ngram_size_m if kinds_that_use("ngram_size_m", self.spec_types) else 0,
            self.ngram_mod_n_max if "ngram-mod" in self.spec_types else 0,
            NGRAM_CACHE_TOK if "ngram-cache" in self.spec_types else 0,
        )
        has_model = "draft-simple" in self.spec_types or self.uses_mtp
        by_model = self.draft_n_max if has_model else 0
        return max(by_ngram, by_model)

    @property
    def draft(self) -> Self | None:
        """What the draft model is loaded and built with; None where no draft model runs.

        As llama-server has it (common_base_params_to_speculative): a context as large as the
        target's, with the same slots, batches and flash attention, and one output row a slot. A
        file of guessing layers keeps ``draft-mtp``: its context is built with its ``mtp``.
        """
        has_kind = "draft-simple" in self.spec_types or self.uses_mtp
        if not has_kind or not self.draft_model_path:
            return None
        return msgspec.structs.replace(
            self,
            model_path=self.draft_model_path,
            n_gpu_layers=self.draft_n_gpu_layers,
            cache_type_k=self.draft_cache_type_k,
            cache_type_v=self.draft_cache_type_v,
            spec_types=("draft-mtp",) if self.uses_mtp else (),
            draft_model_path="",
            n_cpu_moe=0,
            cpu_moe=False,
            n_cpu_ffn=0,
            override_tensor=(),
            mmproj_path="",
            lora=(),
        )

    @property
    def uses_mtp(self) -> bool:
        """Whether layers guess ahead, of the model's own or from a file of their own."""
        return "draft-mtp" in self.spec_types

    @property
    def loads_mtp(self) -> bool:
        """Whether these layers come from the model's own file; they are loaded with it then."""
        return self.uses_mtp and not self.draft_model_path

    @property
    def drafts_by_model(self) -> bool:
        """Whether a draft model runs, or layers of the model's own that guess ahead."""
        return self.uses_mtp or self.draft is not None

    @property
    def rollback_tok(self) -> int:
        """States that a recurrent memory keeps of each sequence beside the newest.

        llama-server asks for them with such drafts alone (``need_n_rs_seq`` in common/common.h);
        with others it copies states.
        """
        return self.draft_n_max if self.uses_mtp else 0

    @property
    def mtp(self) -> Self | None:
        """What the context of the guessing layers is built with; None without them."""
        if not self.uses_mtp:
            return None
        return msgspec.structs.replace(
            self,
            cache_type_k=self.draft_cache_type_k,
            cache_type_v=self.draft_cache_type_v,
            spec_types=(),
        )

    @property
    def outputs_per_slot(self) -> int:
        """Logit rows one stream may need in a step, as llama-server bounds them."""
        return min(self.batch_tok, 1 + self.drafted_max_tok)

    @property
    def outputs_max(self) -> int:
        """Logit rows a step may need (common_speculative_get_output_limits in llama.cpp)."""
        return min(self.batch_tok, self.slots * (1 + self.drafted_max_tok))
