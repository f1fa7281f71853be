"""Below the command line: what matters most of it, whole, and all the rest in one click."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QRect, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QWidget

from resources.tokens import PANEL_GAP_PX, STEP_PX
from widgets.plain_tip import plain_tip
from widgets.sentence_label import sentence_label
from widgets.theme import set_role

_ALL_CARRIED = "Every setting is carried over."
_NAMED = 3
# A head takes no more lines: what is longer is cut, and stands whole among the notes.
_HEAD_LINES = 2
_MORE, _LESS = "All notes", "Fewer notes"
# A sentence ends at its full stop; what stands behind those of abbreviations goes on.
_SENTENCE = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.) (?=[^a-z])")
_LOWERED = ("A ", "An ", "It ", "Its ", "No ", "Only ", "The ", "There ", "This ")


@dataclass(frozen=True)
class CommandNotes:
    """What there is to know of a command.

    Attributes:
        refusals: Sentences on why the engine would not take it.
        not_carried: Settings, by their names, that it leaves out, each with the reason.
        notes: Sentences on how it differs from what runs here.
        has_command: Whether there is one.
    """

    refusals: tuple[str, ...] = ()
    not_carried: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    has_command: bool = False

    @classmethod
    def of(
        cls,
        refusals: Sequence[str],
        not_carried: Mapping[str, str],
        notes: Sequence[str],
        has_command: bool,
    ) -> CommandNotes:
        """The same from what an export has."""
        return cls(tuple(refusals), tuple(not_carried.items()), tuple(notes), has_command)

    @property
    def lines(self) -> tuple[str, ...]:
        """All of it, a paragraph each; what the command leaves out comes before what it says."""
        left_out = (_left_out(name, reason) for name, reason in self.not_carried)
        lines = (*self.refusals, *left_out, *self.notes)
        return lines or ((_ALL_CARRIED,) if self.has_command else ())

    @property
    def head(self) -> str:
        """The one sentence that is always in sight; empty where there is nothing to say."""
        if not self.lines:
            return ""
        if not self.has_command:  # then it is all there is, and its end says what to do
            return self.lines[0]
        if self.refusals or len(self.not_carried) < 2:
            return first_sentence(self.lines[0])
        names = [name for name, _ in self.not_carried]
        rest = len(names) - _NAMED
        if rest > 1:
            told = f"{', '.join(names[:_NAMED])} and {rest} more"
        else:
            told = f"{', '.join(names[:-1])} and {names[-1]}"
        return f"Settings that this line leaves out: {told}."

    @property
    def is_more(self) -> bool:
        """Whether there is more than the head."""
        return self.lines not in ((), (self.head,))


def first_sentence(text: str) -> str:
    """``text`` up to the end of its first sentence."""
    return _SENTENCE.split(text, 1)[0]


def _left_out(name: str, reason: str) -> str:
    lowered = reason[:1].lower() + reason[1:] if reason.startswith(_LOWERED) else reason
    return f"The setting “{name}” is left out of this line: {lowered}"


class CommandNotesLine(QWidget):
    """The head, or all notes, and the button that goes from the one to the other.

    Signals:
        all_requested: Whether (bool) all notes are wanted.
    """

    all_requested = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make a line without notes."""
        super().__init__(parent)
        self._notes = CommandNotes()
        self._shows_all = False
        self.label = sentence_label("hint", self)
        self.label.setMinimumWidth(1)
        # Flush with the command, which stands inside its frame.
        self.label.setIndent(STEP_PX + 1)
        # At the top Qt would take the indent of the height too.
        self.label.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.more_button = QPushButton(_MORE, self)
        set_role(self.more_button, "link-small")
        policy = self.more_button.sizePolicy()
        # It keeps its place while hidden, so that the line is as high with it as without.
        policy.setRetainSizeWhenHidden(True)
        self.more_button.setSizePolicy(policy)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(PANEL_GAP_PX)
        row.addWidget(self.label, 1, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.more_button, 0, Qt.AlignmentFlag.AlignTop)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.more_button.clicked.connect(lambda: self.all_requested.emit(not self._shows_all))
        self._show()

    def set_notes(self, notes: CommandNotes) -> None:
        """Tell these."""
        if notes != self._notes:
            self._notes = notes
            self._show()

    def show_all(self, is_all: bool) -> None:
        """Show every note, or the head alone."""
        self._shows_all = is_all
        self._show()

    def has_more(self) -> bool:
        """Whether something is not in sight while the head alone is."""
        return self._notes.is_more or self._head() != self._notes.head

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Other lines hold it."""
        super().resizeEvent(event)
        self._show()

    def changeEvent(self, event: QEvent) -> None:
        """Measure again in another font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._show()

    def _show(self) -> None:
        every = "\n".join(self._notes.lines)
        text = every if self._shows_all else self._head()
        if text != self.label.text():
            self.label.setText(text)
        self.label.setToolTip("" if text == every else plain_tip(every))
        set_role(self.label, "hint-warning" if self._is_refused() else "hint")
        self.more_button.setText(_LESS if self._shows_all else _MORE)
        self.more_button.setVisible(self._shows_all or self.has_more())
        self.label.setAccessibleName(every)
        # A dock asks no widget how high it is at a width: the label says its height itself.
        height = max(self._height_of(text), self.fontMetrics().height())
        if height != self.label.height() or height != self.label.minimumHeight():
            self.label.setFixedHeight(height)
            self.updateGeometry()

    def _is_refused(self) -> bool:
        return bool(self._notes.refusals) and not self._shows_all

    def _head(self) -> str:
        """The head as far as it fits its lines; cut only in a very narrow window."""
        head = self._notes.head
        most = _HEAD_LINES * self.label.fontMetrics().lineSpacing() + 1
        if self._height_of(head) <= most:
            return head
        words = head.split(" ")
        while words and self._height_of(" ".join(words) + " …") > most:
            words.pop()
        return " ".join(words) + " …"

    def _height_of(self, text: str) -> int:
        room = QRect(0, 0, max(1, self._room_px()), 1 << 20)
        flags = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft
        return self.label.fontMetrics().boundingRect(room, flags, text).height()

    def _room_px(self) -> int:
        beside = self.more_button.sizeHint().width() + PANEL_GAP_PX
        return self.width() - beside - self.label.indent()
