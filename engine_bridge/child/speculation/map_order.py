"""The order in which a C++ hash map of whole numbers lists what was put into it.

llama.cpp's ngram-cache takes the first of equally likely tokens of a ``std::unordered_map``. With
libstdc++, which its builds for Linux use, that order follows from numbers and order of arrival: a
new number goes in front of all, or to the front of its bucket; a map that grows files its list
anew. Others may list ties otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence

# Buckets of a map as it grows (_Prime_rehash_policy): each the least prime of its table that is
# at least twice the one before.
_BUCKETS = (
    13, 29, 59, 127, 257, 541, 1109, 2357, 5087, 10273, 20753, 42043, 85229, 172933, 351061, 712697,
    1447153, 2938679,
)  # fmt: skip


def map_order(numbers: Sequence[int]) -> list[int]:
    """Places of ``numbers`` (no two alike, none negative) in the order that the map lists them."""
    listed: list[int] = []
    filed = 0
    for buckets in _BUCKETS:
        # Growing walks the old list; then come those that made it grow, until it is full.
        listed = _filed([*listed, *range(filed, min(buckets, len(numbers)))], numbers, buckets)
        filed = min(buckets, len(numbers))
        if filed == len(numbers):
            break
    return listed


def _filed(places: Sequence[int], numbers: Sequence[int], buckets: int) -> list[int]:
    """``places`` put one after another into an empty map of that many buckets."""
    # A bucket is a run of the list: whatever comes goes to its front, a new run in front of all.
    runs: dict[int, list[int]] = {}
    for place in places:
        runs.setdefault(numbers[place] % buckets, []).append(place)
    return [place for run in reversed(runs.values()) for place in reversed(run)]
