"""What a chart shows beside what is measured: the same figure with other settings. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Ghost:
    """A prediction as a chart shows it.

    Attributes:
        seconds: What is predicted; None where nothing can be.
        band_s: Between these are four of five runs; None without a prediction.
        text: What it is of, or why there is none, for the muted line; empty where nothing changes.
    """

    seconds: float | None = None
    band_s: tuple[float, float] | None = None
    text: str = ""


NO_GHOST = Ghost()
