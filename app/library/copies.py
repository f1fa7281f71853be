"""The same content under several names: recognised by samples of it, shown once.

Two files of one size whose beginning, middle and end are the same are taken for copies. Pure but
for the reading of samples.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Set

from app.library.model_entry import ModelEntry

_SAMPLE_BYTES = 64 << 10
_DIGEST_BYTES = 16


def content_mark(location: bytes, size_bytes: int) -> bytes:
    """What the content of a file is recognised by; empty where it cannot be read.

    Args:
        location: Of the file; of a split model its first part.
        size_bytes: Of all parts.
    """
    digest = hashlib.blake2b(str(size_bytes).encode(), digest_size=_DIGEST_BYTES)
    try:
        with open(location, "rb") as file:  # noqa: PTH123 - bytes, which Path does not take
            length = file.seek(0, 2)
            for place in (0, length // 2, max(0, length - _SAMPLE_BYTES)):
                file.seek(place)
                digest.update(file.read(_SAMPLE_BYTES))
    except OSError:
        return b""
    return digest.digest()


def copies_among(
    entries: Iterable[ModelEntry], first: Set[bytes] = frozenset()
) -> dict[bytes, tuple[bytes, ...]]:
    """Copies of each model, by the location that stands for all of them.

    Args:
        entries: The models; of those that nothing tells apart the first that is reachable stands
            for all.
        first: Locations that stand for theirs in any case: what is loaded, what was lately.
    """
    alike: dict[bytes, list[ModelEntry]] = {}
    for entry in entries:
        if entry.content and not entry.problem:
            alike.setdefault(entry.content, []).append(entry)
    found = {}
    for group in alike.values():
        if len(group) > 1:
            group.sort(key=lambda entry: (entry.location not in first, not entry.is_reachable))
            found[group[0].location] = tuple(entry.location for entry in group[1:])
    return found
