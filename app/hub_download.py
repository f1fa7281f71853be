"""A download from a hub, as the window has it: it goes on while its view is closed.

Holds no widget.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from app.experiments.terminal import duration_text
from app.figures import bytes_text
from app.hub_asking import HubAsking
from app.library.hub_questions import (
    Answer,
    DownloadDone,
    DownloadFiles,
    DownloadProgressed,
    HubFailed,
)
from app.library.hub_shapes import HubRepository, Quantisation
from widgets.hub_rows import DownloadRow, DownloadState

# Speed is of the last seconds: what is said of time left follows the line.
_WINDOW_S = 5.0
# Shorter silences are usual: the hub is asked, a line is taken up again.
_SILENT_S = 10.0


class HubDownload(QObject):
    """One download at a time.

    Signals:
        changed: A ``DownloadRow``.
        finished: The path (str) of the model's first file.
    """

    changed = Signal(object)
    finished = Signal(str)

    def __init__(
        self,
        parent: QObject,
        now_s: Callable[[], float] = time.monotonic,
        look_every_ms: int = 1_000,
    ) -> None:
        """Download nothing yet; look so often whether something still comes."""
        super().__init__(parent)
        self._asking = HubAsking(self)
        self._asking.answered.connect(self._on_answered)
        self._now_s = now_s
        self._question: DownloadFiles | None = None
        self._name = ""
        self._here_bytes = 0
        self._moved_s = 0.0
        self._seen: list[tuple[float, int]] = []
        self._looking = QTimer(self, interval=look_every_ms)
        self._looking.timeout.connect(self._on_looked)
        self.path = ""

    @property
    def is_under_way(self) -> bool:
        """Whether bytes are coming."""
        return self._asking.is_asking

    def start(self, repository: HubRepository, model: Quantisation) -> None:
        """Download all files of ``model``; a download before it is paused for good."""
        self._question = DownloadFiles(repository.repo, repository.commit, model.files)
        self._name = f"{repository.repo} {model.name}"
        self._here_bytes, self.path = 0, ""
        self.resume()

    def resume(self) -> None:
        """Go on where it was."""
        if self._question is not None:
            self._seen = []
            self._moved_s = self._now_s()
            self._tell("running", "Asking the hub …")
            self._asking.ask(self._question)
            self._looking.start()

    def pause(self) -> None:
        """Stop for now; what is here stays."""
        self._asking.stop()
        self._tell("paused", f"Paused: {self._amount()} are here and stay.")

    def cancel(self) -> DownloadFiles | None:
        """Give it up; gives what was asked for, whose partial files may go."""
        question, self._question = self._question, None
        self._looking.stop()
        self._asking.stop()
        return question

    def close(self) -> None:
        """End it with the window; what is here stays for the next time."""
        self._looking.stop()
        self._asking.close()

    # --- Inside -------------------------------------------------------------------------

    def _on_answered(self, answer: Answer) -> None:
        if isinstance(answer, DownloadProgressed):
            if answer.here_bytes != self._here_bytes or answer.is_checking:
                self._moved_s = self._now_s()
            self._here_bytes = answer.here_bytes
            if answer.is_checking:
                self._looking.stop()  # nothing more is to come of this file
                self._tell("checking", f"{self._amount()} · comparing SHA-256 with the hub's")
            else:
                self._looking.start()
                self._tell_running()
        elif isinstance(answer, DownloadDone):
            self.path = answer.paths[0]
            self._tell("done", f"Downloaded and checked: {self.path}")
            self.finished.emit(self.path)
        elif isinstance(answer, HubFailed):
            self._tell("failed", answer.sentence)

    def _on_looked(self) -> None:
        if self._silent_s >= _SILENT_S:
            self._tell_running()

    def _tell_running(self) -> None:
        if self._silent_s < _SILENT_S:
            self._tell("running", " · ".join((self._amount(), *self._speed())))
            return
        self._seen = []
        silence = duration_text(self._silent_s)
        words = f"{self._amount()} · nothing has arrived for {silence}; still trying"
        self._tell("running", words, is_stalled=True)

    @property
    def _silent_s(self) -> float:
        return self._now_s() - self._moved_s

    def _speed(self) -> tuple[str, ...]:
        """How fast it is and how long it takes; nothing before that can be said."""
        now_s = self._now_s()
        self._seen.append((now_s, self._here_bytes))
        self._seen = [(at, size) for at, size in self._seen if now_s - at <= _WINDOW_S]
        first_s, first_bytes = self._seen[0]
        if now_s <= first_s or self._here_bytes <= first_bytes:
            return ()
        speed = (self._here_bytes - first_bytes) / (now_s - first_s)
        left_s = (self._size_bytes - self._here_bytes) / speed
        return (f"{bytes_text(round(speed))}/s", f"{duration_text(left_s)} left")

    @property
    def _size_bytes(self) -> int:
        files = () if self._question is None else self._question.files
        return sum(file.size_bytes for file in files)

    def _amount(self) -> str:
        return f"{bytes_text(self._here_bytes)} of {bytes_text(self._size_bytes)}"

    def _tell(self, state: DownloadState, words: str, *, is_stalled: bool = False) -> None:
        if state not in {"running", "checking"}:
            self._looking.stop()
        share = self._here_bytes / self._size_bytes if self._size_bytes else 0.0
        self.changed.emit(DownloadRow(self._name, share, words, state, is_stalled))
