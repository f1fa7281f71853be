"""The value of a fader as a field: it shows the number, and takes an exact one."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QLineEdit, QSizePolicy, QWidget

from engine_bridge.settings.domain import DomainError, Value
from resources.tokens import STEP_PX
from widgets.theme import restyle, set_role

# Focus that goes to a menu or another window comes back; what was typed waits for it.
_PASSING = (Qt.FocusReason.PopupFocusReason, Qt.FocusReason.ActiveWindowFocusReason)

# Two pixels of margin and one of border on either side, and the cursor.
_BESIDE_PX = 2 * STEP_PX + 1


class ValueField(QLineEdit):
    """Shows a value flush right; typing and Enter commit another.

    Strict: text that is no value is never changed into one. The sentence that says why goes out
    as ``refused`` and the field keeps the focus; Esc brings the old value back.

    Signals:
        value_entered: The value (object) that was typed.
        refused: The sentence (str) to show.
        settled: A refused text is gone.
    """

    value_entered = Signal(object)
    refused = Signal(str)
    settled = Signal()

    def __init__(self, parse: Callable[[str], Value], parent: QWidget | None = None) -> None:
        """Make an empty field that reads text with ``parse``, which raises ``DomainError``."""
        super().__init__(parent)
        self._parse = parse
        self._shown = self._editable = self._brief = ""
        self._widest = self._widest_shown = ""
        self._is_wrong = False
        self.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        set_role(self, "value")
        self.textEdited.connect(self._on_text_edited)

    def set_texts(self, shown: str, editable: str, brief: str = "") -> None:
        """Say what stands in the field.

        Args:
            shown: While it has not the focus.
            editable: While it has.
            brief: In place of ``shown`` where that does not fit.
        """
        self._shown, self._editable, self._brief = shown, editable, brief or shown
        if not self.isModified():
            self._restore()

    def set_widest(self, text: str, shown: str = "") -> None:
        """Take a width that does not depend on what stands in the field.

        Args:
            text: The widest value that can be typed; there is always room for it.
            shown: The widest text shown; there is room for it where the row has any to spare.
        """
        self._widest, self._widest_shown = text, shown or text
        self.updateGeometry()

    def is_wrong(self) -> bool:
        """Whether the text was refused and still stands there."""
        return self._is_wrong

    def sizeHint(self) -> QSize:
        """Wide enough for the widest text there can be."""
        return self._size_for(self._widest_shown)

    def minimumSizeHint(self) -> QSize:
        """Wide enough for the widest value."""
        return self._size_for(self._widest)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """There is room for the whole text now, or no more."""
        super().resizeEvent(event)
        if not self.isModified():
            self._restore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter commits, Esc restores."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._commit()
            return
        if event.key() == Qt.Key.Key_Escape and (self.isModified() or self._is_wrong):
            self._give_up()
            self.selectAll()
            return
        super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Offer the value as it is typed, all of it selected."""
        super().focusInEvent(event)
        if not self.isModified():
            self._restore()
            self.selectAll()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Commit what is valid, drop what is not."""
        super().focusOutEvent(event)
        if event.reason() in _PASSING:
            return
        if self.isModified():
            self._commit_or_drop()
        self._restore()

    def changeEvent(self, event: QEvent) -> None:
        """Measure again in another font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.updateGeometry()

    def _commit(self) -> None:
        if not self.isModified():
            self.selectAll()
            return
        try:
            value = self._parse(self.text())
        except DomainError as error:
            self._set_wrong(True)
            self.refused.emit(str(error))
            return
        self._give_up()
        self.selectAll()
        self.value_entered.emit(value)

    def _commit_or_drop(self) -> None:
        try:
            value = self._parse(self.text())
        except DomainError:
            self._give_up()
            return
        self._give_up()
        self.value_entered.emit(value)

    def _give_up(self) -> None:
        self._restore()
        self._set_wrong(False)

    def _advance(self, text: str) -> int:
        return self.fontMetrics().horizontalAdvance(text)

    def _size_for(self, text: str) -> QSize:
        return QSize(self._advance(text) + _BESIDE_PX, self.fontMetrics().height() + STEP_PX)

    def _restore(self) -> None:
        is_cut = self._advance(self._shown) + _BESIDE_PX > self.width()
        shown = self._brief if is_cut else self._shown
        text = self._editable if self.hasFocus() else shown
        # Setting the same text again would drop the selection.
        if text != self.text():
            self.setText(text)
        self.setModified(False)

    def _on_text_edited(self) -> None:
        self._set_wrong(False)

    def _set_wrong(self, is_wrong: bool) -> None:
        if is_wrong == self._is_wrong:
            return
        self._is_wrong = is_wrong
        self.setProperty("wrong", is_wrong)
        restyle(self)
        if not is_wrong:
            self.settled.emit()
