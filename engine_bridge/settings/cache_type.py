"""The nine KV cache types of llama.cpp and what a row of each costs.

Knows ggml's type numbers and block layouts; must not know the library itself.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CacheType:
    """One storage format of a K or V row.

    Attributes:
        name: As ``-ctk`` and ``-ctv`` spell it.
        ggml_type: The number of ``enum ggml_type``.
        block_values: Values in one block; a head dimension must be a multiple of it.
        block_bytes: Bytes of one block.
    """

    name: str
    ggml_type: int
    block_values: int
    block_bytes: int

    @property
    def is_quantised(self) -> bool:
        """Whether several values share a scale (block of 32)."""
        return self.block_values > 1

    @property
    def bits_per_value(self) -> float:
        """Storage of one value, in bits."""
        return 8 * self.block_bytes / self.block_values

    def row_bytes(self, values: int) -> int:
        """Bytes of a row of ``values`` values (ggml_row_size)."""
        return values * self.block_bytes // self.block_values


# Block layouts: ggml/src/ggml-common.h; numbers: enum ggml_type in ggml/include/ggml.h.
CACHE_TYPES: dict[str, CacheType] = {
    row.name: row
    for row in (
        CacheType("f32", 0, 1, 4),
        CacheType("f16", 1, 1, 2),
        CacheType("bf16", 30, 1, 2),
        CacheType("q8_0", 8, 32, 34),
        CacheType("q5_1", 7, 32, 24),
        CacheType("q5_0", 6, 32, 22),
        CacheType("q4_1", 3, 32, 20),
        CacheType("iq4_nl", 20, 32, 18),
        CacheType("q4_0", 2, 32, 18),
    )
}
