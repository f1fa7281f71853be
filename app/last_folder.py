"""File dialogs begin where the last one of their kind was left, also after the next start."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QFileDialog

from app.background import Task

MODELS, EXPORTS, ATTACHMENTS, CACHES = "models", "exports", "attachments", "caches"
PROGRAMS = "programs"
# A drive that is asleep takes about so long; one that is gone answers never.
_FOLDER_WAIT_MS = 1500


class KeepsFolders(Protocol):
    """Where the folders are kept; setting them is all it takes."""

    last_folders: dict[str, str]


class LastFolder(QObject):
    """Opens file dialogs in the folder that was used last for the same purpose."""

    def __init__(self, kept: KeepsFolders | None, parent: QObject | None = None) -> None:
        """Remember in ``kept``; None remembers for this run only."""
        super().__init__(parent)
        self._kept = kept
        self._folders = dict(kept.last_folders) if kept is not None else {}

    def open(self, dialog: QFileDialog, purpose: str) -> None:
        """Open ``dialog`` where the last one for ``purpose`` was left, and note where this one is.

        Where nothing is known, or the folder is gone, it begins where it was made to begin. It
        opens a moment later than asked for: whether the folder is there is found out elsewhere.

        Args:
            dialog: Made ready but for its folder; the name suggested in it stays.
            purpose: ``MODELS``, ``EXPORTS``, ``ATTACHMENTS``, ``CACHES`` or ``PROGRAMS``.
        """
        dialog.filesSelected.connect(lambda paths: self._note(paths[0], purpose))
        folder = self._folders.get(purpose, "")
        if not folder:
            dialog.open()
            return
        task = Task(lambda _: Path(folder).is_dir(), dialog)
        patience = QTimer(dialog, singleShot=True, interval=_FOLDER_WAIT_MS)

        def show(is_there: object) -> None:
            if not patience.isActive():
                return
            patience.stop()
            if is_there is True:
                _move(dialog, folder)
            dialog.open()

        def give_up() -> None:
            if not dialog.isVisible():
                dialog.open()

        task.succeeded.connect(show)
        task.failed.connect(lambda _: show(False))
        patience.timeout.connect(give_up)
        patience.start()
        task.start()

    def _note(self, path: str, purpose: str) -> None:
        # Of a chosen folder, too: beside it the next one is likelier than inside.
        self._folders[purpose] = str(Path(path).parent)
        if self._kept is not None:
            self._kept.last_folders = dict(self._folders)


def _move(dialog: QFileDialog, folder: str) -> None:
    """Go to ``folder``, keeping the file name that is suggested."""
    is_saving = dialog.acceptMode() is QFileDialog.AcceptMode.AcceptSave
    suggested = dialog.selectedFiles() if is_saving else []
    dialog.setDirectory(folder)
    if suggested:
        dialog.selectFile(str(Path(folder) / Path(suggested[0]).name))
