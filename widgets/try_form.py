"""What is to be tried: the program, the work, and how both sides share the machine."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QWidget,
)

from resources.tokens import PANEL_GAP_PX, STEP_PX
from widgets.elided_label import ElidedLabel
from widgets.segmented import Segmented
from widgets.sentence_label import sentence_label
from widgets.theme import set_role
from widgets.try_sheet import TryWork

RUNS = (3, 5, 10)
_USUAL_RUNS = 5
ORDERS = ("In turns", "One after the other", "The server alone")
_ORDER_MEANINGS = (
    "Both keep their memory and run one at a time, in turns: what drifts hits both alike.",
    "TuneDeck's engine is measured first, then gives its memory back while the server runs. Your "
    "model is loaded again after that.",
    "TuneDeck's engine stays as it is and is not measured.",
)


class TryForm(QWidget):
    """Fields above each other.

    Attributes:
        is_order_chosen: Whether a person chose the order.

    Signals:
        program_wanted: Another program is to be chosen.
        changed: What is to be done is another than before.
    """

    program_wanted = Signal()
    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make a form without a program."""
        super().__init__(parent)
        self.program_label = ElidedLabel("", self, Qt.TextElideMode.ElideMiddle)
        self.choose_button = QPushButton("Choose…", self)
        self.choose_button.setAccessibleName("Choose the program")
        self.works = QComboBox(self)
        self.works.setAccessibleName("Work")
        self.runs_box = QComboBox(self)
        self.runs_box.setAccessibleName("Runs of each")
        for runs in RUNS:
            self.runs_box.addItem(f"{runs} runs of each", runs)
        self.runs_box.setCurrentIndex(RUNS.index(_USUAL_RUNS))
        self.orders = Segmented(ORDERS, self)
        for place, meaning in enumerate(_ORDER_MEANINGS):
            self.orders.explain(place, meaning)
        self.about_label = sentence_label("muted", self)
        self.memory_label = sentence_label("muted", self)
        self.is_order_chosen = False
        self._works: dict[str, TryWork] = {}
        self._lay_out()
        self.choose_button.clicked.connect(self.program_wanted)
        self.works.currentIndexChanged.connect(self._on_changed)
        self.runs_box.currentIndexChanged.connect(self._on_changed)
        self.orders.index_chosen.connect(self._on_order_chosen)
        self._show_about()

    def set_program(self, path: str, otherwise: str) -> None:
        """Show the program; ``otherwise`` is said where there is none."""
        self.program_label.set_text(path or otherwise)
        set_role(self.program_label, "plain" if path else "warning")

    def set_works(self, works: Sequence[TryWork]) -> None:
        """Offer ``works``; the one chosen stays, without a signal."""
        if tuple(works) == tuple(self._works.values()):
            return
        chosen = self.work()
        self._works = {work.key: work for work in works}
        with QSignalBlocker(self.works):
            self.works.clear()
            for work in works:
                self.works.addItem(work.title, work.key)
            self.works.setCurrentIndex(max(0, self.works.findData(chosen)))
        self._show_about()

    def set_memory(self, sentence: str, *, is_short: bool) -> None:
        """Say whether there is memory for both."""
        self.memory_label.setText(sentence)
        set_role(self.memory_label, "warning" if is_short else "muted")

    def set_order(self, place: int) -> None:
        """Choose how both share the machine, without a signal."""
        self.orders.set_index(place)
        self._show_about()

    def order(self) -> int:
        """How both share the machine, as a place in ``ORDERS``."""
        return self.orders.index()

    def work(self) -> str:
        """Key of the work chosen; empty for none."""
        return str(self.works.currentData() or "")

    def runs(self) -> int:
        """How often each is measured."""
        return int(self.runs_box.currentData())

    def _lay_out(self) -> None:
        program = QHBoxLayout()
        program.setSpacing(PANEL_GAP_PX)
        program.addWidget(self.program_label, 1)
        program.addWidget(self.choose_button)
        work = QHBoxLayout()
        work.setSpacing(PANEL_GAP_PX)
        work.addWidget(self.works)
        work.addWidget(self.runs_box)
        work.addStretch(1)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(4 * STEP_PX)
        grid.setVerticalSpacing(PANEL_GAP_PX)
        grid.setColumnStretch(1, 1)
        for line, (name, field) in enumerate(
            (("Program", program), ("Work", work), ("Order", None))
        ):
            label = QLabel(name, self)
            set_role(label, "muted")
            grid.addWidget(label, line, 0)
            if field is not None:
                grid.addLayout(field, line, 1)
        grid.addWidget(self.orders, 2, 1)
        grid.addWidget(self.about_label, 3, 1)
        grid.addWidget(self.memory_label, 4, 1)

    def _on_order_chosen(self, place: int) -> None:
        self.is_order_chosen = True
        self._on_changed(place)

    def _on_changed(self, _: int) -> None:
        self._show_about()
        self.changed.emit()

    def _show_about(self) -> None:
        work = self._works.get(self.work())
        said = [work.about] if work is not None else []
        self.about_label.setText(" ".join([*said, _ORDER_MEANINGS[self.order()]]))
