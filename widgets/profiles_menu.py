"""Which profile is in use, whether the settings have left it, and the menu that switches."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QSizePolicy, QWidget

from resources.tokens import DARK, PANEL_GAP_PX, STEP_PX, Palette
from widgets.menu_button import MenuButton
from widgets.plain_tip import plain_tip
from widgets.profile_rows import ProfileRow
from widgets.theme import set_role

_NONE = "Profiles"
_CHANGED = " · changed"
_SAVE, _SAVE_AS = "Save", "Save as…"
# A name of 80 letters would make the menu as wide as the window.
_NAME_PX = 75 * STEP_PX
_EMPTY = "No profiles of your own yet: Save as… makes one of these settings."


class ProfileButton(MenuButton):
    """Says which profile is in use; of a long name the middle is left out, never the mark."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make a button without a profile."""
        self._name = ""  # before Qt tells of a change of the font
        self._is_changed = False
        super().__init__(parent)
        set_role(self, "menu")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._show()

    def set_profile(self, name: str, *, is_changed: bool) -> None:
        """Say which is in use; an empty name for none.

        Args:
            name: Of the profile.
            is_changed: Whether the settings differ from it.
        """
        if (name, is_changed) != (self._name, self._is_changed):
            self._name, self._is_changed = name, is_changed
            self._show()

    def minimumSizeHint(self) -> QSize:
        """Room for the word; names are shortened to what there is."""
        width = self.fontMetrics().horizontalAdvance(_NONE + _CHANGED) + 10 * STEP_PX
        return QSize(width, super().sizeHint().height())

    def sizeHint(self) -> QSize:
        """The same: a name must not make the column wider."""
        return self.minimumSizeHint()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shorten to the new width."""
        super().resizeEvent(event)
        self._show()

    def changeEvent(self, event: QEvent) -> None:
        """Measure again in another font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._show()
            self.updateGeometry()

    def _show(self) -> None:
        mark = _CHANGED if self._is_changed else ""
        metrics = self.fontMetrics()
        room = self.width() - 9 * STEP_PX - metrics.horizontalAdvance(mark)
        name = metrics.elidedText(self._name or _NONE, Qt.TextElideMode.ElideMiddle, room)
        self.setText((name + mark).replace("&", "&&"))
        if not self._name:
            said, tip = _NONE, "Named settings, to be switched to with one click"
        elif self._is_changed:
            said = f"Profile: {self._name}, changed"
            tip = f"The settings were changed since “{self._name}” was chosen or saved."
        else:
            said, tip = f"Profile: {self._name}", f"The settings are those of “{self._name}”."
        self.setAccessibleName(said)
        self.setAccessibleDescription(tip)
        self.setToolTip(plain_tip(tip))


