"""Memory against capacity: a stack of who holds it, with the prediction dotted beside it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget

from engine_bridge.metrics.memory_meter import MemoryParts, MemoryView
from engine_bridge.metrics.meters import Marker
from resources.theme import mixed
from resources.tokens import Palette
from widgets.charts.frame import NO_VALUE, ChartFrame
from widgets.charts.line import highest
from widgets.charts.plot import TimePlot, pen
from widgets.charts.words import gib, signed_gib
from widgets.legend_line import Entry

# Room above the stack, so that it does not touch the top of its axis.
_HEADROOM = 1.1
# With so much of it in use the end of the memory is near enough to be shown too.
_NEAR_CAPACITY = 0.8
_NAMES = {
    "others": "others",
    "mapped": "mapped weights",
    "weights": "weights",
    "kv": "KV",
    "compute": "compute",
    "draft": "draft",
    "rest": "unexplained",
}


class MemoryChart(ChartFrame):
    """Who holds how much of the memory."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make an empty chart."""
        super().__init__(
            "Memory",
            TimePlot(floor=0.25, unit_per_value=1 / (1 << 30)),
            "Who holds how much memory appears with the first reading, about a second after start.",
            ("memory", "unexplained"),
            has_legend_below=True,
            parent=parent,
        )
        # The whole stack is drawn first and each lower part over it.
        self._areas = [self.plot.add_curve(-index) for index in range(len(MemoryParts._fields))]
        self._predicted = self.plot.add_curve(3, is_broken=True)
        self._capacity = self.plot.add_level()
        self._candidate = self.plot.add_level()
        self._view = MemoryView()
        self.plot.set_hover_text(self._hover_text)
        self.set_palette(self.colours)

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        super().set_palette(palette)
        for curve, colour in zip(self._areas, self._series_colours(), strict=True):
            curve.setPen(None)
            curve.setBrush(QColor(colour))
            curve.setFillLevel(0.0)
        self._predicted.setPen(pen(palette.text, 1.0, Qt.PenStyle.DotLine))
        self._capacity.setPen(pen(palette.warning, 1.0, Qt.PenStyle.DotLine))
        self._candidate.setPen(pen(palette.accent, 1.0, Qt.PenStyle.DotLine))
        self._show_words(self._view)

    def set_data(
        self, view: MemoryView, markers: Sequence[Marker], now_s: float, has_words: bool = True
    ) -> None:
        """Draw a view.

        Args:
            view: What to draw; kept for the hover card.
            markers: Where settings changed.
            now_s: The time of the right edge, for an axis that shrinks slowly.
            has_words: Whether the texts are brought up to date too.
        """
        self._view = view
        tops = np.cumsum(view.stack, axis=0)
        top = highest(tops[-1], view.predicted, _array(view.candidate))
        self.plot.follow(_axis_top(top, view.capacity), now_s)
        for curve, line in zip(self._areas, tops, strict=True):
            self.plot.draw(curve, view.times_s, line)
        self.plot.draw(self._predicted, view.times_s, view.predicted)
        self.show_empty(top is None)
        self.plot.place_level(self._capacity, view.capacity)
        is_changing = view.candidate is not None and view.candidate != view.planned
        self.plot.place_level(self._candidate, view.candidate if is_changing else None)
        self.plot.set_markers(markers)
        if has_words:
            self._show_words(view)

    def _show_words(self, view: MemoryView) -> None:
        if view.used is None:
            self.show_words(NO_VALUE, "")
            return
        used = gib(view.used)
        if view.candidate is not None and gib(view.candidate) != gib(view.planned or view.used):
            used = f"{used} → {gib(view.candidate)}"
        note = ""
        if view.unexplained is not None:
            note = f"unexplained {signed_gib(view.unexplained)} GiB"
        self.set_title("GPU memory" if view.kind == "gpu" else "System memory", view.name)
        self.show_words(f"{used} of {gib(view.capacity)} GiB", note, legend=self._legend_entries())

    def text(self) -> str:
        """Everything the chart says, with every part of the stack."""
        parts = self._view.parts
        if parts is None:
            return super().text()
        named = zip(MemoryParts._fields, parts, strict=True)
        words = ", ".join(f"{_NAMES[field]} {gib(size)}" for field, size in named if size > 0)
        planned = "" if self._view.planned is None else f", predicted {gib(self._view.planned)}"
        return f"{self._view.name}: {super().text()}. In GiB: {words}{planned}"

    def _legend_entries(self) -> list[Entry]:
        parts = self._view.parts
        if parts is None:
            return []
        # Mapped weights are a paler band of the same thing: one entry for both.
        kept = (parts.others, 0, parts.weights + parts.mapped, parts.kv, parts.compute, parts.draft)
        return [
            Entry(_NAMES[field], colour)
            for field, size, colour in zip(_NAMES, kept, self._series_colours(), strict=False)
            if size > 0
        ]

    def _series_colours(self) -> tuple[str, ...]:
        """Colours in the order of ``MemoryParts``."""
        p = self.colours
        mapped, rest = mixed(p.weights, p.raised, 0.45), mixed(p.muted, p.raised, 0.6)
        return (p.others, mapped, p.weights, p.kv, p.compute, p.draft, rest)

    def _hover_text(self, time_s: float, share: float) -> str:
        view = self._view
        finite = np.flatnonzero(np.isfinite(view.stack).all(axis=0))
        if not finite.size:
            return ""
        place = finite[np.abs(view.times_s[finite] - time_s).argmin()]
        rows = [f"{-view.times_s[place]:.0f} s ago, GiB"]
        column = view.stack[:, place]
        for field, size in reversed(list(zip(MemoryParts._fields, column, strict=True))):
            if size > 0:
                rows.append(f"{_NAMES[field]} {gib(size)}")
        rows.append(f"all {gib(float(column.sum()))} of {gib(view.capacity)}")
        if np.isfinite(view.predicted[place]):
            rows.append(f"predicted {gib(float(view.predicted[place]))}")
        if view.window is not None:
            rows.append(f"this window {gib(view.window)} (in others)")
        return "\n".join(rows)


def _axis_top(top: float | None, capacity: float) -> float | None:
    """What the axis has to reach: what is shown, and the capacity once that is near."""
    if top is None:
        return None
    is_near = np.isfinite(capacity) and top >= _NEAR_CAPACITY * capacity
    return max(min(top * _HEADROOM, np.finfo(np.float64).max), capacity if is_near else 0.0)


def _array(value: float | None) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([np.nan if value is None else value], dtype=np.float64)
