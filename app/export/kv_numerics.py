"""The KV cache in number formats that are not llama.cpp's, and how far those are from its own.

Engines have one format for keys and values, and most have none of llama.cpp's, which are blocks of
32 integers with a scale. Must not know any engine's words.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine_bridge.settings.cache_type import CACHE_TYPES, CacheType

_FP8_BITS = 8.0
_SAME = 0.1  # sizes that differ by less count as the same


@dataclass(frozen=True)
class KvWish:
    """What is wanted of a cache with one format for keys and values.

    Attributes:
        finer: The finer of the two types, which loses nothing that was to be kept.
        is_one: Whether both are the same type.
        keys: The settings whose value that is.
        outvoted: The setting whose value is coarser, and so not what the cache becomes.
    """

    finer: CacheType
    is_one: bool
    keys: tuple[str, ...]
    outvoted: tuple[str, ...]

    @property
    def is_quantised(self) -> bool:
        """Whether fewer than 16 bits a value will do."""
        return self.finer.is_quantised

    @property
    def why_outvoted(self) -> str:
        """Why the coarser one is not carried, a sentence."""
        return f"There is one format for keys and values, and {self.finer.name} is the finer one."


def kv_wish(
    type_k: str, type_v: str, keys: tuple[str, str] = ("cache_type_k", "cache_type_v")
) -> KvWish:
    """What two types ask of a cache with one format for both.

    Args:
        type_k: Type of the keys.
        type_v: Type of the values.
        keys: The settings that say them.
    """
    first, second = CACHE_TYPES[type_k], CACHE_TYPES[type_v]
    if type_k == type_v:
        return KvWish(first, is_one=True, keys=keys, outvoted=())
    if first.bits_per_value >= second.bits_per_value:
        return KvWish(first, is_one=False, keys=keys[:1], outvoted=keys[1:])
    return KvWish(second, is_one=False, keys=keys[1:], outvoted=keys[:1])


def fp8_in_place_of(wish: KvWish, word: str) -> str:
    """What ``word``, an 8-bit floating point cache, is beside the type wanted: a sentence."""
    bits = wish.finer.bits_per_value
    more = _FP8_BITS / bits
    size = "" if abs(more - 1) < _SAME else f", {more:.1f} times the memory"
    return (
        f"{word}: 8-bit floating point in place of {wish.finer.name}, which keeps blocks of 32 "
        f"integers with a scale ({bits:g} bits a value{size}): other numerics, so measure the "
        "quality there."
    )


def wide_in_place_of(wish: KvWish, word: str) -> str:
    """What ``word``, the model's own 16-bit format, is beside the type wanted: a sentence."""
    return f"{word}: the model's own 16-bit format in place of {wish.finer.name}."