class ProfilesMenu(QWidget):
    """The button with its menu, and beside it the one that saves.

    Signals:
        rows_wanted: The menu opens: what it offers may have changed.
        chosen: Id (str) of the profile to switch to.
        save_wanted: The settings are to be saved in the profile in use.
        save_as_wanted: The settings are to be saved as a new profile.
        view_wanted: All profiles are to be shown: compared, renamed, deleted.
        import_wanted: A profile is to be read from a file.
        palette_changed: The colours (``Palette``) are others.
    """

    rows_wanted = Signal()
    chosen = Signal(str)
    save_wanted = Signal()
    save_as_wanted = Signal()
    view_wanted = Signal()
    import_wanted = Signal()
    palette_changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make it without profiles."""
        super().__init__(parent)
        self.colours = DARK
        self._name = ""
        self._rows: tuple[ProfileRow, ...] | None = None
        self._can_save = self._can_save_as_it = False
        self.button = ProfileButton(self)
        self.save_button = QPushButton(_SAVE_AS, self)
        self.save_button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.menu = QMenu(self.button)
        self.menu.setAccessibleName("Profiles")
        self.menu.setToolTipsVisible(True)
        self.menu.aboutToShow.connect(self.rows_wanted)
        self.button.setMenu(self.menu)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(PANEL_GAP_PX)
        layout.addWidget(self.button, 1)
        layout.addWidget(self.save_button)
        self.save_button.clicked.connect(self._on_save_clicked)
        self.set_state("", is_changed=False, is_own=False)
        self.set_rows(())

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self.colours = palette
        self.button.set_palette(palette)
        self.palette_changed.emit(palette)

    def set_state(self, name: str, *, is_changed: bool, is_own: bool) -> None:
        """Say which profile is in use.

        Args:
            name: Of the profile; empty for none.
            is_changed: Whether the settings differ from it.
            is_own: Whether it is one that can be saved to.
        """
        before = self._name, self._can_save, self._can_save_as_it
        self._name = name
        self._can_save_as_it = bool(name) and is_own
        self._can_save = self._can_save_as_it and is_changed
        self.button.set_profile(name, is_changed=is_changed)
        self._show_save_button()
        if before != (self._name, self._can_save, self._can_save_as_it):
            self._fill()

    def set_rows(self, rows: Sequence[ProfileRow]) -> None:
        """Offer ``rows``, also while the menu is open."""
        if self._rows != tuple(rows):
            self._rows = tuple(rows)
            self._fill()

    def open(self) -> None:
        """Offer the profiles as if the button had been pressed."""
        self.button.setFocus()
        self.button.showMenu()

    def changeEvent(self, event: QEvent) -> None:
        """Measure again in another font."""
        super().changeEvent(event)
        is_font = event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange)
        if is_font and hasattr(self, "save_button"):
            self._show_save_button()

    # --- Inside -----------------------------------------------------------------------------

    def _show_save_button(self) -> None:
        button = self.save_button
        # As wide as the longer word, so that nothing moves.
        width = button.fontMetrics().horizontalAdvance(_SAVE_AS) + 6 * STEP_PX
        if button.width() != width:
            button.setFixedWidth(width)
        if self._can_save_as_it:
            button.setText(_SAVE)
            button.setEnabled(self._can_save)
            changed = f"Save the changes to “{self._name}”."
            tip = changed if self._can_save else f"Nothing differs from “{self._name}”."
        else:
            button.setText(_SAVE_AS)
            button.setEnabled(True)
            tip = "Save these settings as a profile, under a name."
        button.setToolTip(plain_tip(tip))
        button.setAccessibleDescription(tip)

    def _on_save_clicked(self) -> None:
        if self._can_save_as_it:
            self.save_wanted.emit()
        else:
            self.save_as_wanted.emit()

    def _fill(self) -> None:
        menu = self.menu
        menu.clear()
        group = ""
        for row in self._rows or ():
            if row.group != group:
                group = row.group
                menu.addAction(_menu_text(group)).setEnabled(False)
            self._add_row(row)
        if all(row.is_built_in for row in self._rows or ()):
            menu.addAction(_EMPTY).setEnabled(False)
        menu.addSeparator()
        if self._can_save_as_it:
            text = f"Save the changes to “{self._shortened(self._name)}”"
            save = menu.addAction(_menu_text(text))
            save.setEnabled(self._can_save)
            save.triggered.connect(self.save_wanted)
        for text, signal in (
            (_SAVE_AS, self.save_as_wanted),
            ("Compare, rename, export…", self.view_wanted),
            ("Import…", self.import_wanted),
        ):
            action = menu.addAction(text)
            action.triggered.connect(signal)

    def _add_row(self, row: ProfileRow) -> None:
        name = _menu_text(self._shortened(row.name))
        # Behind a tab stands what Qt writes flush right.
        action = self.menu.addAction(f"{name}\t{row.cost}" if row.cost else name)
        action.setCheckable(True)
        action.setChecked(row.is_chosen)
        action.setEnabled(not row.why_not)
        tip = row.why_not or row.tip
        action.setToolTip(plain_tip("\n".join(filter(None, (row.name, tip)))))
        action.setStatusTip(tip)

        def choose() -> None:
            action.setChecked(row.is_chosen)  # until it is told otherwise
            self.chosen.emit(row.id)

        action.triggered.connect(choose)

    def _shortened(self, name: str) -> str:
        return self.menu.fontMetrics().elidedText(name, Qt.TextElideMode.ElideMiddle, _NAME_PX)


def _menu_text(words: str) -> str:
    return words.replace("&", "&&")
