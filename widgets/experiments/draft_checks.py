"""The draft models on this machine that a tuner may try, each with a box to check."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QLabel, QVBoxLayout, QWidget

from resources.tokens import STEP_PX
from widgets.experiments.form_fields import Offer
from widgets.long_words import breakable
from widgets.plain_tip import plain_tip
from widgets.sentence_label import sentence_label


class DraftChecks(QWidget):
    """A box for each, all checked at first.

    Signals:
        edited: Somebody checked or unchecked one.
    """

    edited = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Offer none yet."""
        super().__init__(parent)
        self._offers: tuple[Offer, ...] = ()
        self._boxes: list[QCheckBox] = []
        self._off: set[str] = set()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, STEP_PX, 0, 0)
        self._column.setSpacing(STEP_PX // 2)
        self._column.addWidget(QLabel("Draft models it may try"))
        self.note = sentence_label("hint")
        self._column.addWidget(self.note)

    def set_offers(self, offers: Sequence[Offer]) -> None:
        """Offer these; what was unchecked stays so."""
        if tuple(offers) == self._offers:
            return
        self._offers = tuple(offers)
        for box in self._boxes:
            self._column.removeWidget(box)
            box.hide()
            box.deleteLater()
        self._boxes = [self._box(offer) for offer in self._offers]
        for place, box in enumerate(self._boxes):
            self._column.insertWidget(1 + place, box)

    def paths(self) -> tuple[str, ...]:
        """What is checked."""
        pairs = zip(self._offers, self._boxes, strict=True)
        return tuple(offer.key for offer, box in pairs if box.isChecked())

    def boxes(self) -> tuple[QCheckBox, ...]:
        """The boxes, in the order of what is offered."""
        return tuple(self._boxes)

    def set_note(self, sentence: str) -> None:
        """Say something below them; empty says nothing."""
        self.note.setText(breakable(sentence))
        self.note.setVisible(bool(sentence))

    def _box(self, offer: Offer) -> QCheckBox:
        box = QCheckBox(offer.word, self)
        box.setToolTip(plain_tip(offer.why_not or offer.about or offer.key))
        box.setEnabled(not offer.why_not)
        box.setChecked(not offer.why_not and offer.key not in self._off)
        box.toggled.connect(self._on_toggled)
        return box

    def _on_toggled(self, _: bool) -> None:
        pairs = zip(self._offers, self._boxes, strict=True)
        self._off = {offer.key for offer, box in pairs if not box.isChecked()}
        self.edited.emit()
