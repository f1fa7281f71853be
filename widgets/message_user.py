"""What the user wrote: shown as it is, never as Markdown; long texts are folded."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from resources.tokens import STEP_PX, Palette
from widgets.composer_paste import described
from widgets.markdown_bidi import safe_cut
from widgets.message_copy import CopyButton
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
_RUN_CHARS = 4096


@dataclass(frozen=True)
class UserRecord:
    """What a message of the user is built from.

    Attributes:
        sender: Who wrote it, e.g. ``You``.
        text: Any length.
    """

    sender: str
    text: str


class UserMessage(QWidget):
    """Sender and text of one message of the user."""

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
        self._text = record.text
        self._palette = palette
        self._selection = selection
        self._runs: list[TextRun] = []
        self.setAccessibleName(f"Message of {record.sender}")
        name = QLabel(record.sender)
        name.setProperty("role", "muted")
        self._body = QVBoxLayout(self)
        self._body.setContentsMargins(0, 0, 0, 0)
        self._body.setSpacing(STEP_PX)
        self._body.addWidget(name)
        if len(self._text) <= WHOLE_CHARS and self._text.count("\n") < WHOLE_LINES:
            self._add_runs(self._text)
        else:
            self._add_folded()

    @property
    def is_settled(self) -> bool:
        """Always: it is built at once."""
        return True

    def record(self) -> UserRecord:
        """What it was built from."""
        return self._record

    def text(self) -> str:
        """The whole text."""
        return self._text

    def set_palette(self, palette: Palette) -> None:
        """Change colours."""
        self._palette = palette
        for run in self._runs:
            run.set_palette(palette)

    def _add_folded(self) -> None:
        head = "\n".join(self._text[:_EDGE_CHARS].split("\n")[:_EDGE_LINES])
        tail = "\n".join(self._text[-_EDGE_CHARS:].split("\n")[-_EDGE_LINES:])
        between = self._text[len(head) : len(self._text) - len(tail)].removeprefix("\n")
        self._add_runs(head)
        self._fold = QWidget()
        row = QHBoxLayout(self._fold)
        row.setContentsMargins(0, 0, 0, 0)
        note = QLabel(f"… {described(between)} folded …")
        note.setProperty("role", "hint")
        row.addWidget(note)
        if len(self._text) <= UNFOLD_CHARS:
            button = QPushButton("Show all")
            button.setProperty("role", "quiet")
            button.setFont(small_font(self.font()))
            button.clicked.connect(self._on_unfold)
            row.addWidget(button)
        row.addWidget(CopyButton(self.text, "the whole message", "Copy all"))
        row.addStretch(1)
        self._body.addWidget(self._fold)
        self._add_runs(tail)

    def _on_unfold(self) -> None:
        self._selection.remove_owner(self)
        for widget in (*self._runs, self._fold):
            self._body.removeWidget(widget)
            widget.deleteLater()
        self._runs.clear()
        self._add_runs(self._text)

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
