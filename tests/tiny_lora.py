"""Tiny LoRA adapters in GGUF, and a model with one of them merged into its weights."""

from __future__ import annotations

import shutil
from pathlib import Path

import gguf
import numpy as np
from numpy.typing import NDArray

RANK = 4
ALPHA = 8.0


def write_tiny_lora(
    path: Path, model: Path, *, architecture: str = "llama", seed: int = 0, width_more: int = 0
) -> Path:
    """Write an adapter for the query, up and down matrices of ``model`` and return ``path``.

    Args:
        path: Where.
        model: A model in F32.
        architecture: What the file says that it is for.
        seed: Start of the random weights.
        width_more: Added to the length of its rows; anything but 0 fits no model.
    """
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", ALPHA)
    for name, (a, b) in _pairs(model, seed, width_more).items():
        writer.add_tensor(f"{name}.lora_a", a)
        writer.add_tensor(f"{name}.lora_b", b)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def write_merged(path: Path, model: Path, scale: float, seed: int = 0) -> Path:
    """Write ``model`` with the adapter's weights added, ``scale`` times, and return ``path``."""
    shutil.copyfile(model, path)
    pairs = _pairs(model, seed, 0)
    with path.open("r+b") as file:
        for tensor in gguf.GGUFReader(model).tensors:
            if tensor.name in pairs:
                a, b = pairs[tensor.name]
                merged = np.asarray(tensor.data) + np.float32(scale * ALPHA / RANK) * (b @ a)
                file.seek(tensor.data_offset)
                file.write(merged.astype(np.float32).tobytes())
    return path


def _pairs(
    model: Path, seed: int, width_more: int
) -> dict[str, tuple[NDArray[np.float32], NDArray[np.float32]]]:
    """For each bent matrix (rows, columns): A (rank, columns) and B (rows, rank), float32."""
    random = np.random.default_rng(seed)
    pairs = {}
    for tensor in gguf.GGUFReader(model).tensors:
        if any(part in tensor.name for part in ("attn_q.", "ffn_up.", "ffn_down.")):
            columns, rows = (int(length) for length in tensor.shape)
            a = random.standard_normal((RANK, columns + width_more), dtype=np.float32)
            b = random.standard_normal((rows, RANK), dtype=np.float32)
            pairs[tensor.name] = (a * np.float32(0.05), b * np.float32(0.3))
    return pairs
