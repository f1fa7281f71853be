"""GGUF bytes made by hand, lies included, for the reader's tests."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

TEXT, ARRAY, U32, U16, I32, U64, F32 = 8, 9, 4, 2, 5, 10, 6
ALIGNMENT = 32


def text(value: str | bytes) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(raw)) + raw


def entry(key: str, value: object) -> bytes:
    """One metadata entry: str, int (u32), float (f32), or a list of str or int (i32)."""
    if isinstance(value, str):
        return text(key) + struct.pack("<I", TEXT) + text(value)
    if isinstance(value, float):
        return text(key) + struct.pack("<If", F32, value)
    if isinstance(value, int):
        return text(key) + struct.pack("<II", U32, value)
    assert isinstance(value, Sequence)
    assert not isinstance(value, bytes)
    kind = TEXT if value and isinstance(value[0], str) else I32
    head = text(key) + struct.pack("<IIQ", ARRAY, kind, len(value))
    items = [text(v) if isinstance(v, str) else struct.pack("<i", v) for v in value]
    return head + b"".join(items)


def tensor_row(name: str, shape: Sequence[int], kind: int, offset: int) -> bytes:
    dims = struct.pack(f"<I{len(shape)}q", len(shape), *shape)
    return text(name) + dims + struct.pack("<IQ", kind, offset)


def llama_values(**changes: object) -> dict[str, object]:
    """The metadata of a small llama; keyword ``a__b`` sets ``llama.a.b``, None removes."""
    values: dict[str, object] = {
        "general.architecture": "llama",
        "general.name": "Small",
        "llama.block_count": 2,
        "llama.context_length": 4096,
        "llama.embedding_length": 64,
        "llama.attention.head_count": 4,
        "llama.attention.head_count_kv": 2,
        "tokenizer.ggml.tokens": ["a", "b", "c"],
    }
    for name, value in changes.items():
        key = "llama." + name.replace("__", ".")
        if value is None:
            del values[key]
        else:
            values[key] = value
    return values


@dataclass
class Gguf:
    """A GGUF file to be; every part can be replaced by a lie."""

    values: Mapping[str, object] = field(default_factory=llama_values)
    # name -> (shape, ggml type, bytes of data)
    tensors: Mapping[str, tuple[Sequence[int], int, int]] = field(
        default_factory=lambda: {
            "token_embd.weight": ((64, 3), 0, 768),
            "blk.0.attn_q.weight": ((64, 64), 8, 64 * 68),
        }
    )
    version: int = 3
    key_count: int | None = None
    tensor_count: int | None = None
    extra_entries: bytes = b""
    extra_count: int = 0

    def header(self) -> bytes:
        keys = len(self.values) + self.extra_count if self.key_count is None else self.key_count
        tensors = len(self.tensors) if self.tensor_count is None else self.tensor_count
        parts = [b"GGUF", struct.pack("<IQQ", self.version, tensors, keys)]
        parts += [entry(key, value) for key, value in self.values.items()]
        parts.append(self.extra_entries)
        offset = 0
        for name, (shape, kind, size) in self.tensors.items():
            parts.append(tensor_row(name, shape, kind, offset))
            offset += padded(size)
        return b"".join(parts)

    def data_bytes(self) -> int:
        return sum(padded(size) for _, _, size in self.tensors.values())

    def file(self) -> bytes:
        header = self.header()
        return header.ljust(padded(len(header)), b"\0") + bytes(self.data_bytes())


def padded(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
