"""The dialog in which a command of elsewhere becomes settings: its text left, its meaning right."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from resources.tokens import PANEL_GAP_PX, PANEL_PADDING_PX, STEP_PX
from widgets.file_drop import FileDrop
from widgets.import_sheet import ImportChoice, ImportSheet, Said
from widgets.import_start import EXAMPLE, ImportStart
from widgets.import_text import ImportText
from widgets.import_understood import ImportUnderstood
from widgets.sentence_label import sentence_label
from widgets.theme import set_role

# The text is read once its writer pauses.
_READ_DELAY_MS = 180
# Quicker answers come without a word about waiting.
_PATIENCE_MS = 400
# Below this width text and meaning stand one above the other.
_SIDE_BY_SIDE_PX = 190 * STEP_PX
_LEAST_WIDTH_PX, _LEAST_HEIGHT_PX = 130 * STEP_PX, 110 * STEP_PX
_TEXT_SHARE, _MEANING_SHARE = 2, 3
_READING = "Reading the text…"
_STALE = "The text has changed since: this is what it says now."
_NOTHING_TITLE = "No command was found"
_NOTHING = (
    "Nothing in this text is a call of an engine that TuneDeck knows, or a file of one. Paste the "
    "line as it is typed into a terminal, with its program: llama-server -m model.gguf -c 8192."
)
_NO_TICKS = "Nothing is ticked that differs from what is set now."
_NO_FILE = "Choose the file of the model first: nothing is opened before that."
_FILLS = "Reset all other settings"
_FILLS_ABOUT = (
    "Settings that the text does not say go back to their defaults, as a new llama-server would "
    "have them. They come into the table, and each can be left out."
)


class ImportView(QDialog):
    """A text and what it says; hands out what a person wants of it.

    Signals:
        text_settled: The text (str) as it stands after a pause; empty at once where it is gone.
        file_requested: A file is to be opened.
        files_dropped: Paths (list of str) of files; nothing was read.
        said: Number of a command (int), a key (str), and what was typed for it (str).
        fill_toggled: Whether (bool) all that the text does not say goes to its default.
        model_choose_requested: The file of a command's (int) model is to be chosen.
        model_confirmed: The path of a command's (int) model is right as it stands.
        use_requested: An ``ImportChoice``, and whether (bool) the model is to be loaded with it.
    """

    text_settled = Signal(str)
    file_requested = Signal()
    files_dropped = Signal(object)
    said = Signal(int, str, str)
    fill_toggled = Signal(bool)
    model_choose_requested = Signal(int)
    model_confirmed = Signal(int)
    use_requested = Signal(object, bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make a dialog without a text."""
        super().__init__(parent)
        self._is_stale = False
        self.setWindowTitle("Import a command")
        set_role(self, "background")
        self.editor = ImportText(self)
        self._note = sentence_label("hint", self)
        self._note.setMinimumWidth(1)
        self.open_button = _button("Open file…", "Open a file with a command in it")
        self.clear_button = _button("Clear", "Take the text away")
        self.start = ImportStart(self)
        self.meaning = ImportUnderstood(self)
        self._stack = QStackedWidget(self)
        self._status = sentence_label("hint", self)
        self._status.setMinimumWidth(1)
        # A box and no button: it only puts more rows into the table.
        self.fill_button = QCheckBox(_FILLS, self)
        self.fill_button.setAccessibleDescription(_FILLS_ABOUT)
        self.fill_button.setToolTip(_FILLS_ABOUT)
        self.close_button = _button("Close", "Change nothing")
        self.use_button = _button("Use these settings", "")
        set_role(self.use_button, "primary")
        self.load_button = _button("Use and load the model", "")
        self._settle = QTimer(self, singleShot=True, interval=_READ_DELAY_MS)
        self._patience = QTimer(self, singleShot=True, interval=_PATIENCE_MS)
        self._lay_out()
        self._connect()
        self._on_text_changed()

    # --- What is shown ----------------------------------------------------------------------

    def set_text(self, text: str) -> None:
        """Have ``text`` in place of what was there, and have it read at once."""
        self.editor.put(text)
        self._ask()

    def text(self) -> str:
        """The whole text."""
        return self.editor.text()

    def show_sheet(self, sheet: ImportSheet, said: Said) -> None:
        """Show what the text says."""
        self._arrive()
        if sheet.commands:
            self.meaning.show_sheet(sheet, said)
            self._stack.setCurrentWidget(self.meaning)
        else:
            self.start.say(_NOTHING_TITLE, sheet.sentence or _NOTHING)
            self._stack.setCurrentWidget(self.start)
        self._show_buttons()

    def show_failure(self, title: str, sentence: str) -> None:
        """Say why there is nothing to show."""
        self._arrive()
        self.start.say(title, sentence)
        self._stack.setCurrentWidget(self.start)
        self._show_buttons()

    def say(self, sentence: str) -> None:
        """Say ``sentence`` beside the buttons; empty for nothing."""
        self._status.setText(sentence)
        self._status.setAccessibleName(sentence)

    def note(self, sentence: str) -> None:
        """Say something about the text, below it; empty for nothing."""
        self._note.setText(sentence)
        self._note.setAccessibleName(sentence)
        self._note.setVisible(bool(sentence))

    def words(self) -> str:
        """What stands beside the buttons."""
        return self._status.text()

    def noted(self) -> str:
        """What stands below the text."""
        return self._note.text()

    def is_understood(self) -> bool:
        """Whether a sheet is shown."""
        return self._stack.currentWidget() is self.meaning

    def use(self, *, loads: bool = False) -> None:
        """Hand out what is ticked; a text that was changed meanwhile is read first."""
        if self._is_stale:
            self._ask()
            self.say(_STALE)
            return
        if (self.load_button if loads else self.use_button).isEnabled():
            choice = ImportChoice(self.meaning.number(), self.meaning.chosen())
            self.use_requested.emit(choice, loads)

    # --- Qt ---------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Side by side where there is room for it."""
        super().resizeEvent(event)
        is_wide = self.width() >= _SIDE_BY_SIDE_PX
        self._split.setOrientation(
            Qt.Orientation.Horizontal if is_wide else Qt.Orientation.Vertical
        )

    # --- Inside -----------------------------------------------------------------------------

    def _lay_out(self) -> None:
        for page in (self.start, self.meaning):
            self._stack.addWidget(page)
        self._split = QSplitter(Qt.Orientation.Horizontal, self)
        self._split.setChildrenCollapsible(False)
        self._split.setHandleWidth(2 * PANEL_GAP_PX)
        self._split.addWidget(self._text_side())
        self._split.addWidget(self._stack)
        self._split.setStretchFactor(0, _TEXT_SHARE)
        self._split.setStretchFactor(1, _MEANING_SHARE)
        self._split.setSizes([_TEXT_SHARE * 100, _MEANING_SHARE * 100])
        bottom = QHBoxLayout()
        bottom.setSpacing(PANEL_GAP_PX)
        bottom.addWidget(self._status, 1)
        for widget in (self.fill_button, self.close_button, self.use_button, self.load_button):
            bottom.addWidget(widget)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(*[PANEL_PADDING_PX] * 4)
        layout.setSpacing(PANEL_PADDING_PX)
        layout.addWidget(self._split, 1)
        layout.addLayout(bottom)
        self.setMinimumSize(_LEAST_WIDTH_PX, _LEAST_HEIGHT_PX)

    def _text_side(self) -> QWidget:
        side = QWidget(self)
        title = QLabel("Command or file", side)
        set_role(title, "heading")
        title.setBuddy(self.editor)
        buttons = QHBoxLayout()
        buttons.setSpacing(PANEL_GAP_PX)
        buttons.addWidget(self.open_button)
        buttons.addWidget(self.clear_button)
        buttons.addStretch(1)
        column = QVBoxLayout(side)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(PANEL_GAP_PX)
        column.addWidget(title)
        column.addWidget(self.editor, 1)
        column.addWidget(self._note)
        column.addLayout(buttons)
        self._note.hide()
        return side

    def _connect(self) -> None:
        drops = FileDrop(self)
        drops.dropped.connect(self.files_dropped)
        self.editor.files_pasted.connect(self.files_dropped)
        self.editor.text_changed.connect(self._on_text_changed)
        self.editor.noted.connect(self.note)
        self.open_button.clicked.connect(self.file_requested)
        self.clear_button.clicked.connect(self.editor.empty)
        self.start.example_requested.connect(lambda: self.set_text(EXAMPLE))
        self.meaning.choice_changed.connect(self._show_buttons)
        self.meaning.said.connect(self.said)
        self.meaning.model_choose_requested.connect(self.model_choose_requested)
        self.meaning.model_confirmed.connect(self.model_confirmed)
        self.fill_button.toggled.connect(self.fill_toggled)
        self.close_button.clicked.connect(self.reject)
        self.use_button.clicked.connect(self.use)
        self.load_button.clicked.connect(lambda: self.use(loads=True))
        self._settle.timeout.connect(self._ask)
        self._patience.timeout.connect(lambda: self.say(_READING))
        for key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            QShortcut(QKeySequence(Qt.Modifier.CTRL | key), self, self.use)

    def _ask(self) -> None:
        """Have the text read as it stands now."""
        self._settle.stop()
        text = self.text()
        if text.strip():
            self._patience.start()
            self.text_settled.emit(text)

    def _arrive(self) -> None:
        """What is shown from here on is of the text as it stands."""
        self._is_stale = False
        self._patience.stop()
        if self.words() == _READING:
            self.say("")

    def _on_text_changed(self) -> None:
        self.clear_button.setEnabled(bool(self.text()))
        self.say("")
        if self.text().strip():
            self._is_stale = True
            self._settle.start()
            return
        self._settle.stop()
        self._is_stale = False
        self.meaning.forget_choices()
        self._patience.stop()
        self.start.say_empty()
        self._stack.setCurrentWidget(self.start)
        self._show_buttons()
        self.text_settled.emit("")

    def _show_buttons(self) -> None:
        command = self.meaning.command() if self.is_understood() else None
        has_ticks = command is not None and bool(self.meaning.chosen())
        has_file = command is not None and bool(command.model.path)
        is_running = command is not None and command.model.is_running
        self.fill_button.setEnabled(command is not None)
        self.use_button.setEnabled(has_ticks)
        self.use_button.setToolTip("" if has_ticks or command is None else _NO_TICKS)
        self.load_button.setEnabled(has_file)
        self.load_button.setVisible(not is_running)
        self.load_button.setToolTip("" if has_file or command is None else _NO_FILE)


def _button(text: str, description: str) -> QPushButton:
    button = QPushButton(text)
    # Return in a field says its value; it presses nothing.
    button.setAutoDefault(False)
    button.setAccessibleDescription(description)
    return button
