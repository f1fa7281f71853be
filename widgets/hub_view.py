"""Models on the hub: what was found on the left, one repository's models on the right."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from resources.tokens import PANEL_GAP_PX, PANEL_PADDING_PX, STEP_PX
from widgets.download_strip import DownloadStrip
from widgets.elided_label import ElidedLabel
from widgets.hub_rows import HubHit, HubSheet
from widgets.model_fit_view import wrapped_label
from widgets.plain_tip import plain_tip
from widgets.row_table import set_row_height, set_up_rows
from widgets.theme import set_role

_TYPING_MS = 600
_SHARES = (4, 5)
_WIDTH_CHARS, _HEIGHT_LINES = 150, 42
_SCREEN_SHARE = 0.9
SORTS = (
    ("downloads", "Most downloaded"),
    ("trending", "Trending"),
    ("likes", "Most liked"),
    ("updated", "Last changed"),
)
_HITS = ("Repository", "Model", "Downloads")
_QUANTS = ("Quantisation", "Size", "Memory", "On this machine")
_NOTHING_FOUND = "Nothing with GGUF files has that in its name."


class HubView(QDialog):
    """Looks for models.

    Signals:
        search_wanted: Words and sort (str, str) to look for.
        repo_chosen: Repository (str) to open.
        quant_chosen: Name (str) of a quantisation that is looked at.
        judge_all_wanted: All quantisations are to be judged.
        download_wanted: Name (str) of the quantisation to download.
    """

    search_wanted = Signal(str, str)
    repo_chosen = Signal(str)
    quant_chosen = Signal(str)
    judge_all_wanted = Signal()
    download_wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make a view without anything found."""
        super().__init__(parent)
        self.setWindowTitle("Models on the hub")
        self.setAccessibleName("Models on the hub")
        self.search = QLineEdit(self)
        self.search.setPlaceholderText("Search the hub, or write owner/name")
        self.search.setAccessibleName("Search the hub")
        self.search.setClearButtonEnabled(True)
        self.sort = QComboBox(self)
        self.sort.setAccessibleName("What stands first")
        for key, words in SORTS:
            self.sort.addItem(words, key)
        self.hits = _table(_HITS, "Repositories found", stretched=(0, 1))
        self.quants = _table(_QUANTS, "Models of the repository", stretched=(3,))
        self._empty = QLabel(self)
        self._empty.setWordWrap(True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        set_role(self._empty, "muted")
        self.again = _button("Try again", self)
        self._status = ElidedLabel("", self)
        set_role(self._status, "hint")
        self._title = wrapped_label("heading")
        self._about = wrapped_label("hint")
        self._said = wrapped_label("hint")
        self.judge_all = _button("Judge all", self)
        self.judge_all.setToolTip(
            "Read the header of every model, some MB each, and say what it takes on this machine"
        )
        self.download = _button("Download", self)
        set_role(self.download, "primary")
        self.strip = DownloadStrip(self)
        self._close = _button("Close", self)
        self._pages = QStackedWidget(self)
        self._can_download: dict[str, bool] = {}
        self._tips: dict[str, str] = {}
        self._typing = QTimer(self, singleShot=True, interval=_TYPING_MS)
        self._lay_out()
        self._connect()
        self.show_sheet(None)
        metrics = self.fontMetrics()
        wanted = metrics.horizontalAdvance("0") * _WIDTH_CHARS, metrics.height() * _HEIGHT_LINES
        most = self.screen().availableSize() * _SCREEN_SHARE
        self.resize(min(wanted[0], most.width()), min(wanted[1], most.height()))

    # --- What is shown ------------------------------------------------------------------

    def show_hits(self, hits: Sequence[HubHit], status: str = "") -> None:
        """Show what was found; ``status`` in place of the count."""
        rows = [((hit.repo, hit.about, hit.downloads), hit.tip) for hit in hits]
        _fill(self.hits, rows)
        count = f"{len(hits):,} repositories" if len(hits) != 1 else "1 repository"
        self._status.set_text(count if hits else "")
        self._empty.setText(status or _NOTHING_FOUND)
        self.again.setVisible(bool(status))
        self._pages.setCurrentIndex(0 if hits else 1)

    def set_status(self, words: str) -> None:
        """Say ``words`` below what was found, or in its place where nothing was."""
        self._status.set_text(words)
        self._empty.setText(words)
        self.again.hide()

    def show_sheet(self, sheet: HubSheet | None, said: str = "") -> None:
        """Show a repository, or none and ``said`` why; what was chosen in it stays."""
        chosen = self.quant()
        self._title.setText(sheet.repo if sheet else "")
        self._about.setText(sheet.about if sheet else "")
        rows = sheet.rows if sheet else ()
        self._can_download = {row.name: row.can_download for row in rows}
        self._tips = {row.name: row.tip for row in rows}
        self.quants.blockSignals(True)
        _fill(self.quants, [((r.name, r.size, r.memory, r.verdict), r.tip) for r in rows])
        names = [row.name for row in rows]
        wanted = chosen if chosen in names else sheet.chosen if sheet else ""
        if wanted in names:
            self.quants.selectRow(names.index(wanted))
        self.quants.blockSignals(False)
        self.judge_all.setEnabled(bool(rows))
        self._say(said)

    def quant(self) -> str:
        """Name of the quantisation looked at; empty for none."""
        return _picked(self.quants)

    def status(self) -> str:
        """What is said of the search: below what was found, or in its place."""
        return self._status.full_text() or self._empty.text()

    def said(self) -> str:
        """The sentence about the quantisation looked at."""
        return self._said.text()

    # --- Inside -------------------------------------------------------------------------

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(PANEL_GAP_PX)
        head.addWidget(self.search, 1)
        head.addWidget(self.sort)
        left, column = _panel()
        column.addLayout(head)
        nothing = QWidget(self)
        middle = QVBoxLayout(nothing)
        middle.addStretch(1)
        middle.addWidget(self._empty)
        middle.addWidget(self.again, 0, Qt.AlignmentFlag.AlignHCenter)
        middle.addStretch(1)
        self._pages.addWidget(self.hits)
        self._pages.addWidget(nothing)
        column.addWidget(self._pages, 1)
        column.addWidget(self._status)
        right, page = _panel()
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
        for half, share in zip((left, right), _SHARES, strict=True):
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
        self.search.setFocus()

    def _connect(self) -> None:
        self.search.textEdited.connect(lambda _: self._typing.start())
        self.search.returnPressed.connect(self._search_now)
        self.again.clicked.connect(self._search_now)
        self.sort.currentIndexChanged.connect(lambda _: self._search_now())
        self._typing.timeout.connect(self._search_now)
        self.hits.itemSelectionChanged.connect(self._on_hit_selected)
        self.quants.itemSelectionChanged.connect(self._on_quant_selected)
        self.judge_all.clicked.connect(self.judge_all_wanted)
        self.download.clicked.connect(lambda: self.download_wanted.emit(self.quant()))
        self._close.clicked.connect(self.close)

    def _search_now(self) -> None:
        self._typing.stop()
        self.search_wanted.emit(self.search.text().strip(), str(self.sort.currentData()))

    def _on_hit_selected(self) -> None:
        if repo := _picked(self.hits):
            self.repo_chosen.emit(repo)

    def _on_quant_selected(self) -> None:
        self._say("")
        if name := self.quant():
            self.quant_chosen.emit(name)

    def _say(self, said: str) -> None:
        name = self.quant()
        self.download.setEnabled(self._can_download.get(name, False))
        self._said.setText(said or self._tips.get(name, ""))


def _table(titles: Sequence[str], name: str, stretched: Sequence[int]) -> QTableWidget:
    table = QTableWidget(0, len(titles))
    set_up_rows(table)
    set_row_height(table)
    table.setHorizontalHeaderLabels(list(titles))
    table.setAccessibleName(name)
    # Words begin where those of the head do.
    table.setStyleSheet(f"QTableWidget::item {{ padding-left: {STEP_PX + 1}px; }}")
    header = table.horizontalHeader()
    header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    for column in stretched:
        header.setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)
    return table


