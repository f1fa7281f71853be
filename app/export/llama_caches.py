"""The flags of llama.cpp's server about what is kept of earlier prompts."""

from __future__ import annotations

from app.export.llama_flag import Flag, said, said_if_changed, switch

CACHES: tuple[Flag, ...] = (
    switch("--swa-full", "swa_full", when=True),
    switch("--context-shift", "context_shift", when=True),
    said_if_changed("--keep", "keep_tok"),
    switch("--no-cache-prompt", "cache_prompt", when=False),
    # What the program takes of host memory is said even where it is its default.
    said("--cache-ram", "cache_ram_mib"),
    said("-ctxcp", "ctx_checkpoints"),
    said_if_changed("-cms", "checkpoint_min_step_tok"),
    said_if_changed("--cache-reuse", "cache_reuse_tok"),
)
