"""What every live chart has around its plot: title, legend, value, one muted line, empty state."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Generic, TypeVar

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QContextMenuEvent,
    QFocusEvent,
    QFontMetricsF,
    QKeyEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from engine_bridge.metrics.definitions import DEFINITIONS
from engine_bridge.metrics.meters import Marker
from resources.tokens import DARK, PANEL_PADDING_PX, STEP_PX, Palette
from widgets.charts.chart_menu import ChartMenu
from widgets.charts.key import key_html, signs_of
from widgets.charts.note_line import BETWEEN, NoteLine
from widgets.charts.picture import Picture
from widgets.charts.plot import TimePlot
from widgets.charts.sheet import Events, Sheet, Unit
from widgets.charts.time_keys import steer
from widgets.charts.time_view import TimeView
from widgets.charts.timeline import Timeline
from widgets.legend_line import Entry, LegendLine
from widgets.menu_button import forget_hover_after
from widgets.theme import set_role

NO_VALUE = "–"
_ANY_WIDTH_PX = (1 << 24) - 1  # what Qt begins with
# Below this the muted line costs the plot more than it says.
_LOW_PX = 26 * STEP_PX
# From here on there is room for a muted line and a legend below each other.
_TALL_PX = 34 * STEP_PX
_KEYS = (
    "Arrow keys pan, plus and minus zoom, Space pauses, End follows; Shift with an arrow moves the "
    "crosshair, Ctrl with an arrow goes to the next change."
)
# What an empty plot says wraps into so many in the narrowest column.
_EMPTY_LINES = 3
_NOTHING_HERE = "Nothing was measured in this stretch of time."

View = TypeVar("View")


class ChartFrame(QFrame, Generic[View]):
    """A chart in its panel. Can be reached by keyboard; its description says it in words.

    Signals:
        change_requested: The next change (1) or the one before (−1) is to be shown.
        table_requested: The figures are wanted as a table.
        export_requested: The chart is wanted as a file, ``png``, ``svg`` or ``csv``; whether all
            charts are.
    """

    change_requested = Signal(int)
    table_requested = Signal()
    export_requested = Signal(str, bool)

    accessible_role = QAccessible.Role.Chart

    def __init__(
        self,
        title: str,
        unit: Unit,
        floor: float,
        empty_text: str,
        definitions: Sequence[str],
        *,
        has_legend_below: bool = False,
        time_view: TimeView | None = None,
        parent: QWidget | None = None,
    ) -> None:
        """Make an empty chart.

        Args:
            title: Name of the chart.
            unit: Of its values.
            floor: The top of the axis is never below this, in ``unit``.
            empty_text: What will appear and when, while there is nothing to draw.
            definitions: Keys of ``DEFINITIONS`` that the title's tooltip explains.
            has_legend_below: Whether the legend follows the muted line instead of the title.
            time_view: Shared with other charts; None for one of its own.
            parent: The parent widget.
        """
        super().__init__(parent)
        self._time_view = TimeView(self) if time_view is None else time_view
        self.plot = plot = TimePlot(self._time_view, floor, unit.per_value)
        self.colours = DARK
        self._unit = unit
        self._has_legend_below = has_legend_below
        self._note_text = self._description = self._detail = ""
        self._cursor_lines: list[str] = []
        set_role(self, "panel")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(f"{title} chart")
        self._title = QLabel(title)
        set_role(self._title, "heading")
        self._meaning = "\n\n".join(DEFINITIONS[key] for key in definitions)
        # Only what is marked up does Qt break into lines.
        self._tip = "<p>" + escape(self._meaning).replace("\n\n", "<br><br>") + "</p>"
        self._title.setToolTip(self._tip)
        self._legend = LegendLine()
        self._value = QLabel(NO_VALUE)
        self._value.setToolTip(self._tip)
        set_role(self._value, "muted")
        self._note = NoteLine()
        self._note.setToolTip(self._tip)
        self._note.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        set_role(self._note, "hint")
        # In a low chart the muted line stands in the header, as far as there is room.
        self._beside = NoteLine()
        self._beside.hide()
        self._beside.is_whole_or_empty = has_legend_below  # little room beside a long value
        set_role(self._beside, "hint")
        self._empty = QLabel(empty_text, plot)
        self._empty_text = empty_text
        set_role(self._empty, "hint")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setWordWrap(True)
        self._empty.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        plot.installEventFilter(self)
        plot.pressed.connect(self.setFocus)
        plot.set_lines_at(self.lines_at)
        self.menu = ChartMenu(self, title)
        self.menu.table_requested.connect(self.table_requested)
        self.menu.export_requested.connect(self.export_requested)
        self._lay_out()
        plot.set_blank(True)
        self._time_view.cursor_moved.connect(self._show_note)
        self.setAccessibleDescription(f"{empty_text} {_KEYS}")

    def _lay_out(self) -> None:
        has_legend_below = self._has_legend_below
        self._more = more = QToolButton()
        more.setText("…")
        more.setToolTip(f"Table and files of the {self._title.text()} chart")
        more.setAccessibleName(f"More about the {self._title.text()} chart")
        more.setMenu(self.menu)
        more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        set_role(more, "quiet")
        forget_hover_after(self.menu, more)
        header, below = QHBoxLayout(), QVBoxLayout()
        header.addWidget(self._title)
        below.addWidget(self._note)
        (below if has_legend_below else header).addWidget(self._legend, 1)
        if has_legend_below:
            header.addStretch(1)
        header.addWidget(self._beside, 2)
        header.addWidget(self._value)
        header.addWidget(more)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(PANEL_PADDING_PX, STEP_PX, 0, STEP_PX)
        layout.setSpacing(STEP_PX // 2)
        for row in (header, below):
            row.setSpacing(2 * STEP_PX if row is header else 0)
            row.setContentsMargins(0, 0, 2 * STEP_PX, 0)
            layout.addLayout(row)
        layout.addWidget(self.plot, 1)

    # --- What is shown ------------------------------------------------------------------

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self.colours = palette
        self.plot.set_palette(palette)

    def set_data(
        self,
        view: View,
        markers: Sequence[Marker],
        timeline: Timeline,
        has_words: bool = True,
    ) -> None:
        """Draw a view.

        Args:
            view: What to draw; kept for the crosshair and for files.
            markers: Where settings changed.
            timeline: The time axis.
            has_words: Whether the texts are brought up to date too.
        """
        self._view = view
        picture = self.picture(view)
        self.plot.show_picture(picture, timeline, markers)
        empty_text = self.absent(view, timeline)
        if not empty_text:
            empty_text = self._empty_text if timeline.is_following else _NOTHING_HERE
        empty_text = self.empty_words(empty_text)
        if picture.top is None and empty_text != self._empty.text():
            self._empty.setText(empty_text)
        self.show_empty(picture.top is None)
        if has_words:
            self.say(view)
        elif self._cursor_lines or self._time_view.cursor_s is not None:
            self._show_note()

    def picture(self, view: View) -> Picture:
        """What there is to draw; pure but for the colours."""
        raise NotImplementedError

    def absent(self, view: View, timeline: Timeline) -> str:
        """What to say of a stretch without anything where there was something before it."""
        return ""

    def empty_words(self, text: str) -> str:
        """``text``, which stands where the plot would, and what else is to be said there."""
        return text

    def keys_text(self) -> str:
        """What the keyboard can do here, for the description."""
        return _KEYS

    def events(self, view: View) -> Events | None:
        """What stands in the table a row each; None for the values of the series."""
        return None

    def say(self, view: View) -> None:
        """Bring the present figures up to date, whatever stretch is shown."""
        raise NotImplementedError

    def lines_at(self, time_s: float, share: float | None) -> list[str]:
        """What there is to say at a place of the plot.

        Args:
            time_s: Seconds before the right edge.
            share: Share of the axis; None for the crosshair, which has none.
        """
        raise NotImplementedError

    def set_title(self, title: str, detail: str) -> None:
        """Name what is shown now; ``detail`` is plain text, in front of the title's tooltip."""
        if title != self._title.text():
            self._title.setText(title)
        self._detail = f"<p>{escape(detail)}</p>"

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
        self._note_text = note
        self._legend.set_entries(legend)
        self._show_key()
        self._place_note()
        stale = " (last measured, idle now)" if is_stale else ""
        self._description = ". ".join(filter(None, (f"{value}{stale}", note)))
        self._show_note()

    def _show_key(self) -> None:
        """What each mark stands for, in the tooltips of title, value and legend."""
        plot = self.plot
        signs = signs_of(plot.picture, plot.edge_value, bool(plot.markers), self.colours)
        key = key_html(signs)
        tips: dict[QWidget, str] = {self._value: key + self._tip}
        tips[self._title] = self._detail + key + self._tip
        if self._legend.text():
            tips[self._legend] = key
        for widget, tip in tips.items():
            if tip != widget.toolTip():
                widget.setToolTip(tip)

    def show_empty(self, is_empty: bool) -> None:
        """Say what will appear instead of showing a plot without data."""
        if self._empty.isHidden() == is_empty:
            self._empty.setVisible(is_empty)
            self.plot.set_blank(is_empty)
            self._show_note()

    @property
    def legend_px(self) -> int:
        """The line of its own that a legend takes in a tall chart; 0 where it stands above."""
        return self._legend.sizeHint().height() if self._has_legend_below else 0

    def is_tall(self, height_px: int) -> bool:
        """Whether a chart so high without ``legend_px`` has a muted line besides its legend."""
        return height_px >= _TALL_PX

    def least_px(self) -> int:
        """The height from which on what stands in an empty plot can be read."""
        # It stands in no layout that would measure it again once it has its type.
        self._empty.ensurePolished()
        line = math.ceil(QFontMetricsF(self._empty.font()).lineSpacing())
        words = _EMPTY_LINES * line + self.plot.axis_height()
        plot = self.plot.minimumHeight()
        # What stands around the plot takes all it likes before the plot is given more.
        return self.sizeHint().height() - plot + max(plot, words)

    def minimumSizeHint(self) -> QSize:
        """No lower: where there is less room for all charts they are scrolled."""
        return QSize(super().minimumSizeHint().width(), self.least_px())

    def text(self) -> str:
        """Everything the chart says, in words."""
        return self._description if self._empty.isHidden() else self._empty.text()

    def sheet(self, view: View | None = None) -> Sheet:
        """Everything the chart shows, for a table or a file; finer where ``view`` is finer."""
        picture = self.plot.picture if view is None else self.picture(view)
        return Sheet(
            title=self._title.text(),
            value=self._value.text(),
            note=self._note_text,
            unit=self._unit,
            picture=picture,
            timeline=self.plot.timeline,
            markers=self.plot.markers,
            axis_top=self.plot.top,
            events=self.events(self._view if view is None else view),
        )

    def _place_note(self) -> None:
        # All charts alike, though one of them has the labels of time below its plot.
        height_px = self.height() - self.plot.labels_height() - self.legend_px
        is_low = not self.is_tall(height_px) if self._has_legend_below else height_px < _LOW_PX
        self._note.setHidden(is_low)
        self._beside.setVisible(is_low)
        if self._has_legend_below:
            return
        # The legend takes no more than it needs, and without an entry nothing.
        self._legend.setMaximumWidth(self._legend.needed_px() if is_low else _ANY_WIDTH_PX)
        self._legend.setHidden(is_low and not self._legend.text())

    def _show_note(self) -> None:
        """The muted line: what the value is made of, or what is at the crosshair."""
        self._cursor_lines = self.plot.lines_at_cursor()
        note = BETWEEN.join(self._cursor_lines) or self._note_text
        for line in (self._note, self._beside):
            if note != line.full_text():
                line.set_text(note, self._tip)
        at_cursor = ". ".join(self._cursor_lines)
        said = (at_cursor, self.text(), self.keys_text())
        description = ". ".join(part.rstrip(".") for part in said if part)
        if description != self.accessibleDescription():
            self.setAccessibleDescription(description)

    # --- Qt -----------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A low chart gives the muted line's room to its plot, and its words stand above."""
        super().resizeEvent(event)
        self._place_note()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the empty text in the middle of the plot."""
        if watched is self.plot and event.type() == QEvent.Type.Resize:
            left = self.plot.axis_width() + STEP_PX
            room = self.plot.rect()
            self._empty.setGeometry(room.adjusted(left, 0, -4 * STEP_PX, -self.plot.axis_height()))
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Navigate in time; the keys stand in the description."""
        direction = steer(self._time_view, event)
        if direction is None:
            super().keyPressEvent(event)
        elif direction:
            self.change_requested.emit(direction)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Table and files."""
        self.menu.popup(event.globalPos())

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show where the keys go."""
        super().focusInEvent(event)
        self.plot.set_focused(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """The keys go elsewhere."""
        super().focusOutEvent(event)
        self.plot.set_focused(False)
