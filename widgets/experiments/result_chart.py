"""The charts of a result: one page at a time, its plots side by side or below each other."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QLabel, QTabBar, QVBoxLayout, QWidget

from resources.tokens import DARK, PANEL_PADDING_PX, STEP_PX, Palette
from widgets.experiments.result_legend import ResultLegend
from widgets.experiments.result_plot import ResultPlot
from widgets.experiments.result_sheet import Chart, Line
from widgets.plain_tip import plain_tip
from widgets.sentence_label import sentence_label
from widgets.theme import set_role

# Each plot gets at least so much where they stand side by side.
_LEAST_PLOT_PX = 65 * STEP_PX


class ResultChart(QFrame):
    """Pages of charts behind tabs.

    Signals:
        cell_picked: Number (int) of the configuration whose point was picked; -1 for none.
    """

    cell_picked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make it without charts, which is not shown."""
        super().__init__(parent)
        self._charts: tuple[Chart, ...] = ()
        self._colours = DARK
        self._cell: int | None = None
        self._plots: list[ResultPlot] = []
        set_role(self, "panel")
        self._tabs = QTabBar(self)
        self._tabs.setAccessibleName("Charts")
        self._tabs.setExpanding(False)
        self._tabs.setDrawBase(False)
        self._tabs.setUsesScrollButtons(False)
        self._tabs.setElideMode(Qt.TextElideMode.ElideRight)
        set_role(self._tabs, "narrow")
        self._tabs.currentChanged.connect(self._on_tab_changed)
        self._said, self._note = _words(""), _words("hint")
        self._legend = ResultLegend(self)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._row.setSpacing(2 * STEP_PX)
        column = QVBoxLayout(self)
        column.setContentsMargins(PANEL_PADDING_PX, STEP_PX, PANEL_PADDING_PX, 2 * STEP_PX)
        column.setSpacing(STEP_PX)
        column.addWidget(self._tabs)
        column.addWidget(self._said)
        column.addLayout(self._row)
        column.addWidget(self._legend)
        column.addWidget(self._note)
        self.hide()

    # --- What is in it ------------------------------------------------------------------

    def set_charts(self, charts: Sequence[Chart]) -> None:
        """Offer these; the page that is open stays, where there is one of its name."""
        if tuple(charts) == self._charts:
            return
        open_key = self.open_key()
        keys = [chart.key for chart in charts]
        have_same_tabs = [(c.key, c.title) for c in self._charts] == [
            (c.key, c.title) for c in charts
        ]
        self._charts = tuple(charts)
        if not have_same_tabs:
            self._tabs.blockSignals(True)
            while self._tabs.count():
                self._tabs.removeTab(0)
            for chart in charts:
                self._tabs.setTabToolTip(self._tabs.addTab(chart.title), plain_tip(chart.title))
            self._tabs.setCurrentIndex(keys.index(open_key) if open_key in keys else 0)
            self._tabs.blockSignals(False)
        self.setVisible(bool(charts))
        self._show_page()

    def open_key(self) -> str:
        """Name of the page that is open; empty without charts."""
        place = self._tabs.currentIndex()
        return self._charts[place].key if 0 <= place < len(self._charts) else ""

    def open_page(self, key: str) -> None:
        """Open the page of that name, where there is one."""
        keys = [chart.key for chart in self._charts]
        if key in keys:
            self._tabs.setCurrentIndex(keys.index(key))

    def titles(self) -> list[str]:
        """The pages there are, in the order of the tabs."""
        return [chart.title for chart in self._charts]

    def plots(self) -> list[ResultPlot]:
        """The plots of the page that is open."""
        return [plot for plot in self._plots if not plot.isHidden()]

    def said(self) -> str:
        """What is said above the plots."""
        return self._said.text()

    def note(self) -> str:
        """What is said below them."""
        return self._note.text()

    def set_cell(self, cell: int | None) -> None:
        """Put rings around the points of a configuration, by its number; None around none."""
        self._cell = cell
        for plot in self._plots:
            plot.set_cell(cell)

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self._colours = palette
        self._legend.set_palette(palette)
        for plot in self._plots:
            plot.set_palette(palette)

    # --- Qt -----------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the plots side by side where there is room."""
        super().resizeEvent(event)
        self._arrange()

    # --- Inside -------------------------------------------------------------------------

    def _on_tab_changed(self, _place: int) -> None:
        self._show_page()

    def _show_page(self) -> None:
        place = self._tabs.currentIndex()
        if not 0 <= place < len(self._charts):
            return
        chart = self._charts[place]
        for label, text in ((self._said, chart.said), (self._note, chart.note)):
            label.setText(text)
            label.setVisible(bool(text))
        while len(self._plots) < len(chart.plots):
            self._add_plot()
        for number, plot in enumerate(self._plots):
            plot.setVisible(number < len(chart.plots))
            if number < len(chart.plots):
                plot.show_plot(chart.plots[number])
                plot.set_cell(self._cell)
        self._line_up()
        self._legend.set_lines(_legend_lines(chart))
        self._arrange()

    def _line_up(self) -> None:
        """All plots begin at the same distance from their left edge."""
        shown = self.plots()
        axis_px = max((plot.needed_axis_px() for plot in shown), default=0.0)
        for plot in shown:
            plot.set_axis_px(axis_px)

    def changeEvent(self, event: QEvent) -> None:
        """Measure again in another font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._line_up()

    def _add_plot(self) -> None:
        plot = ResultPlot(self)
        plot.set_palette(self._colours)
        plot.cell_picked.connect(self.cell_picked)
        self._plots.append(plot)
        self._row.addWidget(plot, 1)

    def _arrange(self) -> None:
        count = max(1, len(self.plots()))
        is_wide = self.contentsRect().width() >= count * _LEAST_PLOT_PX
        direction = (
            QBoxLayout.Direction.LeftToRight if is_wide else QBoxLayout.Direction.TopToBottom
        )
        if direction != self._row.direction():
            self._row.setDirection(direction)


def _legend_lines(chart: Chart) -> tuple[Line, ...]:
    """Those of the first plot: the others have the same at the same places."""
    return chart.plots[0].lines if chart.plots else ()


def _words(role: str) -> QLabel:
    label = sentence_label(role)
    label.hide()
    return label
