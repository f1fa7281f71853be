"""What is picked in the history: its figures, its tags and note, and what can be done with it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent
from PySide6.QtWidgets import QFrame, QLabel, QLineEdit, QPlainTextEdit, QVBoxLayout, QWidget

from resources.tokens import PANEL_GAP_PX, PANEL_PADDING_PX, SMALL_SCALE, STEP_PX, Palette
from widgets.conversation_list_days import full_time_words
from widgets.elided_label import ElidedLabel
from widgets.experiments.history_deeds import HistoryDeeds
from widgets.experiments.history_entry import HistoryEntry
from widgets.experiments.history_model import state_words
from widgets.experiments.kind_words import kind_name
from widgets.sentence_label import sentence_label
from widgets.theme import set_role

_NONE = "Pick an experiment to see what it is about."
_HOW_TO_COMPARE = "Ctrl + click picks a second one to compare with."
MOST_NAMED = 3
"""So many of those that are picked are named."""

_NOTE_LINES, _MOST_NOTE_LINES = 2, 12
# Below the list, and beside it.
_ABOUT_LINES = (3, 5)
_MOST_CHARACTERS = 200


class HistoryDetails(QFrame):
    """One experiment with the user's words for it, which are edited here; or several by name.

    Signals:
        tags_edited: Key, and its tags (tuple of str) as typed.
        note_edited: Key, and its note as typed.
    """

    tags_edited = Signal(str, tuple)
    note_edited = Signal(str, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Begin with nothing picked."""
        super().__init__(parent)
        set_role(self, "raised")
        self._entry: HistoryEntry | None = None
        self._is_tall = False
        self._title = _wrapped(self, "heading")
        self._about = _wrapped(self, "hint")
        self._place = ElidedLabel("", self)
        self._long_place = _wrapped(self, "hint")
        set_role(self._place, "hint")
        self.tags = QLineEdit(self)
        self.tags.setPlaceholderText("Tags, separated by commas")
        self.tags.setAccessibleName("Tags, separated by commas")
        self.note = QPlainTextEdit(self)
        self.note.setPlaceholderText("Note")
        self.note.setAccessibleName("Note")
        self.note.setTabChangesFocus(True)
        self.note.installEventFilter(self)
        self.deeds = HistoryDeeds(self)
        self.tags.editingFinished.connect(self._keep_tags)
        self._lay_out()
        self.arrange(is_tall=False)
        self.show_picked((), 0)

    def arrange(self, *, is_tall: bool) -> None:
        """Stand beside the list, tall and narrow, or below it."""
        self._is_tall = is_tall
        self.deeds.arrange(is_one_line=not is_tall)
        self._place.setVisible(not is_tall)
        self._long_place.setVisible(is_tall)
        self._fill(is_new=False)
        self._measure()

    def show_picked(self, entries: Sequence[HistoryEntry], count: int) -> None:
        """Show what is picked.

        Args:
            entries: The first ones of them.
            count: How many they are.
        """
        only = entries[0] if count == 1 and entries else None
        if only is None or self._entry is None or only.key != self._entry.key:
            self.keep()
            self._entry = only
            self._fill(is_new=True)
        else:
            self._entry = only
            self._fill(is_new=False)
        if only is None:
            self._show_many(entries, count)
        self.deeds.show_picked(only, count)

    def keep(self) -> None:
        """Hand on what was typed and not told yet."""
        self._keep_tags()
        self._keep_note()

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self.deeds.set_palette(palette)

    def about(self) -> str:
        """What is said of what is picked."""
        return self._about.text()

    def title(self) -> str:
        """Title of what is picked."""
        return self._title.text()

    # --- What Qt says -----------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A note is handed on when it is left; Escape takes back what was typed."""
        if watched is self.note and event.type() == QEvent.Type.FocusOut:
            self._keep_note()
        return super().eventFilter(watched, event)

    def event(self, event: QEvent) -> bool:
        """Escape in a field is the field's, not the window's."""
        is_escape = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        if event.type() is QEvent.Type.ShortcutOverride and is_escape and self._is_changed():
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape takes back what was typed."""
        if event.key() == Qt.Key.Key_Escape and self._is_changed():
            self._fill(is_new=True)
        else:
            super().keyPressEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        """What was typed is handed on before nobody sees it any more."""
        self.keep()
        super().hideEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        """Fields are as high as the font makes them."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._measure()

    # --- Inside -----------------------------------------------------------------------------

    def _lay_out(self) -> None:
        layout = QVBoxLayout(self)
        layout.setContentsMargins(*[PANEL_PADDING_PX] * 4)
        layout.setSpacing(STEP_PX)
        for widget in (self._title, self._about, self._place, self._long_place):
            layout.addWidget(widget)
        layout.addSpacing(PANEL_GAP_PX - STEP_PX)
        layout.addWidget(self.deeds)
        layout.addSpacing(PANEL_GAP_PX - STEP_PX)
        layout.addWidget(self.tags)
        layout.addWidget(self.note, 1)
        layout.addStretch(0)

    def _measure(self) -> None:
        line_px = self.fontMetrics().lineSpacing()
        note_px = _NOTE_LINES * line_px + 4 * STEP_PX + 2
        self.note.setMinimumHeight(note_px)
        self.note.setMaximumHeight(_MOST_NOTE_LINES * line_px if self._is_tall else note_px)
        # Room for so many lines, however short what is said: what stands below keeps its place.
        self._title.setMinimumHeight((2 if self._is_tall else 1) * line_px)
        small_px = line_px * SMALL_SCALE
        self._about.setMinimumHeight(math.ceil(_ABOUT_LINES[self._is_tall] * small_px))
        self._long_place.setMinimumHeight(math.ceil(2 * small_px))

    def _fill(self, *, is_new: bool) -> None:
        """Show the only one; what is being typed stays as it is unless ``is_new``."""
        entry = self._entry
        for field in (self.tags, self.note):
            field.setVisible(entry is not None)
        if entry is None:
            return
        self._title.setText(entry.title[:_MOST_CHARACTERS])
        how = [_HOW_TO_COMPARE] if self._is_tall else []
        self._about.setText("\n".join((*_about_lines(entry), *how)))
        self._say_place(entry.place)
        if is_new or not self.tags.isModified():
            self.tags.setText(", ".join(entry.tags))
        if is_new or not self.note.document().isModified():
            if self.note.toPlainText() != entry.note:
                self.note.setPlainText(entry.note)
            self.note.document().setModified(False)

    def _show_many(self, entries: Sequence[HistoryEntry], count: int) -> None:
        self._say_place("")
        if not count:
            self._title.setText("")
            self._about.setText(_NONE)
            return
        self._title.setText(f"{count:,} experiments picked")
        names = [entry.title for entry in entries[:MOST_NAMED]]
        if count > MOST_NAMED:
            names[-1] = f"and {count - MOST_NAMED + 1:,} more"
        self._about.setText("\n".join(names))

    def _say_place(self, place: str) -> None:
        self._place.set_text(place)
        self._long_place.setText(place)

    def _is_changed(self) -> bool:
        return self._entry is not None and (
            self.tags.isModified() or self.note.document().isModified()
        )

    def _keep_tags(self) -> None:
        if self._entry is None or not self.tags.isModified():
            return
        self.tags.setModified(False)
        parts = self.tags.text().replace("#", " ").split(",")
        tags = tuple(filter(None, (" ".join(part.split()) for part in parts)))
        if tags != self._entry.tags:
            self.tags_edited.emit(self._entry.key, tags)

    def _keep_note(self) -> None:
        if self._entry is None or not self.note.document().isModified():
            return
        self.note.document().setModified(False)
        note = self.note.toPlainText().rstrip()
        if note != self._entry.note:
            self.note_edited.emit(self._entry.key, note)


def _wrapped(parent: QWidget, role: str) -> QLabel:
    label = sentence_label(role, parent)
    label.setMinimumWidth(1)
    label.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
    return label


def _about_lines(entry: HistoryEntry) -> list[str]:
    """Kind, state and time; the figure and what it rests on."""
    state = "" if entry.state == "done" and not entry.is_unkept else state_words(entry)
    first = (kind_name(entry.kind), state, full_time_words(entry.begun_s))
    figure = " ".join(filter(None, (entry.figure_label, entry.figure)))
    second = filter(None, (figure, entry.about))
    return [" · ".join(filter(None, first)), " · ".join(second)]
