"""Which of the repositories that a search found are looked into for a draft, in which order. Pure.

Each look costs some MB, so the few there are go to models of different sizes: the smallest first
that are not too small, and of each size the nearest relative.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from app.library.draft_family import Family, is_drafter, size_in
from app.library.hub_shapes import HubModel

# A guess of one that is larger rarely pays; one that is smaller is rarely right.
USEFUL_SHARE = 0.5
_LEAST_SHARE = 0.002
# Names tell rounded sizes.
_SAME_SHARE = 0.85
_MOST_HEADS, _MOST_OWN = 3, 1
_NO_TEXT = re.compile(r"embed|rerank|reward|guard|[-_]tts|[-_]asr", re.IGNORECASE)
_HEAD = re.compile(r"(?:^|[-_.])(?:eagle[-_]?3|dflash|dspark|mtp|speculator)(?:[-_.]|$)", re.I)


class Target(NamedTuple):
    """The model that is to be drafted for.

    Attributes:
        parameters: Its number of weights.
        architecture: Its architecture.
        family: What its relatives are called.
    """

    parameters: int
    architecture: str
    family: Family


def ranked(found: Iterable[HubModel], target: Target, most: int) -> tuple[HubModel, ...]:
    """Those that are looked into.

    Args:
        found: What was found, the nearest relatives first.
        target: The model to draft for.
        most: How many, at most.
    """
    heads, own, plain = [], [], []
    for place, model in enumerate(found):
        if _NO_TEXT.search(_name(model)):
            continue
        size = _size(model)
        is_same = size >= _SAME_SHARE * target.parameters
        if _HEAD.search(_name(model)):
            heads.append(model)
        elif not is_same:
            plain.append((place, model))
        elif target.family.own.casefold() in _name(model).casefold():
            own.append(model)
    chosen_heads = _heads(heads, target)[:_MOST_HEADS]
    chosen_own = sorted(own, key=lambda model: -model.downloads)[:_MOST_OWN]
    room = most - len(chosen_heads) - len(chosen_own)
    chosen = [*_by_turns(plain, target)[: max(room, 1)], *chosen_heads, *chosen_own]
    return tuple(chosen[:most])


def _heads(heads: list[HubModel], target: Target) -> list[HubModel]:
    """Heads that may be for this very model: one for another size never is."""
    told = size_in(target.family.own) or target.parameters
    fitting = [head for head in heads if size_in(_name(head)) in (0, told)]
    own = target.family.own.casefold()
    fitting.sort(key=lambda head: (own not in _name(head).casefold(), -head.downloads))
    return fitting


def _by_turns(plain: list[tuple[int, HubModel]], target: Target) -> list[HubModel]:
    """One of each size after the other, then the next ones."""
    groups: dict[int, list[tuple[int, HubModel]]] = {}
    for place, model in plain:
        groups.setdefault(_size_class(_size(model)), []).append((place, model))
    order = sorted(groups, key=lambda size: _worth(groups[size], target))
    for group in groups.values():
        group.sort(key=lambda pair: _nearness(pair[0], pair[1], target))
    longest = max(map(len, groups.values()), default=0)
    turns = range(longest)
    return [groups[size][turn][1] for turn in turns for size in order if turn < len(groups[size])]


def _worth(group: list[tuple[int, HubModel]], target: Target) -> tuple[int, float]:
    share = _size(group[0][1]) / max(1, target.parameters)
    if not share:
        return 3, share
    if share < _LEAST_SHARE:
        return 2, -share
    return (0, share) if share <= USEFUL_SHARE else (1, share)


def _nearness(place: int, model: HubModel, target: Target) -> tuple[bool, bool, int]:
    is_other = bool(model.architecture) and model.architecture != target.architecture
    return not is_drafter(_name(model)), is_other, place


def _size_class(size: int) -> int:
    """Sizes that a name and a count of weights tell of the same model are of one class."""
    return round(2 * math.log2(size)) if size else -1


def _size(model: HubModel) -> int:
    return model.parameters or size_in(_name(model))


def _name(model: HubModel) -> str:
    return model.repo.rpartition("/")[2]


def in_order(hits: Mapping[str, HubModel], names: Iterable[str]) -> tuple[HubModel, ...]:
    """What was found by its repository, the nearest relatives first, then the most loaded."""
    ranks = [name.casefold() for name in names]

    def rank(model: HubModel) -> tuple[int, int]:
        name = _name(model).casefold()
        nearest = next((at for at, stem in enumerate(ranks) if stem in name), len(ranks))
        return nearest, -model.downloads

    return tuple(sorted(hits.values(), key=rank))
