"""The engines that a configuration can leave for, in groups, one of them chosen."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from resources.tokens import DARK, STEP_PX, Palette
from widgets.export_sheet import ExportTarget
from widgets.plain_tip import wrapped_tip

_KEY = Qt.ItemDataRole.UserRole
_BESIDE_PX = 10 * STEP_PX


class ExportEngines(QListWidget):
    """A list with headings; arrows go from engine to engine.

    Signals:
        target_chosen: Key (str) of the engine that a person chose.
    """

    target_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make an empty list."""
        super().__init__(parent)
        self.setAccessibleName("Engines")
        self.setAccessibleDescription("What the configuration is written for")
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setUniformItemSizes(False)
        self.setStyleSheet(
            f"QListView {{ padding: {STEP_PX}px; }}"
            f"QListView::item {{ padding: {STEP_PX}px {2 * STEP_PX}px; }}"
        )
        self._muted = QColor(DARK.muted)
        self.currentItemChanged.connect(self._on_current_changed)

    def set_targets(self, targets: Sequence[ExportTarget], chosen: str) -> None:
        """Offer ``targets``, ``chosen`` of them chosen; without a signal."""
        with QSignalBlocker(self):
            self.clear()
            group = ""
            for target in targets:
                if target.group != group:
                    group = target.group
                    self._add_heading(group)
                item = QListWidgetItem(target.name, self)
                item.setData(_KEY, target.key)
                item.setToolTip(wrapped_tip(target.told))
            self._dress_headings()
            self.choose(chosen)
        self.updateGeometry()

    def choose(self, key: str) -> None:
        """Make ``key`` the chosen one, without a signal."""
        with QSignalBlocker(self):
            for row in range(self.count()):
                if self.item(row).data(_KEY) == key:
                    self.setCurrentRow(row)

    def chosen(self) -> str:
        """Key of the chosen one; empty for none."""
        item = self.currentItem()
        return str(item.data(_KEY) or "") if item is not None else ""

    def keys(self) -> list[str]:
        """Keys of all, in their order."""
        keys = [self.item(row).data(_KEY) for row in range(self.count())]
        return [str(key) for key in keys if key]

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self._muted = QColor(palette.muted)
        self._dress_headings()

    def sizeHint(self) -> QSize:
        """Wide enough for every name."""
        widest = max((self.item(row).text() for row in range(self.count())), key=len, default="")
        # Headings are bold, which is wider by less than a tenth.
        width = round(1.1 * self.fontMetrics().horizontalAdvance(widest)) + _BESIDE_PX
        return QSize(width, 60 * STEP_PX)

    def minimumSizeHint(self) -> QSize:
        """Narrow enough for a small window."""
        return QSize(24 * STEP_PX, 30 * STEP_PX)

    def changeEvent(self, event: QEvent) -> None:
        """Headings follow the font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._dress_headings()

    def _add_heading(self, text: str) -> None:
        item = QListWidgetItem(text, self)
        item.setFlags(Qt.ItemFlag.NoItemFlags)

    def _dress_headings(self) -> None:
        bold = QFont(self.font())
        bold.setWeight(QFont.Weight.DemiBold)
        for row in range(self.count()):
            item = self.item(row)
            if not item.data(_KEY):
                item.setFont(bold)
                item.setForeground(self._muted)

    def _on_current_changed(self, current: QListWidgetItem | None, _: object) -> None:
        if current is not None and current.data(_KEY):
            self.target_chosen.emit(str(current.data(_KEY)))
