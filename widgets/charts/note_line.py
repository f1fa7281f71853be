"""The muted line of a chart: whole parts of it, never a figure that lost its unit."""

from __future__ import annotations

import re
from collections.abc import Iterator

from widgets.elided_label import ElidedLabel

BETWEEN = " · "
"""Stands between two parts."""

_MORE = " …"
# Behind the last of several figures one of these holds for them all.
_UNITS = ("GiB", "MiB", "GB/s", "tok/s", "ms", "s", "%")

# A part that ends with a figure which waits for a unit; the time of a clock is none.
_FIGURE = re.compile(r"(?:^|\s)[\d,.]+$")


class NoteLine(ElidedLabel):
    """One line of parts; those that do not fit whole are left out from the end.

    Attributes:
        is_whole_or_empty: Whether nothing is shown where not even the first part fits whole.
    """

    is_whole_or_empty = False

    def shortened(self, full: str, room_px: int) -> str:
        """As many whole parts as fit; of the first one as much as fits."""
        metrics = self.fontMetrics()
        if metrics.horizontalAdvance(full) <= room_px:
            return full
        parts = full.split(BETWEEN)
        for count in range(len(parts) - 1, 0, -1):
            whole = BETWEEN.join(parts[:count])
            begun = (f"{whole}{BETWEEN}{fewer}" for fewer in _fewer(parts[count]))
            for shown in (*begun, whole + _MORE):
                if metrics.horizontalAdvance(shown) <= room_px:
                    return shown
        if self.is_whole_or_empty:
            return ""
        for shown in _fewer(parts[0]):
            if metrics.horizontalAdvance(shown) <= room_px:
                return shown
        return super().shortened(full, room_px)


def _fewer(part: str) -> Iterator[str]:
    """``a 1, b 2, c 3 GiB`` with fewer and fewer of its figures, all with the unit.

    Where what stands before the last is no figure (``at 01:02, best of 5, spread 1 %``), the unit
    is the last one's alone.
    """
    figures = part.split(", ")
    unit = figures[-1].rpartition(" ")[2]
    if unit not in _UNITS:
        return
    is_shared = all(_FIGURE.search(figure) for figure in figures[:-1])
    for count in range(len(figures) - 1, 0, -1):
        yield f"{', '.join(figures[:count])}{f' {unit}' if is_shared else ''}{_MORE}"
