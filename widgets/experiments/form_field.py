"""One field of the form: its name, what is typed, what it means, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import (
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QWidget,
)

from resources.tokens import PANEL_GAP_PX, STEP_PX, Palette
from widgets.experiments.form_fields import FieldSpec, Offer, Shape
from widgets.experiments.form_values import YES
from widgets.long_words import breakable
from widgets.plain_tip import wrapped_tip
from widgets.sentence_label import sentence_label
from widgets.theme import restyle, set_role
from widgets.toggle import Toggle

# Widths by figures of the UI font, so that columns line up in type of any size.
_LABEL_FIGURES = 18
_NUMBER_FIGURES = 11
_UNIT_FIGURES = 5
# Fields whose text is a list or a path take the width there is.
_WIDE = ("a", "b", "types", "numbers", "rates", "url", "served", "key_env")


class FormField(QWidget):
    """A row of the form.

    Signals:
        edited: Somebody typed or chose.
        path_requested: A file is to be chosen for it.
    """

    edited = Signal()
    path_requested = Signal(str)

    def __init__(self, spec: FieldSpec, parent: QWidget | None = None) -> None:
        """Make the field of ``spec``, empty."""
        super().__init__(parent)
        self.spec = spec
        self.is_touched = False
        self._offers: tuple[Offer, ...] = ()
        self.label = QLabel(spec.label, self)
        self.hint = sentence_label("hint", self)
        self.hint.setText(spec.hint)
        self.below = sentence_label("hint", self)
        self.control = self._made()
        self.control.setAccessibleName(spec.label)
        self.control.setAccessibleDescription(spec.hint)
        self.label.setBuddy(self.control)
        self._note = self._problem = ""
        self._lay_out()

    # --- What stands in it --------------------------------------------------------------

    def text(self) -> str:
        """What was typed; of a choice its key; of a switch ``YES`` or nothing."""
        if isinstance(self.control, QComboBox):
            index = self.control.currentIndex()
            return self._offers[index].key if 0 <= index < len(self._offers) else ""
        if isinstance(self.control, Toggle):
            return YES if self.control.isChecked() else ""
        assert isinstance(self.control, QLineEdit)
        return self.control.text()

    def set_text(self, text: str) -> None:
        """Put ``text`` into it, as if it had been typed."""
        if isinstance(self.control, QComboBox):
            keys = [offer.key for offer in self._offers]
            if text in keys:
                self.control.setCurrentIndex(keys.index(text))
        elif isinstance(self.control, Toggle):
            self.control.setChecked(text == YES)
        elif isinstance(self.control, QLineEdit):
            self.control.setText(text)
        self.is_touched = True
        self.edited.emit()

    def set_usual(self, text: str) -> None:
        """Say what the empty field stands for; of a choice, what nobody has chosen yet."""
        if isinstance(self.control, QLineEdit):
            self.control.setPlaceholderText(text)
        elif isinstance(self.control, QComboBox) and text and not self.is_touched:
            keys = [offer.key for offer in self._offers]
            if text in keys:
                self.control.setCurrentIndex(keys.index(text))

    def set_offers(self, offers: Sequence[Offer]) -> None:
        """Offer these; what is chosen stays chosen."""
        box = self.control
        if not isinstance(box, QComboBox) or tuple(offers) == self._offers:
            return
        before = self.text()
        self._offers = tuple(offers)
        box.blockSignals(True)
        box.clear()
        for place, offer in enumerate(self._offers):
            box.addItem(offer.word)
            if tip := offer.why_not or offer.about:
                box.setItemData(place, wrapped_tip(tip), Qt.ItemDataRole.ToolTipRole)
        keys = [offer.key for offer in self._offers]
        box.setCurrentIndex(keys.index(before) if before in keys else 0)
        box.blockSignals(False)

    # --- What is said of it -------------------------------------------------------------

    def set_note(self, sentence: str) -> None:
        """Say what its value means now; empty says nothing."""
        self._note = sentence
        self._show_below()

    def set_problem(self, sentence: str) -> None:
        """Say what is wrong with it; empty where nothing is."""
        self._problem = sentence
        self._show_below()

    def problem(self) -> str:
        """What is said to be wrong with it."""
        return self._problem

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        if isinstance(self.control, Toggle):
            self.control.set_palette(palette)

    # --- Inside -------------------------------------------------------------------------

    def _made(self) -> QWidget:
        if self.spec.shape is Shape.CHOICE:
            box = CalmComboBox(self)
            box.activated.connect(self._on_edited)
            return box
        if self.spec.shape is Shape.SWITCH:
            switch = Toggle(self)
            switch.toggled.connect(self._on_edited)
            return switch
        line = QLineEdit(self)
        line.textEdited.connect(self._on_edited)
        return line

    def _lay_out(self) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(0, STEP_PX // 2, 0, STEP_PX // 2)
        grid.setHorizontalSpacing(PANEL_GAP_PX)
        grid.setVerticalSpacing(STEP_PX // 2)
        figure_px = self.fontMetrics().horizontalAdvance("0")
        grid.setColumnMinimumWidth(0, _LABEL_FIGURES * figure_px)
        grid.setColumnStretch(2, 1)
        grid.addWidget(self.label, 0, 0, Qt.AlignmentFlag.AlignVCenter)
        wide = self.spec.shape is Shape.PATH or self.spec.name in _WIDE
        if wide:
            grid.addLayout(self._wide_line(), 0, 1, 1, 2)
            grid.addWidget(self.hint, 1, 1, 1, 2)
        elif self.spec.shape is Shape.CHOICE:
            grid.addWidget(self.control, 0, 1, 1, 2, Qt.AlignmentFlag.AlignLeft)
            grid.addWidget(self.hint, 1, 1, 1, 2)
        else:
            if isinstance(self.control, QLineEdit):
                self.control.setFixedWidth(_NUMBER_FIGURES * figure_px)
            grid.addWidget(self.control, 0, 1, Qt.AlignmentFlag.AlignLeft)
            grid.addLayout(self._meaning(figure_px), 0, 2)
        self.hint.setVisible(bool(self.spec.hint))
        grid.addWidget(self.below, 2, 1, 1, 2)
        self.below.hide()

    def _wide_line(self) -> QHBoxLayout:
        line = QHBoxLayout()
        line.setSpacing(PANEL_GAP_PX)
        line.addWidget(self.control, 1)
        if self.spec.shape is Shape.PATH:
            button = QPushButton("Choose…", self)
            button.setAccessibleName(f"Choose a file: {self.spec.label}")
            button.clicked.connect(self._on_path_clicked)
            line.addWidget(button)
        return line

    def _meaning(self, figure_px: int) -> QHBoxLayout:
        """The unit, and what the field means."""
        line = QHBoxLayout()
        line.setSpacing(PANEL_GAP_PX)
        if isinstance(self.control, QLineEdit):
            # Also where there is none, so that what fields mean stands in one column.
            unit = QLabel(self.spec.unit, self)
            unit.setFixedWidth(_UNIT_FIGURES * figure_px)
            set_role(unit, "muted")
            line.addWidget(unit)
        line.addWidget(self.hint, 1)
        return line

    def _show_below(self) -> None:
        self.below.setText(breakable(self._problem or self._note))
        set_role(self.below, "hint-warning" if self._problem else "hint")
        self.below.setVisible(bool(self._problem or self._note))
        self.control.setProperty("wrong", bool(self._problem))
        restyle(self.control)
        said = " ".join(filter(None, (self._problem, self.spec.hint, self._note)))
        self.control.setAccessibleDescription(said)

    def _on_edited(self, _: object = None) -> None:
        self.is_touched = True
        self.edited.emit()

    def _on_path_clicked(self) -> None:
        self.path_requested.emit(self.spec.name)


class CalmComboBox(QComboBox):
    """A list to choose from that the wheel passes by: it is there to scroll the form."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Offer nothing yet."""
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll what it stands in."""
        event.ignore()
