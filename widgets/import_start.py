"""What stands in place of an import's sheet: what can be pasted, or why nothing was understood."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from resources.tokens import PANEL_PADDING_PX, STEP_PX
from widgets.long_words import breakable
from widgets.sentence_label import sentence_label
from widgets.theme import set_role

EXAMPLE = (
    "llama-server -m /models/model.gguf \\\n"
    "  -c 32768 -np 4 -ngl 99 -fa \\\n"
    "  -ctk q8_0 -ctv q8_0 --draft-max 16"
)
_TITLE = "Settings from a command"
_TEXT = (
    "Paste a command for an engine, or open or drop a file. What it says appears here while you "
    "type: the settings, words that engines do not take any more, and what is unknown. Nothing is "
    "run, and no file that it names is opened."
)
_KINDS = (
    ("Commands", "of a Unix shell, cmd or PowerShell, alone or in a script, and docker run"),
    ("Files", "Compose, Kubernetes, systemd, llama-swap, INI presets, .env, Modelfile, .kcpps"),
    (
        "Engines",
        "llama.cpp, Ollama, vLLM, SGLang, TensorRT-LLM, LM Studio, KoboldCpp, "
        "Jan, text\u2011generation\u2011webui",  # one word: it is not broken at its hyphens
    ),
)
_WIDTH_PX = 130 * STEP_PX


class ImportStart(QWidget):
    """Words in the middle, and an example to begin with.

    Signals:
        example_requested: The example is to be put in.
    """

    example_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Say what can be pasted."""
        super().__init__(parent)
        self._title = sentence_label("heading", self)
        self._text = sentence_label("muted", self)
        self._text.setMinimumWidth(1)
        self._kinds = self._kind_lines()
        self._example = QLabel(EXAMPLE, self)
        set_role(self._example, "mono-small")
        self._example.setMinimumWidth(1)
        self.example_button = QPushButton("Insert the example", self)
        self.example_button.setAutoDefault(False)
        self.example_button.clicked.connect(self.example_requested)
        column = QVBoxLayout()
        column.setSpacing(2 * STEP_PX)
        column.addStretch(1)
        for part in (self._title, self._text, self._kinds):
            column.addWidget(part)
        column.addSpacing(STEP_PX)
        column.addWidget(self._example)
        row = QHBoxLayout()
        row.addWidget(self.example_button)
        row.addStretch(1)
        column.addLayout(row)
        column.addStretch(2)
        page = QWidget(self)
        page.setMaximumWidth(_WIDTH_PX)
        page.setLayout(column)
        outer = QHBoxLayout(self)
        outer.setContentsMargins(*[PANEL_PADDING_PX] * 4)
        outer.addStretch(1)
        outer.addWidget(page, 12)
        outer.addStretch(1)
        self.say_empty()

    def say_empty(self) -> None:
        """Nothing was pasted yet."""
        self._say(_TITLE, _TEXT, has_more=True)

    def say(self, title: str, sentence: str) -> None:
        """Say why there is nothing to show."""
        self._say(title, sentence, has_more=False)

    def words(self) -> str:
        """What it says."""
        return f"{self._title.text()} {self._text.text()}".replace("\u200b", "").strip()

    def _say(self, title: str, text: str, *, has_more: bool) -> None:
        self._title.setText(title)
        self._title.setVisible(bool(title))
        self._text.setText(breakable(text))
        self._text.setAccessibleName(text)
        for part in (self._kinds, self._example, self.example_button):
            part.setVisible(has_more)

    def _kind_lines(self) -> QWidget:
        lines = QWidget(self)
        column = QVBoxLayout(lines)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(STEP_PX)
        for name, what in _KINDS:
            label = sentence_label("hint", lines)
            label.setText(f"{name}: {what}.")
            label.setMinimumWidth(1)
            column.addWidget(label)
        return lines
