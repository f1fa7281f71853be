"""From the desk as it stands to a diagnostics file, without the window waiting for it."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from PySide6.QtCore import QObject, QStandardPaths, Signal, qVersion
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from app.background import Task
from app.desk import Desk
from app.diagnostics import Situation, save
from app.last_folder import EXPORTS
from app.log_wiring import LogWiring


class DiagnosticsWiring(QObject):
    """Asks where to, and writes.

    Signals:
        saved: The file (str) that was written.
        failed: A sentence.
    """

    saved = Signal(str)
    failed = Signal(str)

    def __init__(self, desk: Desk, log: LogWiring, parent: QWidget) -> None:
        """Report on ``desk`` with the lines of ``log``."""
        super().__init__(parent)
        self._desk = desk
        self._log = log
        self._window = parent
        self._task: Task | None = None

    def ask(self) -> None:
        """Let the user say where the file goes."""
        documents = QStandardPaths.StandardLocation.DocumentsLocation
        folder = Path(QStandardPaths.writableLocation(documents) or Path.home())
        name = f"tunedeck-diagnostics-{datetime.now().astimezone():%Y-%m-%d-%H%M}.txt"
        dialog = QFileDialog(self._window, "Save diagnostics", str(folder / name))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters(["Text or JSON (*.txt *.json)"])
        dialog.setDefaultSuffix("txt")
        dialog.fileSelected.connect(self.save_to)
        dialog.finished.connect(dialog.deleteLater)
        self._desk.last_folder.open(dialog, EXPORTS)

    def save_to(self, path: str) -> None:
        """Write the file; ``saved`` or ``failed`` tells what came of it."""
        if self._task is not None:
            self.failed.emit("The diagnostics are being saved already.")
            return
        situation = self._situation()
        self._task = Task(lambda _: save(situation, Path(path)), self)
        self._task.succeeded.connect(lambda _: self._on_saved(path))
        self._task.failed.connect(self._on_failed)
        self._task.start()

    def _situation(self) -> Situation:
        desk, session = self._desk, self._desk.session
        return Situation(
            config=session.wanted,
            applied=session.applied,
            plan=session.plan,
            hello=desk.hello,
            state=str(desk.client.state),
            last_death=self._log.last_death,
            log=self._log.lines(),
            notes={
                "Qt": f"{qVersion()} on {QGuiApplication.platformName()}",
                "screens": ", ".join(
                    f"{s.size().width()} × {s.size().height()} at {s.devicePixelRatio():g}"
                    for s in QGuiApplication.screens()
                ),
                "conversations open": str(len(desk.chats.conversations())),
            },
            conversations=tuple(
                text
                for conversation in desk.chats.conversations()
                for text in (
                    conversation.name,
                    conversation.system_prompt,
                    *(turn.text for turn in conversation.tree.values()),
                )
            ),
        )

    def _on_saved(self, path: str) -> None:
        self._task = None
        self._log.note(f"Diagnostics saved as {Path(path).name}.")
        self.saved.emit(path)

    def _on_failed(self, error: Exception) -> None:
        self._task = None
        self._log.note(str(error), "error")
        self.failed.emit(str(error))
