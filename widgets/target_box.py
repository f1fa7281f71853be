"""A choice of engines with headings, for a place where a list has no room."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QComboBox, QWidget

from resources.tokens import DARK, STEP_PX, Palette
from widgets.export_sheet import ExportTarget

# More than a dozen engines with their headings are seen at once.
_MOST_LINES = 24
# Beside a heading in the list that opens.
_BESIDE_PX = 8 * STEP_PX


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
        self._muted = QColor(DARK.muted)
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
        # The list has to hold the headings, the box itself has not.
        widest = max(map(self._text_px, range(self.count())), default=0)
        self.view().setMinimumWidth(round(1.1 * widest) + _BESIDE_PX)
        self.updateGeometry()

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

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self._muted = QColor(palette.muted)
        for place in range(self.count()):
            if not self.itemData(place):
                self._items.item(place).setForeground(self._muted)

    def sizeHint(self) -> QSize:
        """As wide as its names take."""
        return self._without_headings(super().sizeHint())

    def minimumSizeHint(self) -> QSize:
        """The same: a name that is cut says nothing."""
        return self._without_headings(super().minimumSizeHint())

    def _without_headings(self, size: QSize) -> QSize:
        widest = max(map(self._text_px, range(self.count())), default=0)
        names = [place for place in range(self.count()) if self.itemData(place)]
        needed = max(map(self._text_px, names), default=0)
        return QSize(size.width() - widest + needed, size.height())

    def _text_px(self, place: int) -> int:
        return self.fontMetrics().horizontalAdvance(self.itemText(place))

    def _add_heading(self, text: str) -> None:
        item = QStandardItem(text)
        item.setFlags(Qt.ItemFlag.NoItemFlags)
        bold = QFont(self.font())
        bold.setWeight(QFont.Weight.DemiBold)
        item.setFont(bold)
        item.setForeground(self._muted)
        self._items.appendRow(item)

    def _on_index_changed(self, _: int) -> None:
        if self.chosen():
            self.target_chosen.emit(self.chosen())


def _first(targets: Sequence[ExportTarget]) -> str:
    return targets[0].key if targets else ""
