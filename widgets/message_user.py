"""What the user wrote: shown as it is, never as Markdown; long texts and files are folded."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from resources.tokens import STEP_PX, Palette
from widgets.attached_text import message_text, parts_of
from widgets.composer_chip import PasteChip
from widgets.composer_paste import described
from widgets.markdown_bidi import safe_cut
from widgets.message_branches import BranchSwitch
from widgets.message_copy import CopyButton
from widgets.message_edit import MessageEditor
from widgets.message_menu import Entry, copy_text, open_menu
from widgets.message_record import Branch, UserRecord
from widgets.message_selection import SelectionGroup
from widgets.message_text import TextRun
from widgets.theme import small_font

# About two screens; more of one's own text than that is in the way.
WHOLE_CHARS = 6_000
WHOLE_LINES = 60
_EDGE_CHARS = 800
_EDGE_LINES = 8
# What can be unfolded without holding up the window.
UNFOLD_CHARS = 64 * 1024
# What can be edited in place: the editor lays out every line it holds.
EDIT_CHARS = 16 * 1024
_RUN_CHARS = 4096


class UserMessage(QWidget):
    """Sender, files and text of one message of the user.

    Signals:
        edit_sent: The whole message as it should have been.
        conversation_copy_requested: The whole conversation is wanted on the clipboard.
    """

    edit_sent = Signal(str)
    conversation_copy_requested = Signal()

    def __init__(
        self,
        record: UserRecord,
        palette: Palette,
        selection: SelectionGroup,
        parent: QWidget | None = None,
    ) -> None:
        """Show the text of ``record``.

        Args:
            record: Sender and text.
            palette: Colours.
            selection: Of the conversation.
            parent: Owner.
        """
        super().__init__(parent)
        self._record = record
        self._files, self._typed = parts_of(record.text)
        self._palette = palette
        self._selection = selection
        self._runs: list[TextRun] = []
        self._chips = [PasteChip(file, palette, can_remove=False) for file in self._files]
        self._can_change = True
        self._fold: QWidget | None = None
        self.editor: MessageEditor | None = None
        self.setAccessibleName(f"Message of {record.sender}")
        self.switch = BranchSwitch("question")
        self.edit_button = QPushButton("Edit")
        self.edit_button.setProperty("role", "quiet")
        self.edit_button.setFont(small_font(self.font()))
        self.edit_button.clicked.connect(self.start_edit)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(STEP_PX)
        self._layout.addLayout(self._head(record.sender))
        for chip in self._chips:
            self._layout.addWidget(chip, 0, Qt.AlignmentFlag.AlignLeft)
        self._page = QWidget()
        self._body = QVBoxLayout(self._page)
        self._body.setContentsMargins(0, 0, 0, 0)
        self._body.setSpacing(STEP_PX)
        self._layout.addWidget(self._page)
        self._page.setVisible(bool(self._typed) or not self._files)
        if len(self._typed) <= WHOLE_CHARS and self._typed.count("\n") < WHOLE_LINES:
            self._add_runs(self._typed)
        else:
            self._add_folded()
        self.set_branch(record.branch)

    def _head(self, sender: str) -> QHBoxLayout:
        name = QLabel(sender)
        name.setProperty("role", "muted")
        row = QHBoxLayout()
        row.setSpacing(STEP_PX)
        row.addWidget(name)
        row.addStretch(1)
        row.addWidget(self.switch)
        row.addWidget(self.edit_button)
        return row

    @property
    def is_settled(self) -> bool:
        """Whether nothing would be lost by building it again later."""
        return self.editor is None

    @property
    def turn_id(self) -> int:
        """Number of the message; 0 where it has none."""
        return self._record.branch.turn_id

    def record(self) -> UserRecord:
        """What it was built from."""
        return self._record

    def text(self) -> str:
        """The whole text."""
        return self._record.text

    def set_palette(self, palette: Palette) -> None:
        """Change colours."""
        self._palette = palette
        for run in self._runs:
            run.set_palette(palette)
        for chip in self._chips:
            chip.set_palette(palette)

    def set_branch(self, branch: Branch) -> None:
        """Show which of how many questions this is; one nobody knows is not put otherwise."""
        self._record = replace(self._record, branch=branch)
        self.switch.set_branch(branch)
        self.edit_button.setVisible(branch.turn_id > 0)
        self._show_state()

    def set_can_change(self, can_change: bool) -> None:
        """Allow another question and another branch, or not now."""
        self._can_change = can_change
        self.switch.set_can_change(can_change)
        if self.editor is not None:
            self.editor.set_can_send(can_change)
        self._show_state()

    def _show_state(self) -> None:
        is_short = len(self._typed) <= EDIT_CHARS
        self.edit_button.setEnabled(self._can_change and is_short and self.editor is None)
        self.edit_button.setToolTip(
            "Put this question otherwise; this one stays as a branch"
            if is_short
            else "Too long to be edited here. Copy it and attach it to a new message."
        )

    # --- Editing ------------------------------------------------------------------------------

    def start_edit(self) -> None:
        """Put an editor in the place of the words; nothing where there is one, or none may be."""
        if not self.edit_button.isEnabled():
            return
        self.editor = MessageEditor(self._typed, can_be_empty=bool(self._files))
        self.editor.submitted.connect(self._on_edit_submitted)
        self.editor.given_up.connect(self.end_edit)
        self._layout.addWidget(self.editor)
        self._page.hide()
        self._show_state()
        self.editor.start()

    def end_edit(self) -> None:
        """Show the words again as they were."""
        if self.editor is None:
            return
        self._layout.removeWidget(self.editor)
        self.editor.hide()
        self.editor.deleteLater()
        self.editor = None
        self._page.setVisible(bool(self._typed) or not self._files)
        self._show_state()
        self.edit_button.setFocus()

    def _on_edit_submitted(self, typed: str) -> None:
        self.end_edit()
        if typed != self._typed:
            self.edit_sent.emit(message_text(self._files, typed))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what can be copied, and to put the question otherwise."""
        entries: list[Entry] = [("Copy the message", lambda: copy_text(self.text()))]
        if self.edit_button.isEnabled() and self.turn_id:
            entries.append(("Edit the message", self.start_edit))
        entries.append(("Copy the conversation", self.conversation_copy_requested.emit))
        open_menu(self, event, self._selection, entries)

    # --- Text ---------------------------------------------------------------------------------

    def _add_folded(self) -> None:
        head = "\n".join(self._typed[:_EDGE_CHARS].split("\n")[:_EDGE_LINES])
        tail = "\n".join(self._typed[-_EDGE_CHARS:].split("\n")[-_EDGE_LINES:])
        between = self._typed[len(head) : len(self._typed) - len(tail)].removeprefix("\n")
        self._add_runs(head)
        fold = self._fold = QWidget()
        row = QHBoxLayout(fold)
        row.setContentsMargins(0, 0, 0, 0)
        note = QLabel(f"… {described(between)} folded …")
        note.setProperty("role", "hint")
        row.addWidget(note)
        if len(self._typed) <= UNFOLD_CHARS:
            button = QPushButton("Show all")
            button.setProperty("role", "quiet")
            button.setFont(small_font(self.font()))
            button.clicked.connect(self._on_unfold)
            row.addWidget(button)
        row.addWidget(CopyButton(lambda: self._typed, "the whole message", "Copy all"))
        row.addStretch(1)
        self._body.addWidget(fold)
        self._add_runs(tail)

    def unfold(self) -> bool:
        """Show all of the text; whether some of it was folded and can be shown."""
        if self._fold is None or len(self._typed) > UNFOLD_CHARS:
            return False
        self._on_unfold()
        return True

    def _on_unfold(self) -> None:
        if self._fold is None:
            return
        self._selection.remove_owner(self)
        for widget in (*self._runs, self._fold):
            self._body.removeWidget(widget)
            widget.deleteLater()
        self._fold = None
        self._runs.clear()
        self._add_runs(self._typed)

    def _add_runs(self, text: str) -> None:
        for piece in _pieces(text):
            run = TextRun(self._palette)
            run.set_plain(piece)
            self._runs.append(run)
            self._selection.add(run, self)
            self._body.addWidget(run)
        self._body.setAlignment(Qt.AlignmentFlag.AlignTop)


def _pieces(text: str) -> list[str]:
    """``text`` in pieces that Qt lays out at once, cut at line ends where there are any."""
    pieces: list[str] = []
    while len(text) > _RUN_CHARS:
        cut = text.rfind("\n", 1, _RUN_CHARS)
        if cut > 0:
            pieces.append(text[:cut])
            text = text[cut + 1 :]
        else:
            cut = safe_cut(text, _RUN_CHARS)
            pieces.append(text[:cut])
            text = text[cut:]
    return [*pieces, text]
