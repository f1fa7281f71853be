"""The key of a chart: what each of its marks stands for, from what it draws. Pure.

The tooltips have all of it, the legend in the header as much as it has room for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

import numpy as np

from resources.tokens import Palette
from widgets.charts.picture import Picture, Series
from widgets.legend_line import Entry

_AREA, _LINE, _BROKEN, _DOTTED, _DOT, _TRIANGLE, _HANDLE = "■", "━", "╍", "┈", "●", "▲", "▼"


@dataclass(frozen=True)
class Sign:
    """A mark and what it stands for.

    Attributes:
        glyph: A character that looks like it.
        colour: ``#RRGGBB``.
        name: What it stands for.
    """

    glyph: str
    colour: str
    name: str


def signs_of(
    picture: Picture, edge_value: float, has_changes: bool, colours: Palette
) -> tuple[Sign, ...]:
    """A sign for every mark that is drawn.

    Args:
        picture: What is drawn; of stacked bands the topmost comes first.
        edge_value: The value at the upper edge of the plot.
        has_changes: Whether changes are marked.
        colours: Of the marks that the picture does not have.
    """
    bands = [series for series in picture.named() if series.look == "area"]
    others = [s for s in picture.series if s.look != "area" and np.isfinite(s.values).any()]
    found = [*map(_sign_of, reversed(bands)), *map(_sign_of, others)]
    found += [
        Sign(_DOTTED, level.colour, level.name)
        for level in picture.lines_across
        if level.value <= edge_value
    ]
    found += _above(picture, others)
    if has_changes:
        found.append(Sign(_HANDLE, colours.muted, "a change; point at it to see which"))
    return tuple(found)


def _sign_of(series: Series) -> Sign:
    if series.look == "area":
        glyph = _AREA
    elif series.look == "dots":
        glyph = _DOT
    else:
        glyph = _BROKEN if series.is_broken else _DOTTED if series.is_dotted else _LINE
    return Sign(glyph, series.colour, series.name)


def _above(picture: Picture, drawn: list[Series]) -> Iterator[Sign]:
    """How what is above the limit looks, where anything is."""
    limit = picture.limit
    if limit is None:
        return
    over = [s.look for s in drawn if s.is_judged and np.any(s.values > limit.value)]
    if "dots" in over:
        yield Sign(_TRIANGLE, limit.colour, "above the limit")
    if "line" in over:
        yield Sign(_LINE, limit.colour, "thicker, in this colour: above the limit")


def key_html(signs: tuple[Sign, ...]) -> str:
    """The key for a tooltip; empty without a sign."""
    rows = "".join(
        f"<tr><td style='color:{sign.colour}'>{sign.glyph}&nbsp;</td>"
        f"<td>{escape(sign.name)}</td></tr>"
        for sign in signs
    )
    return f"<table>{rows}</table>" if rows else ""


def level_entries(picture: Picture) -> list[Entry]:
    """Entries of a legend for the lines across: the limit, and a prediction once for its band."""
    found: dict[str, str] = {}
    for level in picture.lines_across:
        # Of a prediction with its band the last one is the prediction itself.
        found[level.name.split()[0].rstrip(",").lower()] = level.colour
    return [Entry(f"{_DOTTED} {name}", ink=colour) for name, colour in found.items()]


def entry_of(series: Series) -> Entry:
    """The entry of a legend for a line or dots."""
    sign = _sign_of(series)
    return Entry(f"{sign.glyph} {sign.name.lower()}", ink=sign.colour)
