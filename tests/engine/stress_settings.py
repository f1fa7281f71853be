"""What a stress changes while answers run."""

from __future__ import annotations

from collections.abc import Sequence

# What may be changed while answers run, and whether their scores are then others.
SAME_SCORES: dict[str, Sequence[object]] = {
    "slots": (1, 2, 3, 5),
    "ctx_per_slot_tok": (256, 512, 768),
    "kv_unified": (False, True),
    "batch_tok": (64, 256, 2048),
    "ubatch_tok": (32, 64, 512),
    "prefill_chunk_tok": ("auto", 32, 64),
    "cache_prompt": (True, True, False),
    "cache_ram_mib": (0, 1, 64),
    "ctx_checkpoints": (0, 2, 8),
    "checkpoint_min_step_tok": (0, 32, 256),
    "swa_full": (False, True),
    "flash_attn": ("off", "on"),
    "spec_types": ((), (), ("ngram-simple",), ("ngram-cache",), ("ngram-mod",), ("draft-simple",)),
    "load_mode": ("mmap", "none"),
    "max_new_tok": (8, 40, -1),
}
# Cells that are moved or rounded give other scores for good.
MOVED_OR_ROUNDED: dict[str, Sequence[object]] = {
    "context_shift": (False, True, True),
    "keep_tok": (0, 16, -1),
    "cache_reuse_tok": (0, 8),
    "cache_type_k": ("f16", "q8_0", "f32"),
    "cache_type_v": ("f16", "f16", "q8_0"),
}
OTHER_SCORES: dict[str, Sequence[object]] = {
    "temperature": (0.0, 0.0, 0.8),
    "logit_bias": ((), (), ("310-inf",), ("333+2",)),
    "ignore_eos": (False, False, True),
}
