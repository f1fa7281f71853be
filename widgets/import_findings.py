"""What an imported text says beside settings: problems, healed words, unknown ones, the rest."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from resources.tokens import PANEL_PADDING_PX, STEP_PX
from widgets.import_sheet import ImportCommand, Severity
from widgets.long_words import breakable
from widgets.sentence_label import sentence_label
from widgets.theme import set_role

# A sign as well as a colour: no meaning hangs on hue alone.
_HEADS: dict[Severity, tuple[str, str, str]] = {
    "error": ("llama.cpp would refuse this", "✕", "warning"),
    "warning": ("Look at this", "▲", ""),
    "note": ("Repaired", "✓", "muted"),
}
_HEALED = "Flags with new names"
_KEPT, _LEFT = "Unknown, and kept", "Unknown, and left behind"
_KEPT_ABOUT = "No setting stands for these; what is ticked leaves in the command line as it came."
_LEFT_ABOUT = "No setting stands for these, and they are no flags of llama.cpp."
_FLAGS, _OTHERS = "Flags without a setting", "Read, and not taken over"
_FLAGS_ABOUT = "TuneDeck does not run them; those ticked as Other flags leave in the command line."
_OTHERS_ABOUT = "No setting stands for these, and they leave in no command line."
_NOTES = "Notes"


class ImportFindings(QWidget):
    """Sections with a heading each, those hidden that say nothing.

    Each is one label, however many lines it has: a text is read anew with every key pressed.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        """Say nothing."""
        super().__init__(parent)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(PANEL_PADDING_PX)
        self._problems = {
            severity: _Section(title, role, self) for severity, (title, _, role) in _HEADS.items()
        }
        self._healed = _Section(_HEALED, "mono", self)
        self._kept = _Section(_KEPT, "mono", self, _KEPT_ABOUT)
        self._left = _Section(_LEFT, "mono", self, _LEFT_ABOUT)
        self._flags = _Section(_FLAGS, "mono", self, _FLAGS_ABOUT)
        self._others = _Section(_OTHERS, "mono", self, _OTHERS_ABOUT)
        self._notes = _Section(_NOTES, "muted", self)
        for section in self._sections():
            self._column.addWidget(section)

    def show_command(self, command: ImportCommand) -> None:
        """Say what there is to say of ``command``."""
        for severity, (_, sign, _) in _HEADS.items():
            self._problems[severity].show_lines(
                f"{sign}\u2002{problem.sentence}"
                for problem in command.problems
                if problem.severity == severity
            )
        self._healed.show_lines(
            f"{was} → {now}" if now else f"{was} → nothing says this today"
            for was, now in command.healed
        )
        kept = [command.kept] if command.kept else []
        self._kept.show_lines(kept if command.leaves_again else [])
        self._left.show_lines([] if command.leaves_again else kept)
        self._flags.show_lines(
            f"{name} {value}".rstrip() for name, value in command.others if name.startswith("-")
        )
        self._others.show_lines(
            f"{name}: {value}" for name, value in command.others if not name.startswith("-")
        )
        self._notes.show_lines(command.notes)

    def words(self) -> str:
        """Everything it says, in order."""
        return "\n".join(section.words() for section in self._sections() if section.words())

    def _sections(self) -> tuple[_Section, ...]:
        first = (self._problems["error"], self._problems["warning"])
        unknown = (self._kept, self._left)
        rest = (self._flags, self._others, self._notes)
        return (*first, *unknown, self._healed, self._problems["note"], *rest)


class _Section(QWidget):
    """A heading and lines below it."""

    def __init__(self, title: str, role: str, parent: QWidget, about: str = "") -> None:
        super().__init__(parent)
        heading = QLabel(title, self)
        set_role(heading, "heading")
        self._title = title
        self._text = sentence_label(role, self)
        self._text.setMinimumWidth(1)
        if role != "mono":  # of a word that may end its line the copy would be another word
            self._text.setTextInteractionFlags(
                Qt.TextInteractionFlag.TextSelectableByMouse
                | Qt.TextInteractionFlag.TextSelectableByKeyboard
            )
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(STEP_PX)
        column.addWidget(heading)
        if about:
            explained = sentence_label("hint", self)
            explained.setText(about)
            explained.setMinimumWidth(1)
            column.addWidget(explained)
        column.addWidget(self._text)
        self.hide()

    def show_lines(self, lines: Iterable[str]) -> None:
        text = breakable("\n".join(lines))
        if text == self._text.text():
            return
        self._text.setText(text)
        self._text.setAccessibleName(f"{self._title}: {self.words()}")
        self.setVisible(bool(text))

    def words(self) -> str:
        return self._text.text().replace("\u200b", "")
