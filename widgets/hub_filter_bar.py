"""What repositories of a hub are wanted: their architecture, their size, a quantisation."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QWidget,
)

from resources.tokens import PANEL_GAP_PX
from widgets.plain_tip import plain_tip
from widgets.theme import set_role

_B = 10**9
# Bounds between the sizes that models are called by (1B, 3B, 4B, 7B, 14B, 32B, 70B …), so that no
# such name is cut: what is called 7B has up to 8 billion.
SIZES = (
    ("Any size", 0, 0),
    ("Up to 2B", 0, 2 * _B),
    ("2B to 5B", 2 * _B, 5 * _B),
    ("5B to 10B", 5 * _B, 10 * _B),
    ("10B to 20B", 10 * _B, 20 * _B),
    ("20B to 40B", 20 * _B, 40 * _B),
    ("40B to 90B", 40 * _B, 90 * _B),
    ("From 90B", 90 * _B, 0),
)
_SIZE_TIP = "The number of parameters (weights), as the hub tells it; B is a billion."
_ARCHITECTURE_TIP = (
    "As GGUF files say it, such as qwen3; qwen* for all that begin so. Offered is what the hub "
    "told of up to now."
)
_QUANTISATION_TIP = "That a repository must hold, such as Q4_K_M; Q4* for all that begin so."
_MOST_NAMES = 80
_LEAST_CHARS = 9


class HubFilterBar(QWidget):
    """Three filters and a way to have none.

    Signals:
        changed: They are others now.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Let everything pass."""
        super().__init__(parent)
        self.architecture = _NamesBox("Any architecture", "Architecture", _ARCHITECTURE_TIP, self)
        self.size_box = QComboBox(self)
        self.size_box.setAccessibleName("Size, in parameters")
        self.size_box.setToolTip(plain_tip(_SIZE_TIP))
        for words, least, most in SIZES:
            self.size_box.addItem(words, (least, most))
        self.quantisation = _NamesBox("Any quantisation", "Quantisation", _QUANTISATION_TIP, self)
        self.clear = QPushButton("Clear", self)
        self.clear.setAutoDefault(False)
        self.clear.setAccessibleName("Clear the filters")
        self.clear.setToolTip("Have no filters")
        set_role(self.clear, "quiet")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(PANEL_GAP_PX)
        row.addWidget(self.architecture, 4)
        row.addWidget(self.size_box, 3)
        row.addWidget(self.quantisation, 4)
        row.addWidget(self.clear)
        self.size_box.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.size_box.setMinimumContentsLength(_LEAST_CHARS)
        for box in (self.architecture, self.quantisation):
            box.settled.connect(self._on_settled)
        self.size_box.currentIndexChanged.connect(lambda _: self._on_settled())
        self.clear.clicked.connect(self._on_cleared)
        self._on_settled()

    def bounds(self) -> tuple[int, int]:
        """The least and the most parameters; 0 for no bound."""
        least, most = self.size_box.currentData()
        return int(least), int(most)

    def are_set(self) -> bool:
        """Whether not everything passes."""
        return bool(self.architecture.text() or self.quantisation.text() or any(self.bounds()))

    def offer(self, architectures: Sequence[str], quantisations: Sequence[str]) -> None:
        """Offer these first, and what was offered before after them."""
        self.architecture.offer(architectures)
        self.quantisation.offer(quantisations)

    def _on_settled(self) -> None:
        self.clear.setEnabled(self.are_set())
        self.changed.emit()

    def _on_cleared(self) -> None:
        self.blockSignals(True)
        self.architecture.put("")
        self.quantisation.put("")
        self.size_box.setCurrentIndex(0)
        self.blockSignals(False)
        self.architecture.setFocus()
        self._on_settled()


class _NamesBox(QComboBox):
    """A name, chosen or typed; empty for any.

    Signals:
        settled: Another name stands there, and it is not being typed any more.
    """

    settled = Signal()

    def __init__(self, any_words: str, name: str, tip: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._any = any_words
        self._names: list[str] = []
        self._told = ""
        self._edit = QLineEdit(self)
        self.setLineEdit(self._edit)
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.setAccessibleName(name)
        self.setToolTip(plain_tip(tip))
        self.setMinimumContentsLength(_LEAST_CHARS)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._edit.setPlaceholderText(any_words)
        self._edit.setAccessibleName(name)
        # What is typed stays as it is: the usual way completes qwen to qwen2.
        self.setCompleter(None)  # type: ignore[arg-type]
        self.addItem(any_words)
        self.setEditText("")
        self.activated.connect(self._on_activated)
        self._edit.editingFinished.connect(self._settle)

    def text(self) -> str:
        """The name; empty for any."""
        return self.currentText().strip()

    def put(self, text: str) -> None:
        """Have ``text`` there."""
        self.setEditText(text)
        self._settle()

    def offer(self, names: Sequence[str]) -> None:
        """Offer these names first."""
        wanted = list(dict.fromkeys([*names, *self._names]))[:_MOST_NAMES]
        if wanted == self._names or self.view().isVisible():
            return  # nobody's list changes while it is read
        self._names = wanted
        text, at = self.currentText(), self._edit.cursorPosition()
        self.blockSignals(True)
        self.clear()
        self.addItems([self._any, *wanted])
        self.setEditText(text)
        self._edit.setCursorPosition(at)
        self.blockSignals(False)

    def _on_activated(self, index: int) -> None:
        if index == 0:
            self.setEditText("")
        self._settle()

    def _settle(self) -> None:
        if self.text() != self._told:
            self._told = self.text()
            self.settled.emit()
