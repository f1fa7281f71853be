"""Where in a GGUF file which number and which text stands: the places where mutations strike.

A second reader beside the product's, so that neither can hide the other's mistakes; for files that
are whole.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import StrEnum

_TEXT, _ARRAY = 8, 9
# enum gguf_type: bytes of one value.
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}


class Kind(StrEnum):
    """What a field is."""

    MAGIC = "magic"
    VERSION = "version"
    COUNT = "count"
    LENGTH = "length"
    TEXT = "text"
    TYPE = "type"
    TENSOR_TYPE = "tensor type"
    VALUE = "value"
    DIMENSION = "dimension"
    OFFSET = "offset"
    DATA = "data"


@dataclass(frozen=True)
class Field:
    """One piece of the file.

    Attributes:
        kind: What it is.
        at: Where it begins.
        size: Its bytes.
        key: The metadata key or tensor it belongs to; empty for what belongs to all.
        value_type: Of a value its number in enum gguf_type, else −1.
    """

    kind: Kind
    at: int
    size: int
    key: str = ""
    value_type: int = -1

    @property
    def end(self) -> int:
        """Where the next one begins."""
        return self.at + self.size


class _Walk:
    """Walks over a file from field to field."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.at = 0
        self.key = ""
        self.fields: list[Field] = []

    def field(self, kind: Kind, size: int, value_type: int = -1) -> bytes:
        found = Field(kind, self.at, size, self.key, value_type)
        self.fields.append(found)
        self.at = found.end
        return self.content[found.at : found.end]

    def number(self, kind: Kind, code: str) -> int:
        raw = self.field(kind, struct.calcsize(code))
        return int(struct.unpack(f"<{code}", raw)[0])

    def text(self) -> str:
        return self.field(Kind.TEXT, self.number(Kind.LENGTH, "Q")).decode(errors="replace")

    def value(self, kind: int) -> None:
        if kind == _TEXT:
            self.text()
        elif kind == _ARRAY:
            item = self.number(Kind.TYPE, "I")
            for _ in range(self.number(Kind.COUNT, "Q")):
                self.value(item)
        else:
            self.field(Kind.VALUE, _SIZES[kind], kind)

    def tensor(self) -> None:
        self.key = self.text()
        for _ in range(self.number(Kind.COUNT, "I")):
            self.number(Kind.DIMENSION, "Q")
        self.number(Kind.TENSOR_TYPE, "I")
        self.number(Kind.OFFSET, "Q")


def fields_of(content: bytes) -> tuple[Field, ...]:
    """Every field of a GGUF file, one behind the other without a gap; the last is its data."""
    walk = _Walk(content)
    walk.field(Kind.MAGIC, 4)
    walk.number(Kind.VERSION, "I")
    tensors, keys = walk.number(Kind.COUNT, "Q"), walk.number(Kind.COUNT, "Q")
    for _ in range(keys):
        walk.key = walk.text()
        walk.value(walk.number(Kind.TYPE, "I"))
    for _ in range(tensors):
        walk.tensor()
    walk.key = ""
    walk.field(Kind.DATA, len(content) - walk.at)
    return tuple(walk.fields)
