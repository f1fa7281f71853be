"""Where a message is written: folded pastes, the editor, one button, one line of words."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from resources.tokens import STEP_PX, Palette
from widgets.attached_text import Attached, message_text, parts_of
from widgets.calm_label import CalmLabel
from widgets.composer_chip import PasteChip
from widgets.composer_editor import PromptEditor
from widgets.composer_paste import FOLD_CHARS
from widgets.composer_shelf import Shelf
from widgets.elided_label import ElidedLabel
from widgets.theme import icon, set_role

_HINT = "Shift+Enter: new line"
_BUSY_HINT = "Esc stops the answer"
_ICON_PX = 4 * STEP_PX


@dataclass(frozen=True)
class Draft:
    """A message as it is written.

    Attributes:
        typed: What stands in the editor.
        attached: Folded pastes and files, in order.
    """

    typed: str = ""
    attached: tuple[Attached, ...] = ()

    def text(self) -> str:
        """What is sent: what is attached first, as it changes least."""
        return message_text(self.attached, self.typed)


class _OneSizeButton(QPushButton):
    """A button whose size is given: its words change, and a stylesheet resets fixed sizes."""

    def __init__(self) -> None:
        """Create a button without words."""
        super().__init__()
        self._size = QSize()
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def set_size(self, size: QSize) -> None:
        """Be of this size from now on."""
        self._size = size
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        """The given size."""
        return self._size if self._size.isValid() else super().sizeHint()


class _Hint(ElidedLabel):
    """Half a hint is none."""

    def shortened(self, full: str, room_px: int) -> str:
        return full if self.fontMetrics().horizontalAdvance(full) <= room_px else ""


class Composer(QWidget):
    """Sends one message at a time.

    Signals:
        sent: The whole message.
        stop_requested: The button was pressed while an answer was under way.
        draft_changed: What would be sent has changed.
        paged: Page up (False) or page down (True) was pressed.
        attach_requested: The button to attach files was pressed.
        files_pasted: Paths of files that were pasted or dropped into the editor.
    """

    attach_requested = Signal()
    files_pasted = Signal(object)
    sent = Signal(str)
    stop_requested = Signal()
    draft_changed = Signal()
    paged = Signal(bool)

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        """Create an empty composer.

        Args:
            palette: Colours.
            parent: Owner.
        """
        super().__init__(parent)
        self._palette = palette
        self._is_busy = False
        self._reason: str | None = None
        self._last_sent = Draft()
        self._chips: list[PasteChip] = []
        self.editor = PromptEditor()
        self.editor.setAccessibleName("Message")
        self.button = _OneSizeButton()
        self.attach_button = _OneSizeButton()
        self.attach_button.setProperty("role", "flat")
        self.attach_button.setIconSize(QSize(_ICON_PX, _ICON_PX))
        self.attach_button.setAccessibleName("Attach text files")
        self.attach_button.setToolTip("Attach text files; they can also be dropped here")
        self.notice_label = _words("hint")
        self.notice_label.setAccessibleName("About the context")
        self.trouble_label = _words("hint-warning")
        self.reason_label = _words("hint-warning")
        self.context_label = CalmLabel()
        self.context_label.setProperty("role", "hint")
        self.context_label.setAccessibleName("Context in use")
        self.note_label = _Hint(_HINT)
        self.note_label.setProperty("role", "hint")
        self.note_label.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._lay_out()
        self.editor.submitted.connect(self.submit)
        self.editor.long_text_pasted.connect(self._on_long_text_pasted)
        self.editor.controls_removed.connect(self._on_controls_removed)
        self.editor.recall_requested.connect(self._on_recall_requested)
        self.editor.textChanged.connect(self._on_text_changed)
        self.editor.paged.connect(self.paged)
        self.editor.files_pasted.connect(self.files_pasted)
        self.attach_button.clicked.connect(self.attach_requested)
        self.button.clicked.connect(self._on_button_clicked)
        self.editor.resized.connect(self._fix_button_size)
        self.set_palette(palette)
        self._show_state()

    def _lay_out(self) -> None:
        self._shelf = Shelf()
        row = QHBoxLayout()
        row.setSpacing(2 * STEP_PX)
        row.addWidget(self.editor, 1)
        row.addWidget(self.attach_button, 0, Qt.AlignmentFlag.AlignBottom)
        row.addWidget(self.button, 0, Qt.AlignmentFlag.AlignBottom)
        words = QHBoxLayout()
        words.setSpacing(3 * STEP_PX)
        words.addWidget(self.context_label)
        words.addWidget(self.note_label, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(STEP_PX)
        for label in (self.reason_label, self.notice_label, self.trouble_label):
            layout.addWidget(label)
        layout.addWidget(self._shelf)
        layout.addLayout(row)
        layout.addLayout(words)

    def _fix_button_size(self) -> None:
        """One size for both words, as tall as one line of the editor: nothing moves."""
        font = QFont(self.button.font())
        font.setBold(True)  # as it is while it sends; the width must do for both
        metrics = QFontMetrics(font)
        width = max(metrics.horizontalAdvance(text) for text in ("Send", "Stop"))
        height = self.editor.one_line_height()
        self.button.set_size(QSize(width + 8 * STEP_PX, height))
        self.attach_button.set_size(QSize(height, height))

    # --- Draft --------------------------------------------------------------------------------

    def draft(self) -> Draft:
        """What would be sent now."""
        return Draft(self.editor.toPlainText(), tuple(chip.attached() for chip in self._chips))

    def set_draft(self, draft: Draft) -> None:
        """Put ``draft`` in the place of what is there; can be undone in the editor."""
        for chip in list(self._chips):
            self._drop(chip)
        for attached in draft.attached:
            self._add_chip(attached)
        cursor = self.editor.textCursor()
        cursor.select(cursor.SelectionType.Document)
        cursor.insertText(draft.typed)
        self.editor.setTextCursor(cursor)

    def set_draft_text(self, text: str) -> bool:
        """Put ``text`` into the empty composer, folded where it is long.

        Returns:
            Whether it was put there; what a person has written meanwhile is never replaced.
        """
        if self.draft().text():
            return False
        self.set_draft(draft_of(text))
        return True

    def attach(self, attached: Attached) -> None:
        """Send ``attached`` along with the message."""
        self._add_chip(attached)

    def size_bytes(self) -> int:
        """Bytes of what would be sent, without making one text of it."""
        typed = self.editor.toPlainText()
        return sum(chip.size_bytes for chip in self._chips) + len(typed.encode(errors="replace"))

    def chips(self) -> list[PasteChip]:
        """The folded pastes, in order."""
        return list(self._chips)

    def submit(self) -> None:
        """Send the draft, unless it is empty, an answer is under way or nothing can answer."""
        draft = self.draft()
        text = draft.text()
        if self._is_busy or self._reason is not None or not text or text.isspace():
            return
        self._last_sent = draft
        self.set_draft(Draft())
        self.editor.document().clearUndoRedoStacks()
        self._note(None)
        self.sent.emit(text)

    # --- State --------------------------------------------------------------------------------

    def set_busy(self, is_busy: bool) -> None:
        """Make the button stop the answer under way, or send again."""
        self._is_busy = is_busy
        self._note(None)
        self._show_state()

    def set_reason(self, reason: str | None, *, is_said_elsewhere: bool = False) -> None:
        """Say why nothing can be sent, or that it can.

        Args:
            reason: A sentence with what to do, or None.
            is_said_elsewhere: The sentence can be read in the same view already.
        """
        self._reason = reason
        self.reason_label.setText(reason or "")
        self.reason_label.setVisible(reason is not None and not is_said_elsewhere)
        self._show_state()

    def set_notice(self, text: str, *, is_warning: bool) -> None:
        """Say what there is to know before sending; empty for nothing."""
        _show_words(self.notice_label, text, is_warning=is_warning)

    def show_trouble(self, sentence: str) -> None:
        """Say what could not be attached, until the draft changes."""
        _show_words(self.trouble_label, sentence, is_warning=True)

    def show_note(self, text: str) -> None:
        """A few words in place of the hint about keys; empty for that hint."""
        self._note(text or None)

    def set_placeholder(self, text: str) -> None:
        """Words in the empty editor."""
        self.editor.setPlaceholderText(text)

    def set_context_text(self, text: str, *, is_warning: bool) -> None:
        """How much of the context is in use, in words."""
        self.context_label.setText(text)
        set_role(self.context_label, "hint-warning" if is_warning else "hint")

    def set_palette(self, palette: Palette) -> None:
        """Change colours."""
        self._palette = palette
        self.attach_button.setIcon(icon("attach", palette.muted, _ICON_PX))
        for chip in self._chips:
            chip.set_palette(palette)

    def _show_state(self) -> None:
        self.button.setText("Stop" if self._is_busy else "Send")
        set_role(self.button, "" if self._is_busy else "primary")
        tip = "Stop the answer (Esc)" if self._is_busy else self._reason or "Send (Enter)"
        self.button.setToolTip(tip)
        has_text = bool(self._chips) or not self.editor.document().isEmpty()
        self.button.setEnabled(self._is_busy or (self._reason is None and has_text))

    def _note(self, text: str | None) -> None:
        self.note_label.set_text(text or (_BUSY_HINT if self._is_busy else _HINT))

    # --- Events -------------------------------------------------------------------------------

    def _on_button_clicked(self) -> None:
        if self._is_busy:
            self.stop_requested.emit()
        else:
            self.submit()
        self.editor.setFocus()

    def _on_text_changed(self) -> None:
        _show_words(self.trouble_label, "", is_warning=True)
        self._show_state()
        self.draft_changed.emit()

    def _on_recall_requested(self) -> None:
        if not self._chips:
            self.set_draft(self._last_sent)

    def _on_long_text_pasted(self, text: str) -> None:
        self._add_chip(Attached("", text))

    def _on_controls_removed(self, count: int) -> None:
        what = "1 control character" if count == 1 else f"{count:,} control characters"
        self._note(f"{what} removed from the pasted text")

    def _add_chip(self, attached: Attached) -> None:
        chip = PasteChip(attached, self._palette)
        chip.removed.connect(lambda: self._drop(chip))
        self._chips.append(chip)
        self._shelf.put(chip)
        self._on_text_changed()

    def _drop(self, chip: PasteChip) -> None:
        self._chips.remove(chip)
        self._shelf.take(chip)
        chip.deleteLater()
        self._on_text_changed()


def draft_of(text: str) -> Draft:
    """``text`` as a draft: its files attached, and folded where it is long."""
    files, typed = parts_of(text)
    if len(typed) > FOLD_CHARS:
        return Draft(attached=(*files, Attached("", typed)))
    return Draft(typed, files)


def _words(role: str) -> QLabel:
    """A line of words that is not there yet."""
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.setProperty("role", role)
    label.hide()
    return label


def _show_words(label: QLabel, text: str, *, is_warning: bool) -> None:
    if label.text() != text:
        label.setText(text)
    set_role(label, "hint-warning" if is_warning else "hint")
    label.setVisible(bool(text))
