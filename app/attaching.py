"""Files for a message: asked for or dropped, read in the background, attached to the draft."""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog

from app.background import Task
from app.last_folder import ATTACHMENTS, LastFolder
from app.text_file import TextFileError, read_text_file
from widgets.attached_text import Attached
from widgets.chat_view import ChatView

_MODEL_SUFFIX = ".gguf"
# More in one message is a mistake of the mouse.
_MOST_FILES = 20
_MOST_SENTENCES = 3


class Attaching(QObject):
    """Attaches files to the drafts of conversations.

    Signals:
        model_dropped: Path of a model file that was dropped on a conversation.
    """

    model_dropped = Signal(str)

    def __init__(self, parent: QObject, last_folder: LastFolder | None = None) -> None:
        """Nothing is read yet; None as ``last_folder`` remembers it for this run only."""
        super().__init__(parent)
        self._last_folder = last_folder or LastFolder(None, self)
        self._views: dict[Task, ChatView] = {}

    def ask(self, view: ChatView) -> None:
        """Let the user choose files for ``view``."""
        dialog = QFileDialog(view.window(), "Attach text files")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.filesSelected.connect(partial(self.attach, view))
        # Else the keys would go to the paperclip, and typing would ask for files again.
        dialog.finished.connect(lambda _: view.composer.editor.setFocus())
        dialog.finished.connect(dialog.deleteLater)
        self._last_folder.open(dialog, ATTACHMENTS)

    def attach(self, view: ChatView, paths: list[str]) -> None:
        """Read files and attach them to the draft of ``view``; a model file is told of instead."""
        texts = []
        for path in paths:
            if path.lower().endswith(_MODEL_SUFFIX):
                self.model_dropped.emit(path)
            else:
                texts.append(Path(path))
        if texts:
            self._read(view, texts)

    def forget(self, view: ChatView) -> None:
        """The conversation is closed: what is still being read is for nobody."""
        self._views = {task: other for task, other in self._views.items() if other is not view}

    def _read(self, view: ChatView, paths: list[Path]) -> None:
        what = paths[0].name if len(paths) == 1 else f"{len(paths):,} files"
        view.composer.show_note(f"Reading {what}…")
        task = Task(lambda _: _read_all(paths), self)
        self._views[task] = view
        task.succeeded.connect(partial(self._on_read, task))
        task.failed.connect(partial(self._on_failed, task))
        # Not the pool: the program waits for that at its end, and a drive may never answer.
        threading.Thread(target=task.run, name="attaching", daemon=True).start()

    def _on_read(self, task: Task, result: tuple[list[Attached], list[str]]) -> None:
        view = self._take(task)
        if view is None:
            return
        files, sentences = result
        for attached in files:
            view.composer.attach(attached)
        view.composer.show_note("")
        if sentences:
            view.composer.show_trouble("\n".join(sentences))

    def _on_failed(self, task: Task, error: Exception) -> None:
        view = self._take(task)
        if view is not None:
            view.composer.show_note("")
        raise error

    def _take(self, task: Task) -> ChatView | None:
        task.deleteLater()
        return self._views.pop(task, None)


def _read_all(paths: list[Path]) -> tuple[list[Attached], list[str]]:
    """The files that are text, and a sentence for each of the others."""
    files, sentences = [], []
    for path in paths[:_MOST_FILES]:
        try:
            files.append(read_text_file(path))
        except TextFileError as error:
            sentences.append(str(error))
    if len(sentences) > _MOST_SENTENCES:
        more = len(sentences) - _MOST_SENTENCES
        sentences[_MOST_SENTENCES:] = [f"{more:,} more of them were not taken."]
    if len(paths) > _MOST_FILES:
        sentences.append(f"Only the first {_MOST_FILES} of {len(paths):,} files were looked at.")
    return files, sentences
