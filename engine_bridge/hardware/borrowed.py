"""Memory that the engine has for a second to measure the peak bandwidth: no part of what it uses.

Up to 1 GiB comes and goes with each measurement. Engine and window read the same process, so both
take it out by the same sum and show the same figure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine_bridge.metrics.snapshot import MemorySnapshot


@dataclass(frozen=True)
class Borrowed:
    """What a process has for a moment.

    Attributes:
        size_bytes: How much it may be, 0 for nothing.
        owned_bytes: What the process owned just before.
    """

    size_bytes: int = 0
    owned_bytes: int = 0

    def part_of(self, owned_bytes: int) -> int:
        """How much of what the process owns now is borrowed.

        It is touched by and by, so that it is what came since, but no more than was to come.
        """
        return max(0, min(self.size_bytes, owned_bytes - self.owned_bytes))


NOTHING = Borrowed()


def without_borrowed(snapshot: MemorySnapshot, borrowed: Borrowed) -> MemorySnapshot:
    """Main memory as it is without what the engine has borrowed of it; boards as they are."""
    owned = snapshot.engine_owned_bytes
    if snapshot.kind != "system" or owned is None:
        return snapshot
    part = borrowed.part_of(owned)
    if not part:
        return snapshot
    return replace(
        snapshot,
        used_bytes=max(0, snapshot.used_bytes - part),
        engine_owned_bytes=owned - part,
        engine_borrowed_bytes=part,
    )
