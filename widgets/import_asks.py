"""Fields for the values that an imported command leaves open."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QLineEdit, QWidget

from resources.tokens import PANEL_PADDING_PX, STEP_PX
from widgets.import_sheet import ImportAsk
from widgets.sentence_label import sentence_label
from widgets.theme import restyle, set_role

_INTRO = "The text leaves these open. Say them, or they stay as they are."


class ImportAsks(QFrame):
    """A field for each value that a person has to say; hidden while there is none.

    Signals:
        said: The key (str) of a setting and what stands in its field (str).
    """

    said = Signal(str, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Ask nothing."""
        super().__init__(parent)
        set_role(self, "raised")
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(*[PANEL_PADDING_PX] * 4)
        self._grid.setHorizontalSpacing(PANEL_PADDING_PX)
        self._grid.setVerticalSpacing(STEP_PX)
        self._grid.setColumnStretch(1, 1)
        self._intro = sentence_label("hint", self)
        self._intro.setText(_INTRO)
        self._grid.addWidget(self._intro, 0, 0, 1, 2)
        self._fields: dict[str, tuple[QLabel, QLineEdit, QLabel]] = {}
        self.hide()

    def show_asks(self, asks: Sequence[ImportAsk], said: dict[str, str]) -> None:
        """Ask these; a field that is there already keeps its cursor.

        Args:
            asks: What is left open.
            said: What was said already, by key.
        """
        if [ask.key for ask in asks] != list(self._fields):
            self._build(asks, said)
        for ask in asks:
            label, field, fault = self._fields[ask.key]
            label.setText(ask.label)
            field.setPlaceholderText(ask.takes)
            field.setAccessibleDescription(ask.fault or ask.takes)
            if field.property("wrong") != bool(ask.fault):
                field.setProperty("wrong", bool(ask.fault))
                restyle(field)
            if not field.hasFocus() and field.text() != said.get(ask.key, ""):
                field.setText(said.get(ask.key, ""))
            fault.setText(ask.fault)
            fault.setVisible(bool(ask.fault))
        self.setVisible(bool(asks))

    def field(self, key: str) -> QLineEdit:
        """The field of a setting.

        Raises:
            KeyError: If it is not asked for.
        """
        return self._fields[key][1]

    def _build(self, asks: Sequence[ImportAsk], said: dict[str, str]) -> None:
        for parts in self._fields.values():
            for part in parts:
                self._grid.removeWidget(part)
                part.deleteLater()
        self._fields = {}
        for place, ask in enumerate(asks):
            label = QLabel(ask.label, self)
            label.setTextFormat(Qt.TextFormat.PlainText)
            field = QLineEdit(said.get(ask.key, ""), self)
            field.setAccessibleName(ask.label)
            label.setBuddy(field)
            fault = sentence_label("hint-warning", self)
            field.textEdited.connect(lambda text, key=ask.key: self.said.emit(key, text))
            line = 1 + 2 * place
            self._grid.addWidget(label, line, 0)
            self._grid.addWidget(field, line, 1)
            self._grid.addWidget(fault, line + 1, 1)
            self._fields[ask.key] = (label, field, fault)
