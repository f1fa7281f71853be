"""How far a download is, with ways to pause it, to go on, and to give it up."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QPushButton, QVBoxLayout, QWidget

from resources.tokens import PANEL_GAP_PX, STEP_PX
from widgets.elided_label import ElidedLabel
from widgets.hub_rows import DownloadRow
from widgets.sentence_label import sentence_label
from widgets.theme import set_role

_BAR_WIDTH_PX = 30 * STEP_PX


class DownloadStrip(QWidget):
    """One download.

    Signals:
        pause_wanted: It is to stop for now; what is here stays.
        resume_wanted: It is to go on.
        cancel_wanted: It is to be given up, and what is here deleted.
        load_wanted: What was downloaded is to be loaded.
    """

    pause_wanted = Signal()
    resume_wanted = Signal()
    cancel_wanted = Signal()
    load_wanted = Signal()

    def __init__(self, parent: QWidget | None = None, begins: QPushButton | None = None) -> None:
        """Show nothing yet.

        Args:
            parent: Owner.
            begins: Began the download; the next step stands out in its place once all is here.
        """
        super().__init__(parent)
        self._begins = begins
        self._name = ElidedLabel("", self)
        self._words = sentence_label("hint")
        self._bar = QProgressBar(self)
        self._bar.setRange(0, 1000)
        self._bar.setTextVisible(False)
        self._bar.setFixedWidth(_BAR_WIDTH_PX)
        self.pause = self._button("Pause", self.pause_wanted)
        self.resume = self._button("Go on", self.resume_wanted)
        self.cancel = self._button("Cancel", self.cancel_wanted)
        self.cancel.setToolTip("Give it up and delete what is here of it")
        self.load = self._button("Load it", self.load_wanted)
        set_role(self.load, "primary")
        line = QHBoxLayout()
        line.setSpacing(PANEL_GAP_PX)
        line.addWidget(self._name, 1)
        line.addWidget(self._bar)
        for button in (self.pause, self.resume, self.cancel, self.load):
            line.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(STEP_PX)
        column.addLayout(line)
        column.addWidget(self._words)
        self.hide()

    def show_download(self, row: DownloadRow) -> None:
        """Show how it stands."""
        self._name.set_text(row.name)
        self._bar.setValue(round(1000 * min(1.0, max(0.0, row.share))))
        self._bar.setAccessibleName(f"Downloading {row.name}: {row.share:.0%}")
        self._words.setText(row.words)
        set_role(self._words, "hint-warning" if row.state == "failed" or row.is_stalled else "hint")
        self.pause.setVisible(row.state == "running")
        self.resume.setVisible(row.state in ("paused", "failed"))
        self.resume.setText("Try again" if row.state == "failed" else "Go on")
        self.cancel.setVisible(row.state != "done")
        self.load.setVisible(row.state == "done")
        self._bar.setVisible(row.state != "done")
        if self._begins is not None:
            set_role(self._begins, "" if row.state == "done" else "primary")
        self.show()

    def words(self) -> str:
        """The sentence below."""
        return self._words.text()

    def _button(self, word: str, signal: object) -> QPushButton:
        button = QPushButton(word, self)
        button.setAutoDefault(False)
        button.clicked.connect(signal)
        return button
