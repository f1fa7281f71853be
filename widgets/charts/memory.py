"""Memory against capacity: a stack of who holds it, with the prediction dotted beside it."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
from PySide6.QtWidgets import QWidget

from engine_bridge.metrics.memory_meter import MemoryParts, MemoryView
from resources.theme import faded
from resources.tokens import Palette
from widgets.charts.frame import NO_VALUE, ChartFrame
from widgets.charts.line import Floats, highest
from widgets.charts.note_line import BETWEEN
from widgets.charts.picture import Level, Picture, Series, value_near
from widgets.charts.sheet import Sheet, Unit
from widgets.charts.time_view import TimeView
from widgets.charts.words import gib, signed_gib
from widgets.legend_line import Entry

# Room above the stack, so that it does not touch the top of its axis.
_HEADROOM = 1.1
# With so much of it in use the end of the memory is near enough to be shown too.
_NEAR_CAPACITY = 0.8
# A band of less is no row of pixels on any axis.
_LEAST_NAMED_BYTES = 1 << 20
# A reading a second: further away than this there was none.
_READ_EVERY_S = 2.0
_NAMES = {
    "others": "others",
    "mapped": "mapped weights",
    "weights": "weights",
    "kv": "KV",
    "compute": "compute",
    "draft": "draft",
    "rest": "unexplained",
    "caches": "prompt caches",
}
_BRIEF = {"caches": "caches", "rest": "rest"}
# Settings change everything else.
_UNTUNED = (_NAMES["others"], _NAMES["weights"])
# Colours change with the theme, and this is asked twice a drawing: a twentieth of its time.
_faded = lru_cache(maxsize=16)(faded)


class MemoryChart(ChartFrame[MemoryView]):
    """Who holds how much of the memory."""

    def __init__(self, time_view: TimeView | None = None, parent: QWidget | None = None) -> None:
        """Make an empty chart, in a time of its own or shared with others."""
        super().__init__(
            "Memory",
            Unit("GiB", 1 / (1 << 30)),
            0.25,
            "Who holds how much memory appears with the first reading, about a second after start.",
            ("memory", "memory_totals", "unexplained"),
            has_legend_below=True,
            time_view=time_view,
            parent=parent,
        )
        self._view = MemoryView()

    def set_palette(self, palette: Palette) -> None:
        """Use these colours; the legend has them too."""
        super().set_palette(palette)
        self.say(self._view)

    def picture(self, view: MemoryView) -> Picture:
        """A band for each part, the prediction over them, the limits near them."""
        p = self.colours
        bands = [
            Series(_NAMES[field], view.times_s, row, colour, "area")
            for field, row, colour in zip(
                MemoryParts._fields, view.stack, self._series_colours(), strict=True
            )
        ]
        predicted = Series("predicted", view.times_s, view.predicted, p.text, is_dotted=True)
        levels = []
        if np.isfinite(view.capacity):
            levels.append(Level("Capacity", view.capacity, p.warning))
        if view.candidate is not None and view.candidate != view.reserved:
            levels.append(Level("Predicted with the changes", view.candidate, p.accent))
        with np.errstate(over="ignore"):  # a sum beyond all numbers is a gap
            used = view.stack.sum(axis=0)
        top = highest(used, view.predicted, _array(view.candidate))
        return Picture((*bands, predicted), tuple(levels), _axis_top(top, view.capacity))

    def say(self, view: MemoryView) -> None:
        """What is used now, of how much, and what it would become."""
        if view.used is None:
            self.show_words(NO_VALUE, "")
            return
        used = gib(view.used)
        if view.candidate is not None and gib(view.candidate) != gib(view.reserved or view.used):
            used = f"{used} → {gib(view.candidate)}"
        notes = [_unexplained_text(view.unexplained)]
        mapped = 0.0 if view.parts is None else view.parts.mapped
        if mapped:
            # The sum: the first is what the row of main memory calls in use.
            notes = [f"{gib(view.used - mapped)} in use + {gib(mapped)} GiB mapped", *notes]
        note = BETWEEN.join(filter(None, notes))
        # Other totals stand around: this one says in its title what it counts, in few words, as a
        # prediction beside the value takes most of the line.
        memory = "GPU memory" if view.kind == "gpu" else "RAM" if mapped else "RAM in use"
        self.set_title(f"{memory} + mapped" if mapped else memory, view.name)
        self.show_words(f"{used} of {gib(view.capacity)} GiB", note, legend=self._legend_entries())

    def sheet(self, view: MemoryView | None = None) -> Sheet:
        """What a table or a file shows, under a name that stays whatever is mapped."""
        kind = (self._view if view is None else view).kind
        title = "GPU memory" if kind == "gpu" else "System memory"
        return replace(super().sheet(view), title=title)

    def text(self) -> str:
        """Everything the chart says, with every part of the stack."""
        parts = self._view.parts
        if parts is None:
            return super().text()
        named = dict(zip(_NAMES.values(), parts, strict=True))
        words = ", ".join(f"{name} {gib(size)}" for name, size in _as_in_legend(named) if size > 0)
        planned = "" if self._view.planned is None else f", predicted {gib(self._view.planned)}"
        return f"{self._view.name}: {super().text()}. In GiB: {words}{planned}{self._sum_text()}"

    def _sum_text(self) -> str:
        """How the total follows from the row of main memory; empty where it is the same."""
        parts, used = self._view.parts, self._view.used
        if parts is None or used is None or not parts.mapped:
            return ""
        return f"; used {gib(used - parts.mapped)} and mapped weights {gib(parts.mapped)}"

    def _legend_entries(self) -> list[Entry]:
        parts = self._view.parts
        if parts is None:
            return []
        # Mapped weights are a paler band of the same thing: one entry for both.
        kept = parts._replace(mapped=0, weights=parts.weights + parts.mapped)
        entries = [
            Entry(_NAMES[field], colour, brief=_BRIEF.get(field, ""))
            for field, size, colour in zip(_NAMES, kept, self._series_colours(), strict=True)
            if size >= _LEAST_NAMED_BYTES
        ]
        # From the top of the stack down: where room is short, what no setting changes goes first.
        return [*entries[::-1], *self._line_entries()]

    def _line_entries(self) -> list[Entry]:
        p, view = self.colours, self._view
        lines = [Entry("┈ predicted", ink=p.text)] if np.isfinite(view.predicted).any() else []
        if view.capacity <= self.plot.edge_value:
            lines.append(Entry("┈ capacity", ink=p.warning))
        return lines

    def _series_colours(self) -> tuple[str, ...]:
        """Colours in the order of ``MemoryParts``."""
        p = self.colours
        mapped = _faded(p.weights, p.raised, 0.45, p.panel)
        rest = _faded(p.muted, p.raised, 0.6, p.panel)
        return (p.others, mapped, p.weights, p.kv, p.compute, p.draft, rest, p.caches)

    def lines_at(self, time_s: float, share: float | None) -> list[str]:
        """Who held what at a time."""
        reach_s = max(_READ_EVERY_S, self.plot.near()[0])
        bands = [series for series in self.plot.picture.series if series.look == "area"]
        sizes = [(band.name, value_near(band, time_s, reach_s)) for band in bands]
        held = _as_in_legend({name: size for name, size in sizes if size is not None})
        if not held:
            return []
        total = sum(size for _, size in held)
        lines = [f"{gib(total)} of {gib(self._view.capacity)} GiB"]
        # The card lists them as they are stacked; the crosshair's line, which may be cut off,
        # begins with what the settings change.
        tuned = [part for part in held if part[0] not in _UNTUNED]
        named = dict(reversed(held) if share is not None else [*tuned, *held])
        lines += [f"{name} {gib(size)}" for name, size in named.items() if size > 0]
        predicted = value_near(self.plot.picture.series[-1], time_s, reach_s)
        if predicted is not None:
            lines.append(f"predicted {gib(predicted)}")
        if share is not None and self._view.window is not None:
            lines.append(f"this window {gib(self._view.window)} now (in others)")
        return lines


def _unexplained_text(unexplained: float | None) -> str:
    """``unexplained +0.12 GiB``; where it is less than nothing, what that means."""
    if unexplained is None:
        return ""
    if signed_gib(unexplained).startswith("−"):
        return f"{gib(-unexplained)} GiB reserved, not touched yet"
    return f"unexplained {signed_gib(unexplained)} GiB"


def _as_in_legend(sizes: dict[str, float]) -> list[tuple[str, float]]:
    """Parts in the order of the stack; mapped weights are weights, of the same thing."""
    weights, mapped = _NAMES["weights"], _NAMES["mapped"]
    whole = sizes | {weights: sizes.get(weights, 0.0) + sizes.get(mapped, 0.0)} if sizes else {}
    return [(name, size) for name, size in whole.items() if name != mapped]


def _axis_top(top: float | None, capacity: float) -> float | None:
    """What the axis has to reach: what is shown, and the capacity once that is near."""
    if top is None:
        return None
    is_near = np.isfinite(capacity) and top >= _NEAR_CAPACITY * capacity
    return max(min(top * _HEADROOM, float(np.finfo(np.float64).max)), capacity if is_near else 0.0)


def _array(value: float | None) -> Floats:
    return np.array([np.nan if value is None else value], dtype=np.float64)
