"""A few words to choose one of, in as many columns as there is room for."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSize, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QGridLayout, QSizePolicy, QWidget

from resources.tokens import STEP_PX
from widgets.choice_button import ChoiceButton
from widgets.experiments.form_fields import Offer
from widgets.plain_tip import wrapped_tip
from widgets.theme import set_role

_SPACING_PX = STEP_PX
_PADDING_PX = 5 * STEP_PX


class ChoiceGrid(QWidget):
    """Exclusive buttons of equal width; what cannot be chosen now says why.

    Signals:
        key_chosen: Key (str) that a person chose.
    """

    key_chosen = Signal(str)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        """Offer nothing yet; screen readers call it ``name``."""
        super().__init__(parent)
        self._name = name
        self._offers: tuple[Offer, ...] = ()
        self._columns = 0
        self._group = QButtonGroup(self)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(_SPACING_PX)
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._group.idClicked.connect(self._on_clicked)

    def set_offers(self, offers: Sequence[Offer]) -> None:
        """Offer these; the chosen one stays chosen, else the first is."""
        if tuple(offers) == self._offers:
            return
        words = [offer.word for offer in offers]
        if words != [offer.word for offer in self._offers]:
            self._make(words)
        before, self._offers = self.key(), tuple(offers)
        for place, offer in enumerate(self._offers):
            button = self._group.button(place)
            button.setToolTip(wrapped_tip(offer.why_not or offer.about))
            button.setAccessibleName(f"{self._name}: {offer.word}")
            button.setAccessibleDescription(offer.why_not or offer.about)
            button.setEnabled(not offer.why_not)
        self.set_key(before)

    def key(self) -> str:
        """What is chosen; empty where nothing is offered."""
        place = self._group.checkedId()
        return self._offers[place].key if 0 <= place < len(self._offers) else ""

    def chosen(self) -> Offer | None:
        """The same with its words."""
        place = self._group.checkedId()
        return self._offers[place] if 0 <= place < len(self._offers) else None

    def set_key(self, key: str) -> None:
        """Choose ``key`` without a signal; the first where it is not offered."""
        keys = [offer.key for offer in self._offers]
        place = keys.index(key) if key in keys else 0
        if keys:
            self._group.button(place).setChecked(True)
            self.setFocusProxy(self._group.button(place))

    def sizeHint(self) -> QSize:
        """All in one row."""
        count = max(1, len(self._offers))
        return QSize(count * (self._widest_px() + _SPACING_PX), self._height_px(self._columns))

    def minimumSizeHint(self) -> QSize:
        """One below the other at the narrowest."""
        return QSize(self._widest_px(), self._height_px(self._columns))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """More or fewer columns."""
        super().resizeEvent(event)
        self._arrange()

    def changeEvent(self, event: QEvent) -> None:
        """Measure again in another font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._arrange()

    # --- Inside -------------------------------------------------------------------------

    def _make(self, words: Sequence[str]) -> None:
        for button in self._group.buttons():
            self._group.removeButton(button)
            self._grid.removeWidget(button)
            button.deleteLater()
        for place, word in enumerate(words):
            button = ChoiceButton(word, self)
            set_role(button, "choice")
            self._group.addButton(button, place)
        self._columns = 0
        self._offers = ()
        self._arrange()

    def _arrange(self) -> None:
        count = len(self._group.buttons())
        if not count:
            return
        room = (self.width() + _SPACING_PX) // (self._widest_px() + _SPACING_PX)
        rows = -(-count // max(1, min(count, room)))
        columns = -(-count // rows)  # so that no row is much shorter than the others
        if columns == self._columns:
            return
        self._columns = columns
        for place in range(count):
            row, column = divmod(place, columns)
            self._grid.addWidget(self._group.button(place), row, column)
        for column in range(count):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)
        self.updateGeometry()

    def _widest_px(self) -> int:
        metrics = self.fontMetrics()
        widths = [metrics.horizontalAdvance(each.text()) for each in self._group.buttons()]
        return max(widths, default=0) + _PADDING_PX

    def _height_px(self, columns: int) -> int:
        buttons = self._group.buttons()
        if not buttons:
            return 0
        rows = -(-len(buttons) // max(1, columns))
        return int(rows * (buttons[0].sizeHint().height() + _SPACING_PX) - _SPACING_PX)

    def _on_clicked(self, place: int) -> None:
        self.setFocusProxy(self._group.button(place))
        self.key_chosen.emit(self._offers[place].key)
