"""The flags of llama.cpp's server about what is kept of earlier prompts."""

from __future__ import annotations

from app.export.llama_flag import Flag, said_if_changed, switch

CACHES: tuple[Flag, ...] = (
    switch("--swa-full", "swa_full", when=True),
    switch("--context-shift", "context_shift", when=True),
    said_if_changed("--keep", "keep_tok"),
    # The program keeps up to 8 GiB of prompts and 32 checkpoints a slot in host memory; the desk's
    # engine has neither, so the memory predicted is that of a program without them.
    Flag((), lambda _: ("--cache-ram", "0", "-ctxcp", "0")),
)
