"""What a decode step reads, counted anew from the tensor table of a GGUF file.

The check on the product's own count: sizes by gguf-py's table of blocks, held against the offsets
in the file, and the cache from the header's numbers. Must not know the product's count.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gguf import GGML_QUANT_SIZES, GGMLQuantizationType

from engine_bridge.gguf_header import Header, TensorFacts, read_header

_LARGEST_PADDING_BYTES = 64
_F16_BYTES = 2


@dataclass(frozen=True)
class StepReads:
    """What the steps of a dense model with plain attention read.

    Attributes:
        weight_bytes: Bytes of the weights every step reads whole.
        row_bytes: Bytes of the row that a token looks up in the embedding table; 0 where that table
            is the output too and read whole.
        left_out_bytes: Bytes of the table of which only rows are read.
        kv_bytes_per_tok: Bytes of one token in the cache over all layers, at f16.
    """

    weight_bytes: int
    row_bytes: int
    left_out_bytes: int
    kv_bytes_per_tok: int

    def of_step(self, streams: int, depths_tok: float) -> float:
        """Bytes of one step.

        Args:
            streams: Rows in its batch, at least 1.
            depths_tok: Tokens in the slots of all streams together.
        """
        rows = self.row_bytes * streams
        return self.weight_bytes + rows + self.kv_bytes_per_tok * depths_tok


def count_step_reads(path: Path) -> StepReads:
    """Count for the model in ``path``: one file, no experts, no sliding window.

    Raises:
        ValueError: If it is another kind of model, or its offsets contradict its table.
    """
    header = read_header(path)
    kind = header.text("general.architecture")
    for key in ("expert_count", "attention.sliding_window", "ssm.state_size"):
        if header.number(f"{kind}.{key}"):
            raise ValueError(f"{path.name} has {kind}.{key}: its steps are not counted here.")
    sizes = {tensor.name: _size_bytes(tensor) for tensor in header.tensors}
    _check_offsets(header.tensors, sizes)
    has_own_output = "output.weight" in sizes
    table = next(t for t in header.tensors if t.name == "token_embd.weight")
    left_out = sizes[table.name] if has_own_output else 0
    return StepReads(
        weight_bytes=sum(sizes.values()) - left_out,
        row_bytes=left_out // table.shape[1],
        left_out_bytes=left_out,
        kv_bytes_per_tok=_kv_bytes_per_tok(header, kind),
    )


def _size_bytes(tensor: TensorFacts) -> int:
    values, size = GGML_QUANT_SIZES[GGMLQuantizationType[tensor.type_name]]
    elements = 1
    for length in tensor.shape:
        elements *= length
    return int(elements // values * size)


def _check_offsets(tensors: Sequence[TensorFacts], sizes: dict[str, int]) -> None:
    """Hold the sizes against the distances at which tensors follow each other in the file."""
    in_file = sorted(tensors, key=lambda tensor: tensor.offset)
    for tensor, following in itertools.pairwise(in_file):
        room = following.offset - tensor.offset
        if not 0 <= room - sizes[tensor.name] < _LARGEST_PADDING_BYTES:
            raise ValueError(
                f"{tensor.name} should take {sizes[tensor.name]} bytes and has {room} in the file."
            )


def _kv_bytes_per_tok(header: Header, kind: str) -> int:
    heads = header.number(f"{kind}.attention.head_count")
    kv_heads = header.number(f"{kind}.attention.head_count_kv", heads)
    plain = header.number(f"{kind}.embedding_length") // heads
    key = header.number(f"{kind}.attention.key_length", plain)
    value = header.number(f"{kind}.attention.value_length", plain)
    layers = header.number(f"{kind}.block_count")
    return layers * kv_heads * (key + value) * _F16_BYTES
