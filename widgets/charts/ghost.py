"""A prediction in a chart of seconds: a dotted level, and fainter ones around it for its band."""

from __future__ import annotations

from engine_bridge.metrics.ghost import Ghost
from resources.theme import faded
from resources.tokens import Palette
from widgets.charts.picture import Level

_BAND_SHARE = 0.45
_ENDS = ("Predicted, low end", "Predicted, high end")


def ghost_levels(ghost: Ghost, colours: Palette) -> tuple[Level, ...]:
    """The levels of a prediction, that itself the last; none where there is none."""
    if ghost.seconds is None:
        return ()
    faint = faded(colours.accent, colours.panel, _BAND_SHARE, colours.panel)
    ends = zip(_ENDS, ghost.band_s or (), strict=False)
    band = [Level(name, edge_s, faint) for name, edge_s in ends]
    return (*band, Level("Predicted with the changes", ghost.seconds, colours.accent))


def top_with_ghost(top: float | None, ghost: Ghost) -> float | None:
    """What the axis has to reach so that a prediction can be seen on it."""
    if ghost.seconds is None:
        return top
    # Of a very wide band as much as can be seen beside the prediction.
    high = ghost.seconds if ghost.band_s is None else min(ghost.band_s[1], 2 * ghost.seconds)
    return max(top or 0.0, high)
