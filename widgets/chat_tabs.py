"""The conversations side by side as tabs, several of them streaming at once."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRect, QSize, Qt, Signal
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QStackedWidget,
    QTabBar,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from resources.chat_tokens import TAB_MIN_WIDTH_PX, TAB_WIDTH_PX
from resources.tokens import DARK, PANEL_PADDING_PX, STEP_PX, Palette
from widgets.chat_view import ChatView
from widgets.theme import icon

_ICON_PX = 3 * STEP_PX
# The cross with its padding and border, the padding of the tab, and a gap before the cross.
_BESIDE_TITLE_PX = _ICON_PX + 5 * STEP_PX
_STREAMING, _QUEUED = "●", "○"


class _EvenTabBar(QTabBar):
    """Tabs of one width, so that a mark on one does not move the others."""

    def __init__(self, parent: QWidget) -> None:
        """Create an empty bar."""
        super().__init__(parent)
        self._room_px = TAB_WIDTH_PX
        # The general padding leaves no room for a title beside the close button, nor for the
        # arrows of the scroll buttons.
        self.setStyleSheet(
            f"QTabBar::tab {{ padding: {STEP_PX + 2}px {STEP_PX}px; }}"
            f"QTabBar QToolButton {{ padding: {STEP_PX // 2}px; }}"
        )

    def set_room(self, room_px: int) -> None:
        """Say how wide all tabs together may be."""
        if room_px != self._room_px:
            self._room_px = room_px
            self.updateGeometry()

    def tabSizeHint(self, index: int) -> QSize:
        """The same width for all, less where there are many."""
        size = super().tabSizeHint(index)
        width = min(TAB_WIDTH_PX, max(TAB_MIN_WIDTH_PX, self._room_px // max(1, self.count())))
        return QSize(width, size.height())

    def minimumTabSizeHint(self, index: int) -> QSize:
        """As the normal size: the bar scrolls before it crushes."""
        return self.tabSizeHint(index)


class _CloseButton(QToolButton):
    """Has the size it asks for; a tab bar gives it that once only and grows with it for good."""

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.resize(self.sizeHint())


class ChatTabs(QFrame):
    """Tabs of conversations; opening and closing is asked for by signals.

    Keys: Ctrl+T new, Ctrl+W close, Ctrl+Tab and Ctrl+PageUp or PageDown switch, Ctrl+1 to 9 choose.

    Signals:
        conversation_opened: A new conversation is wanted; the owner calls ``add_conversation``.
        conversation_closed: Id of the conversation whose end is wanted; the owner calls
            ``remove_conversation``.
        current_changed: Id of the conversation in front.
    """

    conversation_opened = Signal()
    conversation_closed = Signal(str)
    current_changed = Signal(str)

    def __init__(self, palette: Palette = DARK, parent: QWidget | None = None) -> None:
        """Create an empty bar.

        Args:
            palette: Colours.
            parent: Owner.
        """
        super().__init__(parent)
        self._palette = palette
        self._ids: list[str] = []
        self._titles: dict[str, str] = {}
        self._views: dict[str, ChatView] = {}
        self._streaming: set[str] = set()
        self._wearing_old: set[str] = set()
        self.setProperty("role", "panel")
        self.bar = _EvenTabBar(self)
        self.bar.setDocumentMode(True)
        self.bar.setExpanding(False)
        self.bar.setUsesScrollButtons(True)
        self.bar.setElideMode(Qt.TextElideMode.ElideNone)
        self.bar.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.bar.setAccessibleName("Conversations")
        self.new_button = QToolButton()
        self.new_button.setText("+")
        self.new_button.setProperty("role", "flat")
        self.new_button.setAccessibleName("New conversation")
        self._stack = QStackedWidget()
        row = QHBoxLayout()
        row.setSpacing(STEP_PX)
        row.addWidget(self.bar)
        row.addWidget(self.new_button, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(PANEL_PADDING_PX, STEP_PX, PANEL_PADDING_PX, PANEL_PADDING_PX)
        layout.setSpacing(STEP_PX)
        layout.addLayout(row)
        layout.addWidget(self._stack, 1)
        self.bar.currentChanged.connect(self._on_current_changed)
        self.new_button.clicked.connect(self.conversation_opened)
        self._add_shortcuts()
        self.set_slot_count(1)

    # --- Conversations ------------------------------------------------------------------------

    def add_conversation(self, conversation_id: str, title: str) -> None:
        """Add an empty conversation at the end and show it.

        Args:
            conversation_id: Unique.
            title: Words on the tab.

        Raises:
            ValueError: If there is a conversation of that id.
        """
        if conversation_id in self._views:
            raise ValueError(f"There is a conversation {conversation_id!r} already.")
        view = ChatView(self._palette)
        view.activity_changed.connect(lambda: self._show_tab(conversation_id))
        self._ids.append(conversation_id)
        self._titles[conversation_id] = title
        self._views[conversation_id] = view
        self._stack.addWidget(view)
        index = self.bar.addTab(title)
        close = _CloseButton()
        close.setProperty("role", "flat")
        close.setIcon(icon("close", self._palette.muted, _ICON_PX))
        close.setIconSize(QSize(_ICON_PX, _ICON_PX))
        close.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # Ctrl+W does it from the keyboard
        close.setToolTip("Close the conversation (Ctrl+W)")
        close.clicked.connect(lambda: self.conversation_closed.emit(conversation_id))
        self.bar.setTabButton(index, QTabBar.ButtonPosition.RightSide, close)
        self._show_tabs()  # each has less room now
        self.bar.setCurrentIndex(index)
        view.composer.editor.setFocus()

    def remove_conversation(self, conversation_id: str) -> None:
        """Take a conversation away.

        Raises:
            KeyError: If there is none of that id.
        """
        view = self._views.pop(conversation_id)
        index = self._ids.index(conversation_id)
        self._ids.remove(conversation_id)
        del self._titles[conversation_id]
        self._streaming.discard(conversation_id)
        self._wearing_old.discard(conversation_id)
        self._stack.removeWidget(view)
        self.bar.removeTab(index)
        self._show_tabs()
        view.hide()
        view.deleteLater()

    def conversation(self, conversation_id: str) -> ChatView:
        """The view of a conversation.

        Raises:
            KeyError: If there is none of that id.
        """
        return self._views[conversation_id]

    def conversation_ids(self) -> tuple[str, ...]:
        """All ids in the order of the tabs."""
        return tuple(self._ids)

    def current_id(self) -> str:
        """Id of the conversation in front; empty without one."""
        index = self.bar.currentIndex()
        return self._ids[index] if 0 <= index < len(self._ids) else ""

    def messages_area(self) -> QRect:
        """Where the messages stand, in the window's coordinates; empty while none can be seen."""
        current = self.current_id()
        if not current or not self.isVisible():
            return QRect()
        header, window = self._views[current].header, self.window()
        top = header.mapTo(window, header.rect().bottomLeft()).y() + STEP_PX
        whole = QRect(self.mapTo(window, self.rect().topLeft()), self.size())
        return whole.adjusted(0, top - whole.top(), 0, 0)

    def set_current(self, conversation_id: str) -> None:
        """Bring a conversation to the front."""
        self.bar.setCurrentIndex(self._ids.index(conversation_id))

    def set_title(self, conversation_id: str, title: str) -> None:
        """Change the words on a tab."""
        self._titles[conversation_id] = title
        self._show_tab(conversation_id)

    def set_streaming(self, conversation_id: str, is_streaming: bool) -> None:
        """Mark a tab as streaming although its view is not told of an answer, or no longer."""
        if is_streaming:
            self._streaming.add(conversation_id)
        else:
            self._streaming.discard(conversation_id)
        self._show_tab(conversation_id)

    def set_slot_count(self, count: int) -> None:
        """Say how many conversations can stream at once; others wait in line."""
        at_once = "one at a time streams" if count == 1 else f"{count} can stream at once"
        tip = f"New conversation (Ctrl+T): {at_once}, others wait for a free slot."
        self.new_button.setToolTip(tip)
        self.new_button.setAccessibleDescription(tip)

    def set_palette(self, palette: Palette) -> None:
        """Change colours: of what is seen now, of the rest when it comes to the front."""
        self._palette = palette
        for index in range(self.bar.count()):
            button = self.bar.tabButton(index, QTabBar.ButtonPosition.RightSide)
            if isinstance(button, QToolButton):
                button.setIcon(icon("close", palette.muted, _ICON_PX))
        self._wearing_old = set(self._views)
        self._dress_current()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the tabs the room there is."""
        super().resizeEvent(event)
        beside = self.new_button.sizeHint().width() + 2 * PANEL_PADDING_PX + 4 * STEP_PX
        self.bar.set_room(self.width() - beside)
        self._show_tabs()

    def _dress_current(self) -> None:
        """Twenty conversations at once would hold up the window for the better part of a second."""
        current = self.current_id()
        if current in self._wearing_old:
            self._wearing_old.discard(current)
            self._views[current].set_palette(self._palette)

    # --- Tabs ---------------------------------------------------------------------------------

    def _show_tab(self, conversation_id: str) -> None:
        if conversation_id not in self._ids:
            return
        index = self._ids.index(conversation_id)
        title, (mark, words) = self._titles[conversation_id], self._mark(conversation_id)
        metrics = self.bar.fontMetrics()
        room = self.bar.tabSizeHint(index).width() - _BESIDE_TITLE_PX
        room -= metrics.horizontalAdvance(mark)
        shown = metrics.elidedText(title, Qt.TextElideMode.ElideRight, room)
        # An ampersand would be taken for a mnemonic.
        self.bar.setTabText(index, (mark + shown).replace("&", "&&"))
        self.bar.setTabToolTip(index, title + words)
        self.bar.setAccessibleTabName(index, title + words)

    def _show_tabs(self) -> None:
        for conversation_id in self._ids:
            self._show_tab(conversation_id)

    def _mark(self, conversation_id: str) -> tuple[str, str]:
        """A sign before the title, and what it means."""
        view = self._views[conversation_id]
        if view.queue_position is not None:
            return f"{_QUEUED} {view.queue_position} ", f" · queued {view.queue_position}"
        is_streaming = view.is_streaming or conversation_id in self._streaming
        return (f"{_STREAMING} ", " · streaming") if is_streaming else ("", "")

    def _add_shortcuts(self) -> None:
        for keys, step in (
            ("Ctrl+Tab", 1),
            ("Ctrl+Shift+Tab", -1),
            ("Ctrl+PgDown", 1),
            ("Ctrl+PgUp", -1),
        ):
            self._shortcut(keys).activated.connect(lambda step=step: self.step(step))
        self._shortcut("Ctrl+T").activated.connect(self.conversation_opened)
        self._shortcut("Ctrl+W").activated.connect(self.close_current)
        for number in range(1, 10):
            self._shortcut(f"Ctrl+{number}").activated.connect(
                lambda index=number - 1: self.bar.setCurrentIndex(index)
            )

    def _shortcut(self, keys: str) -> QShortcut:
        return QShortcut(QKeySequence(keys), self)

    def step(self, step: int) -> None:
        """Show the conversation so many tabs further on, around the end."""
        if self._ids:
            self.bar.setCurrentIndex((self.bar.currentIndex() + step) % len(self._ids))

    def close_current(self) -> None:
        """Ask for the end of the conversation in front."""
        if self.current_id():
            self.conversation_closed.emit(self.current_id())

    def _on_current_changed(self, index: int) -> None:
        if not 0 <= index < len(self._ids):
            return
        conversation_id = self._ids[index]
        self._dress_current()
        self._stack.setCurrentWidget(self._views[conversation_id])
        self.current_changed.emit(conversation_id)
