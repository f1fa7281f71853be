"""A choice of engines with headings, for a place where a list has no room."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QComboBox, QWidget

from widgets.export_sheet import ExportTarget

# More than a dozen engines with their headings are seen at once.
_MOST_LINES = 24


class TargetBox(QComboBox):
    """Engines below the names of their groups; a group that has no name has no heading.

    Signals:
        target_chosen: Key (str) of the engine that a person chose.
    """

    target_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make an empty box."""
        super().__init__(parent)
        self.setMaxVisibleItems(_MOST_LINES)
        self._items = QStandardItemModel(self)
        self.setModel(self._items)
        self.currentIndexChanged.connect(self._on_index_changed)

    def set_targets(self, targets: Sequence[ExportTarget], chosen: str) -> None:
        """Offer ``targets``, ``chosen`` or else the first one chosen; without a signal."""
        with QSignalBlocker(self):
            self._items.clear()
            group = ""
            for target in targets:
                if target.group != group:
                    group = target.group
                    self._add_heading(group)
                item = QStandardItem(target.name)
                item.setData(target.key, Qt.ItemDataRole.UserRole)
                item.setToolTip(target.told)
                self._items.appendRow(item)
            self.choose(chosen if chosen in self.keys() else _first(targets))

    def choose(self, key: str) -> None:
        """Make ``key`` the chosen one, without a signal."""
        with QSignalBlocker(self):
            self.setCurrentIndex(self.findData(key))

    def chosen(self) -> str:
        """Key of the chosen one; empty for none."""
        return str(self.currentData() or "")

    def keys(self) -> list[str]:
        """Keys of all, in their order."""
        return [str(key) for place in range(self.count()) if (key := self.itemData(place))]

    def _add_heading(self, text: str) -> None:
        item = QStandardItem(text)
        item.setFlags(Qt.ItemFlag.NoItemFlags)
        self._items.appendRow(item)

    def _on_index_changed(self, _: int) -> None:
        if self.chosen():
            self.target_chosen.emit(self.chosen())


def _first(targets: Sequence[ExportTarget]) -> str:
    return targets[0].key if targets else ""
