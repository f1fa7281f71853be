"""A tiny hybrid model: layers with a convolution state beside layers with a KV cache (lfm2)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import gguf
import numpy as np

from tests.tiny_model import add_vocabulary, finish

_LOUDNESS = {"token_embd": 1.0, "out_proj": 0.04, "attn_output": 0.04}


@dataclass(frozen=True)
class TinyHybrid:
    """Shape of it; layer by layer ``kv_heads``, 0 where the layer keeps a state.

    With a ``seed`` it has random weights and a vocabulary of words, so that it can answer.
    """

    kv_heads: tuple[int, ...] = (0, 2, 0, 2)
    width: int = 64
    heads: int = 4
    ffn: int = 128
    conv: int = 3
    vocab: int = 512
    seed: int | None = None
    chat_template: str = ""


def write_tiny_hybrid(path: Path, shape: TinyHybrid | None = None) -> Path:
    """Write it, without a seed with zero weights and no vocabulary, and return ``path``."""
    shape = shape or TinyHybrid()
    writer = gguf.GGUFWriter(path, "lfm2")
    writer.add_context_length(4096)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(len(shape.kv_heads))
    writer.add_feed_forward_length(shape.ffn)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(list(shape.kv_heads))
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_uint32("lfm2.shortconv.l_cache", shape.conv)
    writer.add_vocab_size(shape.vocab)
    if shape.seed is None:
        writer.add_tokenizer_model("none")
    else:
        add_vocabulary(writer, shape.vocab, shape.chat_template)
    random = np.random.default_rng(shape.seed)

    def add(name: str, *rows_first: int) -> None:
        values = np.zeros(rows_first, dtype=np.float32)
        if shape.seed is not None and len(rows_first) == 1:
            values += 1  # a norm
        elif shape.seed is not None:
            values = random.standard_normal(rows_first, dtype=np.float32)
            # The last word counts most, so that texts come back to what they said before.
            values *= np.float32(_LOUDNESS.get(name.rpartition(".")[2], rows_first[-1] ** -0.5))
        writer.add_tensor(f"{name}.weight", values)

    add("token_embd", shape.vocab, shape.width)
    add("token_embd_norm", shape.width)
    if shape.seed is not None:
        add("output", shape.vocab, shape.width)
    for layer, kv_heads in enumerate(shape.kv_heads):
        block = f"blk.{layer}"
        add(f"{block}.attn_norm", shape.width)
        add(f"{block}.ffn_norm", shape.width)
        add(f"{block}.ffn_gate", shape.ffn, shape.width)
        add(f"{block}.ffn_up", shape.ffn, shape.width)
        add(f"{block}.ffn_down", shape.width, shape.ffn)
        if kv_heads:
            keys = kv_heads * shape.width // shape.heads
            add(f"{block}.attn_q", shape.width, shape.width)
            add(f"{block}.attn_k", keys, shape.width)
            add(f"{block}.attn_v", keys, shape.width)
            add(f"{block}.attn_output", shape.width, shape.width)
            add(f"{block}.attn_q_norm", shape.width // shape.heads)
            add(f"{block}.attn_k_norm", shape.width // shape.heads)
        else:
            add(f"{block}.shortconv.conv", shape.width, shape.conv)
            add(f"{block}.shortconv.in_proj", 3 * shape.width, shape.width)
            add(f"{block}.shortconv.out_proj", shape.width, shape.width)
    return finish(writer, path)
