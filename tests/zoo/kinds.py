"""One tiny model of each kind that llama.cpp keeps a memory of its own for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.engine.tiny_hybrid import TinyHybrid, write_tiny_hybrid
from tests.engine.tiny_window import TinyWindow, write_tiny_window
from tests.tiny_model import TinyLlama, TinyMamba, write_tiny_llama, write_tiny_mamba
from tests.zoo.deepseek2 import TinyDeepseek2, write_tiny_deepseek2
from tests.zoo.grok import write_tiny_grok
from tests.zoo.minimax01 import write_tiny_minimax01
from tests.zoo.qwen3moe import TinyQwen3Moe, write_tiny_qwen3moe

_VOCAB_TOK = 512

# Each writes its model to a path; heads are multiples of a cache block where nothing else is said.
KINDS: dict[str, Callable[[Path], Path]] = {
    # Of many tokens, so that a row of logits counts.
    "llama": lambda path: write_tiny_llama(path, TinyLlama(vocab_tok=8_192, head_dim=64)),
    "head-80": lambda path: write_tiny_llama(path, TinyLlama(vocab_tok=_VOCAB_TOK, head_dim=80)),
    "head-40": lambda path: write_tiny_llama(path, TinyLlama(vocab_tok=_VOCAB_TOK, head_dim=40)),
    "gemma3": lambda path: write_tiny_window(path, TinyWindow(head_dim=32)),
    "qwen3moe": lambda path: write_tiny_qwen3moe(path, TinyQwen3Moe(has_vocabulary=True)),
    "deepseek2-mla": write_tiny_deepseek2,
    # Keys of 96 values, which blocks divide, and values of 48, which they do not.
    "deepseek2-legacy": lambda path: write_tiny_deepseek2(
        path, TinyDeepseek2(is_mla=False, plain_dim=64, value_dim=48)
    ),
    "mamba": lambda path: write_tiny_mamba(path, TinyMamba(vocab_tok=_VOCAB_TOK)),
    "lfm2": lambda path: write_tiny_hybrid(path, TinyHybrid(width=128, seed=0)),
    "grok": write_tiny_grok,
    "minimax-01": write_tiny_minimax01,
}
