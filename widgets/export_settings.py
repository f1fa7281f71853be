"""The table of settings beside what leaves: searched, and every reason readable in full."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import (
    QBoxLayout,
    QCheckBox,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from resources.tokens import PANEL_GAP_PX, STEP_PX, Palette
from widgets.export_sheet import SettingFate
from widgets.export_table import FATES, Column, ExportTable
from widgets.row_table import INSET_PX, aligned_rules, set_row_height, set_up_rows
from widgets.sentence_label import sentence_label

_BESIDE_PX = 2 * INSET_PX + STEP_PX
# The least that the search and its box take beside the count.
_SEARCH_PX = 80 * STEP_PX
# What was changed is read in its row; of what is longer than this the rest stands below the table.
_MOST_LINES = 3
# No value, such as a grammar, takes more than this of the width; the words need it.
_VALUE_SHARE, _LABEL_SHARE = 0.18, 0.28
_NOTHING_FOUND = "No setting has these words."
_CHOOSE = "Choose a row: all of its sentence stands here."


class _Rows(QTableView):
    """The table itself.

    Signals:
        row_changed: Another row (int) is the current one.
        was_resized: It has another width.
    """

    row_changed = Signal(int)
    was_resized = Signal()

    def currentChanged(
        self,
        current: QModelIndex | QPersistentModelIndex,
        previous: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Tell which row is read."""
        super().currentChanged(current, previous)
        self.row_changed.emit(current.row())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the width out anew."""
        super().resizeEvent(event)
        self.was_resized.emit()


class ExportSettings(QWidget):
    """A search, the table, and below it the current row in full."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make an empty table."""
        super().__init__(parent)
        self._shown: tuple[SettingFate, ...] = ()
        self._tall_rows = 0
        self.model = ExportTable(self)
        self.count_label = sentence_label("heading", self)
        self.search = QLineEdit(self)
        self.search.setPlaceholderText("Search the settings")
        self.search.setAccessibleName("Search the settings")
        self.search.setClearButtonEnabled(True)
        self.changed_box = QCheckBox("Changed only", self)
        self.changed_box.setToolTip("Leave out settings that have their default")
        self.changed_box.setAccessibleDescription("Leave out settings that have their default")
        self.table = _Rows(self)
        self.table.setAccessibleName("What becomes of each setting")
        self.table.setAccessibleDescription("Settings that you changed come first")
        self.table.setModel(self.model)
        set_up_rows(self.table)
        self.table.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.table.setWordWrap(True)
        self.table.setVerticalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        self.table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setSectionsClickable(False)
        self.detail = sentence_label("", self)
        self.detail.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.detail.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self._lay_out()
        self._connect()
        self._measure()

    def show_settings(self, settings: Sequence[SettingFate]) -> None:
        """Show these; the row that is read stays where it is there again."""
        if tuple(settings) == self._shown:
            return
        self._shown = tuple(settings)
        current = self.model.setting_at(self.table.currentIndex().row())
        down = self.table.verticalScrollBar().value()
        self.model.show(settings)
        self.count_label.setText(self.model.sentence())
        self._fit_head()
        self._fit()
        rows = [setting.key for setting in self.model.settings()]
        if current is not None and current.key in rows:
            self.table.setCurrentIndex(self.model.index(rows.index(current.key), 0))
            self.table.verticalScrollBar().setValue(down)
        self._show_detail(self.table.currentIndex().row())

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self.model.set_palette(palette)
        self.table.setStyleSheet(
            "QTableView::item { border: none; }"
            f"QTableView::item:selected {{ color: {palette.on_accent};"
            f" background: {palette.accent}; }}"
            f"{aligned_rules()}"
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The count stands beside the search where there is room for both."""
        super().resizeEvent(event)
        self._fit_head()

    def changeEvent(self, event: QEvent) -> None:
        """Measure again in another font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._measure()

    # --- Inside -------------------------------------------------------------------------

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(PANEL_GAP_PX)
        row.addWidget(self.search, 1)
        row.addWidget(self.changed_box)
        self._head = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        self._head.setSpacing(PANEL_GAP_PX)
        self._head.addWidget(self.count_label, 1)
        self._head.addLayout(row, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(PANEL_GAP_PX)
        column.addLayout(self._head)
        column.addWidget(self.table, 1)
        column.addWidget(self.detail)

    def _connect(self) -> None:
        self.search.textChanged.connect(self._on_search_changed)
        self.changed_box.toggled.connect(self.model.show_changed_only)
        self.table.row_changed.connect(self._show_detail)
        self.table.was_resized.connect(self._fit)
        self.model.modelReset.connect(self._on_model_reset)
        find = QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self)
        find.activated.connect(self.search.setFocus)

    def _on_model_reset(self) -> None:
        self._fit_rows()
        self._show_detail(-1)

    def _on_search_changed(self, text: str) -> None:
        self.model.search(text)
        if self.model.rowCount():
            self.table.setCurrentIndex(self.model.index(0, 0))
        elif text:
            self.detail.setText(_NOTHING_FOUND)

    def _show_detail(self, row: int) -> None:
        setting = self.model.setting_at(row)
        if setting is None:
            # Its place is kept, so that nothing moves with the first row.
            self.detail.setText(_CHOOSE if self.model.rowCount() else " ")
            return
        words = setting.words or "Said as it is."
        if setting.fate == "said" and setting.words:
            words = f"carried as {setting.words}"
        self.detail.setText(f"{setting.label} ({setting.key}): {words}")

    def _measure(self) -> None:
        self.model.set_font(self.font())
        set_row_height(self.table)
        self.detail.setMinimumHeight(2 * self.detail.fontMetrics().lineSpacing())
        self._fit()

    def _fit_head(self) -> None:
        label = self.count_label
        count_px = label.fontMetrics().horizontalAdvance(label.text())
        is_one_line = count_px + PANEL_GAP_PX + _SEARCH_PX <= self.width()
        self._head.setDirection(
            QBoxLayout.Direction.LeftToRight if is_one_line else QBoxLayout.Direction.TopToBottom
        )

    def _fit(self) -> None:
        """What is short is as wide as it is; the words have the rest."""
        room = self.table.viewport().width()
        metrics = self.table.fontMetrics()

        def wanted(text: str) -> int:
            # Bold is wider by less than a tenth.
            return round(1.08 * metrics.horizontalAdvance(text)) + _BESIDE_PX

        label = min(wanted(self.model.longest(Column.LABEL)), round(_LABEL_SHARE * room))
        value = min(wanted(self.model.longest(Column.VALUE)), round(_VALUE_SHARE * room))
        fate = wanted(max(FATES.values(), key=len))
        words = max(0, room - label - value - fate)
        for column, width in zip(Column, (label, value, fate, words), strict=True):
            self.table.setColumnWidth(column, width)
        self._fit_rows()

    def _fit_rows(self) -> None:
        """What was changed is as high as its words; the hundred others have one line each."""
        table, metrics = self.table, self.table.fontMetrics()
        usual = table.verticalHeader().defaultSectionSize()
        room = max(1, table.columnWidth(Column.WORDS) - 2 * INSET_PX)
        changed = sum(setting.is_changed for setting in self.model.settings())  # they come first
        for row in range(changed, min(self._tall_rows, self.model.rowCount())):
            table.setRowHeight(row, usual)
        self._tall_rows = changed
        for row in range(changed):
            words = str(self.model.index(row, Column.WORDS).data())
            box = metrics.boundingRect(0, 0, room, 0, Qt.TextFlag.TextWordWrap, words)
            lines = min(_MOST_LINES, max(1, round(box.height() / metrics.lineSpacing())))
            table.setRowHeight(row, usual + (lines - 1) * metrics.lineSpacing())
