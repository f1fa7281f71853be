"""What every live chart has around its plot: title, legend, value, one muted line, empty state."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from engine_bridge.metrics.definitions import DEFINITIONS
from resources.tokens import DARK, PANEL_PADDING_PX, STEP_PX, Palette
from widgets.charts.plot import TimePlot
from widgets.elided_label import ElidedLabel
from widgets.legend_line import Entry, LegendLine
from widgets.theme import set_role

NO_VALUE = "–"


class ChartFrame(QFrame):
    """A chart in its panel. Can be reached by keyboard; its description says it in words."""

    def __init__(
        self,
        title: str,
        plot: TimePlot,
        empty_text: str,
        definitions: Sequence[str],
        *,
        has_legend_below: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        """Put ``plot`` into a panel.

        Args:
            title: Name of the chart.
            plot: The plot, which becomes this frame's child.
            empty_text: What will appear and when, while there is nothing to draw.
            definitions: Keys of ``DEFINITIONS`` that the title's tooltip explains.
            has_legend_below: Whether the legend follows the muted line instead of the title.
            parent: The parent widget.
        """
        super().__init__(parent)
        self.plot = plot
        self.colours = DARK
        self._description = ""
        set_role(self, "panel")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName(f"{title} chart")
        self._title = QLabel(title)
        set_role(self._title, "heading")
        self._meaning = "\n\n".join(DEFINITIONS[key] for key in definitions)
        self._title.setToolTip(self._meaning)
        self._legend = LegendLine()
        self._value = QLabel()
        set_role(self._value, "value")
        self._value.setToolTip(self._meaning)
        self._note = ElidedLabel()
        self._note.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        set_role(self._note, "hint")
        self._empty = QLabel(empty_text, plot.viewport())
        set_role(self._empty, "hint")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setWordWrap(True)
        self._empty.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        plot.viewport().installEventFilter(self)
        header, below = QHBoxLayout(), QHBoxLayout()
        header.addWidget(self._title)
        below.addWidget(self._note)
        (below if has_legend_below else header).addWidget(self._legend, 1)
        (header if has_legend_below else below).addStretch(1)
        header.addWidget(self._value)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(PANEL_PADDING_PX, 2 * STEP_PX, 0, STEP_PX)
        layout.setSpacing(STEP_PX // 2)
        for row in (header, below):
            row.setSpacing(3 * STEP_PX)
            row.setContentsMargins(0, 0, PANEL_PADDING_PX, 0)
            layout.addLayout(row)
        layout.addWidget(plot, 1)
        self._value.setText(NO_VALUE)
        set_role(self._value, "muted")
        plot.set_blank(True)
        self.setAccessibleDescription(empty_text)

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self.colours = palette
        self.plot.set_palette(palette)

    def set_title(self, title: str, detail: str) -> None:
        """Name what is shown now; ``detail`` is plain text, in front of the title's tooltip."""
        if title != self._title.text():
            self._title.setText(title)
        tip = f"{escape(detail)}<br><br>{escape(self._meaning)}".replace("\n\n", "<br><br>")
        if tip != self._title.toolTip():
            self._title.setToolTip(tip)

    def show_words(
        self, value: str, note: str, is_stale: bool = False, legend: Sequence[Entry] = ()
    ) -> None:
        """Show the figures.

        Args:
            value: The live value with its unit.
            note: What it is made of.
            is_stale: Whether the value is the last known rather than present; shown muted.
            legend: Names of the series with their colours.
        """
        shown = f"last {value}" if is_stale and value != NO_VALUE else value
        if shown != self._value.text():
            self._value.setText(shown)
        set_role(self._value, "muted" if is_stale or value == NO_VALUE else "value")
        if note != self._note.full_text():
            self._note.set_text(note)
        self._legend.set_entries(legend)
        stale = " (last measured, idle now)" if is_stale else ""
        description = ". ".join(filter(None, (f"{value}{stale}", note)))
        if description != self._description:
            self._description = description
            self.setAccessibleDescription(self.text())

    def show_empty(self, is_empty: bool) -> None:
        """Say what will appear instead of showing a plot without data."""
        if self._empty.isHidden() == is_empty:
            self._empty.setVisible(is_empty)
            self.plot.set_blank(is_empty)
            self.setAccessibleDescription(self.text())

    def text(self) -> str:
        """Everything the chart says, in words."""
        return self._description if self._empty.isHidden() else self._empty.text()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the empty text in the middle of the plot."""
        if watched is self.plot.viewport() and event.type() == QEvent.Type.Resize:
            left = self.plot.axis_width() + STEP_PX
            room = self.plot.viewport().rect()
            self._empty.setGeometry(room.adjusted(left, 0, -4 * STEP_PX, -self.plot.axis_height()))
        return super().eventFilter(watched, event)
