"""What came out of an experiment: the verdict first, then the charts, the figures, the settings."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from resources.tokens import PANEL_GAP_PX, PANEL_PADDING_PX, STEP_PX, Palette
from widgets.elided_label import ElidedLabel
from widgets.experiments.result_chart import ResultChart
from widgets.experiments.result_pick import ResultPick
from widgets.experiments.result_sheet import ResultSheet
from widgets.experiments.result_table_view import ResultTableView
from widgets.experiments.result_words import Facts, Paragraphs, heading, text_label
from widgets.theme import set_role

_EMPTY = "Nothing to show yet: what an experiment measures appears here after its first run."
# Lower than this charts and table would get less than half of it.
_LOW_PX = 130 * STEP_PX
_ALL, _FEWER = "All columns", "Fewer columns"
_STATE_ROLES = {"running": "muted", "stopped": "warning", "failed": "warning", "cut": "warning"}


class ResultView(QFrame):
    """The result of one experiment, finished or still running.

    Signals:
        apply_wanted: The settings (dict by key) of a configuration are to be used.
        back_wanted: The list of experiments is to be shown again.
        resume_wanted: The experiment is to go on where it ended.
    """

    apply_wanted = Signal(object)
    back_wanted = Signal()
    resume_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Show that there is nothing yet."""
        super().__init__(parent)
        self.setAccessibleName("Result of an experiment")
        self._sheet: ResultSheet | None = None
        self._cell: int | None = None
        self._back = QPushButton("‹ Experiments")
        set_role(self._back, "flat")
        self._back.clicked.connect(self.back_wanted)
        self._resume = QPushButton("Go on with it")
        self._resume.setToolTip("Measure what is missing; what was measured stays.")
        self._resume.clicked.connect(self.resume_wanted)
        self._title, self._state = text_label("figure"), text_label("")
        # Where it is low: the title in the line of the buttons, and nothing below it.
        self._low_title = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle)
        set_role(self._low_title, "heading")
        self._is_low = False
        self._subtitle = ElidedLabel()
        set_role(self._subtitle, "hint")
        self._conclusion = Paragraphs(role="hint", first_role="heading", name="Conclusion")
        self._disturbed = Paragraphs(role="warning", name="Disturbances")
        self._steps = Paragraphs(role="hint", first_role="heading", name="Steps")
        self._notes = Paragraphs(role="hint", name="Notes")
        self._facts = Facts()
        self.chart = ResultChart()
        self.table = ResultTableView()
        self.pick = ResultPick()
        self._all = QPushButton(_ALL)
        self._all.setToolTip("Show those too that are left out, and scroll across.")
        self._all.setCheckable(True)
        self._all.hide()
        set_role(self._all, "quiet")
        self._left_out = text_label("hint")
        self._left_out.hide()
        self._figures = self._figures_panel()
        self._scroll = self._body()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(PANEL_GAP_PX)
        column.addLayout(self._header())
        column.addWidget(self._scroll, 1)
        column.addWidget(self.pick)
        self.chart.cell_picked.connect(self._on_cell_picked)
        self.table.cell_picked.connect(self._on_cell_picked)
        self.table.left_out_changed.connect(self._on_left_out_changed)
        self._all.toggled.connect(self._on_all_toggled)
        self.pick.apply_wanted.connect(self.apply_wanted)
        self.set_sheet(None)

    # --- What is shown ------------------------------------------------------------------

    def sheet(self) -> ResultSheet | None:
        """What is shown; None for nothing."""
        return self._sheet

    def set_sheet(self, sheet: ResultSheet | None) -> None:
        """Show an experiment; of the same one what is picked and scrolled to stays."""
        is_same = sheet is not None and self._sheet is not None and sheet.key == self._sheet.key
        scrolled = self._scroll.verticalScrollBar().value() if is_same else 0
        self._sheet = sheet
        if not is_same:
            self._cell = None
        self._show_words(sheet)
        self.chart.set_charts(() if sheet is None else sheet.charts)
        self._figures.setVisible(sheet is not None and bool(sheet.rows))
        if sheet is not None:
            self.table.show_rows(
                sheet.columns, sheet.rows, is_sortable=sheet.is_sortable, names=sheet.name_columns
            )
        self._show_cell()
        self._scroll.verticalScrollBar().setValue(scrolled)

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self.chart.set_palette(palette)
        self.table.set_palette(palette)

    def set_running(self, values: Mapping[str, object]) -> None:
        """Settings that the engine runs, by key: those that need no applying."""
        self.pick.set_running(values)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Where it is low what surrounds the result takes a line above and one below."""
        super().resizeEvent(event)
        is_low = self.height() < _LOW_PX
        if is_low != self._is_low:
            self._is_low = is_low
            self.pick.set_low(is_low)
            self._show_header()

    def picked_cell(self) -> int | None:
        """Number of the configuration that is picked; None for none."""
        return self._cell

    def text(self) -> str:
        """What came out, in words."""
        parts = (
            self._title.text(),
            self._state.text(),
            *self._conclusion.sentences(),
            *self._disturbed.sentences(),
        )
        return "\n".join(filter(None, parts))

    # --- Inside -------------------------------------------------------------------------

    def _show_words(self, sheet: ResultSheet | None) -> None:
        shown = sheet or ResultSheet("", "", _EMPTY)
        self._title.setText(shown.title)
        self._low_title.set_text(shown.title)
        self._subtitle.set_text(shown.subtitle)
        self._show_header()
        self._state.setText(shown.state_words)
        self._state.setVisible(bool(shown.state_words))
        set_role(self._state, _STATE_ROLES.get(shown.state, "muted"))
        self._resume.setVisible(shown.is_resumable)
        self._conclusion.show_sentences(shown.conclusion)
        self._disturbed.show_sentences(shown.disturbances)
        # One label: a tuner may take a hundred steps.
        steps = "\n".join(shown.steps)
        self._steps.show_sentences(("Steps", steps) if steps else ())
        self._notes.show_sentences(shown.notes)
        self._facts.show_facts(shown.subject)

    def _show_header(self) -> None:
        self._low_title.setVisible(self._is_low)
        self._title.setVisible(not self._is_low)
        self._subtitle.setVisible(bool(self._subtitle.full_text()) and not self._is_low)

    def _on_left_out_changed(self, titles: list[str]) -> None:
        self._left_out.setText(f"Left out for want of room: {', '.join(titles)}.")
        self._left_out.setVisible(bool(titles))
        self._all.setVisible(bool(titles) or self._all.isChecked())

    def _on_all_toggled(self, shows_all: bool) -> None:
        self._all.setText(_FEWER if shows_all else _ALL)
        self.table.show_all(shows_all)

    def _on_cell_picked(self, cell: int) -> None:
        self._cell = None if cell < 0 else cell
        self._show_cell()

    def _show_cell(self) -> None:
        rows = () if self._sheet is None else self._sheet.rows
        row = None
        if self._sheet is not None and self._cell is not None:
            row = self._sheet.row_of(self._cell)
        if row is None:
            self._cell = None
        if len({one.cell for one in rows}) == 1:  # where there is no other, nobody has to pick
            row = rows[0]
        self.chart.set_cell(self._cell)
        self.table.set_cell(self._cell)
        self.pick.show_row(row)
        self.pick.setVisible(self._sheet is not None and bool(self._sheet.rows))

    # --- Building -----------------------------------------------------------------------

    def _header(self) -> QVBoxLayout:
        buttons = QHBoxLayout()
        buttons.setContentsMargins(0, 0, 0, 0)
        buttons.addWidget(self._back)
        buttons.setSpacing(2 * STEP_PX)
        buttons.addWidget(self._low_title, 1)
        buttons.addStretch(0)
        buttons.addWidget(self._resume)
        header = QVBoxLayout()
        header.setContentsMargins(0, 0, 0, 0)
        header.setSpacing(STEP_PX // 2)
        header.addLayout(buttons)
        words = QVBoxLayout()
        words.setContentsMargins(PANEL_PADDING_PX, 0, PANEL_PADDING_PX, 0)
        words.setSpacing(STEP_PX // 2)
        for label in (self._title, self._subtitle, self._state):
            words.addWidget(label)
        header.addLayout(words)
        return header

    def _figures_panel(self) -> QFrame:
        panel = QFrame()
        set_role(panel, "panel")
        copy = QPushButton("Copy table")
        copy.setToolTip("As text with tabs between the columns, for a spreadsheet.")
        set_role(copy, "quiet")
        copy.clicked.connect(self.table.copy_table)
        header = QHBoxLayout()
        title: QLabel = heading("Figures")
        header.addWidget(title)
        header.addStretch(1)
        header.addWidget(self._all)
        header.addWidget(copy)
        column = QVBoxLayout(panel)
        column.setContentsMargins(PANEL_PADDING_PX, 2 * STEP_PX, PANEL_PADDING_PX, 2 * STEP_PX)
        column.setSpacing(STEP_PX)
        column.addLayout(header)
        column.addWidget(self.table)
        column.addWidget(self._left_out)
        return panel

    def _body(self) -> QScrollArea:
        body = QWidget()
        set_role(body, "scrolled")
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(PANEL_GAP_PX)
        for part in (
            self._conclusion,
            self.chart,
            self._figures,
            self._steps,
            self._disturbed,
            self._notes,
            self._facts,
        ):
            column.addWidget(part)
        column.addStretch(1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(body)
        # Names what is in it rather than being a stop of its own.
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        return area
