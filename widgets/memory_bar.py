"""Memory as one bar: present, predicted, other programs, against what there is."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from typing import Literal

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from engine_bridge.memory_plan import MemoryPlan
from resources.theme import faded, mixed
from resources.tokens import DARK, STEP_PX, Palette
from widgets.byte_text import byte_text
from widgets.elided_label import ElidedLabel
from widgets.legend_line import Entry, LegendLine
from widgets.memory_parts import MemoryState, Parts
from widgets.theme import set_role

_BAR_PX = 4 * STEP_PX
_HATCH_PX = STEP_PX + 1
# The line that marks the capacity where more is asked than there is.
_EDGE_PX = 2
_NO_MODEL = "no model loaded"
_HATCHED = "Hatched: what the change adds, or gives back."


class MemoryBar(QWidget):
    """Title and total, the bar, and two lines that say the same in words.

    The stack begins with other programs, then mapped weights, owned weights, KV, compute and draft.
    What a change would add is hatched behind the stack, what it would give back is hatched in it.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make an empty bar."""
        super().__init__(parent)
        self._state = MemoryState()
        self._device: str | None = None
        self._kind: Literal["system", "gpu"] | None = None
        self._said: tuple[str, ...] = ()
        self._unknown = ""
        self._title = ElidedLabel("System memory", self)
        set_role(self._title, "heading")
        self._used = QLabel(self)
        set_role(self._used, "value")
        self._bar = _Bar(self)
        self._colours = DARK
        self._parts = LegendLine(self)
        self._rest = LegendLine(self)
        header = QHBoxLayout()
        header.addWidget(self._title, 1)
        header.addWidget(self._used)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(STEP_PX)
        layout.addLayout(header)
        layout.addWidget(self._bar)
        lines = QVBoxLayout()
        lines.setSpacing(STEP_PX // 2)
        lines.addWidget(self._parts)
        lines.addWidget(self._rest)
        layout.addLayout(lines)
        self._show()

    def set_present(
        self,
        plan: MemoryPlan | None,
        others_bytes: int,
        capacity_bytes: int,
        label: str,
        device: str | None = None,
        *,
        kind: Literal["system", "gpu"] | None = None,
        kept_bytes: int = 0,
        rest_bytes: int = 0,
    ) -> None:
        """Show what is.

        Args:
            plan: What the engine holds; None without a model.
            others_bytes: What other programs hold.
            capacity_bytes: Size of this memory, 0 if unknown.
            label: Which memory, e.g. ``GPU memory``.
            device: Count this device of the plan alone (``CUDA0``); None counts all of it.
            kind: Count main memory or all boards alone; None counts as ``device`` says.
            kept_bytes: What prompt caches hold of it now.
            rest_bytes: What the engine owns of it now and no plan explains.
        """
        self._device, self._kind, self._unknown = device, kind, ""
        present = self._parts_of(plan)
        self._state = replace(
            self._state,
            present=present,
            others_bytes=max(0, others_bytes),
            capacity_bytes=max(0, capacity_bytes),
            kept_bytes=max(0, kept_bytes),
            rest_bytes=max(0, rest_bytes),
        )
        self._title.set_text(label)
        self._show()

    def set_predicted(self, plan: MemoryPlan | None) -> None:
        """Show beside it what a change would make of it; None shows the present alone."""
        self._state = replace(self._state, predicted=self._parts_of(plan))
        self._show()

    def _parts_of(self, plan: MemoryPlan | None) -> Parts | None:
        if plan is None:
            return None
        if self._kind is None:
            return Parts.of(plan, self._device)
        return Parts.of_memory(plan, self._kind)

    def set_unknown(self, words: str) -> None:
        """Show an empty bar of the same memory, and ``words`` for why it is empty."""
        self._state, self._unknown = MemoryState(), words
        self._show()

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self._colours = palette
        self._bar.set_palette(palette)
        self._show()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width holds more of the parts in a line, or fewer."""
        super().resizeEvent(event)
        self._show()

    def text(self) -> str:
        """Everything that the bar says, in words, whatever stands in which line."""
        lines = (self._used.text(), *self._said)
        return f"{self._title.full_text()}: {'; '.join(line for line in lines if line)}"

    def _show(self) -> None:
        if self._unknown:
            self._show_unknown()
            return
        state, is_over = self._state, bool(self._state.excess_bytes)
        self._used.setText(state.used_text())
        set_role(self._used, "value-warning" if is_over else "value")
        left_over = self._show_parts()
        others = Entry(f"others {byte_text(state.others_bytes)}", self._colours.others)
        rest = state.excess_text() or state.free_text() or "size of this memory unknown"
        ink = self._colours.warning if is_over else None
        caches = state.caches_text()
        entries = [*left_over, others, Entry(rest, ink=ink)]
        kept_colour = self._colours.caches if state.kept_bytes else None
        kept_entry = Entry(caches, kept_colour, brief=state.caches_text("caches"))
        self._rest.set_entries([*entries, kept_entry] if caches else entries)
        if caches and self._rest.fitting() <= len(entries):
            self._rest.set_entries([*entries, replace(kept_entry, brief=state.caches_brief())])
        texts = [text for _, text in state.part_texts()] or [_NO_MODEL]
        rests = (others.text, rest, caches)
        self._said = (" · ".join(texts), " · ".join(text for text in rests if text))
        self._bar.set_state(state)
        rows = "".join(
            f"<tr><td style='color:{_colour_of(series, self._colours)}'>{'■' * bool(series)}</td>"
            f"<td>{escape(name)}&nbsp;&nbsp;</td><td align='right'>{escape(text)}</td></tr>"
            for series, name, text in state.details()
        )
        hatched = _HATCHED if state.predicted is not None else ""
        notes = (hatched, state.weights_note(), state.caches_note(), state.counted_note())
        note = " ".join(filter(None, notes))
        tip = f"<table>{rows}</table>{f'<p>{escape(note)}</p>' if note else ''}"
        for widget in (self._title, self._used, self._bar):
            widget.setToolTip(tip)
        self._bar.setAccessibleName(self.text())
        self._bar.setAccessibleDescription(note)

    def _show_parts(self) -> list[Entry]:
        """Show as many parts as the first line holds, and return the others."""
        for count in range(len(self._state.part_texts()), 0, -1):
            texts = self._state.part_texts(count)
            parts = [Entry(text, getattr(self._colours, name)) for name, text in texts]
            self._parts.set_entries(parts[:count])
            if count == 1 or self._parts.fitting() == count:
                return parts[count:]
        if not self._state.part_texts():
            self._parts.set_entries([Entry(_NO_MODEL)])
        return []

    def _show_unknown(self) -> None:
        self._used.setText("")
        self._parts.set_entries([Entry(self._unknown)])
        self._said = (self._unknown,)
        self._rest.set_entries([])
        self._bar.set_state(self._state)
        for widget in (self._title, self._used, self._bar):
            widget.setToolTip("")
        self._bar.setAccessibleName(self.text())
        self._bar.setAccessibleDescription("")


