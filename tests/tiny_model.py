"""Tiny random-weight GGUF files: real structure, no meaning, written in under a second.

The plain one (8.8 million parameters, a vocabulary of 32,000) steps in 0.3 ms, which makes it
the stand-in for a fast GPU when overhead is measured. Same arguments, same bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import numpy.typing as npt

VOCAB_TOK = 32_000
BOS_ID = 1
EOS_ID = 2
CHATML = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_SYLLABLES = [first + second for first in "bcdfghjklmnprstvwz" for second in "aeiou"]


@dataclass(frozen=True)
class TinyLlama:
    """Shape of a tiny model of the llama architecture.

    Attributes:
        layers: Transformer layers.
        width: Embedding length.
        heads: Query heads.
        kv_heads: KV heads.
        head_dim: Values per head, K and V alike; 80 is a multiple of no cache block.
        ffn: Hidden length of the feed-forward part (of one expert, with experts).
        ctx_train_tok: Training context the header claims.
        vocab_tok: Tokens, at least 512.
        experts: Experts of each layer; 0 makes a dense model.
        experts_used: Experts that one token uses.
        chat_template: Jinja source, or the empty string for a base model.
        long_rope_tok: Where LongRoPE takes its other factors, 0 for a model without it.
        seed: Start of the random weights.
    """

    layers: int = 2
    width: int = 128
    heads: int = 4
    kv_heads: int = 2
    head_dim: int = 32
    ffn: int = 640
    ctx_train_tok: int = 4096
    vocab_tok: int = VOCAB_TOK
    experts: int = 0
    experts_used: int = 0
    chat_template: str = ""
    long_rope_tok: int = 0
    seed: int = 0


def write_tiny_llama(path: Path, shape: TinyLlama | None = None) -> Path:
    """Write a dense or mixture-of-experts llama, F32, and return ``path``."""
    shape = shape or TinyLlama()
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name(path.stem)
    writer.add_context_length(shape.ctx_train_tok)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.ffn)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.kv_heads)
    writer.add_key_length(shape.head_dim)
    writer.add_value_length(shape.head_dim)
    writer.add_rope_dimension_count(shape.head_dim)
    writer.add_layer_norm_rms_eps(1e-5)
    if shape.long_rope_tok:
        writer.add_rope_scaling_type(gguf.RopeScalingType.LONGROPE)
        writer.add_rope_scaling_orig_ctx_len(shape.long_rope_tok)
    if shape.experts:
        writer.add_expert_count(shape.experts)
        writer.add_expert_used_count(shape.experts_used)
    add_vocabulary(writer, shape.vocab_tok, shape.chat_template)

    weights = _Weights(writer, shape.seed)
    weights.add("token_embd.weight", shape.vocab_tok, shape.width)
    weights.add_ones("output_norm.weight", shape.width)
    weights.add("output.weight", shape.vocab_tok, shape.width)
    if shape.long_rope_tok:
        for name, factor in (("long", 4.0), ("short", 1.0)):
            factors = np.full(shape.head_dim // 2, factor, np.float32)
            weights.add_values(f"rope_factors_{name}.weight", factors)
    for layer in range(shape.layers):
        _add_llama_layer(weights, f"blk.{layer}", shape)
    return finish(writer, path)


def _add_llama_layer(weights: _Weights, block: str, shape: TinyLlama) -> None:
    query, keys = shape.heads * shape.head_dim, shape.kv_heads * shape.head_dim
    weights.add_ones(f"{block}.attn_norm.weight", shape.width)
    weights.add(f"{block}.attn_q.weight", query, shape.width)
    weights.add(f"{block}.attn_k.weight", keys, shape.width)
    weights.add(f"{block}.attn_v.weight", keys, shape.width)
    weights.add(f"{block}.attn_output.weight", shape.width, query)
    weights.add_ones(f"{block}.ffn_norm.weight", shape.width)
    if shape.experts:
        weights.add(f"{block}.ffn_gate_inp.weight", shape.experts, shape.width)
        weights.add(f"{block}.ffn_gate_exps.weight", shape.experts, shape.ffn, shape.width)
        weights.add(f"{block}.ffn_up_exps.weight", shape.experts, shape.ffn, shape.width)
        weights.add(f"{block}.ffn_down_exps.weight", shape.experts, shape.width, shape.ffn)
    else:
        weights.add(f"{block}.ffn_gate.weight", shape.ffn, shape.width)
        weights.add(f"{block}.ffn_up.weight", shape.ffn, shape.width)
        weights.add(f"{block}.ffn_down.weight", shape.width, shape.ffn)


@dataclass(frozen=True)
class TinyMamba:
    """Shape of a tiny recurrent model: a state a sequence, no KV cache.

    Attributes:
        layers: Layers.
        width: Embedding length; the inner length is twice that.
        conv: Length of the convolution.
        state: State values of an inner channel.
        dt_rank: Rank of the time step.
        ctx_train_tok: Training context the header claims.
        vocab_tok: Tokens, at least 512.
        seed: Start of the random weights.
    """

    layers: int = 2
    width: int = 128
    conv: int = 4
    state: int = 16
    dt_rank: int = 8
    ctx_train_tok: int = 4096
    vocab_tok: int = VOCAB_TOK
    seed: int = 0


def write_tiny_mamba(path: Path, shape: TinyMamba | None = None) -> Path:
    """Write a recurrent model of the mamba architecture, F32, and return ``path``."""
    shape = shape or TinyMamba()
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = gguf.GGUFWriter(path, "mamba")
    writer.add_name(path.stem)
    writer.add_context_length(shape.ctx_train_tok)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(0)
    writer.add_head_count(0)
    writer.add_ssm_conv_kernel(shape.conv)
    writer.add_ssm_inner_size(2 * shape.width)
    writer.add_ssm_state_size(shape.state)
    writer.add_ssm_time_step_rank(shape.dt_rank)
    writer.add_layer_norm_rms_eps(1e-5)
    add_vocabulary(writer, shape.vocab_tok, "")

    weights = _Weights(writer, shape.seed)
    weights.add("token_embd.weight", shape.vocab_tok, shape.width)
    weights.add_ones("output_norm.weight", shape.width)
    for layer in range(shape.layers):
        _add_mamba_layer(weights, f"blk.{layer}", shape)
    return finish(writer, path)


def _add_mamba_layer(weights: _Weights, block: str, shape: TinyMamba) -> None:
    inner, state, rank = 2 * shape.width, shape.state, shape.dt_rank
    # A is minus exp(log A) with A = 1 … state, as mamba starts it; positive would explode.
    decay = -np.tile(np.arange(1, state + 1, dtype=np.float32), (inner, 1))
    weights.add_ones(f"{block}.attn_norm.weight", shape.width)
    weights.add(f"{block}.ssm_in.weight", 2 * inner, shape.width)
    weights.add(f"{block}.ssm_conv1d.weight", inner, shape.conv)
    weights.add_values(f"{block}.ssm_conv1d.bias", np.zeros(inner, dtype=np.float32))
    weights.add(f"{block}.ssm_x.weight", rank + 2 * state, inner)
    weights.add(f"{block}.ssm_dt.weight", inner, rank)
    weights.add_values(f"{block}.ssm_dt.bias", np.zeros(inner, dtype=np.float32))
    weights.add_values(f"{block}.ssm_a", decay)
    weights.add_ones(f"{block}.ssm_d", inner)
    weights.add(f"{block}.ssm_out.weight", shape.width, inner)


class _Weights:
    """Adds seeded random tensors to a file, in the order of the calls."""

    def __init__(self, writer: Any, seed: int) -> None:
        self._writer = writer
        self._random = np.random.default_rng(seed)

    def add(self, name: str, *rows_first: int) -> None:
        """A random tensor whose outputs keep roughly the variance of its inputs."""
        values = self._random.standard_normal(rows_first, dtype=np.float32)
        self._writer.add_tensor(name, values / np.float32(np.sqrt(rows_first[-1])))

    def add_ones(self, name: str, length: int) -> None:
        """A norm that leaves its input as it is."""
        self.add_values(name, np.ones(length, dtype=np.float32))

    def add_values(self, name: str, values: npt.NDArray[np.float32]) -> None:
        """A tensor with given values."""
        self._writer.add_tensor(name, values)


def add_vocabulary(writer: Any, vocab_tok: int, chat_template: str) -> None:
    """A SentencePiece vocabulary: specials, 256 bytes, printable ASCII, made-up words."""
    control, byte, normal = gguf.TokenType.CONTROL, gguf.TokenType.BYTE, gguf.TokenType.NORMAL
    pieces = [("<unk>", gguf.TokenType.UNKNOWN), ("<s>", control), ("</s>", control)]
    pieces += [(f"<0x{value:02X}>", byte) for value in range(256)]
    pieces += [("<|im_start|>", control), ("<|im_end|>", control), ("▁", normal)]
    pieces += [(chr(code), normal) for code in range(33, 127)]
    pieces += [(_word(number), normal) for number in range(vocab_tok - len(pieces))]
    writer.add_tokenizer_model("llama")
    writer.add_token_list([text.encode() for text, _ in pieces])
    writer.add_token_scores([-float(number) for number in range(vocab_tok)])
    writer.add_token_types([int(kind) for _, kind in pieces])
    writer.add_bos_token_id(BOS_ID)
    writer.add_eos_token_id(EOS_ID)
    writer.add_unk_token_id(0)
    writer.add_add_bos_token(True)
    writer.add_add_eos_token(False)
    if chat_template:
        writer.add_chat_template(chat_template)


def _word(number: int) -> str:
    """Distinct pronounceable pieces, each with a space before it."""
    word = ""
    number += len(_SYLLABLES)  # two syllables at least, so that no piece is a single letter
    while number:
        number, digit = divmod(number, len(_SYLLABLES))
        word += _SYLLABLES[digit]
    return "▁" + word


def weight_adder(writer: Any, seed: int) -> Callable[..., None]:
    """What adds tensors to a file by the name of their layer and their sizes, rows first.

    One of a single size is a norm that leaves its input as it is; others are random, their outputs
    as varied as their inputs, roughly.
    """
    random = np.random.default_rng(seed)

    def add(name: str, *rows_first: int) -> None:
        values = np.ones(rows_first, dtype=np.float32)
        if len(rows_first) > 1:
            values = random.standard_normal(rows_first, dtype=np.float32)
            values /= np.float32(rows_first[-1] ** 0.5)
        writer.add_tensor(f"{name}.weight", values)

    return add


def finish(writer: Any, path: Path) -> Path:
    """Write the file, and return ``path``."""
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
