"""A tiny hybrid model with a layer that guesses ahead (NextN, MTP), of the qwen35 architecture."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import gguf
import numpy as np
import numpy.typing as npt

from tests.tiny_model import add_vocabulary

_Values = npt.NDArray[np.float32]


@dataclass(frozen=True)
class TinyMtp:
    """Shape of it: layers by turns with a state and with a cache, and one more that guesses.

    Attributes:
        layers: Layers without the guessing one, every second one with a cache.
        width: Embedding length.
        heads: Query heads; half as many KV heads.
        head_dim: Values per head, also of the state's.
        ffn: Hidden length of the feed-forward part.
        vocab: Tokens, at least 512.
        mixing: How much an answer depends on more than its last word.
        seed: Start of the random weights.
        part: What the file holds: all of it, the model without its guessing layers, or these alone
            with what stands around the layers.
    """

    layers: int = 2
    width: int = 64
    heads: int = 4
    head_dim: int = 32
    ffn: int = 128
    vocab: int = 512
    mixing: float = 0.04
    seed: int = 1
    part: Literal["all", "trunk", "guesses"] = "all"


def write_tiny_mtp(path: Path, shape: TinyMtp | None = None) -> Path:
    """Write it, F32, and return ``path``.

    The guessing layer passes the word on and adds little to it, so that it is right now and then.
    """
    shape = shape or TinyMtp()
    writer = gguf.GGUFWriter(path, "qwen35")
    writer.add_name(path.stem)
    writer.add_context_length(4096)
    writer.add_embedding_length(shape.width)
    _add_blocks(writer, "qwen35", shape, guessing=1)
    writer.add_feed_forward_length(shape.ffn)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.heads // 2)
    writer.add_key_length(shape.head_dim)
    writer.add_value_length(shape.head_dim)
    writer.add_rope_dimension_count(shape.head_dim)
    writer.add_rope_dimension_sections([shape.head_dim // 4, shape.head_dim // 4, 0, 0])
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_uint32("qwen35.full_attention_interval", 2)
    writer.add_ssm_conv_kernel(4)
    writer.add_ssm_state_size(shape.head_dim)
    writer.add_ssm_group_count(shape.heads // 2)
    writer.add_ssm_time_step_rank(shape.heads)
    writer.add_ssm_inner_size(shape.heads * shape.head_dim)
    add_vocabulary(writer, shape.vocab, "")
    _Tensors(writer, shape).add_all()
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def write_tiny_mtp_chain(path: Path, shape: TinyMtp | None = None) -> Path:
    """Write a mimo2 instead: a sliding window, no state, and two guessing layers, a token each."""
    shape = shape or TinyMtp()
    writer = gguf.GGUFWriter(path, "mimo2")
    writer.add_name(path.stem)
    writer.add_context_length(4096)
    writer.add_embedding_length(shape.width)
    _add_blocks(writer, "mimo2", shape, guessing=2)
    writer.add_feed_forward_length(shape.ffn)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.heads // 2)
    writer.add_key_length(shape.head_dim)
    writer.add_value_length(shape.head_dim)
    writer.add_rope_dimension_count(shape.head_dim)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_sliding_window(64)
    layers = range(shape.layers if shape.part == "trunk" else shape.layers + 2)
    writer.add_array("mimo2.attention.sliding_window_pattern", [n % 2 == 0 for n in layers])
    writer.add_expert_feed_forward_length(shape.ffn)
    add_vocabulary(writer, shape.vocab, "")
    _Tensors(writer, shape).add_chain()
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add_blocks(writer: gguf.GGUFWriter, arch: str, shape: TinyMtp, guessing: int) -> None:
    """A file of guessing layers alone numbers them as if it held the others, too."""
    has_guesses = shape.part != "trunk"
    writer.add_block_count(shape.layers + (guessing if has_guesses else 0))
    if has_guesses:
        writer.add_uint32(f"{arch}.nextn_predict_layers", guessing)


class _Tensors:
    """Adds random tensors in the order of the calls; those of other parts are drawn and dropped."""

    def __init__(self, writer: Any, shape: TinyMtp) -> None:
        self._writer = writer
        self._shape = shape
        self._random = np.random.default_rng(shape.seed)

    def add_all(self) -> None:
        shape = self._shape
        self._add("token_embd.weight", shape.vocab, shape.width, loudness=1.0)
        self._add_ones("output_norm.weight", shape.width)
        self._add("output.weight", shape.vocab, shape.width)
        for layer in range(shape.layers):
            block = f"blk.{layer}"
            if layer % 2:
                self._add_attention(block)
            else:
                self._add_state(block)
            # All but the last layer say little, so that one more such layer may guess right.
            last = self._add_ffn(block, loudness=None if layer == shape.layers - 1 else 0.02)
        block = f"blk.{shape.layers}"
        self._add_attention(block)
        self._add_ffn(block, like=last)
        self._add_entry(block)

    def add_chain(self) -> None:
        shape = self._shape
        query, keys = shape.heads * shape.head_dim, shape.heads // 2 * shape.head_dim
        self._add("token_embd.weight", shape.vocab, shape.width, loudness=1.0)
        self._add_ones("output_norm.weight", shape.width)
        self._add("output.weight", shape.vocab, shape.width)
        last: list[_Values] = []
        for layer in range(shape.layers + 2):
            block = f"blk.{layer}"
            self._add(f"{block}.attn_qkv.weight", query + 2 * keys, shape.width)
            self._add(f"{block}.attn_output.weight", shape.width, query, loudness=shape.mixing)
            is_quiet = layer < shape.layers - 1
            last = self._add_ffn(
                block,
                loudness=0.02 if is_quiet else None,
                like=last if layer >= shape.layers else None,
                norm="ffn_norm",
            )
            if layer >= shape.layers:
                self._add_entry(block)

    def _put(self, name: str, values: _Values) -> None:
        if name.startswith("blk.") and self._shape.part != "all":
            is_guess = int(name.split(".")[1]) >= self._shape.layers
            if is_guess != (self._shape.part == "guesses"):
                return
        self._writer.add_tensor(name, values)

    def _add_entry(self, block: str) -> None:
        """The word drawn last comes in normed beside what the model thought before it."""
        width = self._shape.width
        both = np.concatenate([np.eye(width), 0.05 * np.eye(width)], axis=1)
        self._put(f"{block}.nextn.eh_proj.weight", both.astype(np.float32))
        self._add_ones(f"{block}.nextn.enorm.weight", width)
        self._add_ones(f"{block}.nextn.hnorm.weight", width)

    def _add_attention(self, block: str) -> None:
        shape = self._shape
        query, keys = shape.heads * shape.head_dim, shape.heads // 2 * shape.head_dim
        self._add(f"{block}.attn_q.weight", 2 * query, shape.width)
        self._add(f"{block}.attn_k.weight", keys, shape.width)
        self._add(f"{block}.attn_v.weight", keys, shape.width)
        self._add(f"{block}.attn_output.weight", shape.width, query, loudness=shape.mixing)
        self._add_ones(f"{block}.attn_q_norm.weight", shape.head_dim)
        self._add_ones(f"{block}.attn_k_norm.weight", shape.head_dim)

    def _add_state(self, block: str) -> None:
        shape = self._shape
        values = shape.heads * shape.head_dim
        channels = 2 * values  # half as many heads of keys and of queries as of values
        self._add(f"{block}.attn_qkv.weight", channels, shape.width)
        self._add(f"{block}.attn_gate.weight", values, shape.width)
        self._add(f"{block}.ssm_conv1d.weight", channels, 4)
        self._add_ones(f"{block}.ssm_dt.bias", shape.heads)
        self._put(f"{block}.ssm_a", -np.ones(shape.heads, dtype=np.float32))
        self._add(f"{block}.ssm_beta.weight", shape.heads, shape.width)
        self._add(f"{block}.ssm_alpha.weight", shape.heads, shape.width)
        self._add_ones(f"{block}.ssm_norm.weight", shape.head_dim)
        self._add(f"{block}.ssm_out.weight", shape.width, values, loudness=shape.mixing)

    def _add_ffn(
        self,
        block: str,
        *,
        loudness: float | None = None,
        like: list[_Values] | None = None,
        norm: str = "post_attention_norm",
    ) -> list[_Values]:
        shape = self._shape
        self._add_ones(f"{block}.attn_norm.weight", shape.width)
        self._add_ones(f"{block}.{norm}.weight", shape.width)
        values = like or [
            self._drawn(shape.ffn, shape.width),
            self._drawn(shape.ffn, shape.width),
            self._drawn(shape.width, shape.ffn, loudness=loudness),
        ]
        for name, tensor in zip(("gate", "up", "down"), values, strict=True):
            self._put(f"{block}.ffn_{name}.weight", tensor)
        return values

    def _add(self, name: str, *rows_first: int, loudness: float | None = None) -> None:
        self._put(name, self._drawn(*rows_first, loudness=loudness))

    def _drawn(self, *rows_first: int, loudness: float | None = None) -> _Values:
        values = self._random.standard_normal(rows_first, dtype=np.float32)
        scale = rows_first[-1] ** -0.5 if loudness is None else loudness
        return values * np.float32(scale)

    def _add_ones(self, name: str, length: int) -> None:
        self._put(name, np.ones(length, dtype=np.float32))