class _Bar(QWidget):
    """The stack itself."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._colours = DARK
        self._state = MemoryState()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_palette(self, palette: Palette) -> None:
        self._colours = palette
        self.update()

    def set_state(self, state: MemoryState) -> None:
        if state != self._state:
            self._state = state
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(40 * STEP_PX, _BAR_PX)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        outline = QPainterPath()
        outline.addRoundedRect(QRectF(self.rect()), STEP_PX, STEP_PX)
        painter.setClipPath(outline)
        painter.fillRect(self.rect(), QColor(self._colours.raised))
        state = self._state
        asked = state.beside_bytes + max(state.now.total, state.then.total)
        whole = max(state.capacity_bytes, asked, 1)
        self._paint_stack(painter, self.width() / whole)
        if state.capacity_bytes and asked > state.capacity_bytes:
            x = self.width() * state.capacity_bytes / whole
            edge = QRectF(x - _EDGE_PX / 2, 0, _EDGE_PX, self.height())
            painter.fillRect(edge, QColor(self._colours.warning))

    def _paint_stack(self, painter: QPainter, px_per_byte: float) -> None:
        colours = self._colours
        names = ("mapped", "weights", "kv", "compute", "draft")
        series = [_colour_of(name, colours) for name in names]
        now, then = self._state.now.in_order(), self._state.then.in_order()
        x = self._fill(painter, 0.0, self._state.others_bytes * px_per_byte, colours.others)
        for colour, before, after in zip(series, now, then, strict=True):
            x = self._fill(painter, x, min(before, after) * px_per_byte, colour)
            x = self._hatch(painter, x, max(0, before - after) * px_per_byte, colour)
        for colour, before, after in zip(series, now, then, strict=True):
            x = self._hatch(painter, x, max(0, after - before) * px_per_byte, colour)
        rest = _colour_of("rest", colours)
        x = self._fill(painter, x, self._state.rest_bytes * px_per_byte, rest)
        self._fill(painter, x, self._state.kept_bytes * px_per_byte, colours.caches)

    def _fill(self, painter: QPainter, x: float, width: float, colour: str) -> float:
        painter.fillRect(QRectF(x, 0, width, self.height()), QColor(colour))
        return x + width

    def _hatch(self, painter: QPainter, x: float, width: float, colour: str) -> float:
        if width <= 0:
            return x
        painter.save()
        area = QRectF(x, 0, width, self.height())
        painter.setClipRect(area, Qt.ClipOperation.IntersectClip)
        painter.fillRect(area, QColor(mixed(self._colours.raised, colour, 0.15)))
        painter.setPen(QPen(QColor(colour), 1.3))
        height = self.height()
        start = x - x % _HATCH_PX - height
        for step in range(int((width + 2 * height) / _HATCH_PX) + 2):
            left = start + step * _HATCH_PX
            painter.drawLine(int(left), height, int(left) + height, 0)
        painter.restore()
        return x + width


def _colour_of(series: str, colours: Palette) -> str:
    """Of a part of the bar."""
    if series == "mapped":  # the system's to drop: fainter than what it must keep
        return faded(colours.weights, colours.raised, 0.45, colours.panel)
    if series == "rest":
        return faded(colours.muted, colours.raised, 0.6, colours.panel)
    return str(getattr(colours, series or "text"))
