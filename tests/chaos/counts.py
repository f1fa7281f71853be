"""How often each kind is tried: the full counts take an hour, the usual ones some minutes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Counts:
    """Numbers of tries.

    Attributes:
        engine_kills: Times that the engine is killed or stopped.
        window_kills: Times that the window is killed.
        files: Mutated files.
        soak_s: Seconds of the soak.
        stalls: Times that the reader of the pipe stalls.
        stall_s: Seconds that it does.
        disks: Times that a disk is full, and that it is read-only.
        shortages: Times that memory runs out.
    """

    engine_kills: int
    window_kills: int
    files: int
    soak_s: float
    stalls: int
    stall_s: float
    disks: int
    shortages: int


USUAL = Counts(15, 6, 100, 60.0, 1, 10.0, 1, 5)
FULL = Counts(100, 50, 1_000, 1_200.0, 5, 10.0, 5, 50)


def counts_of(environment: Mapping[str, str]) -> Counts:
    """The counts that ``CHAOS`` asks for.

    Raises:
        ValueError: If it is set to something unknown.
    """
    asked = environment.get("CHAOS", "")
    if asked not in ("", "full"):
        raise ValueError(f"CHAOS={asked} is unknown: leave it out, or set CHAOS=full.")
    return FULL if asked else USUAL
