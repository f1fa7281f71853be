"""The words of a result: what came out first and large, then what disturbed it, and on what."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QVBoxLayout, QWidget

from resources.tokens import PANEL_PADDING_PX, STEP_PX
from widgets.sentence_label import sentence_label
from widgets.theme import set_role


class Paragraphs(QFrame):
    """Sentences below each other, the first one apart; hidden where there are none."""

    def __init__(self, *, role: str = "", first_role: str = "", name: str = "") -> None:
        """Make it empty.

        Args:
            role: Of its sentences.
            first_role: Of the first one; empty for the same.
            name: What it is, for screen readers.
        """
        super().__init__()
        set_role(self, "panel")
        self.setAccessibleName(name)
        self._role, self._first_role = role, first_role or role
        self._labels: list[QLabel] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(
            PANEL_PADDING_PX, 2 * STEP_PX, PANEL_PADDING_PX, 2 * STEP_PX
        )
        self._column.setSpacing(STEP_PX)
        self.hide()

    def show_sentences(self, sentences: Sequence[str]) -> None:
        """Show these."""
        while len(self._labels) < len(sentences):
            label = text_label(self._role if self._labels else self._first_role)
            self._labels.append(label)
            self._column.addWidget(label)
        for number, label in enumerate(self._labels):
            text = sentences[number] if number < len(sentences) else ""
            if label.text() != text:
                label.setText(text)
            label.setVisible(bool(text))
        self.setAccessibleDescription(" ".join(sentences))
        self.setVisible(bool(sentences))

    def sentences(self) -> list[str]:
        """What is shown."""
        return [label.text() for label in self._labels if not label.isHidden()]


class Facts(QFrame):
    """Names with their words beside them; hidden where there are none."""

    def __init__(self) -> None:
        """Make it empty."""
        super().__init__()
        set_role(self, "panel")
        self._labels: list[tuple[QLabel, QLabel]] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(PANEL_PADDING_PX, 2 * STEP_PX, PANEL_PADDING_PX, 2 * STEP_PX)
        self._grid.setHorizontalSpacing(3 * STEP_PX)
        self._grid.setVerticalSpacing(STEP_PX // 2)
        self._grid.setColumnStretch(1, 1)
        self.hide()

    def show_facts(self, facts: Sequence[tuple[str, str]]) -> None:
        """Show these."""
        while len(self._labels) < len(facts):
            pair = (text_label("hint"), text_label("hint"))
            pair[0].setWordWrap(False)
            pair[0].setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
            for column, label in enumerate(pair):
                self._grid.addWidget(label, len(self._labels), column)
            self._labels.append(pair)
        for number, pair in enumerate(self._labels):
            texts = facts[number] if number < len(facts) else ("", "")
            for label, text in zip(pair, texts, strict=True):
                shown = text[:1].upper() + text[1:] if label is pair[0] else text
                if label.text() != shown:
                    label.setText(shown)
                label.setVisible(bool(text))
        self.setVisible(bool(facts))


def text_label(role: str) -> QLabel:
    """A label for sentences that can be copied."""
    label = sentence_label(role)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label


def heading(text: str, parent: QWidget | None = None) -> QLabel:
    """The title of a part."""
    label = QLabel(text, parent)
    set_role(label, "heading")
    return label
