"""Controls for settings that are written: a list in a field, a text of some lines in a dialog."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from engine_bridge.settings.row import Setting
from engine_bridge.settings.text_domain import TextDomain
from resources.tokens import DARK, STEP_PX, Palette
from widgets.control import Control
from widgets.menu_button import MenuButton
from widgets.plain_tip import plain_tip
from widgets.text_dialog import TextDialog
from widgets.theme import icon, set_role
from widgets.value_field import ValueField

# Room in the row for a list; all of it is to be seen while it is edited.
_LIST_TEXT = "15043+1,2-inf"
_NONE = "none"
# What the stylesheet keeps free beside the words of such a button, for an arrow.
_BESIDE_PX = 9 * STEP_PX
# A tooltip with more lines covers the window.
_TIP_LINES = 20


class WordsControl(Control):
    """A field that takes a list as the domain writes it."""

    leaves_room_for_unit = False

    def __init__(self, setting: Setting, parent: QWidget) -> None:
        """Make the field."""
        super().__init__(setting, parent)
        self.field = ValueField(setting.domain.parse, parent)
        self.field.set_widest(_LIST_TEXT)
        self.value_widget = self.main = self.field
        self.body = None
        self.listen_to(self.field)
        self.refresh()

    def refresh(self) -> None:
        """Show the list."""
        text = self.setting.domain.format(self._value)
        self.field.set_texts(text, text)


class TextControl(Control):
    """A button with the first line of the text, which opens the dialog that changes it."""

    leaves_room_for_unit = False

    def __init__(self, setting: Setting, parent: QWidget) -> None:
        """Make the button."""
        super().__init__(setting, parent)
        self.button = _FirstLineButton(parent)
        self.value_widget = self.main = self.button
        self.body = None
        self.dialog: TextDialog | None = None
        self._palette = DARK
        self.button.clicked.connect(self.edit)
        self.refresh()

    def refresh(self) -> None:
        """Show the first line."""
        self.button.set_source(str(self._value))

    def describe(self) -> None:
        """Tell screen readers the first line only: a grammar is no speech."""
        lines = str(self._value).splitlines()
        first = f"{lines[0]}, {len(lines)} lines" if lines else _NONE
        self.main.setAccessibleDescription(f"{first}. {self.setting.help}")

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self._palette = palette
        self.button.set_palette(palette)
        if self.dialog is not None:
            self.dialog.set_palette(palette)

    def edit(self) -> None:
        """Open the dialog, or bring it to the front."""
        if self.dialog is None:
            assert isinstance(self.setting.domain, TextDomain)
            dialog = self.dialog = TextDialog(
                self.setting.label, self.setting.help, self.setting.domain, self.button.window()
            )
            dialog.set_palette(self._palette)
            dialog.set_text(str(self._value))
            dialog.text_accepted.connect(self._on_accepted)
            dialog.finished.connect(self._on_finished)
        self.dialog.open()

    def _on_accepted(self, text: str) -> None:
        if text != self._value:
            self._value = text
            self._effective = None
            self.refresh()
            self.committed.emit(text)

    def _on_finished(self) -> None:
        if self.dialog is not None:
            self.dialog.deleteLater()
            self.dialog = None
        self.button.setFocus(Qt.FocusReason.OtherFocusReason)


class _FirstLineButton(MenuButton):
    """The first line of a text, as much of it as there is room for; a pen in the arrow's place."""

    def __init__(self, parent: QWidget) -> None:
        self._first = ""
        super().__init__(parent)
        set_role(self, "value-menu")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def set_palette(self, palette: Palette) -> None:
        """Use these colours for the pen."""
        super().set_palette(palette)
        self._arrow = icon("pencil", palette.muted, self._arrow_px())

    def set_source(self, text: str) -> None:
        """Show the first line of ``text``, and the rest of it as the tooltip."""
        lines = text.splitlines()
        self._first = next((line.strip() for line in lines if line.strip()), "")
        more = ["…"] if len(lines) > _TIP_LINES else []
        self.setToolTip(plain_tip("\n".join([*lines[:_TIP_LINES], *more])))
        self._elide()

    def sizeHint(self) -> QSize:
        """As wide as the field of a list."""
        width = self.fontMetrics().horizontalAdvance(_LIST_TEXT) + _BESIDE_PX
        return QSize(width, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """The same: a text is never shown whole."""
        return self.sizeHint()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shorten to the new width."""
        super().resizeEvent(event)
        self._elide()

    def _elide(self) -> None:
        room = self.width() - _BESIDE_PX
        mode = Qt.TextElideMode.ElideRight
        shown = self.fontMetrics().elidedText(self._first, mode, room) if self._first else _NONE
        self.setText(shown.replace("&", "&&"))
