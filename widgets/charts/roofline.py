"""The roofline in its panel: operations a byte against operations a second."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAccessible, QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from engine_bridge.metrics.ceiling import CeilingView
from engine_bridge.metrics.definitions import DEFINITIONS
from engine_bridge.step_work import StepWork
from resources.tokens import PANEL_PADDING_PX, STEP_PX, Palette
from widgets.ceiling_words import NO_VALUE, point_text, rate_text
from widgets.charts.note_line import BETWEEN, NoteLine
from widgets.charts.roofline_picture import Kind, RooflinePicture, RooflinePoint
from widgets.charts.roofline_plot import RooflinePlot
from widgets.charts.roofline_sketch import RooflineSketch
from widgets.charts.words import gb_per_s
from widgets.theme import set_role

_EMPTY = (
    "Decoding then appears here as a point for each number of streams, reading prompts as another."
)
_LOAD, _SEND = "Load a model (Ctrl+O) and send it a message.", "Send a message."
_MEMORY_ROOF = (
    "What memory delivers: {}.\nA point on this line reads as fast as that; more streams compute "
    "more\nwith each byte, and so move up along it."
)
_COMPUTE_ROOF = (
    "What compute delivers: {},\nthe best prefill seen with this model since the engine started."
)
_KEYS = "Left and Right go from point to point, Escape leaves them."
_DEFINED = ("roofline", "operations", "mbu")


class RooflineChart(QFrame):
    """The chart with its title, its value and one muted line; its description says it in words."""

    accessible_role = QAccessible.Role.Chart

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make an empty chart."""
        super().__init__(parent)
        set_role(self, "panel")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Roofline chart")
        self.plot = RooflinePlot()
        self._selected: int | None = None
        self._note_text = ""
        self._tip = "".join(f"<p>{escape(DEFINITIONS[key])}</p>" for key in _DEFINED)
        title = QLabel("Roofline")
        set_role(title, "heading")
        title.setToolTip(self._tip)
        self._value = QLabel(NO_VALUE)
        self._value.setToolTip(self._tip)
        set_role(self._value, "muted")
        self._note = NoteLine()
        set_role(self._note, "hint")
        self._empty = RooflineSketch(f"{_LOAD} {_EMPTY}", self.plot)
        self.plot.installEventFilter(self)
        self.plot.pressed.connect(self.setFocus)
        header = QHBoxLayout()
        header.setContentsMargins(0, 0, PANEL_PADDING_PX, 0)
        header.addWidget(title)
        header.addStretch(1)
        header.addWidget(self._value)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(PANEL_PADDING_PX, 2 * STEP_PX, 0, STEP_PX)
        layout.setSpacing(STEP_PX // 2)
        layout.addLayout(header)
        layout.addWidget(self._note)
        layout.addWidget(self.plot, 1)
        self._describe()

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self.plot.set_palette(palette)
        self._empty.set_palette(palette)

    def show_view(self, view: CeilingView) -> None:
        """Draw what was measured."""
        picture = picture_of(view)
        self.plot.show_picture(picture)
        self._empty.setVisible(not picture.points)
        self._empty.setText(f"{_SEND if view.has_model else _LOAD} {_EMPTY}")
        present = view.present
        shown = NO_VALUE if present is None else rate_text(present.operations_per_s)
        if shown != self._value.text():
            self._value.setText(shown)
        set_role(self._value, "value" if present is not None and view.is_live else "muted")
        roofs = [picture.memory_label or "memory roof not known", picture.compute_label]
        self._note_text = BETWEEN.join(filter(None, roofs)) if picture.points else ""
        self.select(self._selected)

    def select(self, number: int | None) -> None:
        """Say what is at a point, by its number; None for what the roofs are."""
        points = self.plot.picture.points
        self._selected = number if number is not None and number < len(points) else None
        self.plot.set_selected(self._selected)
        self._describe()

    def note(self) -> str:
        """The muted line, whole."""
        return self._note.full_text()

    def _describe(self) -> None:
        points = self.plot.picture.points
        at = "" if self._selected is None else points[self._selected].text
        self._note.set_text(at or self._note_text, self._tip)
        told = [at, *(point.text for point in points), self._note_text]
        if not points:
            told = [self._empty.text()]
        said = ". ".join(text.rstrip(".") for text in (*told, _KEYS) if text)
        if said != self.accessibleDescription():
            self.setAccessibleDescription(said)

    # --- Qt -----------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go from point to point."""
        count = len(self.plot.picture.points)
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        key = Qt.Key(event.key())
        if key in steps and count and not event.modifiers():
            start = -1 if self._selected is None and steps[key] > 0 else self._selected or 0
            self.select((start + steps[key]) % count)
        elif key == Qt.Key.Key_Escape and self._selected is not None:
            self.select(None)
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show where the keys go."""
        super().focusInEvent(event)
        self.plot.set_focused(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """The keys go elsewhere."""
        super().focusOutEvent(event)
        self.plot.set_focused(False)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the sketch between the axes."""
        if watched is self.plot and event.type() == QEvent.Type.Resize:
            self._empty.setGeometry(self.plot.geometry_now.area.toRect())
        return super().eventFilter(watched, event)


def picture_of(view: CeilingView) -> RooflinePicture:
    """What the chart shows of measured work; what has no place between the axes is left out."""
    present = 0 if view.present is None else view.present.streams
    points = [
        _point(view, work, "decode", is_present=work.streams == present) for work in view.decoding
    ]
    if view.prefill is not None:
        points.append(_point(view, view.prefill, "prefill"))
    best, memory = view.best_prefill, view.peak.bytes_per_s
    if best is not None and best != view.prefill:
        points.append(_point(view, best, "best"))
    least = "at least " if view.peak.is_lower_bound else ""
    return RooflinePicture(
        points=tuple(p for p in points if p.operations_per_byte > 0 and p.operations_per_s > 0),
        memory_bytes_per_s=memory,
        memory_label="" if memory is None else f"memory {least}{gb_per_s(memory)}",
        compute_operations_per_s=None if best is None else best.operations_per_s,
        compute_label=(
            "" if best is None else f"best prefill seen {rate_text(best.operations_per_s)}"
        ),
        memory_text=_MEMORY_ROOF.format("" if memory is None else least + gb_per_s(memory)),
        compute_text=(
            "" if best is None else _COMPUTE_ROOF.format(rate_text(best.operations_per_s))
        ),
    )


def _point(
    view: CeilingView, work: StepWork, kind: Kind, *, is_present: bool = False
) -> RooflinePoint:
    text = point_text(view, work)
    label = {"decode": str(work.streams), "prefill": "prefill", "best": "best"}[kind]
    if kind == "decode" and is_present:
        label = "1 stream" if work.streams == 1 else f"{work.streams} streams"
    if kind == "best":
        text = text.replace("Prefill:", "Best prefill seen:", 1)
    return RooflinePoint(
        kind, label, work.operations_per_byte, work.operations_per_s, text, is_present
    )
