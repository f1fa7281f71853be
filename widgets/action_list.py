"""The list of everything that can be done: a field to type in, the actions below.

Lies over the window like a sheet of paper; Esc or a click elsewhere takes it away.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QColor,
    QKeyEvent,
    QPainter,
)
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QLabel,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from resources.tokens import DARK, PANEL_PADDING_PX, STEP_PX, Palette
from widgets.action_search import ActionEntry, found
from widgets.theme import set_role, small_font

_WIDTH_PX, _HEIGHT_PX = 640, 460
_ENTRY = Qt.ItemDataRole.UserRole
_RECENT = "Recent"
_Index = QModelIndex | QPersistentModelIndex
_LIST_KEYS = {Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown}


class _Rows(QAbstractListModel):
    """Entries, and headings (plain texts) between them."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.rows: list[ActionEntry | str] = []

    def set_rows(self, rows: list[ActionEntry | str]) -> None:
        self.beginResetModel()
        self.rows = rows
        self.endResetModel()

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008  # Qt's signature
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row = self.rows[index.row()]
        if role == _ENTRY:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return row if isinstance(row, str) else row.text
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return row if isinstance(row, str) else _spoken(row)
        if role == Qt.ItemDataRole.ToolTipRole and isinstance(row, ActionEntry):
            return row.reason
        return None

    def flags(self, index: _Index) -> Qt.ItemFlag:
        if isinstance(self.rows[index.row()], str):
            return Qt.ItemFlag.ItemNeverHasChildren
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable


def _spoken(entry: ActionEntry) -> str:
    parts = [entry.text, entry.group, entry.keys]
    if entry.reason:
        parts.append(f"not now: {entry.reason}")
    return ", ".join(filter(None, parts))


