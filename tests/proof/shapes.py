"""Models of real shapes with random weights, written on the spot: speed does not ask for sense."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import numpy.typing as npt

from tests.tiny_model import add_vocabulary

# Every tensor is a view of one block of random numbers this long, so that 16 GB need no memory.
_BLOCK_VALUES = 1 << 26
_Q4_K_M = 15  # enum llama_ftype


@dataclass(frozen=True)
class Shape:
    """A dense llama; the lengths are those of published models.

    Attributes:
        name: For reports and file names.
        layers: Transformer layers.
        width: Embedding length.
        heads: Query heads.
        kv_heads: KV heads.
        ffn: Hidden length of the feed-forward part.
        vocab_tok: Tokens.
    """

    name: str
    layers: int
    width: int
    heads: int
    kv_heads: int
    ffn: int
    vocab_tok: int


SHAPE_1B = Shape("1b", 16, 2048, 32, 8, 8192, 128_256)
SHAPE_8B = Shape("8b", 32, 4096, 32, 8, 14_336, 128_256)
# The same script proves itself where there is no GPU.
SMALL_1B = Shape("small-1b", 2, 512, 8, 2, 2048, 32_000)
SMALL_8B = Shape("small-8b", 4, 1024, 16, 4, 3584, 32_000)


def write(path: Path, shape: Shape) -> Path:
    """Write ``shape`` in F16, norms in F32, and return ``path``."""
    writer = gguf.GGUFWriter(path, "llama")
    head_dim = shape.width // shape.heads
    writer.add_name(shape.name)
    writer.add_context_length(131_072)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.ffn)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.kv_heads)
    writer.add_rope_dimension_count(head_dim)
    writer.add_rope_freq_base(500_000.0)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_file_type(1)
    add_vocabulary(writer, shape.vocab_tok, "")
    values = np.random.default_rng(0).standard_normal(_BLOCK_VALUES, dtype=np.float32)
    _add_tensors(writer, shape, (values / np.float32(np.sqrt(shape.width))).astype(np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add_tensors(writer: Any, shape: Shape, block: npt.NDArray[np.float16]) -> None:
    keys = shape.width // shape.heads * shape.kv_heads

    def add(name: str, rows: int, columns: int) -> None:
        needed = rows * columns
        values = np.resize(block, needed) if needed > block.size else block[:needed]
        writer.add_tensor(f"{name}.weight", values.reshape(rows, columns))

    def add_norm(name: str) -> None:
        writer.add_tensor(f"{name}.weight", np.ones(shape.width, np.float32))

    add("token_embd", shape.vocab_tok, shape.width)
    add_norm("output_norm")
    add("output", shape.vocab_tok, shape.width)
    for layer in range(shape.layers):
        at = f"blk.{layer}"
        add_norm(f"{at}.attn_norm")
        add(f"{at}.attn_q", shape.width, shape.width)
        add(f"{at}.attn_k", keys, shape.width)
        add(f"{at}.attn_v", keys, shape.width)
        add(f"{at}.attn_output", shape.width, shape.width)
        add_norm(f"{at}.ffn_norm")
        add(f"{at}.ffn_gate", shape.ffn, shape.width)
        add(f"{at}.ffn_up", shape.ffn, shape.width)
        add(f"{at}.ffn_down", shape.width, shape.ffn)


def quantised(path: Path, out: Path) -> Path:
    """Have the library make a Q4_K_M of ``path``.

    Raises:
        RuntimeError: If it does not.
    """
    from llama_cpp import llama_cpp as library  # noqa: PLC0415 - built by this very script

    params = library.llama_model_quantize_default_params()
    params.ftype = _Q4_K_M
    params.nthread = os.cpu_count() or 1
    code = library.llama_model_quantize(os.fsencode(path), os.fsencode(out), ctypes.byref(params))
    if code:
        raise RuntimeError(f"llama.cpp did not quantise {path.name} (code {code}).")
    return out


def main(arguments: Sequence[str]) -> None:
    """``PATH OUT``: quantise in a process of its own."""
    quantised(Path(arguments[0]), Path(arguments[1]))


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
