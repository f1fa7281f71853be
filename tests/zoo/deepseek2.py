"""A tiny model of the deepseek2 architecture: attention by low ranks, experts behind one FFN."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gguf

from tests.tiny_model import add_vocabulary, finish, weight_adder


@dataclass(frozen=True)
class TinyDeepseek2:
    """Shape of it; the first of its layers is dense.

    Attributes:
        is_mla: Whether the cache keeps keys and values compressed together; older files of this
            architecture keep them as other models do, keys longer than values.
        layers: Transformer layers.
        width: Embedding length.
        heads: Query heads.
        query_rank: Rank of the queries.
        kv_rank: Rank of keys and values: the values of a compressed row.
        plain_dim: Values of a key without a position.
        rope_dim: Values of a key with one.
        value_dim: Values per head.
        ffn: Hidden length of the dense layer's FFN.
        expert_ffn: Hidden length of one expert.
        experts: Experts of each layer behind the first.
        experts_used: Experts that one token uses.
        vocab: Tokens, at least 512.
        seed: Start of the random weights.
    """

    is_mla: bool = True
    layers: int = 3
    width: int = 64
    heads: int = 4
    query_rank: int = 32
    kv_rank: int = 64
    plain_dim: int = 32
    rope_dim: int = 32
    value_dim: int = 32
    ffn: int = 128
    expert_ffn: int = 32
    experts: int = 4
    experts_used: int = 2
    vocab: int = 512
    seed: int = 0


def write_tiny_deepseek2(path: Path, shape: TinyDeepseek2 | None = None) -> Path:
    """Write it with random F32 weights, and return ``path``."""
    shape = shape or TinyDeepseek2()
    writer = gguf.GGUFWriter(path, "deepseek2")
    _add_header(writer, shape)
    add_vocabulary(writer, shape.vocab, "")
    add = weight_adder(writer, shape.seed)
    add("token_embd", shape.vocab, shape.width)
    add("output_norm", shape.width)
    add("output", shape.vocab, shape.width)
    for layer in range(shape.layers):
        _add_attention(add, f"blk.{layer}", shape)
        _add_ffn(add, f"blk.{layer}", shape, is_dense=layer == 0)
    return finish(writer, path)


def _add_header(writer: Any, shape: TinyDeepseek2) -> None:
    writer.add_context_length(4096)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.layers)
    writer.add_leading_dense_block_count(1)
    writer.add_feed_forward_length(shape.ffn)
    writer.add_expert_feed_forward_length(shape.expert_ffn)
    writer.add_expert_count(shape.experts)
    writer.add_expert_used_count(shape.experts_used)
    writer.add_expert_shared_count(1)
    writer.add_head_count(shape.heads)
    writer.add_q_lora_rank(shape.query_rank)
    writer.add_kv_lora_rank(shape.kv_rank)
    writer.add_rope_dimension_count(shape.rope_dim)
    key_dim = shape.plain_dim + shape.rope_dim
    if shape.is_mla:
        writer.add_head_count_kv(1)
        writer.add_key_length(shape.kv_rank + shape.rope_dim)
        writer.add_value_length(shape.kv_rank)
        writer.add_key_length_mla(key_dim)
        writer.add_value_length_mla(shape.value_dim)
    else:
        writer.add_head_count_kv(shape.heads)
        writer.add_key_length(key_dim)
        writer.add_value_length(shape.value_dim)
    writer.add_layer_norm_rms_eps(1e-6)


def _add_attention(add: Any, block: str, shape: TinyDeepseek2) -> None:
    heads, rank = shape.heads, shape.kv_rank
    add(f"{block}.attn_norm", shape.width)
    add(f"{block}.attn_q_a", shape.query_rank, shape.width)
    add(f"{block}.attn_q_a_norm", shape.query_rank)
    add(f"{block}.attn_q_b", heads * (shape.plain_dim + shape.rope_dim), shape.query_rank)
    add(f"{block}.attn_kv_a_mqa", rank + shape.rope_dim, shape.width)
    add(f"{block}.attn_kv_a_norm", rank)
    if shape.is_mla:
        add(f"{block}.attn_k_b", heads, rank, shape.plain_dim)
        add(f"{block}.attn_v_b", heads, shape.value_dim, rank)
    else:
        add(f"{block}.attn_kv_b", heads * (shape.plain_dim + shape.value_dim), rank)
    add(f"{block}.attn_output", shape.width, heads * shape.value_dim)


def _add_ffn(add: Any, block: str, shape: TinyDeepseek2, *, is_dense: bool) -> None:
    add(f"{block}.ffn_norm", shape.width)
    if is_dense:
        add(f"{block}.ffn_gate", shape.ffn, shape.width)
        add(f"{block}.ffn_up", shape.ffn, shape.width)
        add(f"{block}.ffn_down", shape.width, shape.ffn)
        return
    add(f"{block}.ffn_gate_inp", shape.experts, shape.width)
    add(f"{block}.ffn_gate_exps", shape.experts, shape.expert_ffn, shape.width)
    add(f"{block}.ffn_up_exps", shape.experts, shape.expert_ffn, shape.width)
    add(f"{block}.ffn_down_exps", shape.experts, shape.width, shape.expert_ffn)
    add(f"{block}.ffn_gate_shexp", shape.expert_ffn, shape.width)
    add(f"{block}.ffn_up_shexp", shape.expert_ffn, shape.width)
    add(f"{block}.ffn_down_shexp", shape.width, shape.expert_ffn)
