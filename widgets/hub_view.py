"""Models on the hub: what was found on the left, one repository's models on the right."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QPushButton,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from resources.tokens import PANEL_GAP_PX, PANEL_PADDING_PX, STEP_PX
from widgets.download_strip import DownloadStrip
from widgets.hub_finder import HubFinder
from widgets.hub_rows import HubSheet
from widgets.hub_table import fill, new_table, picked
from widgets.model_fit_view import wrapped_label
from widgets.panel import new_panel
from widgets.theme import set_role

_SHARES = (4, 5)
_WIDTH_CHARS, _HEIGHT_LINES = 150, 42
_SCREEN_SHARE = 0.9
_CHOOSE = "Choose a repository on the left to see its quantisations and what each takes here."
_QUANTS = ("Quantisation", "Size", "Memory", "On this machine")


class HubView(QDialog):
    """Looks for models.

    Signals:
        search_wanted: A ``HubWish``: what to look for.
        repo_chosen: Repository (str) to open.
        quant_chosen: Name (str) of a quantisation that is looked at.
        judge_all_wanted: All quantisations are to be judged.
        download_wanted: Name (str) of the quantisation to download.
    """

    search_wanted = Signal(object)
    repo_chosen = Signal(str)
    quant_chosen = Signal(str)
    judge_all_wanted = Signal()
    download_wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make a view without anything found."""
        super().__init__(parent)
        self.setWindowTitle("Models on the hub")
        self.setAccessibleName("Models on the hub")
        self.finder = HubFinder(self)
        self.hits, self.again = self.finder.hits, self.finder.again
        self.quants = new_table(_QUANTS, "Models of the repository", stretched=(3,))
        self._title = wrapped_label("heading")
        self._about = wrapped_label("hint")
        self._said = wrapped_label("hint")
        self.judge_all = _button("Judge all", self)
        self.judge_all.setToolTip(
            "Read the header of every model, some MB each, and say what it takes on this machine"
        )
        self.download = _button("Download", self)
        set_role(self.download, "primary")
        self.strip = DownloadStrip(self, begins=self.download)
        self._close = _button("Close", self)
        self._can_download: dict[str, bool] = {}
        self._tips: dict[str, str] = {}
        self._lay_out()
        self._connect()
        self.show_sheet(None, _CHOOSE)
        metrics = self.fontMetrics()
        wanted = metrics.horizontalAdvance("0") * _WIDTH_CHARS, metrics.height() * _HEIGHT_LINES
        most = self.screen().availableSize() * _SCREEN_SHARE
        self.resize(min(wanted[0], most.width()), min(wanted[1], most.height()))

    # --- What is shown ------------------------------------------------------------------

    def show_sheet(self, sheet: HubSheet | None, said: str = "") -> None:
        """Show a repository, or none and ``said`` why; what was chosen in it stays."""
        chosen = self.quant()
        self._title.setText(sheet.repo if sheet else "")
        self._about.setText(sheet.about if sheet else "")
        rows = sheet.rows if sheet else ()
        self._can_download = {row.name: row.can_download for row in rows}
        self._tips = {row.name: row.tip for row in rows}
        self.quants.blockSignals(True)
        fill(self.quants, [((r.name, r.size, r.memory, r.verdict), r.tip) for r in rows])
        names = [row.name for row in rows]
        wanted = chosen if chosen in names else sheet.chosen if sheet else ""
        if wanted in names:
            self.quants.selectRow(names.index(wanted))
        self.quants.blockSignals(False)
        self.judge_all.setEnabled(bool(rows))
        self._say(said)

    def quant(self) -> str:
        """Name of the quantisation looked at; empty for none."""
        return picked(self.quants)

    def said(self) -> str:
        """The sentence about the quantisation looked at."""
        return self._said.text()

    # --- Inside -------------------------------------------------------------------------

    def _lay_out(self) -> None:
        right, page = new_panel()
        page.addWidget(self._title)
        page.addWidget(self._about)
        page.addWidget(self.quants, 1)
        page.addWidget(self._said)
        buttons = QHBoxLayout()
        buttons.setSpacing(PANEL_GAP_PX)
        buttons.addWidget(self.judge_all)
        buttons.addStretch(1)
        buttons.addWidget(self.download)
        page.addLayout(buttons)
        halves = QSplitter(Qt.Orientation.Horizontal, self)
        halves.setChildrenCollapsible(False)
        halves.setHandleWidth(PANEL_GAP_PX)
        for half, share in zip((self.finder, right), _SHARES, strict=True):
            halves.addWidget(half)
            halves.setStretchFactor(halves.count() - 1, share)
        foot = QHBoxLayout()
        foot.setSpacing(PANEL_GAP_PX)
        foot.addWidget(self.strip, 1)
        foot.addStretch()
        foot.addWidget(self._close, 0, Qt.AlignmentFlag.AlignTop)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(*(PANEL_PADDING_PX,) * 4)
        layout.setSpacing(PANEL_GAP_PX)
        layout.addWidget(halves, 1)
        layout.addLayout(foot)
        # Tables were made without a parent, so they would come last.
        left, strip = self.finder.more, self.strip
        beside = (self.quants, self.judge_all, self.download)
        below = (strip.pause, strip.resume, strip.cancel, strip.load, self._close)
        for before, after in pairwise((left, *beside, *below)):
            self.setTabOrder(before, after)
        self.finder.search.setFocus()

    def _connect(self) -> None:
        self.finder.search_wanted.connect(self.search_wanted)
        self.finder.repo_chosen.connect(self.repo_chosen)
        self.quants.itemSelectionChanged.connect(self._on_quant_selected)
        self.judge_all.clicked.connect(self.judge_all_wanted)
        self.download.clicked.connect(lambda: self.download_wanted.emit(self.quant()))
        self._close.clicked.connect(self.close)

    def _on_quant_selected(self) -> None:
        self._say("")
        if name := self.quant():
            self.quant_chosen.emit(name)

    def _say(self, said: str) -> None:
        name = self.quant()
        self.download.setEnabled(self._can_download.get(name, False))
        self._said.setText(said or self._tips.get(name, ""))


def _button(word: str, parent: QWidget) -> QPushButton:
    button = QPushButton(word, parent)
    button.setAutoDefault(False)
    button.setMinimumWidth(16 * STEP_PX)
    return button
