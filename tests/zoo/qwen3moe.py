"""A tiny mixture of experts (qwen3moe): experts alone in the feed-forward part, normed Q and K."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import gguf

from tests.tiny_model import add_vocabulary, finish, weight_adder


@dataclass(frozen=True)
class TinyQwen3Moe:
    """Shape of it.

    Attributes:
        layers: Transformer layers.
        width: Embedding length.
        heads: Query heads.
        kv_heads: KV heads.
        head_dim: Values per head.
        expert_ffn: Hidden length of one expert.
        experts: Experts of each layer.
        experts_used: Experts that one token uses.
        ctx_train_tok: Training context the header claims.
        vocab: Tokens; at least 512 with a vocabulary.
        has_vocabulary: Whether it has one, to read and write texts with.
        seed: Start of the random weights.
    """

    layers: int = 4
    width: int = 64
    heads: int = 4
    kv_heads: int = 2
    head_dim: int = 32
    expert_ffn: int = 96
    experts: int = 8
    experts_used: int = 2
    ctx_train_tok: int = 4096
    vocab: int = 512
    has_vocabulary: bool = False
    seed: int = 0


def write_tiny_qwen3moe(path: Path, shape: TinyQwen3Moe | None = None) -> Path:
    """Write it with random F32 weights, and return ``path``."""
    shape = shape or TinyQwen3Moe()
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = gguf.GGUFWriter(path, "qwen3moe")
    writer.add_name(path.stem)
    writer.add_context_length(shape.ctx_train_tok)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.expert_ffn)
    writer.add_expert_feed_forward_length(shape.expert_ffn)
    writer.add_expert_count(shape.experts)
    writer.add_expert_used_count(shape.experts_used)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.kv_heads)
    writer.add_key_length(shape.head_dim)
    writer.add_value_length(shape.head_dim)
    writer.add_layer_norm_rms_eps(1e-6)
    if shape.has_vocabulary:
        add_vocabulary(writer, shape.vocab, "")
    else:
        writer.add_vocab_size(shape.vocab)
        writer.add_tokenizer_model("none")
    add = weight_adder(writer, shape.seed)
    add("token_embd", shape.vocab, shape.width)
    add("output_norm", shape.width)
    add("output", shape.vocab, shape.width)
    query, keys = shape.heads * shape.head_dim, shape.kv_heads * shape.head_dim
    for layer in range(shape.layers):
        block = f"blk.{layer}"
        add(f"{block}.attn_norm", shape.width)
        add(f"{block}.attn_q", query, shape.width)
        add(f"{block}.attn_k", keys, shape.width)
        add(f"{block}.attn_v", keys, shape.width)
        add(f"{block}.attn_output", shape.width, query)
        add(f"{block}.attn_q_norm", shape.head_dim)
        add(f"{block}.attn_k_norm", shape.head_dim)
        add(f"{block}.ffn_norm", shape.width)
        add(f"{block}.ffn_gate_inp", shape.experts, shape.width)
        add(f"{block}.ffn_gate_exps", shape.experts, shape.expert_ffn, shape.width)
        add(f"{block}.ffn_up_exps", shape.experts, shape.expert_ffn, shape.width)
        add(f"{block}.ffn_down_exps", shape.experts, shape.width, shape.expert_ffn)
    return finish(writer, path)
