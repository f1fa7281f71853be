"""Drafts on the hub for one model: what was found, whether it fits, and its download."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from resources.tokens import PANEL_GAP_PX, PANEL_PADDING_PX, STEP_PX
from widgets.download_strip import DownloadStrip
from widgets.hub_draft_rows import HubDraftRow
from widgets.hub_table import fill, new_table
from widgets.model_fit_view import wrapped_label
from widgets.panel import new_panel
from widgets.theme import set_role

_WIDTH_CHARS, _HEIGHT_LINES = 128, 34
_SCREEN_SHARE = 0.9
_HEADS = (
    "Repository",
    "Quantisation",
    "Drafts as",
    "Parameters",
    "Size",
    "Of the model",
    "Verdict",
)
_ABOUT = (
    "Relatives of the model on the hub, smaller than it, and heads that were made for it. Of each "
    "only the header is read, some MB, and its vocabulary compared with the model's as llama.cpp "
    "does before it lets one draft for the other."
)
_TAKE = "Draft with it"


class HubDraftsView(QDialog):
    """Looks for what could draft.

    Signals:
        search_wanted: Look, or look again.
        stop_wanted: Look no further.
        repo_wanted: Repository (str) that is to be opened in the view of the hub.
        download_wanted: Number (int) of the row to download.
    """

    search_wanted = Signal()
    stop_wanted = Signal()
    repo_wanted = Signal(str)
    download_wanted = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make a view without anything found."""
        super().__init__(parent)
        self.setWindowTitle("Drafts on the hub")
        self.setAccessibleName("Drafts on the hub")
        self._title = wrapped_label("heading")
        self._about = wrapped_label("hint")
        self._about.setText(_ABOUT)
        self.table = new_table(_HEADS, "Models that might draft", stretched=(0,))
        self._said = wrapped_label("hint")
        self._status = wrapped_label("hint")
        self._empty = QLabel(self)
        self._empty.setWordWrap(True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._pages = QStackedWidget(self)
        self.again = _button("Look again", self)
        self.stop = _button("Stop", self)
        self.open_repo = _button("Open its repository", self)
        self.open_repo.setToolTip("All its quantisations, with the memory each takes here")
        self.download = _button("Download", self)
        set_role(self.download, "primary")
        self.strip = DownloadStrip(self, begins=self.download)
        self.strip.load.setText(_TAKE)
        self._close = _button("Close", self)
        self._rows: tuple[HubDraftRow, ...] = ()
        self._lay_out()
        self._connect()
        self.set_searching(is_searching=False)
        self.show_rows(())
        metrics = self.fontMetrics()
        wanted = metrics.horizontalAdvance("0") * _WIDTH_CHARS, metrics.height() * _HEIGHT_LINES
        most = self.screen().availableSize() * _SCREEN_SHARE
        self.resize(min(wanted[0], most.width()), min(wanted[1], most.height()))

    # --- What is shown ------------------------------------------------------------------

    def set_target(self, name: str) -> None:
        """Say for which model it is looked."""
        self._title.setText(f"Drafts for {name}")

    def show_rows(self, rows: Sequence[HubDraftRow]) -> None:
        """Show what was found so far; the row looked at stays so."""
        self._rows = tuple(rows)
        fill(self.table, [(_texts(row), _said(row)) for row in rows])
        if rows and self.chosen() is None:
            self.table.selectRow(0)
        self._pages.setCurrentIndex(0 if rows else 1)
        # Said once: in the middle while there is nothing else, below the rows then.
        self._status.setVisible(bool(rows))
        self._show_chosen()

    def set_searching(self, *, is_searching: bool) -> None:
        """Whether more may come."""
        self.stop.setVisible(is_searching)
        self.again.setVisible(not is_searching)

    def set_status(self, words: str, *, is_problem: bool = False) -> None:
        """Say how far the search is, or why it ended: below the rows, or in their place."""
        for label, plain in ((self._status, "hint"), (self._empty, "muted")):
            label.setText(words)
            set_role(label, "hint-warning" if is_problem else plain)

    def status(self) -> str:
        """What is said of the search."""
        return self._status.text()

    def said(self) -> str:
        """The sentence about the row looked at."""
        return self._said.text()

    def chosen(self) -> int | None:
        """Number of the row looked at; None for none."""
        items = self.table.selectedItems()
        row = items[0].row() if items else -1
        return row if 0 <= row < len(self._rows) else None

    # --- Inside -------------------------------------------------------------------------

    def _lay_out(self) -> None:
        panel, column = new_panel()
        column.addWidget(self._title)
        column.addWidget(self._about)
        self._pages.addWidget(self.table)
        self._pages.addWidget(self._empty)
        column.addWidget(self._pages, 1)
        column.addWidget(self._said)
        buttons = QHBoxLayout()
        buttons.setSpacing(PANEL_GAP_PX)
        buttons.addWidget(self._status, 1)
        buttons.addStretch()
        for button in (self.stop, self.again, self.open_repo, self.download):
            buttons.addWidget(button)
        column.addLayout(buttons)
        foot = QHBoxLayout()
        foot.setSpacing(PANEL_GAP_PX)
        foot.addWidget(self.strip, 1)
        foot.addStretch()
        foot.addWidget(self._close, 0, Qt.AlignmentFlag.AlignTop)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(*(PANEL_PADDING_PX,) * 4)
        layout.setSpacing(PANEL_GAP_PX)
        layout.addWidget(panel, 1)
        layout.addLayout(foot)
        self.table.setFocus()

    def _connect(self) -> None:
        self.table.itemSelectionChanged.connect(self._show_chosen)
        self.again.clicked.connect(self.search_wanted)
        self.stop.clicked.connect(self.stop_wanted)
        self.open_repo.clicked.connect(self._on_open_clicked)
        self.download.clicked.connect(self._on_download_clicked)
        self._close.clicked.connect(self.close)

    def _show_chosen(self) -> None:
        chosen = self.chosen()
        row = None if chosen is None else self._rows[chosen]
        self._said.setText(_said(row) if row is not None else "")
        self.open_repo.setEnabled(row is not None)
        self.download.setEnabled(row is not None and row.can_download)

    def _on_open_clicked(self) -> None:
        chosen = self.chosen()
        if chosen is not None:
            self.repo_wanted.emit(self._rows[chosen].repo)

    def _on_download_clicked(self) -> None:
        chosen = self.chosen()
        if chosen is not None:
            self.download_wanted.emit(chosen)


def _texts(row: HubDraftRow) -> tuple[str, ...]:
    return (row.repo, row.quantisation, row.kind, row.parameters, row.size, row.share, row.verdict)


def _said(row: HubDraftRow) -> str:
    # With its whole name: the table shortens it where there is little room.
    return f"{row.repo}: {row.sentence}"


def _button(word: str, parent: QWidget) -> QPushButton:
    button = QPushButton(word, parent)
    button.setAutoDefault(False)
    button.setMinimumWidth(16 * STEP_PX)
    return button
