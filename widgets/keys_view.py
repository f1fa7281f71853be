"""All keys of the program, by the part they belong to."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QLineEdit,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from resources.tokens import PANEL_PADDING_PX, STEP_PX
from widgets.action_search import ActionEntry, found
from widgets.theme import set_role

_SIZE_PX = (640, 620)


class KeysView(QDialog):
    """A table of actions and their keys, with a search; beside the window, which goes on."""

    def __init__(self, entries: Sequence[ActionEntry], parent: QWidget | None = None) -> None:
        """Show the ``entries`` that have keys, and below them what goes without."""
        super().__init__(parent)
        self._entries = tuple(entries)
        self.setWindowTitle("Keys")
        set_role(self, "background")
        self.field = QLineEdit(self)
        self.field.setPlaceholderText("Search by name or key")
        self.field.setAccessibleName("Search the keys")
        self.table = QTreeWidget(self)
        self.table.setAccessibleName("Actions and their keys")
        self.table.setHeaderLabels(["Action", "Keys"])
        self.table.setRootIsDecorated(False)
        self.table.setItemsExpandable(False)
        self.table.setIndentation(3 * STEP_PX)
        self.table.header().setStretchLastSection(False)
        self.table.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.table.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.close)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(*[PANEL_PADDING_PX] * 4)
        layout.setSpacing(2 * STEP_PX)
        for widget in (self.field, self.table, buttons):
            layout.addWidget(widget)
        self.field.textChanged.connect(self._show)
        self.resize(*_SIZE_PX)
        self._show("")

    def shown_texts(self) -> tuple[tuple[str, str], ...]:
        """Action and keys of each line, from top to bottom."""
        lines = []
        for place in range(self.table.topLevelItemCount()):
            group = self.table.topLevelItem(place)
            for row in range(group.childCount() if group else 0):
                item = group.child(row) if group else None
                if item is not None:
                    lines.append((item.text(0), item.text(1)))
        return tuple(lines)

    def _show(self, query: str) -> None:
        self.table.clear()
        groups: dict[str, QTreeWidgetItem] = {}
        entries = [entry for entry in self._entries if entry.keys]
        for entry in found(entries, query) if query.strip() else entries:
            group = groups.get(entry.group)
            if group is None:
                group = groups[entry.group] = QTreeWidgetItem(self.table, [entry.group, ""])
                font = group.font(0)
                font.setBold(True)
                group.setFont(0, font)
            QTreeWidgetItem(group, [entry.text, entry.keys])
        self.table.expandAll()
