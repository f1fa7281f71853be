"""The left of the hub's view: what is looked for, and the repositories that were found."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from resources.tokens import PANEL_GAP_PX, STEP_PX
from widgets.elided_label import ElidedLabel
from widgets.hub_filter_bar import HubFilterBar
from widgets.hub_rows import HubHit, HubWish
from widgets.hub_table import fill, new_table, picked
from widgets.panel import new_panel
from widgets.theme import set_role

_TYPING_MS = 600
SORTS = (
    ("downloads", "Most downloaded"),
    ("trending", "Trending"),
    ("likes", "Most liked"),
    ("updated", "Last changed"),
    ("smallest", "Fewest parameters"),
    ("largest", "Most parameters"),
)
_HITS = ("Repository", "Model", "Downloads")


class HubFinder(QWidget):
    """Looks for repositories.

    Signals:
        search_wanted: A ``HubWish``: what to look for.
        more_wanted: The hub is to be asked for what comes after.
        repo_chosen: Repository (str) to open.
    """

    search_wanted = Signal(object)
    more_wanted = Signal()
    repo_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Have found nothing yet."""
        super().__init__(parent)
        self.search = QLineEdit(self)
        self.search.setPlaceholderText("Search the hub, or write owner/name")
        self.search.setAccessibleName("Search the hub")
        self.search.setClearButtonEnabled(True)
        self.sort = QComboBox(self)
        self.sort.setAccessibleName("What stands first")
        for key, words in SORTS:
            self.sort.addItem(words, key)
        self.filters = HubFilterBar(self)
        self.hits = new_table(_HITS, "Repositories found", stretched=(0,))
        self._empty = QLabel(self)
        self._empty.setWordWrap(True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        set_role(self._empty, "muted")
        self.again = QPushButton("Try again", self)
        self.again.setAutoDefault(False)
        self.again.setMinimumWidth(16 * STEP_PX)
        self._status = ElidedLabel("", self)
        set_role(self._status, "hint")
        self.more = QPushButton("More", self)
        self.more.setAutoDefault(False)
        self.more.setAccessibleName("Ask the hub for more")
        self.more.setToolTip("Ask the hub for the repositories that come after these")
        set_role(self.more, "quiet")
        self._pages = QStackedWidget(self)
        self._typing = QTimer(self, singleShot=True, interval=_TYPING_MS)
        self._lay_out()
        self._connect()

    # --- What is shown ------------------------------------------------------------------

    def wish(self) -> HubWish:
        """What is looked for."""
        bar = self.filters
        words, sort = self.search.text().strip(), str(self.sort.currentData())
        return HubWish(words, sort, bar.architecture.text(), bar.quantisation.text(), *bar.bounds())

    def show_hits(self, hits: Sequence[HubHit], status: str, *, can_go_on: bool = False) -> None:
        """Show what was found, and ``status`` below it, or in its place where nothing was.

        Args:
            hits: All that was found.
            status: A sentence.
            can_go_on: Whether the hub can be asked for more.
        """
        chosen = picked(self.hits)
        self.hits.blockSignals(True)
        fill(self.hits, [((hit.repo, hit.about, hit.downloads), hit.tip) for hit in hits])
        repos = [hit.repo for hit in hits]
        # Rows change their places; what was chosen stays chosen, and nothing else is.
        self.hits.clearSelection()
        if chosen in repos:
            self.hits.selectRow(repos.index(chosen))
        self.hits.blockSignals(False)
        self._pages.setCurrentIndex(0 if hits else 1)
        self.set_status(status, can_go_on=can_go_on)

    def show_fault(self, sentence: str) -> None:
        """Say why nothing was found, with a way to ask again."""
        self.show_hits((), sentence)
        self.again.show()

    def set_status(self, words: str, *, can_go_on: bool = False) -> None:
        """Say ``words`` below what was found, or in its place where nothing was."""
        is_list = self._pages.currentIndex() == 0
        self._status.set_text(words if is_list else "")
        self._empty.setText("" if is_list else words)
        self.again.hide()
        self.more.setVisible(can_go_on)

    def status(self) -> str:
        """What is said of the search: below what was found, or in its place."""
        return self._status.full_text() or self._empty.text()

    # --- Inside -------------------------------------------------------------------------

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(PANEL_GAP_PX)
        head.addWidget(self.search, 1)
        head.addWidget(self.sort)
        nothing = QWidget(self)
        middle = QVBoxLayout(nothing)
        middle.addStretch(1)
        middle.addWidget(self._empty)
        middle.addWidget(self.again, 0, Qt.AlignmentFlag.AlignHCenter)
        middle.addStretch(1)
        self._pages.addWidget(self.hits)
        self._pages.addWidget(nothing)
        panel, column = new_panel()
        column.addLayout(head)
        column.addWidget(self.filters)
        column.addWidget(self._pages, 1)
        foot = QHBoxLayout()
        foot.setSpacing(PANEL_GAP_PX)
        foot.addWidget(self._status, 1)
        foot.addWidget(self.more)
        column.addLayout(foot)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(panel)

    def _connect(self) -> None:
        self.search.textEdited.connect(lambda _: self._typing.start())
        self.search.returnPressed.connect(self._search_now)
        self.more.clicked.connect(self.more_wanted)
        self.again.clicked.connect(self._search_now)
        self.sort.currentIndexChanged.connect(lambda _: self._search_now())
        self.filters.changed.connect(self._search_now)
        self._typing.timeout.connect(self._search_now)
        self.hits.itemSelectionChanged.connect(self._on_hit_selected)

    def _search_now(self) -> None:
        self._typing.stop()
        self.search_wanted.emit(self.wish())

    def _on_hit_selected(self) -> None:
        if repo := picked(self.hits):
            self.repo_chosen.emit(repo)
