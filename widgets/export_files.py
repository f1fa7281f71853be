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
    """One text: what it is for, itself, and two buttons.

    Signals:
        save_requested: The ``ExportPart`` is to be saved.
    """

    save_requested = Signal(object)

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
        self.copy_button = QPushButton(_COPY, self)
        self.save_button = QPushButton("Save…", self)
        self._copied = QTimer(self, singleShot=True, interval=_COPIED_MS)
        self._copied.timeout.connect(lambda: self.copy_button.setText(_COPY))
        self.copy_button.clicked.connect(self.copy)
        self.save_button.clicked.connect(lambda: self.save_requested.emit(self._part))
        metrics = self.copy_button.fontMetrics()
        self.copy_button.setMinimumWidth(metrics.horizontalAdvance(_COPIED) + 6 * STEP_PX)
        buttons = QHBoxLayout()
        buttons.setSpacing(PANEL_GAP_PX)
        buttons.addWidget(self.copy_button)
        buttons.addWidget(self.save_button)
        buttons.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, STEP_PX, 0, 0)
        column.setSpacing(PANEL_GAP_PX)
        column.addWidget(self._about)
        column.addWidget(self.text, 1)
        column.addLayout(buttons)

    def show_part(self, part: ExportPart) -> None:
        """Show ``part``; what was scrolled to stays where the text is nearly the same."""
        self._part = part
        name = part.title if part.is_command else part.file_name
        self._about.setText(part.about)
        self._about.setVisible(bool(part.about))
        for thing, words in (
            (self.text, name),
            (self.copy_button, f"Copy: {name}"),
            (self.save_button, f"Save: {name}"),
        ):
            thing.setAccessibleName(words)
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

    def copy(self) -> None:
        """Put the text on the clipboard to the letter, and say so in the button."""
        QGuiApplication.clipboard().setText(self._part.text)
        self.copy_button.setText(_COPIED)
        self._copied.start()


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
        self.all_button = QPushButton("Save all to a folder…", self)
        self.all_button.setAccessibleDescription("The command and every file that it needs")
        self.all_button.clicked.connect(self.save_all_requested)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(PANEL_GAP_PX)
        column.addWidget(self.tabs, 1)
        self.tabs.setCornerWidget(self.all_button)
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
            page = ExportPage(self.tabs)
            page.save_requested.connect(self.save_requested)
            self.tabs.addTab(page, "")
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

    def _step(self, step: int) -> None:
        count = self.tabs.count()
        if count:
            self.tabs.setCurrentIndex((self.tabs.currentIndex() + step) % count)
