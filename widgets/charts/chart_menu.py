"""What can be had of a chart beside its picture: a limit, a table, and files."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

_KINDS = (
    ("png", "picture (PNG)", Qt.Key.Key_P),
    ("svg", "drawing (SVG)", Qt.Key.Key_G),
    ("csv", "figures (CSV)", Qt.Key.Key_V),
)


class ChartMenu(QMenu):
    """The menu of one chart; its keys work while the chart has the focus.

    Signals:
        table_requested: The figures are wanted as a table.
        export_requested: A file is wanted: ``png``, ``svg`` or ``csv``, and whether of all charts.
        limit_requested: The limit is to be asked for.
        no_limit_requested: The limit is to go.
    """

    table_requested = Signal()
    export_requested = Signal(str, bool)
    limit_requested = Signal()
    no_limit_requested = Signal()

    def __init__(self, chart: QWidget, title: str) -> None:
        """Make the menu of ``chart``, its parent."""
        super().__init__(chart)
        self._chart = chart
        self._no_limit: QAction | None = None
        self.setAccessibleName(f"{title} chart")
        table = self._add("Show as &table", QKeySequence(Qt.Key.Key_T))
        table.triggered.connect(self.table_requested)
        for is_all in (False, True):
            self.addSeparator()
            what = "Save all charts as" if is_all else "Save as"
            for kind, text, key in _KINDS:
                shift = Qt.KeyboardModifier.ShiftModifier
                keys = QKeySequence(shift | key) if is_all else QKeySequence(key)
                self._add(f"{what} {text}…", keys).triggered.connect(
                    lambda _, kind=kind, is_all=is_all: self.export_requested.emit(kind, is_all)
                )

    def add_limit(self) -> None:
        """Offer a limit too, in front of everything else."""
        first = self.actions()[0]
        ask = self._add("Set &limit…", QKeySequence(Qt.Key.Key_L), first)
        ask.triggered.connect(self.limit_requested)
        keys = QKeySequence(Qt.KeyboardModifier.ShiftModifier | Qt.Key.Key_L)
        self._no_limit = self._add("&No limit", keys, first)
        self._no_limit.triggered.connect(self.no_limit_requested)
        self._no_limit.setEnabled(False)
        self.insertSeparator(first)

    def set_has_limit(self, has_limit: bool) -> None:
        """Whether there is a limit that could go."""
        if self._no_limit is not None:
            self._no_limit.setEnabled(has_limit)

    def _add(self, text: str, keys: QKeySequence, before: QAction | None = None) -> QAction:
        action = QAction(text, self)
        # Moved later, it would lose its connections to this menu.
        if before is None:
            self.addAction(action)
        else:
            self.insertAction(before, action)
        action.setShortcut(keys)
        action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        action.setShortcutVisibleInContextMenu(True)
        self._chart.addAction(action)
        return action
