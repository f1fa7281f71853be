"""One memory of this machine at one moment, whoever measured it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class MemorySnapshot:
    """How full a memory is.

    Attributes:
        at_ns: When, ``time.perf_counter_ns()``.
        kind: ``system`` for main memory, ``gpu`` for a board's own.
        name: For the user: ``System memory`` or the board's name.
        total_bytes: Size.
        used_bytes: What no program can have; neither pages of files that the system would give
            back nor what the engine has borrowed count.
        engine_owned_bytes: The engine's part of it; None where the source cannot tell.
        engine_mapped_bytes: File pages resident for the engine, outside of ``used_bytes``.
        engine_borrowed_bytes: What the engine has for a second to measure the peak bandwidth; in
            no other figure.
        window_bytes: This process's part; None where the source cannot tell.
        peak_bytes_per_s: Peak bandwidth, None where the source cannot tell.
        peak_how: Where that figure comes from, in words, or why there is none.
        swap_used_bytes: Swap in use by all programs; None where the source cannot tell.
        swap_total_bytes: Size of the swap, 0 without any; None where the source cannot tell.
    """

    at_ns: int
    kind: Literal["system", "gpu"]
    name: str
    total_bytes: int
    used_bytes: int
    engine_owned_bytes: int | None = None
    engine_mapped_bytes: int = 0
    window_bytes: int | None = None
    peak_bytes_per_s: float | None = None
    peak_how: str = ""
    swap_used_bytes: int | None = None
    swap_total_bytes: int | None = None
    engine_borrowed_bytes: int = 0


def together(snapshots: Sequence[MemorySnapshot]) -> MemorySnapshot:
    """Several memories of one kind as one: sums, and unknown where a part is unknown.

    Raises:
        ValueError: If there is none.
    """
    if not snapshots:
        raise ValueError("There is no memory to add up.")
    first = snapshots[0]
    if len(snapshots) == 1:
        return first
    owned = [s.engine_owned_bytes for s in snapshots]
    names = {s.name for s in snapshots}
    return MemorySnapshot(
        at_ns=max(s.at_ns for s in snapshots),
        kind=first.kind,
        name=f"{len(snapshots)} × {first.name}" if len(names) == 1 else " + ".join(sorted(names)),
        total_bytes=sum(s.total_bytes for s in snapshots),
        used_bytes=sum(s.used_bytes for s in snapshots),
        engine_owned_bytes=None if None in owned else sum(o for o in owned if o is not None),
        engine_mapped_bytes=sum(s.engine_mapped_bytes for s in snapshots),
        peak_bytes_per_s=first.peak_bytes_per_s if len(names) == 1 else None,
        peak_how=first.peak_how,
    )
