"""The pasted text: a field where it is short enough to be edited, its beginning where it is not."""

from __future__ import annotations

import re
from dataclasses import dataclass

from PySide6.QtCore import QMimeData, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QTextOption
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from widgets.composer_paste import cleaned, described
from widgets.file_drop import local_paths
from widgets.markdown_bidi import with_marks_shown
from widgets.template_editor import MOST_CHARACTERS_A_LINE, wrap_mode
from widgets.theme import mono_font, set_role

MOST_EDITED = 100_000
"""Signs that the field holds; every key pressed has the whole text looked at again."""

MOST_CHARACTERS = 1_048_576
"""A longer text is no command, and is refused."""

_SHOWN_LINES, _SHOWN_A_LINE = 400, 2_000
# Colours and cursor movements of a terminal.
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")


@dataclass(frozen=True)
class ReadableText:
    """A text without what cannot be seen.

    Attributes:
        text: Marks that turn the order of letters round are written out in it.
        note: A sentence on what was changed; empty where nothing was.
    """

    text: str
    note: str


def readable(text: str) -> ReadableText:
    """``text`` as it can be shown and edited: what is seen is what is read."""
    plain = _ESCAPES.sub("", text) if "\x1b" in text else text
    marked = with_marks_shown(plain)
    clean = cleaned(marked)
    notes = []
    if marked != plain:
        notes.append(
            "The text holds marks that show it in another order than it has; they are written out."
        )
    if clean.removed:
        noun = "character" if clean.removed == 1 else "characters"
        notes.append(f"{clean.removed:,} control {noun} in it were taken out.")
    return ReadableText(clean.text, " ".join(notes))


class ImportText(QPlainTextEdit):
    """Plain text in a monospace font that takes pastes of any length.

    Signals:
        text_changed: There is another text now.
        noted: A sentence (str) on what became of a text that was put in; may be empty.
        files_pasted: Paths (list of str) of files that were pasted or dropped; nothing was read.
    """

    text_changed = Signal()
    noted = Signal(str)
    files_pasted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make an empty field."""
        super().__init__(parent)
        self._held = ""
        self.setFont(mono_font(self.font()))
        set_role(self, "mono")
        self.setTabChangesFocus(True)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setAccessibleName("Command or file to import")
        self.textChanged.connect(self._on_text_changed)

    def text(self) -> str:
        """The whole text, also where only its beginning is shown."""
        return self._held or self.toPlainText()

    def is_held(self) -> bool:
        """Whether the text is too long to be edited here."""
        return bool(self._held)

    def put(self, text: str) -> None:
        """Have ``text`` in place of what was there."""
        if len(text) > MOST_CHARACTERS:
            self.noted.emit(
                f"A text of {len(text):,} characters is no command and was not put in; "
                f"{MOST_CHARACTERS:,} is the most. Copy the lines that matter."
            )
            return
        is_editable = _is_editable(text)
        # Of a text that is held only what is shown of it has to be looked through here.
        clean = readable(text if is_editable else _beginning(text))
        self._held = "" if is_editable else text
        self._show(clean.text)
        self.noted.emit(" ".join(filter(None, (self._held_note(), clean.note))))

    def empty(self) -> None:
        """Have no text, and let one be written."""
        self.put("")
        self.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """A paste over a text that is too long to be edited takes its place."""
        if self.is_held() and event.matches(QKeySequence.StandardKey.Paste):
            self.put(QGuiApplication.clipboard().text())
            return
        super().keyPressEvent(event)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Text, and files."""
        return bool(local_paths(source)) or super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Take a paste or a drop: files go to whoever reads them, long texts are held."""
        paths = local_paths(source)
        if paths:
            self.files_pasted.emit(paths)
            return
        text = source.text()
        whole = self._with(text)
        if not _is_editable(whole):
            self.put(whole)
            return
        clean = readable(text)
        self._wrap_for(whole)
        self.textCursor().insertText(clean.text)
        self.ensureCursorVisible()
        self.noted.emit(clean.note)

    # --- Inside -----------------------------------------------------------------------------

    def _with(self, text: str) -> str:
        """What stands there, with ``text`` in place of what is selected."""
        cursor = self.textCursor()
        before = self.toPlainText()
        # Positions count UTF-16 units.
        wide = before.encode("utf-16-le", "surrogatepass")
        head = wide[: 2 * cursor.selectionStart()].decode("utf-16-le", "surrogatepass")
        tail = wide[2 * cursor.selectionEnd() :].decode("utf-16-le", "surrogatepass")
        return f"{head}{text}{tail}"

    def _show(self, shown: str) -> None:
        is_held = self.is_held()
        self._wrap_for(shown)
        self.setReadOnly(is_held)
        if shown == self.toPlainText():
            self.text_changed.emit()  # of a text that begins alike
        elif not is_held:
            cursor = self.textCursor()
            cursor.select(cursor.SelectionType.Document)
            cursor.insertText(shown)  # one step back with Ctrl+Z
            self.moveCursor(cursor.MoveOperation.Start)
        else:
            self.setPlainText(shown)

    def _wrap_for(self, text: str) -> None:
        mode = wrap_mode(text)
        if mode is not self.wordWrapMode():
            self.setWordWrapMode(mode)

    def _held_note(self) -> str:
        if not self._held:
            return ""
        return f"{described(self._held)}: only the beginning is shown."

    def _on_text_changed(self) -> None:
        self.text_changed.emit()


def _is_editable(text: str) -> bool:
    if len(text) > MOST_EDITED:
        return False
    return max(map(len, text.split("\n")), default=0) <= MOST_CHARACTERS_A_LINE


def _beginning(text: str) -> str:
    # Split no more than is shown of it.
    lines = text[: _SHOWN_LINES * _SHOWN_A_LINE].split("\n", _SHOWN_LINES)[:_SHOWN_LINES]
    shown = "\n".join(
        line if len(line) <= _SHOWN_A_LINE else f"{line[:_SHOWN_A_LINE]}…" for line in lines
    )
    return f"{shown[:MOST_EDITED]}\n…"
