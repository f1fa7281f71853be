"""What memory still holds: how many conversations, how long a context, and what q8_0 would buy.

Knows the shape of the answer; ``child.room_search`` finds it with dry runs.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from engine_bridge.settings.config import EngineConfig, pad_context_tok
from engine_bridge.settings.domain import Value
from engine_bridge.settings.table import MAX_SLOTS

# A dry run of so many cells takes a tenth of a second and 200 MB; the rules allow four times as
# many, but nobody asked for these.
MOST_CELLS = 4_194_304
# The fader's last stop; a dry run of 256 slots takes a third of a second.
MOST_SLOTS = 64


def most_slots_asked(config: EngineConfig) -> int:
    """Conversations that are looked for beside ``config`` at most, 1 to ``MAX_SLOTS``.

    Whoever counts them stops here, so that no two places tell different numbers.
    """
    # A search for what nobody uses must not cost more than what is used.
    cells = max(MOST_CELLS, config.pool_tok) // pad_context_tok(config.ctx_per_slot_tok)
    return min(MAX_SLOTS, max(1, cells), max(MOST_SLOTS, config.slots))


class Most(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The largest value that fits, all else as it is.

    Attributes:
        number: Slots, or tokens per slot; 0 where not even the least fits.
        limit: What stops the next one: ``memory``; ``training``, a slot never uses more than the
            model was trained for; ``rule``, a rule or llama.cpp forbids more; ``search``, it was
            not looked further, for that would have taken seconds.
        why: The device that is short (``CPU``, ``CUDA0``) where memory is the limit, the sentence
            of the rule where a rule is; else empty.
        values: Settings to change for it; empty where they stand there already.
    """

    number: int
    limit: Literal["memory", "training", "rule", "search"]
    why: str = ""
    values: dict[str, Value] = {}


class CoarseRoom(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What q8_0 caches would buy.

    Attributes:
        problem: Why the rules forbid them, a sentence; empty where they may be used.
        saved_bytes: Bytes less over all devices, all else as it is; negative where compute buffers
            grow by more than the cache shrinks.
        slots: Conversations that would fit then; None where ``problem`` forbids it.
        ctx: Longest context per slot then; None where ``problem`` forbids it.
        values: Settings to change for it; empty where both caches are as small already.
    """

    problem: str = ""
    saved_bytes: int = 0
    slots: Most | None = None
    ctx: Most | None = None
    values: dict[str, Value] = {}


class RoomFigures(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What fits beside a configuration, found by dry runs with its layers where they are placed.

    Every slot counts with its whole context: a shared pool of a size of its own is taken as large
    as all slots could fill it.

    Attributes:
        slots: Conversations that fit at its context per slot.
        ctx: Longest context per slot at its slots.
        coarse: What q8_0 caches would buy.
        seconds: Time the search took, pauses for running streams included.
        runs: Dry runs it took.
    """

    slots: Most
    ctx: Most
    coarse: CoarseRoom
    seconds: float
    runs: int
