"""Several of many words: a button that names those that are on, and a menu to check them in."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QAction, QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QLabel, QMenu, QSizePolicy, QWidget, QWidgetAction

from engine_bridge.settings.domain import ListDomain
from engine_bridge.settings.row import Setting
from resources.tokens import STEP_PX, Palette
from widgets.control import Control
from widgets.menu_button import MenuButton
from widgets.plain_tip import plain_tip
from widgets.theme import set_role
from widgets.value_label import ValueLabel

_OFF = "off"
_NO_NOTE = "Space or a click checks a kind; several may be on."
_NOTE_WIDTH_FIGURES = 40
# The frame and the padding left of the text, the arrow and its room right of it.
_FRAME_PX = 9 * STEP_PX


class ListControl(Control):
    """Any of the words of a list setting, in the order of its domain."""

    leaves_room_for_unit = False

    def __init__(self, setting: Setting, parent: QWidget) -> None:
        """Make button and menu."""
        super().__init__(setting, parent)
        domain = setting.domain
        assert isinstance(domain, ListDomain)
        self._choices = domain.choices
        self.button = _NamesButton(parent)
        self.menu = _StayingMenu(self.button)
        self.menu.setAccessibleName(setting.label)
        # Made here, not by the menu: PySide may declare dead what Qt made.
        self._off = QAction(_OFF, self.menu)
        self._off.setCheckable(True)
        self._off.triggered.connect(self._on_off)
        self.menu.addAction(self._off)
        self.menu.addSeparator()
        self._actions = [QAction(word, self.menu) for word in domain.choices]
        for number, action in enumerate(self._actions):
            note = domain.notes[number] if domain.notes else ""
            action.setCheckable(True)
            action.setToolTip(plain_tip(note))
            action.setStatusTip(note)
            action.triggered.connect(self._on_checked)
            self.menu.addAction(action)
        self.note = _Note(max((domain.notes or ("",)), key=len), self.menu)
        if domain.notes:
            self.menu.addSeparator()
            self.menu.addAction(self.note.action)
            self.menu.hovered.connect(self._on_hovered)
            self.menu.aboutToShow.connect(lambda: self.note.say(""))
        self.button.setMenu(self.menu)
        self.count = ValueLabel(parent)
        self.value_widget = self.count
        self.body = self.main = self.button
        self.refresh()

    def refresh(self) -> None:
        """Name what is on, and check it in the menu."""
        on = self._value if isinstance(self._value, tuple) else ()
        self.button.set_names(" + ".join(on) or _OFF)
        self.count.set_text(f"{len(on)} of {len(self._choices)}" if on else _OFF)
        self._off.setChecked(not on)
        for word, action in zip(self._choices, self._actions, strict=True):
            action.setChecked(word in on)

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self.button.set_palette(palette)

    def _on_hovered(self, action: QAction) -> None:
        self.note.say(action.statusTip())

    def _on_off(self) -> None:
        self._take(())

    def _on_checked(self) -> None:
        words = zip(self._choices, self._actions, strict=True)
        self._take(tuple(word for word, action in words if action.isChecked()))

    def _take(self, value: tuple[str, ...]) -> None:
        is_new = value != self._value
        self._value = value
        self._effective = None
        self.refresh()
        if is_new:
            self.committed.emit(value)


class _Note:
    """What the word with the highlight means, at the foot of the menu: not only for a mouse."""

    def __init__(self, longest: str, menu: QMenu) -> None:
        """Make room in ``menu`` for the ``longest`` note, so that nothing moves."""
        self.label = QLabel(menu)
        self.label.setTextFormat(Qt.TextFormat.PlainText)
        self.label.setWordWrap(True)
        self.label.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.label.setContentsMargins(*[2 * STEP_PX] * 4)
        set_role(self.label, "hint")
        self.label.setFixedWidth(_NOTE_WIDTH_FIGURES * menu.fontMetrics().horizontalAdvance("0"))
        self._longest = longest
        self.say("")
        self.action = QWidgetAction(menu)
        self.action.setDefaultWidget(self.label)
        # It is no entry: the arrow keys pass it by.
        self.action.setEnabled(False)

    def say(self, words: str) -> None:
        """Show ``words``, or what is to be done for them."""
        self.label.setText(self._longest)
        self.label.setFixedHeight(self.label.heightForWidth(self.label.width()))
        self.label.setText(words or _NO_NOTE)


class _NamesButton(MenuButton):
    """As wide as its row; names that do not fit end in an ellipsis, and all stand in the tip."""

    def __init__(self, parent: QWidget) -> None:
        """Name nothing yet."""
        self._names = ""
        super().__init__(parent)
        set_role(self, "menu")
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def set_names(self, names: str) -> None:
        """Show ``names``."""
        self._names = names
        self._elide()

    def minimumSizeHint(self) -> QSize:
        """Any width; the row decides."""
        return QSize(0, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shorten to the new width."""
        super().resizeEvent(event)
        self._elide()

    def changeEvent(self, event: QEvent) -> None:
        """Measure again in another font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._elide()

    def _elide(self) -> None:
        room = self.width() - _FRAME_PX
        text = self.fontMetrics().elidedText(self._names, Qt.TextElideMode.ElideRight, room)
        self.setText(text.replace("&", "&&"))


class _StayingMenu(QMenu):
    """Stays open while words are checked; Escape, Return or a click elsewhere close it."""

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Check the word under the pointer."""
        action = self.actionAt(event.position().toPoint())
        if action is None or not action.isCheckable() or not action.isEnabled():
            super().mouseReleaseEvent(event)
            return
        action.trigger()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Check the word with the highlight by the space bar."""
        action = self.activeAction()
        is_space = event.key() == Qt.Key.Key_Space
        if action is None or not is_space or not action.isCheckable() or not action.isEnabled():
            super().keyPressEvent(event)
            return
        action.trigger()
