"""What a change costs, as the Apply button says it."""

from __future__ import annotations

from engine_bridge.settings.row import Applies


def cost_words(cost: Applies, seconds: float | None) -> str:
    """``live``, ``new context 0.3 s`` or ``reload``.

    Args:
        cost: What the engine has to do.
        seconds: How long that took the last time; None where it was not measured.
    """
    if cost is Applies.LIVE or seconds is None:
        return str(cost)
    return f"{cost} {seconds:.1f}\u202fs"
