"""A tiny hybrid of lightning attention and plain attention (minimax-01), a mixture of experts.

The decay between the tokens of a micro-batch is a tensor of its own here, which grows with their
number squared: llama.cpp reserves more for one long prompt than for one of every slot.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import gguf

from tests.tiny_model import add_vocabulary, finish, weight_adder


@dataclass(frozen=True)
class TinyMinimax01:
    """Shape of it; a head is the width divided by the heads.

    Attributes:
        layers: Layers, of which every second one has plain attention, the others a state.
        width: Embedding length.
        heads: Query heads.
        kv_heads: KV heads of the plain attention.
        expert_ffn: Hidden length of one expert.
        experts: Experts of each layer.
        experts_used: Experts that one token uses.
        vocab: Tokens, at least 512.
        seed: Start of the random weights.
    """

    layers: int = 4
    width: int = 128
    heads: int = 4
    kv_heads: int = 2
    expert_ffn: int = 64
    experts: int = 4
    experts_used: int = 2
    vocab: int = 512
    seed: int = 0


def write_tiny_minimax01(path: Path, shape: TinyMinimax01 | None = None) -> Path:
    """Write it with random F32 weights, and return ``path``."""
    shape = shape or TinyMinimax01()
    head_dim = shape.width // shape.heads
    writer = gguf.GGUFWriter(path, "minimax-01")
    writer.add_context_length(4096)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.expert_ffn)
    writer.add_expert_count(shape.experts)
    writer.add_expert_used_count(shape.experts_used)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.kv_heads)
    writer.add_rope_dimension_count(head_dim)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_float32("minimax-01.residual_scale", 1.0)
    writer.add_uint32("minimax-01.full_attention_interval", 2)
    add_vocabulary(writer, shape.vocab, "")
    add = weight_adder(writer, shape.seed)
    add("token_embd", shape.vocab, shape.width)
    add("output_norm", shape.width)
    add("output", shape.vocab, shape.width)
    for layer in range(shape.layers):
        block = f"blk.{layer}"
        add(f"{block}.attn_norm", shape.width)
        if layer % 2:
            add(f"{block}.attn_q", shape.width, shape.width)
            add(f"{block}.attn_k", shape.kv_heads * head_dim, shape.width)
            add(f"{block}.attn_v", shape.kv_heads * head_dim, shape.width)
        else:
            add(f"{block}.attn_norm_2", shape.width)
            add(f"{block}.attn_qkv", 3 * shape.width, shape.width)
            add(f"{block}.attn_gate", shape.width, shape.width)
        add(f"{block}.attn_output", shape.width, shape.width)
        add(f"{block}.ffn_norm", shape.width)
        add(f"{block}.ffn_gate_inp", shape.experts, shape.width)
        add(f"{block}.ffn_gate_exps", shape.experts, shape.expert_ffn, shape.width)
        add(f"{block}.ffn_up_exps", shape.experts, shape.expert_ffn, shape.width)
        add(f"{block}.ffn_down_exps", shape.experts, shape.width, shape.expert_ffn)
    return finish(writer, path)
