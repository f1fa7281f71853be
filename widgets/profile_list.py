"""The list of all profiles, under headings by whom they are for."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QHeaderView, QTreeWidget, QTreeWidgetItem, QWidget

from resources.tokens import STEP_PX
from widgets.plain_tip import plain_tip
from widgets.profile_rows import ProfileRow
from widgets.row_table import PADDING_PX, RIGHT

_ID = Qt.ItemDataRole.UserRole
_WIDTH_PX = 60 * STEP_PX


class ProfileList(QTreeWidget):
    """Names with what switching to them costs.

    Keys: Return switches, F2 renames, Del deletes, Ctrl+Z takes the last deletion back.

    Signals:
        picked: Id (str) of the row that is looked at.
        switch_wanted: Id (str) to switch to.
        rename_wanted: The row that is looked at is to have another name.
        delete_wanted: The row that is looked at is to go.
        undo_wanted: The last deletion is to be taken back.
    """

    picked = Signal(str)
    switch_wanted = Signal(str)
    rename_wanted = Signal()
    delete_wanted = Signal()
    undo_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make an empty list."""
        super().__init__(parent)
        self.setAccessibleName("Profiles")
        self.setAccessibleDescription(
            "Return switches, F2 renames, Delete deletes, Ctrl+Z takes that back."
        )
        self.setHeaderLabels(["Profile", "Cost"])
        self.headerItem().setTextAlignment(1, RIGHT)
        self.setStyleSheet(f"QTreeView::item {{ padding: {STEP_PX // 2}px {PADDING_PX}px; }}")
        self.setRootIsDecorated(False)
        self.setItemsExpandable(False)
        self.setIndentation(3 * STEP_PX)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setUniformRowHeights(True)
        header = self.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionsClickable(False)
        self.setMinimumWidth(_WIDTH_PX)
        self.currentItemChanged.connect(self._on_current_item_changed)
        self.itemDoubleClicked.connect(self._on_item_double_clicked)

    def set_rows(self, rows: Sequence[ProfileRow]) -> None:
        """Show ``rows``; the one looked at stays so where it is still there."""
        before = self.current_id()
        with QSignalBlocker(self):
            self.clear()
            groups: dict[str, QTreeWidgetItem] = {}
            for row in rows:
                if row.group not in groups:
                    groups[row.group] = self._group(row.group)
                self._add(groups[row.group], row)
            self.expandAll()
        ids = [row.id for row in rows]
        chosen = next((row.id for row in rows if row.is_chosen), ids[0] if ids else "")
        self.pick(before if before in ids else chosen)

    def pick(self, profile_id: str) -> None:
        """Look at a profile; ``picked`` is told even if it was looked at before."""
        for item in self._items():
            if item.data(0, _ID) == profile_id:
                with QSignalBlocker(self):
                    self.setCurrentItem(item)
                self.picked.emit(profile_id)
                return

    def current_id(self) -> str:
        """Id of the profile that is looked at; empty for none."""
        item = self.currentItem()
        return str(item.data(0, _ID) or "") if item is not None else ""

    def shown_texts(self) -> tuple[tuple[str, str, str], ...]:
        """Heading, name and cost of each row, from top to bottom."""
        found = []
        for item in self._items():
            group = item.parent()
            found.append((group.text(0) if group else "", item.text(0), item.text(1)))
        return tuple(found)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The keys of the list."""
        if event.matches(QKeySequence.StandardKey.Undo):
            self.undo_wanted.emit()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.current_id():
            self.switch_wanted.emit(self.current_id())
        elif event.key() == Qt.Key.Key_F2:
            self.rename_wanted.emit()
        elif event.key() == Qt.Key.Key_Delete:
            self.delete_wanted.emit()
        else:
            super().keyPressEvent(event)

    # --- Inside -----------------------------------------------------------------------------

    def _group(self, words: str) -> QTreeWidgetItem:
        group = QTreeWidgetItem(self, [words, ""])
        group.setFlags(Qt.ItemFlag.ItemIsEnabled)
        group.setFirstColumnSpanned(True)
        font = group.font(0)
        font.setBold(True)
        group.setFont(0, font)
        return group

    def _add(self, group: QTreeWidgetItem, row: ProfileRow) -> None:
        item = QTreeWidgetItem(group, [row.name, row.cost])
        item.setData(0, _ID, row.id)
        said = ", ".join(
            filter(None, (row.name, "in use" if row.is_chosen else "", row.why_not or row.cost))
        )
        item.setData(0, Qt.ItemDataRole.AccessibleTextRole, said)
        item.setTextAlignment(1, RIGHT)
        tip = plain_tip("\n".join(filter(None, (row.name, row.why_not or row.tip))))
        item.setToolTip(0, tip)
        item.setToolTip(1, tip)
        if row.is_chosen:
            font = item.font(0)
            font.setBold(True)
            item.setFont(0, font)

    def _items(self) -> tuple[QTreeWidgetItem, ...]:
        groups = map(self.topLevelItem, range(self.topLevelItemCount()))
        rows = ((group, row) for group in groups if group for row in range(group.childCount()))
        items = (group.child(row) for group, row in rows)
        return tuple(item for item in items if item is not None)

    def _on_current_item_changed(self, item: QTreeWidgetItem | None, _: object) -> None:
        profile_id = str(item.data(0, _ID) or "") if item is not None else ""
        if profile_id:
            self.picked.emit(profile_id)

    def _on_item_double_clicked(self, item: QTreeWidgetItem, _: int) -> None:
        profile_id = str(item.data(0, _ID) or "")
        if profile_id:
            self.switch_wanted.emit(profile_id)
