"""A board that is full while its driver goes on in the machine's memory: slow, and said by nobody.

Pure: looks at what drivers and the engine tell, a reading after the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from engine_bridge.metrics.board_activity import BoardActivity

_MIB = 1 << 20
_GIB = 1 << 30
# A board that is nearly full is full: drivers keep some of it and use none of it for more.
_FULL, _HAS_ROOM_AGAIN = 0.95, 0.90
# Less comes and goes with screens and copies under way; half of it must go before the word does.
_GROWN_BYTES, _GONE_BYTES = 256 * _MIB, 128 * _MIB
_WHAT_TO_DO = (
    "What lies there is read through PCIe, many times slower. Put fewer layers on the GPU, take a "
    "shorter context or a smaller KV cache type, or close other programs that use the GPU."
)


@dataclass(frozen=True)
class Allocated:
    """What the engine allocated, by its own count.

    Attributes:
        by_board: Bytes on boards, by the board's name; boards of one name together.
        host_bytes: Bytes of main memory that may be locked for a board, and so count as shared
            though nothing was pushed out: all but mapped weights.
    """

    by_board: Mapping[str, int] = field(default_factory=dict)
    host_bytes: int = 0


@dataclass
class _Past:
    """What was seen of one board.

    Attributes:
        ordinary_bytes: Shared memory that it used while it had room, the engine's own apart.
        is_spilling: Whether it was said to spill by the last reading.
    """

    ordinary_bytes: int
    is_spilling: bool = False


class SpillWatch:
    """Looks at each reading of the boards, and says which of them spills."""

    def __init__(self) -> None:
        """Know nothing yet: growth counts from the first reading on."""
        self._past: dict[tuple[int, str], _Past] = {}

    def look(
        self, boards: Sequence[BoardActivity], allocated: Allocated
    ) -> tuple[BoardActivity, ...]:
        """``boards``, with a warning on each that spills."""
        found = []
        for place, board in enumerate(boards):
            warning = self._grown(place, board, allocated) or _too_large(board, boards, allocated)
            found.append(replace(board, warning=warning) if warning else board)
        return tuple(found)

    def _grown(self, place: int, board: BoardActivity, allocated: Allocated) -> str:
        """What its shared memory says; empty where that is nothing, or nobody tells."""
        memory, shared = board.memory, board.shared
        if memory is None or shared is None or board.is_unified:
            return ""
        beside_bytes = max(0, shared.used_bytes - allocated.host_bytes)
        past = self._past.setdefault((place, board.name), _Past(beside_bytes))
        share = memory.used_bytes / memory.total_bytes if memory.total_bytes else 0.0
        grown_bytes = beside_bytes - past.ordinary_bytes
        if past.is_spilling:
            past.is_spilling = share >= _HAS_ROOM_AGAIN and grown_bytes >= _GONE_BYTES
        else:
            past.is_spilling = share >= _FULL and grown_bytes >= _GROWN_BYTES
        if not past.is_spilling:
            if share < _FULL:
                past.ordinary_bytes = beside_bytes
            return ""
        return (
            f"The memory of {board.name} is full, and its driver goes on in the machine's: "
            f"{grown_bytes / _GIB:.2f} GiB so far. {_WHAT_TO_DO}"
        )


def _too_large(board: BoardActivity, boards: Sequence[BoardActivity], allocated: Allocated) -> str:
    """What the engine's count says: more than the board has cannot lie on the board."""
    if board.memory is None or board.is_unified:
        return ""
    alike = [other.memory for other in boards if other.name == board.name]
    total_bytes = sum(memory.total_bytes for memory in alike if memory is not None)
    taken_bytes = allocated.by_board.get(board.name, 0)
    if taken_bytes <= total_bytes:
        return ""
    return (
        f"The engine allocated {taken_bytes / _GIB:.1f} GiB on {board.name}, which has "
        f"{total_bytes / _GIB:.1f} GiB: its driver put the rest into the machine's memory. "
        f"{_WHAT_TO_DO}"
    )
