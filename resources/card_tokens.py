"""Sizes of the picture card of an experiment, in pixels; its colours are a ``Palette``'s.

A card is seen at half its size more often than not: nothing on it is smaller than ``SMALL_PX``.
"""

from __future__ import annotations

# What pages that show a link as a picture expect.
WIDTH_PX = 1200
HEIGHT_PX = 630
MARGIN_PX = 48
GAP_PX = 16
PADDING_PX = 20
RADIUS_PX = 12
BAR_RADIUS_PX = 4

TITLE_PX = 38
FIGURE_PX = 42
BODY_PX = 20
SMALL_PX = 17
"""Type."""

ICON_PX = 30
FIGURES_HEIGHT_PX = 124
# Of a bar chart: name, bar and value of a row; a row is at most so high.
NAME_WIDTH_PX = 340
VALUE_WIDTH_PX = 200
ROW_PX = 44
BAR_PX = 18
DOT_PX = 12
WHISKER_PX = 10
LINE_PX = 2
