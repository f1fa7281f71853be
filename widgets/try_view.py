"""Try it: the real llama-server with the exported line, beside the embedded engine."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QPlainTextEdit,
    QProgressBar,
    QPushButton,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from resources.tokens import PANEL_GAP_PX, PANEL_PADDING_PX, STEP_PX
from widgets.elided_label import ElidedLabel
from widgets.reading_area import ReadingArea
from widgets.sentence_label import sentence_label
from widgets.server_log import ServerLog
from widgets.template_editor import wrap_mode
from widgets.theme import mono_font, set_role
from widgets.try_form import TryForm
from widgets.try_sheet import TrySheet
from widgets.try_table import TryTable

_ABOUT = (
    "Starts the real llama-server on this machine with the exported line, on a free port that only "
    "this machine can reach, and measures it with the ruler of the embedded engine. It is ended "
    "afterwards in any case."
)
_EMPTY = "Both sides appear here: TTFT, TPOT, speed with its spread, and memory."
_LINE_LINES, _LEAST_LOG_PX = 3, 24 * STEP_PX


class TryView(QWidget):
    """What is tried, how far it is, what came out, and the server's log.

    Signals:
        start_requested: The trial is to begin.
        cancel_requested: It is to end; what was measured is kept.
        shown_requested: The experiment itself is wanted.
    """

    start_requested = Signal()
    cancel_requested = Signal()
    shown_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make a view in which nothing was tried yet."""
        super().__init__(parent)
        self._is_under_way = self._is_stopping = False
        self._why_not = ""
        self._said = ("", False)
        self._help, self._has_sheet = "", False
        self.form = TryForm(self)
        self.line = QPlainTextEdit(self)
        self.line.setReadOnly(True)
        self.line.setTabChangesFocus(True)
        self.line.setFont(mono_font(self.line.font()))
        set_role(self.line, "mono-small")
        self.line.setAccessibleName("The line that is tried")
        self.start_button = QPushButton("Start", self)
        set_role(self.start_button, "primary")
        self.cancel_button = QPushButton("Cancel", self)
        self.show_button = QPushButton("Show in Experiments", self)
        self.bar = QProgressBar(self)
        self.bar.setRange(0, 1000)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName("Progress of the trial")
        self.stage_label = ElidedLabel("", self)
        self.state_label = sentence_label("muted", self)
        self.headline_label = sentence_label("heading", self)
        self.table = TryTable(self)
        self.sentences_label = sentence_label("muted", self)
        self.sentences_label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.log = ServerLog(self)
        self._results = ReadingArea(
            "What was measured", self.headline_label, self.table, self.sentences_label, parent=self
        )
        self._lay_out()
        self.start_button.clicked.connect(self.start_requested)
        self.cancel_button.clicked.connect(self._on_cancel_clicked)
        self.show_button.clicked.connect(self.shown_requested)
        self.set_sheet(None)
        self.set_ready("")

    # --- What is shown ------------------------------------------------------------------

    def set_line(self, text: str) -> None:
        """Show the line that is tried."""
        if text != self.line.toPlainText():
            self.line.setWordWrapMode(wrap_mode(text))
            self.line.setPlainText(text)

    def set_ready(self, why_not: str) -> None:
        """Say why it cannot be started now; empty where it can."""
        self._why_not = why_not
        self._show_state()

    def begin(self) -> None:
        """It is under way."""
        self._is_under_way, self._is_stopping = True, False
        self.log.clear()
        self.set_sheet(None)
        self.set_progress(0.0, "Beginning", "")
        self._said = ("", False)
        self._show_state()

    def set_progress(self, share: float, sentence: str, left: str) -> None:
        """Say how far it is: 0 to 1, what is done now, and the time left in words."""
        bounded = min(max(share, 0.0), 1.0)
        self.bar.setValue(round(1000 * bounded))
        words = "Stopping; the server is ended." if self._is_stopping else sentence
        ends = f", {left} left" if left and not self._is_stopping else ""
        self.stage_label.set_text(f"{bounded:.0%} · {words}{ends}")

    def end(self, sentence: str, *, is_warning: bool) -> None:
        """It is over; ``sentence`` is what came of it."""
        self._is_under_way = False
        self._said = (sentence, is_warning)
        self._show_state()

    def set_sheet(self, sheet: TrySheet | None) -> None:
        """Show both sides; None shows that there is nothing yet."""
        self.headline_label.setText("" if sheet is None else sheet.headline)
        self.headline_label.setVisible(sheet is not None and bool(sheet.headline))
        self.table.show_rows(
            () if sheet is None else sheet.rows, has_own=sheet is None or sheet.has_own
        )
        self._has_sheet = sheet is not None
        words = (self._help or _EMPTY) if sheet is None else "\n".join(sheet.sentences)
        self.sentences_label.setText(words)
        self.show_button.setVisible(sheet is not None)

    def set_help(self, words: str) -> None:
        """Say ``words`` in the place of what will be measured; empty where nothing is missing."""
        self._help = words
        if not self._has_sheet and not self._is_under_way:
            self.sentences_label.setText(words or _EMPTY)

    @property
    def is_under_way(self) -> bool:
        """Whether a trial is shown that has not ended."""
        return self._is_under_way

    def append_log(self, lines: Sequence[str]) -> None:
        """Add lines of the server's log."""
        self.log.append(lines)

    # --- Inside -------------------------------------------------------------------------

    def _lay_out(self) -> None:
        about = sentence_label("muted", self)
        about.setText(_ABOUT)
        line_px = self.line.fontMetrics().lineSpacing() * _LINE_LINES + 4 * STEP_PX
        self.line.setFixedHeight(line_px)
        buttons = QHBoxLayout()
        buttons.setSpacing(PANEL_GAP_PX)
        buttons.addWidget(self.start_button)
        buttons.addWidget(self.cancel_button)
        buttons.addWidget(self.stage_label, 1)
        buttons.addWidget(self.state_label, 1)
        buttons.addWidget(self.show_button)
        self.log.setMinimumHeight(_LEAST_LOG_PX)
        split = QSplitter(Qt.Orientation.Vertical, self)
        split.setChildrenCollapsible(False)
        split.setHandleWidth(PANEL_GAP_PX)
        split.addWidget(self._results)
        split.addWidget(self.log)
        split.setSizes([1000, 1000])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(*[PANEL_PADDING_PX] * 4)
        layout.setSpacing(PANEL_GAP_PX)
        layout.addWidget(about)
        layout.addWidget(self.line)
        layout.addWidget(self.form)
        layout.addLayout(buttons)
        layout.addWidget(self.bar)
        layout.addWidget(split, 1)

    def _show_state(self) -> None:
        self.form.setEnabled(not self._is_under_way)
        self.start_button.setEnabled(not self._is_under_way and not self._why_not)
        self.start_button.setAccessibleDescription(self._why_not)
        self.cancel_button.setVisible(self._is_under_way)
        self.cancel_button.setEnabled(not self._is_stopping)
        self.stage_label.setVisible(self._is_under_way)
        self.state_label.setVisible(not self._is_under_way)
        said, is_warning = self._said
        # What just happened before what stands in the way of the next one.
        self.state_label.setText(said or self._why_not)
        is_warning = is_warning if said else bool(self._why_not)
        set_role(self.state_label, "warning" if is_warning else "muted")
        # It keeps its place, so that what is below does not move.
        self.bar.setValue(self.bar.value() if self._is_under_way else 0)

    def _on_cancel_clicked(self) -> None:
        self._is_stopping = True
        self._show_state()
        self.cancel_requested.emit()
