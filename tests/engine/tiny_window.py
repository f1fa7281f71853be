"""A tiny model whose layers look back over a sliding window, all but the last (gemma3), F32."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import gguf

from tests.tiny_model import add_vocabulary, finish, weight_adder


@dataclass(frozen=True)
class TinyWindow:
    """Shape of it; of six layers five have the window, which gemma3 makes so by itself."""

    layers: int = 6
    width: int = 64
    heads: int = 4
    kv_heads: int = 2
    head_dim: int = 16
    ffn: int = 128
    window_tok: int = 64
    vocab: int = 512
    seed: int = 0
    chat_template: str = ""


def write_tiny_window(path: Path, shape: TinyWindow | None = None) -> Path:
    """Write it with random weights, and return ``path``."""
    shape = shape or TinyWindow()
    writer = gguf.GGUFWriter(path, "gemma3")
    writer.add_context_length(4096)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.ffn)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.kv_heads)
    writer.add_key_length(shape.head_dim)
    writer.add_value_length(shape.head_dim)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_sliding_window(shape.window_tok)
    add_vocabulary(writer, shape.vocab, shape.chat_template)
    add = weight_adder(writer, shape.seed)
    add("token_embd", shape.vocab, shape.width)
    add("output", shape.vocab, shape.width)
    add("output_norm", shape.width)
    queries, keys = shape.heads * shape.head_dim, shape.kv_heads * shape.head_dim
    for layer in range(shape.layers):
        block = f"blk.{layer}"
        for norm in ("attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm"):
            add(f"{block}.{norm}", shape.width)
        add(f"{block}.attn_q_norm", shape.head_dim)
        add(f"{block}.attn_k_norm", shape.head_dim)
        add(f"{block}.attn_q", queries, shape.width)
        add(f"{block}.attn_k", keys, shape.width)
        add(f"{block}.attn_v", keys, shape.width)
        add(f"{block}.attn_output", shape.width, queries)
        add(f"{block}.ffn_gate", shape.ffn, shape.width)
        add(f"{block}.ffn_up", shape.ffn, shape.width)
        add(f"{block}.ffn_down", shape.width, shape.ffn)
    return finish(writer, path)
