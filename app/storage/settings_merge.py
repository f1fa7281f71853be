"""Two copies of the program changed the same settings: what the file says after both.

A three-way merge, as of texts: what this copy knew (``base``), what it wants (``mine``) and what
the file says now (``theirs``). Pure; must not know files or what the keys mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

Document: TypeAlias = dict[str, object]


def merged(base: Mapping[str, object], mine: Mapping[str, object], theirs: Document) -> Document:
    """``theirs`` with everything that changed from ``base`` to ``mine``.

    A key that did not change here stays as the file has it, keys that only the file knows included.
    Mappings are merged key by key; of lists the additions and removals of both sides count. Of one
    value changed on both sides this side's wins: it is the later one. Nothing stands for a key
    as a null, an empty mapping or an empty list does.
    """
    result = dict(theirs)
    for key in (*mine, *(key for key in base if key not in mine)):
        before, now, there = base.get(key), mine.get(key), theirs.get(key)
        if now == before and (key in base) == (key in mine):
            continue
        both = _of_both(before, now, there)
        if both is not None:
            now = both
        if now in (None, {}, []):
            result.pop(key, None)
        else:
            result[key] = now
    return result


def _of_both(before: object, now: object, there: object) -> object | None:
    """What mappings or lists of both sides make together; None for anything else.

    One that is absent in ``before`` or ``now`` is an empty one.
    """
    if isinstance(there, dict) and isinstance(now or {}, dict) and isinstance(before or {}, dict):
        return merged(_dict(before), _dict(now), there)
    if isinstance(there, list) and isinstance(now or [], list) and isinstance(before or [], list):
        return merged_list(_list(before), _list(now), there)
    return None


def _dict(value: object) -> Document:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def merged_list(base: list[object], mine: list[object], theirs: list[object]) -> list[object]:
    """Mine in its order, then what only they added; what either side removed is gone.

    Newest first is the order of these lists, so this copy's last choice stays in front.
    """
    kept = [item for item in mine if item in theirs or item not in base]
    return kept + [item for item in theirs if item not in mine and item not in base]
