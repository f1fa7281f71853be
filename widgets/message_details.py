"""What an answer was made of, unfolded below its figures. Data in, nothing out."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from resources.theme import mixed
from resources.tokens import PANEL_PADDING_PX, STEP_PX, Palette
from widgets.legend_line import Entry, LegendLine
from widgets.message_record import Detail
from widgets.theme import set_role

_STRIP_PX = 2 * STEP_PX
_BARS_PX = 12 * STEP_PX
_WIDEST_BAR_PX = 9 * STEP_PX
# A part that took any time at all can be seen.
_LEAST_PART_PX = 2
# Of what no bar stood for: so much of the colour is left.
_GROUND_SHARE = 0.25


def _colours(palette: Palette) -> tuple[str, ...]:
    """Colours of parts, in their order."""
    return (palette.others, palette.weights, palette.kv, palette.compute, palette.draft)


class DetailsView(QFrame):
    """Details below each other: title and value, drawing, meaning."""

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        """Show nothing yet, in the colours of ``palette``."""
        super().__init__(parent)
        self._palette = palette
        self._details: tuple[Detail, ...] = ()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(
            PANEL_PADDING_PX, PANEL_PADDING_PX, PANEL_PADDING_PX, PANEL_PADDING_PX
        )
        self._column.setSpacing(PANEL_PADDING_PX)
        set_role(self, "raised")
        self.setAccessibleName("Details of this answer")

    def show_details(self, details: Sequence[Detail]) -> None:
        """Show these in place of what was there."""
        if tuple(details) == self._details:
            return
        self._details = tuple(details)
        self._build()

    def set_palette(self, palette: Palette) -> None:
        """Change colours."""
        self._palette = palette
        self._build()

    def text(self) -> str:
        """All of it as plain text."""
        labels = self.findChildren(QLabel) + self.findChildren(LegendLine)
        return "\n".join(label.text() for label in labels)

    def _build(self) -> None:
        while (item := self._column.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.setParent(None)
                widget.deleteLater()
        for detail in self._details:
            self._column.addWidget(_block(detail, self._palette))


def _block(detail: Detail, palette: Palette) -> QWidget:
    block = QWidget()
    column = QVBoxLayout(block)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(STEP_PX)
    title, value = _label(detail.title, "heading"), _label(detail.value, "value")
    value.setWordWrap(True)
    value.setAccessibleName(f"{detail.title}: {detail.value}")
    value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    head = QHBoxLayout()
    head.setSpacing(PANEL_PADDING_PX)
    head.addWidget(title, 0, Qt.AlignmentFlag.AlignTop)
    value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
    head.addWidget(value, 1)
    column.addLayout(head)
    if detail.parts:
        column.addWidget(PartsStrip([size for _, size in detail.parts], palette))
        legend = LegendLine()
        colours = _colours(palette)
        legend.set_entries(
            [Entry(text, colours[place]) for place, (text, _) in enumerate(detail.parts)]
        )
        column.addWidget(legend)
    if detail.bars:
        column.addWidget(PositionBars(detail.bars, detail.bars_text, palette))
    if detail.hint:
        hint = _label(detail.hint, "hint")
        hint.setWordWrap(True)
        column.addWidget(hint)
    return block


def _label(text: str, role: str) -> QLabel:
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    set_role(label, role)
    return label


class PartsStrip(QWidget):
    """A thin bar cut into what it is the sum of; its words stand in the legend below."""

    def __init__(self, sizes: Sequence[float], palette: Palette) -> None:
        """Show ``sizes``, at most five, in one unit."""
        super().__init__()
        self._sizes = tuple(sizes)
        self._palette = palette
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """As wide as there is room."""
        return QSize(_WIDEST_BAR_PX, _STRIP_PX)

    def widths_px(self) -> list[float]:
        """How wide each part is drawn."""
        total = sum(self._sizes)
        if total <= 0:
            return [0.0] * len(self._sizes)
        least = [_LEAST_PART_PX if size > 0 else 0 for size in self._sizes]
        room = max(0, self.width() - sum(least))
        return [px + room * size / total for px, size in zip(least, self._sizes, strict=True)]

    def paintEvent(self, event: QPaintEvent) -> None:
        """Part by part from the left."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        outline = QPainterPath()
        outline.addRoundedRect(QRectF(self.rect()), STEP_PX / 2, STEP_PX / 2)
        painter.setClipPath(outline)
        painter.fillRect(self.rect(), QColor(self._palette.line))
        x = 0.0
        for width, colour in zip(self.widths_px(), _colours(self._palette), strict=False):
            painter.fillRect(QRectF(x, 0, width, self.height()), QColor(colour))
            x += width
        painter.end()


class PositionBars(QWidget):
    """A bar for each position: its height is how many came so far, its filling how many held."""

    def __init__(self, bars: Sequence[tuple[int, int]], text: str, palette: Palette) -> None:
        """Show ``bars``, each of how many how many; ``text`` says the same."""
        super().__init__()
        self._bars = tuple(bars)
        self._palette = palette
        self.setAccessibleName(text)
        self.setToolTip(text)
        set_role(self, "hint")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """Room for the bars and a line of positions."""
        return QSize(_WIDEST_BAR_PX, _BARS_PX + self.fontMetrics().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Bars from the left, positions below as far as they have room."""
        painter = QPainter(self)
        metrics = self.fontMetrics()
        most = max(1, *(drafted for drafted, _ in self._bars))
        step_px = min(_WIDEST_BAR_PX, self.width() / len(self._bars))
        bar_px = max(1.0, step_px - max(1.0, step_px / 8))
        bottom_px = self.height() - metrics.height()
        ground = QColor(mixed(self._palette.raised, self._palette.draft, _GROUND_SHARE))
        muted = self.palette().windowText().color()
        every = _label_every(len(self._bars), step_px, metrics)
        for place, (drafted, accepted) in enumerate(self._bars):
            x = place * step_px
            for count, colour in ((drafted, ground), (accepted, QColor(self._palette.draft))):
                height = bottom_px * count / most
                painter.fillRect(QRectF(x, bottom_px - height, bar_px, height), colour)
            if place % every == 0:
                painter.setPen(muted)
                wide = max(bar_px, metrics.horizontalAdvance(str(place + 1)))
                area = QRectF(x, bottom_px, wide, metrics.height())
                painter.drawText(area, Qt.AlignmentFlag.AlignHCenter, str(place + 1))
        painter.end()


def _label_every(bars: int, step_px: float, metrics: QFontMetrics) -> int:
    """Each how many bars a position is written: as many as stand apart, by a round number."""
    room_px = metrics.horizontalAdvance(str(bars)) + STEP_PX
    return next((n for n in (1, 2, 4, 8, 16, 32) if n * step_px >= room_px), bars)
