"""What the chat template of a file that is not loaded makes of a sample.

Asked of a process that is killed as soon as nobody wants its answer: a template is a stranger's
program, and a header may be megabytes on a drive that does not answer. Holds no widget.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from app.helper_process import HelperProcess, close_helpers
from app.template_answer import (
    MODULE,
    TIMEOUT_S,
    question_about,
    sheet_in,
    sheet_of_end,
    sheet_of_silence,
)
from engine_bridge.template_sheet import TemplateSheet


class TemplateSample(QObject):
    """Asks about one file at a time; the newest wins.

    Signals:
        answered: The path (str) of the file, and its ``TemplateSheet``.
    """

    answered = Signal(str, object)

    def __init__(self, parent: QObject) -> None:
        """Ask nothing yet."""
        super().__init__(parent)
        self._process: HelperProcess | None = None
        self._path = ""
        self._timeout = QTimer(self)
        self._timeout.setSingleShot(True)
        self._timeout.setInterval(TIMEOUT_S * 1_000)
        self._timeout.timeout.connect(self._on_timeout)

    @property
    def is_asking(self) -> bool:
        """Whether an answer is on its way."""
        return self._process is not None

    def ask(self, path: str) -> None:
        """Ask about the file at ``path`` (of a split model, part 1); what was asked is dropped."""
        self.cancel()
        self._path = path
        process = HelperProcess(MODULE, self)
        process.line_received.connect(self._on_line_received)
        process.ended.connect(self._on_process_ended)
        self._process = process
        process.start(question_about(path), is_last=True)
        self._timeout.start()

    def cancel(self) -> None:
        """Drop the question under way."""
        self._timeout.stop()
        if self._process is not None:
            self._process.stop()
            self._process = None

    def close(self) -> None:
        """Drop the question and wait until its process is gone, at most a second."""
        self.cancel()
        close_helpers(self)

    # --- Inside -------------------------------------------------------------------------

    def _on_line_received(self, line: bytes) -> None:
        self._tell(sheet_in(line))

    def _on_process_ended(self, exit_code: int, last_line: str) -> None:
        if self.sender() is self._process and self._process is not None:
            self._tell(sheet_of_end(exit_code, last_line, self._path))

    def _on_timeout(self) -> None:
        self._tell(sheet_of_silence(self._path))

    def _tell(self, sheet: TemplateSheet) -> None:
        self.cancel()
        self.answered.emit(self._path, sheet)