class _RowPainter(QStyledItemDelegate):
    """Text left; keys, or the reason why not, right; headings small and muted."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.colours = DARK

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        row = index.data(_ENTRY)
        extra = 3 * STEP_PX if isinstance(row, str) else 2 * STEP_PX
        return QSize(0, option.fontMetrics.height() + extra)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        row = index.data(_ENTRY)
        area: QRect = option.rect
        state: QStyle.StateFlag = option.state
        inner = area.adjusted(PANEL_PADDING_PX, 0, -PANEL_PADDING_PX, 0)
        colours = self.colours
        painter.save()
        if isinstance(row, str):
            painter.setFont(small_font(painter.font()))
            painter.setPen(QColor(colours.muted))
            bottom = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom
            painter.drawText(inner.adjusted(0, 0, 0, -STEP_PX), bottom, row)
        else:
            is_chosen = bool(state & QStyle.StateFlag.State_Selected)
            if is_chosen:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                painter.setBrush(QColor(colours.accent))
                painter.drawRoundedRect(area.adjusted(STEP_PX, 0, -STEP_PX, 0), STEP_PX, STEP_PX)
            self._paint_words(painter, inner, row, is_chosen=is_chosen)
        painter.restore()

    def _paint_words(
        self, painter: QPainter, area: QRect, entry: ActionEntry, *, is_chosen: bool
    ) -> None:
        colours = self.colours
        middle = Qt.AlignmentFlag.AlignVCenter
        side = entry.reason or entry.keys
        body, small = painter.font(), small_font(painter.font())
        painter.setFont(small)
        metrics = painter.fontMetrics()
        room = area.width() // 2
        shown = metrics.elidedText(side, Qt.TextElideMode.ElideRight, room)
        side_px = metrics.horizontalAdvance(shown)
        painter.setPen(QColor(colours.on_accent if is_chosen else colours.muted))
        painter.drawText(area, Qt.AlignmentFlag.AlignRight | middle, shown)
        painter.setFont(body)
        is_plain = not entry.reason and not is_chosen
        ink = colours.on_accent if is_chosen else colours.text if is_plain else colours.muted
        painter.setPen(QColor(ink))
        left = area.adjusted(0, 0, -side_px - 2 * STEP_PX, 0)
        words = painter.fontMetrics().elidedText(
            entry.text, Qt.TextElideMode.ElideRight, left.width()
        )
        painter.drawText(left, Qt.AlignmentFlag.AlignLeft | middle, words)


class ActionList(QFrame):
    """Finds an action by a few letters and reports which one is to be done.

    Signals:
        chosen: Id (str) of the action; the list has gone by then.
    """

    chosen = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        """Make a list, hidden, that lies over ``parent``."""
        super().__init__(parent)
        self._over = parent
        self._entries: list[ActionEntry] = []
        self._recent: list[str] = []
        self._before: QWidget | None = None
        set_role(self, "sheet")
        self.setAccessibleName("Action list")
        self.field = QLineEdit(self)
        self.field.setPlaceholderText("What do you want to do?")
        self.field.setAccessibleName("Search actions and settings")
        self.field.setClearButtonEnabled(False)
        self.view = QListView(self)
        self.view.setAccessibleName("Actions")
        self.view.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the field moves it
        self.view.setUniformItemSizes(False)
        self.view.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        set_role(self.view, "bare")
        self._rows = _Rows(self)
        self._painter = _RowPainter(self)
        self.view.setModel(self._rows)
        self.view.setItemDelegate(self._painter)
        self._nothing = QLabel("No action has these words.", self)
        self._nothing.setContentsMargins(PANEL_PADDING_PX, STEP_PX, PANEL_PADDING_PX, STEP_PX)
        set_role(self._nothing, "muted")
        self._lay_out()
        self.field.textChanged.connect(self._on_text_changed)
        self.field.installEventFilter(self)
        self.view.clicked.connect(self._on_clicked)
        self.view.activated.connect(self._on_clicked)
        parent.installEventFilter(self)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._on_focus_changed)
        self.hide()

    def open(self, entries: Sequence[ActionEntry], recent: Sequence[str]) -> None:
        """Show ``entries``, those whose ids are ``recent`` once more on top."""
        self._entries, self._recent = list(entries), list(recent)
        self._before = QApplication.focusWidget()
        self.field.clear()
        self._on_text_changed("")
        self._place()
        self.show()
        self.raise_()
        self.field.setFocus()

    def close_list(self) -> None:
        """Take it away and give the keyboard back to where it was."""
        if self.isHidden():
            return
        self.hide()
        before, self._before = self._before, None
        if before is not None and before.isVisible():
            before.setFocus()

    def shown_entries(self) -> tuple[ActionEntry, ...]:
        """What is listed, from top to bottom, without the headings."""
        return tuple(row for row in self._rows.rows if isinstance(row, ActionEntry))

    def current(self) -> ActionEntry | None:
        """The entry that Enter would choose."""
        row = self.view.currentIndex().data(_ENTRY)
        return row if isinstance(row, ActionEntry) else None

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self._painter.colours = palette
        self.view.viewport().update()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let the field move the list, and follow the window's size."""
        if watched is self.field and isinstance(event, QKeyEvent):
            return event.type() == QEvent.Type.KeyPress and self._on_key(event)
        if watched is self._over and event.type() == QEvent.Type.Resize:
            self._place()
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc takes it away from wherever the focus is in it."""
        if event.key() == Qt.Key.Key_Escape:
            self.close_list()
            return
        super().keyPressEvent(event)

    # --- Inside -------------------------------------------------------------------------

    def _lay_out(self) -> None:
        layout = QVBoxLayout(self)
        layout.setContentsMargins(1, PANEL_PADDING_PX, 1, PANEL_PADDING_PX)
        layout.setSpacing(2 * STEP_PX)
        top = QVBoxLayout()
        top.setContentsMargins(PANEL_PADDING_PX, 0, PANEL_PADDING_PX, 0)
        top.addWidget(self.field)
        layout.addLayout(top)
        layout.addWidget(self._nothing)
        layout.addWidget(self.view, 1)

    def _place(self) -> None:
        room = self._over.size()
        width = min(_WIDTH_PX, room.width() - 8 * STEP_PX)
        rows = sum(self.view.sizeHintForRow(row) for row in range(self._rows.rowCount()))
        around = self.field.sizeHint().height() + 2 * PANEL_PADDING_PX + 4 * STEP_PX
        nothing = 0 if rows else self._nothing.sizeHint().height()
        height = min(rows + around + nothing, _HEIGHT_PX, room.height() - 24 * STEP_PX)
        self.setGeometry((room.width() - width) // 2, 14 * STEP_PX, width, height)

    def _on_text_changed(self, query: str) -> None:
        rows: list[ActionEntry | str] = []
        if query.strip():
            rows.extend(found(self._entries, query))
        else:
            rows.extend(self._by_group())
        self._rows.set_rows(rows)
        self._nothing.setVisible(not rows)
        self._choose(next((i for i, row in enumerate(rows) if isinstance(row, ActionEntry)), -1))
        self.view.scrollToTop()
        self._place()

    def _by_group(self) -> list[ActionEntry | str]:
        by_id = {entry.id: entry for entry in self._entries}
        groups: dict[str, list[ActionEntry]] = {}
        recent = [by_id[name] for name in self._recent if name in by_id]
        if recent:
            groups[_RECENT] = recent
        for entry in self._entries:
            groups.setdefault(entry.group, []).append(entry)
        rows: list[ActionEntry | str] = []
        for group, entries in groups.items():
            rows.append(group)
            rows.extend(entries)
        return rows

    def _choose(self, row: int) -> None:
        self.view.setCurrentIndex(self._rows.index(row) if row >= 0 else QModelIndex())
        self._announce()

    def _announce(self) -> None:
        """The focus stays in the field: say what the list stands at."""
        entry = self.current()
        words = _spoken(entry) if entry is not None else self._nothing.text()
        if self.isVisible():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self.field, words))

    def _on_key(self, event: QKeyEvent) -> bool:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._run_current()
            return True
        if event.key() in _LIST_KEYS:
            QApplication.sendEvent(self.view, event)
            self._announce()
            return True
        return False

    def _on_clicked(self, index: QModelIndex) -> None:
        self._choose(index.row())
        self._run_current()

    def _run_current(self) -> None:
        entry = self.current()
        if entry is not None and not entry.reason:
            self.close_list()
            self.chosen.emit(entry.id)

    def _on_focus_changed(self, _: QWidget | None, now: QWidget | None) -> None:
        # Without any focus another program is in front: the list waits.
        if self.isVisible() and now is not None and now is not self and not self.isAncestorOf(now):
            self._before = None
            self.close_list()
