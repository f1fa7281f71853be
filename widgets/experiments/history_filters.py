"""The head of the history: words, kind and tag to look for, and the way to a new experiment."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, QTimer, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QLineEdit, QMenu, QVBoxLayout, QWidget

from resources.tokens import PANEL_GAP_PX, STEP_PX, Palette
from widgets.experiments.kind_words import KINDS
from widgets.menu_button import MenuButton
from widgets.theme import set_role

# Typing goes on within this time; a search through all of them takes less.
_SEARCH_DELAY_MS = 80
_ALL_KINDS, _ANY_TAG = "All kinds", "Any tag"
# Nobody looks through more tags than that; the search finds the others.
_MOST_TAGS = 300
_TAG_CHARACTERS = 10


class HistoryFilters(QWidget):
    """Two lines: search and new experiment; kind, tag and how many are shown.

    Signals:
        searched: Words to look for; empty once the search ends.
        filtered: Kind and tag that are shown alone; empty for all.
        new_wanted: Kind of the experiment that is to be set up.
    """

    searched = Signal(str)
    filtered = Signal(str, str)
    new_wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Begin without search and filter."""
        super().__init__(parent)
        self.search = QLineEdit(self)
        self.search.setPlaceholderText("Search experiments")
        self.search.setClearButtonEnabled(True)
        self.search.setAccessibleName("Search experiments")
        self.search.setAccessibleDescription(
            "In titles, models, machines, settings, tags and notes. Down goes to the list, Escape "
            "clears the search."
        )
        self.new_button = MenuButton(self)
        self.new_button.setText("New experiment")
        set_role(self.new_button, "menu")
        self.new_button.setMenu(self._menu())
        self.kinds = QComboBox(self)
        self.kinds.setAccessibleName("Kind of experiment")
        self.kinds.addItem(_ALL_KINDS, "")
        for kind in KINDS:
            self.kinds.addItem(kind.name, kind.key)
        self.tags = QComboBox(self)
        self.tags.setAccessibleName("Tag")
        self.tags.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.tags.setMinimumContentsLength(_TAG_CHARACTERS)
        self.tags.addItem(_ANY_TAG, "")
        self.count_label = QLabel(self)
        set_role(self.count_label, "hint")
        self._timer = QTimer(self, singleShot=True, interval=_SEARCH_DELAY_MS)
        self._told = ""
        self._lay_out()
        self._connect()

    def words(self) -> str:
        """What is searched for; empty without a search."""
        return " ".join(self.search.text().split())

    def kind(self) -> str:
        """The kind that is shown alone; empty for all."""
        return str(self.kinds.currentData() or "")

    def tag(self) -> str:
        """The tag that is shown alone; empty for all."""
        return str(self.tags.currentData() or "")

    @property
    def is_narrowed(self) -> bool:
        """Whether fewer than all may be shown."""
        return bool(self.words() or self.kind() or self.tag())

    def set_tags(self, tags: Sequence[str]) -> None:
        """Offer these; the chosen one stays, also where nothing has it any more."""
        chosen = self.tag()
        offered = list(tags[:_MOST_TAGS])
        if chosen and chosen not in offered:
            offered.insert(0, chosen)
        if offered == [self.tags.itemData(at) for at in range(1, self.tags.count())]:
            return
        with QSignalBlocker(self.tags):
            self.tags.clear()
            self.tags.addItem(_ANY_TAG, "")
            for tag in offered:
                self.tags.addItem(f"#{tag}", tag)
            self.tags.setCurrentIndex(max(0, self.tags.findData(chosen)))

    def say_count(self, count: int | None) -> None:
        """How many are shown; None while that is not known."""
        if count is None or not (count or self.is_narrowed):
            self.count_label.setText("")
            return
        noun = "experiment" if count == 1 else "experiments"
        self.count_label.setText(f"{count:,} {noun}")

    def clear(self) -> None:
        """Show all again."""
        with QSignalBlocker(self.kinds), QSignalBlocker(self.tags):
            self.kinds.setCurrentIndex(0)
            self.tags.setCurrentIndex(0)
        self.search.clear()
        self._on_filter_chosen()
        self._tell()

    def search_now(self) -> None:
        """Do not wait whether typing goes on."""
        self._tell()

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self.new_button.set_palette(palette)

    # --- Inside -----------------------------------------------------------------------------

    def _menu(self) -> QMenu:
        menu = QMenu(self)
        for kind in KINDS:
            action = menu.addAction(f"{kind.name}:  {kind.question}")
            action.setData(kind.key)
        menu.triggered.connect(lambda action: self.new_wanted.emit(str(action.data())))
        return menu

    def _lay_out(self) -> None:
        first, second = QHBoxLayout(), QHBoxLayout()
        for row in (first, second):
            row.setSpacing(PANEL_GAP_PX)
        first.addWidget(self.search, 1)
        first.addWidget(self.new_button)
        second.addWidget(self.kinds)
        second.addWidget(self.tags)
        second.addStretch(1)
        second.addWidget(self.count_label)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(STEP_PX + 2)
        layout.addLayout(first)
        layout.addLayout(second)

    def _connect(self) -> None:
        self.search.textChanged.connect(self._on_search_changed)
        self._timer.timeout.connect(self._tell)
        self.kinds.currentIndexChanged.connect(self._on_filter_chosen)
        self.tags.currentIndexChanged.connect(self._on_filter_chosen)

    def _on_search_changed(self) -> None:
        if self.words():
            self._timer.start()
        else:
            self._tell()

    def _on_filter_chosen(self) -> None:
        self.filtered.emit(self.kind(), self.tag())

    def _tell(self) -> None:
        self._timer.stop()
        words = self.words()
        if words != self._told:
            self._told = words
            self.searched.emit(words)
