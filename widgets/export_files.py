"""What leaves: the command and each file that it needs, in tabs, to be copied and saved."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from resources.tokens import PANEL_GAP_PX, STEP_PX
from widgets.export_sheet import ExportPart
from widgets.plain_tip import plain_tip
from widgets.sentence_label import sentence_label
from widgets.template_editor import wrap_mode
from widgets.theme import mono_font, set_role

_COPIED_MS = 1500
_COPY, _COPIED = "Copy", "Copied"


class ExportPage(QWidget):
    """One text, and what it is for."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make an empty page."""
        super().__init__(parent)
        self._part = ExportPart("", "", "", "")
        self._about = sentence_label("muted", self)
        self.text = QPlainTextEdit(self)
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        self.text.setFont(mono_font(self.text.font()))
        set_role(self.text, "mono")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, STEP_PX, 0, 0)
        column.setSpacing(STEP_PX)
        column.addWidget(self._about)
        column.addWidget(self.text, 1)

    def show_part(self, part: ExportPart) -> None:
        """Show ``part``; what was scrolled to stays where the text is nearly the same."""
        self._part = part
        self._about.setText(part.about)
        self._about.setVisible(bool(part.about))
        self.text.setAccessibleName(part.title if part.is_command else part.file_name)
        if part.text != self.text.toPlainText():
            down, across = self.text.verticalScrollBar(), self.text.horizontalScrollBar()
            before = down.value(), across.value()
            # A file has its lines; a command may be one, longer than any window.
            self.text.setLineWrapMode(
                QPlainTextEdit.LineWrapMode.WidgetWidth
                if part.is_command
                else QPlainTextEdit.LineWrapMode.NoWrap
            )
            self.text.setWordWrapMode(wrap_mode(part.text))
            self.text.setPlainText(part.text)
            down.setValue(before[0])
            across.setValue(before[1])

    def part(self) -> ExportPart:
        """What is shown."""
        return self._part

    def wanted_px(self) -> int:
        """The height in which all of the text is seen at once, in the width that it has."""
        text = self.text
        # In a plain text a document's height is counted in lines, wrapped ones included.
        lines = max(1, round(text.document().size().height()))
        inside = lines * text.fontMetrics().lineSpacing() + 2 * round(
            text.document().documentMargin()
        )
        about = 0 if self._about.isHidden() else self._about.height() + STEP_PX
        return inside + text.height() - text.viewport().height() + about + STEP_PX


