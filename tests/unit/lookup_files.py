"""Files of counts for ngram-cache, written as llama.cpp writes them."""

from __future__ import annotations

import struct
from pathlib import Path

from engine_bridge.child.speculation.lookup_counts import LookupCounts
from tests.unit.ngram_reference import Counts


def lookup_bytes(counts: Counts) -> bytes:
    """The content of a file with ``counts``."""
    numbers: list[int] = []
    for ngram, followers in counts.items():
        numbers += [*ngram, *[-1] * (4 - len(ngram)), len(followers)]
        for pair in followers.items():
            numbers += pair
    return struct.pack(f"<{len(numbers)}i", *numbers)


def write_lookup(path: Path, counts: Counts) -> Path:
    """Write ``counts`` to ``path``."""
    path.write_bytes(lookup_bytes(counts))
    return path


def no_file(path: str) -> LookupCounts:
    """For drafters that are to read none."""
    raise AssertionError(f"{path} was read")
