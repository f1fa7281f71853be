"""The window that chooses a model: the list on the left, what is known of one on the right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QSizePolicy,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from resources.tokens import PANEL_GAP_PX, PANEL_PADDING_PX, STEP_PX, Palette
from widgets.elided_label import ElidedLabel
from widgets.looked_places import add_places
from widgets.menu_button import MenuButton
from widgets.model_list_view import ModelListView
from widgets.model_rows import FitView, LookedPlace, ModelGroup, ModelRow, ModelSheet
from widgets.model_sheet_view import ModelSheetView
from widgets.model_table import Column
from widgets.panel import new_panel
from widgets.plain_tip import plain_tip
from widgets.sentence_label import sentence_label
from widgets.theme import set_role

# In figures' widths and lines, so that it grows with the letters.
_START_SIZE = (140, 44)
_SCREEN_SHARE = 0.9
_LIST_SHARE = (3, 2)
_SORTS = {
    Column.NAME: "By name",
    Column.ABOUT: "By kind",
    Column.SIZE: "By size",
    Column.MODIFIED: "By date",
}
_INTO_LIST = (Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_PageDown, Qt.Key.Key_PageUp)
_EMPTY = (
    "No GGUF file was found. Add a folder that holds some, browse for a file, drop one on the "
    "window, find one on the hub, or take the demo model."
)


class ModelPicker(QDialog):
    """Chooses a model file.

    Signals:
        selected: Key (str) of the model looked at now; empty for none.
        chosen: Key (str) of the model to load.
        way_chosen: Key (str) of the model to load, and id (str) of a change that makes it fit.
        browse_requested: A file is to be chosen in the system's own dialog.
        demo_requested: The demo model is wanted.
        hub_requested: A model is to be looked for on the hub.
        refresh_requested: The folders are to be listed again.
        folder_add_requested: A folder is to be added.
        folder_removed: Key (str) of a folder that is not to be listed any more.
    """

    selected = Signal(str)
    chosen = Signal(str)
    way_chosen = Signal(str, str)
    browse_requested = Signal()
    demo_requested = Signal()
    hub_requested = Signal()
    refresh_requested = Signal()
    folder_add_requested = Signal()
    folder_removed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make a picker without models."""
        super().__init__(parent)
        self.setWindowTitle("Choose a model")
        self.setAccessibleName("Choose a model")
        self.search = QLineEdit(self)
        self.search.setPlaceholderText("Search by name or kind")
        self.search.setAccessibleName("Search the models")
        self.search.setClearButtonEnabled(True)
        self.list = ModelListView(self)
        self.sheet = ModelSheetView(self)
        self._folders = MenuButton(self)
        self._folders.setText("Folders")
        set_role(self._folders, "menu")
        self._folder_menu = QMenu(self)
        self._folders.setMenu(self._folder_menu)
        self._sort = MenuButton(self)
        self._sort.setText("Sort")
        set_role(self._sort, "menu")
        self._sort.setMenu(self._sort_menu())
        self._refresh = QPushButton("Refresh", self)
        self._browse = QPushButton("Browse…", self)
        self._demo = QPushButton("Demo model", self)
        self._hub = QPushButton("Find on the hub…", self)
        self._cancel = QPushButton("Cancel", self)
        self.load_button = QPushButton("Load", self)
        set_role(self.load_button, "primary")
        self._status = ElidedLabel("", self)
        set_role(self._status, "hint")
        self._empty = QLabel(_EMPTY, self)
        self._empty.setWordWrap(True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        set_role(self._empty, "muted")
        self._hint = sentence_label("hint", self)
        self._hint.hide()
        self._groups: Sequence[ModelGroup] = ()
        self._places: Sequence[LookedPlace] = ()
        self._pages = QStackedWidget(self)
        self._is_listing = False
        self._status_words = ""
        self._lay_out()
        self._connect()
        self.set_groups(())
        self._show_current("")
        self.resize(self._start_size())

    # --- What is shown ------------------------------------------------------------------

    def set_groups(self, groups: Sequence[ModelGroup]) -> None:
        """Have these groups in this order."""
        self.list.set_groups(groups)
        self._groups = groups
        self._fill_folder_menu()
        self._show_state()

    def put(self, rows: Iterable[ModelRow]) -> None:
        """Show these models, in place of those of the same key."""
        self.list.put(rows)
        if not self.list.current_key():
            self.list.select_first()
        self._show_state()

    def remove(self, keys: Iterable[str]) -> None:
        """Show these models no more."""
        self.list.remove(keys)
        self._show_state()

    def set_listing(self, is_listing: bool, words: str) -> None:
        """Say whether folders are being listed, and what is to be said of them."""
        self._is_listing = is_listing
        self._status_words = words
        self._show_state()

    def set_places(self, places: Sequence[LookedPlace], hint: str, watched: str) -> None:
        """Tell where it was looked.

        Args:
            places: Each folder.
            hint: What a person should know who sees no folder in the list; empty for nothing.
            watched: How changes are noticed, in sentences.
        """
        self._places = places
        self._fill_folder_menu()
        self._hint.setText(hint)
        self._refresh.setToolTip(plain_tip(f"Lists the folders again. {watched}".strip()))
        self._show_state()

    def show_sheet(self, sheet: ModelSheet, *, can_load: bool) -> None:
        """Show what is known of the model selected."""
        self.sheet.show_sheet(sheet)
        self.load_button.setEnabled(can_load)
        self.load_button.setToolTip(plain_tip(sheet.sentence or "Load this model (Enter)."))

    def show_fit(self, fit: FitView | None) -> None:
        """Show whether it fits; None while the engine is being asked."""
        if fit is None:
            self.sheet.fit.show_waiting()
        else:
            self.sheet.fit.show_fit(fit)

    def clear_fit(self) -> None:
        """Say nothing of whether it fits."""
        self.sheet.fit.clear()

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self.list.set_palette(palette)
        self.sheet.set_palette(palette)
        self._folders.set_palette(palette)
        self._sort.set_palette(palette)

    def status(self) -> str:
        """The line below the list."""
        return self._status.full_text()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The arrow keys walk the list while a search is typed."""
        if watched is self.search and isinstance(event, QKeyEvent):
            is_press = event.type() is QEvent.Type.KeyPress
            if is_press and event.key() in _INTO_LIST:
                self.list.keyPressEvent(event)
                return True
        return super().eventFilter(watched, event)

    # --- Inside -------------------------------------------------------------------------

    def _fill_folder_menu(self) -> None:
        menu = self._folder_menu
        menu.clear()
        menu.addAction("Add a folder…").triggered.connect(self.folder_add_requested)
        removable = [group for group in self._groups if group.is_removable]
        if removable:
            menu.addSeparator()
        for group in removable:
            action = menu.addAction(f"Remove {group.title.replace('&', '&&')}")
            action.setToolTip(plain_tip(group.detail))
            action.triggered.connect(lambda _=False, key=group.key: self.folder_removed.emit(key))
        add_places(menu, self._places)

    def _lay_out(self) -> None:
        left, column = new_panel()
        column.addWidget(self.search)
        self._pages.addWidget(self.list)
        self._pages.addWidget(self._empty)
        column.addWidget(self._pages, 1)
        column.addWidget(self._hint)
        row = QHBoxLayout()
        row.setSpacing(PANEL_GAP_PX)
        row.addWidget(self._folders)
        row.addWidget(self._sort)
        row.addWidget(self._refresh)
        row.addWidget(self._status, 1)
        column.addLayout(row)
        right, page = new_panel()
        page.setContentsMargins(0, PANEL_PADDING_PX, 0, 0)
        page.addWidget(self.sheet)
        halves = QSplitter(Qt.Orientation.Horizontal, self)
        halves.setChildrenCollapsible(False)
        halves.setHandleWidth(PANEL_GAP_PX)
        for half, share in zip((left, right), _LIST_SHARE, strict=True):
            halves.addWidget(half)
            halves.setStretchFactor(halves.count() - 1, share)
        halves.setSizes([self._start_size().width() * share for share in _LIST_SHARE])
        buttons = QHBoxLayout()
        buttons.setSpacing(PANEL_GAP_PX)
        buttons.addWidget(self._browse)
        buttons.addWidget(self._demo)
        buttons.addWidget(self._hub)
        buttons.addStretch()
        buttons.addWidget(self._cancel)
        buttons.addWidget(self.load_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(*(PANEL_PADDING_PX,) * 4)
        layout.setSpacing(PANEL_GAP_PX)
        layout.addWidget(halves, 1)
        layout.addLayout(buttons)
        for button in (
            self._folders,
            self._sort,
            self._refresh,
            self._browse,
            self._demo,
            self._hub,
            self._cancel,
        ):
            button.setAutoDefault(False)
        self.load_button.setDefault(True)
        self.load_button.setMinimumWidth(24 * STEP_PX)
        self._status.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.search.setFocus()

    def _sort_menu(self) -> QMenu:
        """The titles of the columns, for those who use no mouse."""
        menu = QMenu(self)
        for column, text in _SORTS.items():
            action = menu.addAction(text)
            action.setCheckable(True)
            action.setData(int(column))
            action.triggered.connect(lambda _=False, column=column: self.list.sort_by(column))

        def check() -> None:
            for action in menu.actions():
                action.setChecked(action.data() == self.list.sorted_by())

        menu.aboutToShow.connect(check)
        return menu

    def _start_size(self) -> QSize:
        metrics = self.fontMetrics()
        width = metrics.horizontalAdvance("0") * _START_SIZE[0]
        wanted = QSize(width, metrics.lineSpacing() * _START_SIZE[1])
        return wanted.boundedTo(self.screen().availableSize() * _SCREEN_SHARE)

    def _connect(self) -> None:
        self.search.installEventFilter(self)
        self.search.textChanged.connect(self._on_search_changed)
        self.list.row_selected.connect(self._show_current)
        self.list.row_activated.connect(self._choose)
        self.sheet.way_chosen.connect(self._on_way_chosen)
        self._folders.setAccessibleDescription("Adds folders to the list or removes them.")
        self._sort.setAccessibleDescription("Sorts the models; the folders stay in their order.")
        self._refresh.clicked.connect(self.refresh_requested)
        self._browse.clicked.connect(self.browse_requested)
        self._demo.clicked.connect(self.demo_requested)
        self._hub.clicked.connect(self.hub_requested)
        self._cancel.clicked.connect(self.reject)
        self.load_button.clicked.connect(lambda: self._choose(self.list.current_key()))

    def _show_current(self, key: str) -> None:
        self.load_button.setEnabled(False)
        self.sheet.fit.clear()
        if not key:
            self.sheet.show_nothing("Choose a model to see what is known of it.")
        self.selected.emit(key)

    def _choose(self, key: str) -> None:
        if key and self.load_button.isEnabled():
            self.chosen.emit(key)

    def _on_way_chosen(self, way: str) -> None:
        self.way_chosen.emit(self.list.current_key(), way)

    def _on_search_changed(self, words: str) -> None:
        self.list.set_search(words)
        self._show_state()

    def _show_state(self) -> None:
        shown, count = self.list.shown_count(), self.list.count()
        is_empty = not shown
        if is_empty and count:
            self._empty.setText("No model has these words in its name or kind.")
        elif is_empty:
            self._empty.setText("Looking for models …" if self._is_listing else _EMPTY)
        self._pages.setCurrentWidget(self._empty if is_empty else self.list)
        self._hint.setVisible(bool(self._hint.text()) and not self.search.text())
        loadable, all_loadable = self.list.loadable_counts()
        noun = "model" if all_loadable == 1 else "models"
        number = f"{all_loadable:,} {noun}"
        if loadable != all_loadable:
            number = f"{loadable:,} of {number}"
        refused = shown - loadable
        without = f"{refused:,} unusable" if refused else ""
        parts = (number, without, "listing …" if self._is_listing else "", self._status_words)
        self._status.set_text(" · ".join(filter(None, parts)))
