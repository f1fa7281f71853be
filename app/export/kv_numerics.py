"""The KV cache in number formats that are not llama.cpp's, and how far those are from its own.

Engines have one format for keys and values, and none has llama.cpp's blocks of 32 integers with a
scale. Must not know any engine's words.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine_bridge.settings.cache_type import CACHE_TYPES, CacheType

_FP8_BITS = 8.0


@dataclass(frozen=True)
class KvWish:
    """What is wanted of a cache with one format for keys and values.

    Attributes:
        finer: The finer of the two types, which loses nothing that was to be kept.
        is_one: Whether both are the same type.
    """

    finer: CacheType
    is_one: bool

    @property
    def is_quantised(self) -> bool:
        """Whether fewer than 16 bits a value will do."""
        return self.finer.is_quantised


def kv_wish(type_k: str, type_v: str) -> KvWish:
    """What ``type_k`` and ``type_v`` ask of a cache with one format for both."""
    keys, values = CACHE_TYPES[type_k], CACHE_TYPES[type_v]
    finer = keys if keys.bits_per_value >= values.bits_per_value else values
    return KvWish(finer, type_k == type_v)


def fp8_in_place_of(wish: KvWish, word: str) -> str:
    """What ``word``, an 8-bit floating point cache, is beside the type wanted: a sentence."""
    bits = wish.finer.bits_per_value
    more = _FP8_BITS / bits
    size = "" if 0.9 < more < 1.1 else f", {more:.1f} times the memory"
    return (
        f"{word}: 8-bit floating point in place of {wish.finer.name}, which keeps blocks of 32 "
        f"integers with a scale ({bits:g} bits a value{size}): other numerics, so measure the "
        f"quality there.{_one_format(wish)}"
    )


def wide_in_place_of(wish: KvWish, word: str) -> str:
    """What ``word``, the model's own 16-bit format, is beside the type wanted: a sentence."""
    one = _one_format(wish)
    return f"{word}: the model's own 16-bit format in place of {wish.finer.name}.{one}"


def _one_format(wish: KvWish) -> str:
    return "" if wish.is_one else " One format for keys and values: that of the finer of the two."
