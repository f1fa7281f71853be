"""The page "Ceiling": what memory and compute allow, how far decoding is from it, what is left."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from engine_bridge.metrics.ceiling import CeilingView
from engine_bridge.metrics.definitions import DEFINITIONS
from resources.tokens import LIVE_WIDTH_PX, PANEL_GAP_PX, PANEL_PADDING_PX, STEP_PX, Palette
from widgets.ceiling_words import (
    headline,
    left_text,
    mbu_text,
    notes,
    parts_text,
    rows,
    speed_text,
    unbroken,
)
from widgets.charts.roofline import RooflineChart
from widgets.plain_tip import wrapped_tip
from widgets.streams_table import StreamsTable
from widgets.theme import set_role

REFRESH_MS = 500
"""Twice a second while it can be seen: figures that change faster cannot be read."""

_DEFINED = ("ceiling", "bytes_per_step", "mbu")
_BY_STREAMS = (
    "Decoding since these settings run, by how many streams wrote at the same time; now in bold."
)
_LEFT = (
    "An estimate, no measurement. The seconds of a step grow along a line with the streams: "
    "through the numbers of streams that were measured, or, where that is only one, by what a "
    "further stream computes at the best prefill rate and reads of its cache at the peak."
)


class CeilingPanel(QScrollArea):
    """The ceiling in a sentence, the roofline, and decoding by the number of streams.

    Asks for a view only while it can be seen.

    Signals:
        view_wanted: Another ``CeilingView`` may be shown, by ``show_view``.
    """

    view_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Show that no model runs."""
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("Ceiling")
        self.chart = RooflineChart()
        self.table = StreamsTable()
        self._tip = _defined(*_DEFINED)
        self._value = QLabel()
        self._value.setToolTip(self._tip)
        self._headline = _text_label("")
        self._headline.setToolTip(self._tip)
        self._parts, self._speed = _text_label("hint"), _text_label("hint")
        self._notes, self._left = _text_label("hint"), _text_label("hint")
        self._parts.setToolTip(_defined("bytes_per_step"))
        self._speed.setToolTip(_defined("stream_speed", "throughput"))
        self._notes.setToolTip(_defined("operations", "roofline"))
        self._left.setToolTip(wrapped_tip(_LEFT))
        body = QWidget()
        set_role(body, "scrolled")
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(PANEL_GAP_PX)
        self._streams = self._streams_panel()
        column.addWidget(self._words_panel())
        column.addWidget(self.chart, 1)
        column.addWidget(self._streams)
        self.setWidget(body)
        self._timer = QTimer(self)
        self._timer.setInterval(REFRESH_MS)
        self._timer.timeout.connect(self._on_timer_timeout)
        self.show_view(CeilingView())

    def _words_panel(self) -> QFrame:
        title = QLabel("Ceiling")
        set_role(title, "heading")
        title.setToolTip(self._tip)
        header = QHBoxLayout()
        header.addWidget(title)
        header.addStretch(1)
        header.addWidget(self._value)
        panel, column = _panel()
        column.addLayout(header)
        for label in (self._headline, self._parts, self._speed, self._notes):
            column.addWidget(label)
        return panel

    def _streams_panel(self) -> QFrame:
        title = QLabel("By streams")
        title.setToolTip(wrapped_tip(_BY_STREAMS))
        set_role(title, "heading")
        panel, column = _panel()
        column.addWidget(title)
        column.addWidget(self.table)
        column.addWidget(self._left)
        return panel

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self.chart.set_palette(palette)

    def show_view(self, view: CeilingView) -> None:
        """Say and draw what was measured."""
        said = {
            self._value: mbu_text(view),
            self._headline: headline(view),
            self._parts: parts_text(view),
            self._speed: speed_text(view),
            self._notes: " ".join(notes(view)),
            self._left: left_text(view),
        }
        for label, text in said.items():
            _show(label, text)
        set_role(self._value, "value" if view.mbu is not None and view.is_live else "muted")
        self.chart.show_view(view)
        self.table.show_rows(rows(view))
        self._streams.setVisible(view.present is not None)
        sentences = [text if text.endswith(".") else f"{text}." for text in said.values() if text]
        self.setAccessibleDescription(" ".join(sentences))

    def text(self) -> str:
        """All that is said, in words."""
        return self.accessibleDescription()

    # --- Qt -----------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        """As wide as the live column is meant to be."""
        return QSize(LIVE_WIDTH_PX, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """What does not fit is scrolled to."""
        return QSize(40 * STEP_PX, 40 * STEP_PX)

    def showEvent(self, event: QShowEvent) -> None:
        """Begin to ask."""
        super().showEvent(event)
        self.view_wanted.emit()
        self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop: nobody can see it."""
        self._timer.stop()
        super().hideEvent(event)

    def _on_timer_timeout(self) -> None:
        if not self.window().isMinimized():
            self.view_wanted.emit()


def _defined(*keys: str) -> str:
    """Definitions for a tooltip."""
    return "".join(wrapped_tip(DEFINITIONS[key]) for key in keys)


def _panel() -> tuple[QFrame, QVBoxLayout]:
    panel = QFrame()
    set_role(panel, "panel")
    column = QVBoxLayout(panel)
    column.setContentsMargins(PANEL_PADDING_PX, 2 * STEP_PX, PANEL_PADDING_PX, 2 * STEP_PX)
    column.setSpacing(STEP_PX)
    return panel, column


def _text_label(role: str) -> QLabel:
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    if role:
        set_role(label, role)
    return label


def _show(label: QLabel, text: str) -> None:
    shown = unbroken(text)
    if shown != label.text():
        label.setText(shown)
    label.setVisible(bool(text))