class ExportFiles(QWidget):
    """The tabs, and a button for all of them.

    Signals:
        save_requested: The ``ExportPart`` that is to be saved.
        save_all_requested: Everything is to be saved into one folder.
    """

    save_requested = Signal(object)
    save_all_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Begin without a text."""
        super().__init__(parent)
        self.tabs = QTabWidget(self)
        self.tabs.setDocumentMode(True)
        # Titles are short, and their whole names are tips: no arrows are needed to reach one.
        self.tabs.setUsesScrollButtons(False)
        self.tabs.setElideMode(Qt.TextElideMode.ElideMiddle)
        self.tabs.setAccessibleName("Command and files")
        self.tabs.tabBar().setAccessibleName("Command and files")
        set_role(self.tabs.tabBar(), "narrow")
        self.copy_button = QPushButton(_COPY, self)
        self.save_button = QPushButton("Save…", self)
        self.all_button = QPushButton("Save all…", self)
        self.all_button.setToolTip("The command and every file that it needs, into one folder")
        self.all_button.setAccessibleDescription(self.all_button.toolTip())
        self._copied = QTimer(self, singleShot=True, interval=_COPIED_MS)
        self._lay_out()
        self._copied.timeout.connect(self._say_copy)
        self.copy_button.clicked.connect(self.copy)
        self.save_button.clicked.connect(self._on_save_clicked)
        self.all_button.clicked.connect(self.save_all_requested)
        self.tabs.currentChanged.connect(lambda _: self._name_buttons())
        for keys, step in (("Ctrl+PgDown", 1), ("Ctrl+PgUp", -1)):
            shortcut = QShortcut(QKeySequence(keys), self)
            shortcut.activated.connect(lambda step=step: self._step(step))

    def show_parts(self, parts: Sequence[ExportPart], front: int | None = None) -> None:
        """Show ``parts``.

        Args:
            parts: The command first, then the files.
            front: Place of the tab that comes to the front, from 0; None where the one that is
                in front stays there, if it is there again.
        """
        before = self.front()
        while self.tabs.count() > len(parts):
            page = self.page(self.tabs.count() - 1)
            self.tabs.removeTab(self.tabs.count() - 1)
            page.deleteLater()
        while self.tabs.count() < len(parts):
            self.tabs.addTab(ExportPage(self.tabs), "")
        for place, part in enumerate(parts):
            # An ampersand would be taken for a key.
            self.tabs.setTabText(place, part.title.replace("&", "&&"))
            self.tabs.setTabToolTip(place, plain_tip(part.file_name))
            self.page(place).show_part(part)
        titles = [part.title for part in parts]
        if front is None:
            front = titles.index(before) if before in titles else 0
        if parts:
            self.tabs.setCurrentIndex(min(front, len(parts) - 1))
        self.all_button.setVisible(len(parts) > 1)
        self._name_buttons()

    def page(self, place: int) -> ExportPage:
        """The page of a tab."""
        page = self.tabs.widget(place)
        assert isinstance(page, ExportPage)
        return page

    def parts(self) -> tuple[ExportPart, ...]:
        """All that is shown."""
        return tuple(self.page(place).part() for place in range(self.tabs.count()))

    def front(self) -> str:
        """Title of the tab in front; empty without one."""
        place = self.tabs.currentIndex()
        return self.page(place).part().title if place >= 0 else ""

    def copy(self) -> None:
        """Put the text in front on the clipboard to the letter, and say so in the button."""
        part = self._front()
        if part is not None:
            QGuiApplication.clipboard().setText(part.text)
            self.copy_button.setText(_COPIED)
            self._copied.start()

    def wanted_px(self) -> int:
        """The height in which all of the text in front is seen at once."""
        place = self.tabs.currentIndex()
        page = self.page(place).wanted_px() if place >= 0 else 0
        buttons = PANEL_GAP_PX + self.copy_button.sizeHint().height()
        return page + self.tabs.tabBar().sizeHint().height() + buttons

    # --- Inside -------------------------------------------------------------------------

    def _lay_out(self) -> None:
        metrics = self.copy_button.fontMetrics()
        self.copy_button.setMinimumWidth(metrics.horizontalAdvance(_COPIED) + 6 * STEP_PX)
        # Below, not beside the tabs: three titles and three buttons do not fit into one row.
        row = QHBoxLayout()
        row.setSpacing(PANEL_GAP_PX)
        row.addStretch()
        for button in (self.copy_button, self.save_button, self.all_button):
            row.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(PANEL_GAP_PX)
        column.addWidget(self.tabs, 1)
        column.addLayout(row)

    def _front(self) -> ExportPart | None:
        place = self.tabs.currentIndex()
        return self.page(place).part() if place >= 0 else None

    def _name_buttons(self) -> None:
        """Say which text they mean."""
        self._copied.stop()
        self._say_copy()
        part = self._front()
        if part is not None:
            name = part.title if part.is_command else part.file_name
            self.copy_button.setAccessibleName(f"Copy: {name}")
            self.save_button.setAccessibleName(f"Save: {name}")

    def _say_copy(self) -> None:
        self.copy_button.setText(_COPY)

    def _on_save_clicked(self) -> None:
        part = self._front()
        if part is not None:
            self.save_requested.emit(part)

    def _step(self, step: int) -> None:
        count = self.tabs.count()
        if count:
            self.tabs.setCurrentIndex((self.tabs.currentIndex() + step) % count)
