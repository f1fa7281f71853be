"""Number formats of the KV cache in the words of other engines.

Only what is the same number format is taken: an fp8 cache is no q8_0 cache.
"""

from __future__ import annotations

from app.importing.flag_reader import Said
from app.importing.gathering import Gathering
from engine_bridge.settings.cache_type import CACHE_TYPES

_SAME = {"bfloat16": "bf16", "float16": "f16", "half": "f16", "float32": "f32", "float": "f32"}


def take_cache_type(gathering: Gathering, word: str, written: str) -> None:
    """Set both cache types to ``word``, or tell why not."""
    plain = word.lower()
    if plain in ("auto", ""):
        return
    name = _SAME.get(plain, plain)
    if name in CACHE_TYPES:
        gathering.setting("cache_type_k", name)
        gathering.setting("cache_type_v", name)
        return
    gathering.problem(
        "not_transferable",
        f"{written} {word}: llama.cpp has no cache of that format; q8_0 is near in size and "
        "rounds otherwise, so it is not taken for the same",
    )


def cache_type(gathering: Gathering, said: Said) -> None:
    """A flag for both types."""
    take_cache_type(gathering, said.value, said.written)