def _fill(table: QTableWidget, rows: Sequence[tuple[tuple[str, ...], str]]) -> None:
    """Show ``rows``; what stands there already is left alone."""
    table.setRowCount(len(rows))
    is_new = False
    for row, (texts, tip) in enumerate(rows):
        tip_text = plain_tip(tip)
        for column, text in enumerate(texts):
            item = table.item(row, column)
            if item is not None and (item.text(), item.toolTip()) == (text, tip_text):
                continue
            item = QTableWidgetItem(text)
            item.setToolTip(tip_text)
            table.setItem(row, column, item)
            is_new = True
    if is_new:
        # Once: a column that follows its contents by itself is measured anew with each item.
        table.resizeColumnsToContents()


def _picked(table: QTableWidget) -> str:
    """The first text of the row that is picked; empty for none."""
    picked = table.selectedItems()
    item = table.item(picked[0].row(), 0) if picked else None
    return item.text() if item is not None else ""


def _button(word: str, parent: QWidget) -> QPushButton:
    button = QPushButton(word, parent)
    button.setAutoDefault(False)
    button.setMinimumWidth(16 * STEP_PX)
    return button


def _panel() -> tuple[QFrame, QVBoxLayout]:
    panel = QFrame()
    set_role(panel, "panel")
    layout = QVBoxLayout(panel)
    layout.setContentsMargins(*(PANEL_PADDING_PX,) * 4)
    layout.setSpacing(PANEL_GAP_PX)
    return panel, layout
