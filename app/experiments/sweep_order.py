"""In which order a sweep visits its cells. Pure.

**Rounds.** Every round measures every cell once, so whatever drifts over minutes (heat, other
programs, a battery) hits all cells alike, and cells are compared within rounds.

**Within a round** the order is drawn by the seed, and the next round goes the same way back: what
drifts evenly is the same for every cell over both. Cells that share what only a reload can change
stand together, since a reload takes longer than many runs; the groups and the cells in them are
shuffled, and at the turn from one round to the way back nothing has to be loaded. Going through a
group once for all rounds would need the fewest loads, and would take drift for a difference.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.cost import cost_of_change
from engine_bridge.settings.row import Applies


def groups_of(configs: Sequence[EngineConfig]) -> tuple[tuple[int, ...], ...]:
    """Places of configurations that change into each other without a reload."""
    groups: list[list[int]] = []
    for place, config in enumerate(configs):
        for group in groups:
            if cost_of_change(configs[group[0]], config) is not Applies.RELOAD:
                group.append(place)
                break
        else:
            groups.append([place])
    return tuple(tuple(group) for group in groups)


def order_of_round(groups: Sequence[Sequence[int]], number: int, seed: int) -> tuple[int, ...]:
    """Places in the order in which round ``number`` (from 0) visits them."""
    # Seeded by text, which Python hashes the same on every machine.
    shuffle = random.Random(f"{seed}/{number // 2}")
    shuffled = [list(group) for group in groups]
    for group in shuffled:
        shuffle.shuffle(group)
    shuffle.shuffle(shuffled)
    order = tuple(place for group in shuffled for place in group)
    return order[::-1] if number % 2 else order
