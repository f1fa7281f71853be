"""The dialog that asks where a file goes, begun among the user's documents."""

from __future__ import annotations

from PySide6.QtCore import QStandardPaths
from PySide6.QtWidgets import QFileDialog, QWidget


def documents_folder() -> str:
    """Where this system keeps the user's documents; may be empty."""
    return QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)


def save_dialog(window: QWidget, title: str, name: str, ending: str, files: str) -> QFileDialog:
    """A dialog to be opened by ``LastFolder``; it goes by itself once it is closed.

    Args:
        window: Over which it stands.
        title: What is saved.
        name: Suggested name of the file, without its ending.
        ending: Of the file, also where the user types none.
        files: What such files are called, as Qt has it: ``JSON (*.json)``.
    """
    dialog = QFileDialog(window, title, documents_folder())
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setNameFilters([files, "All files (*)"])
    dialog.setDefaultSuffix(ending)
    dialog.selectFile(f"{name}.{ending}")
    dialog.finished.connect(dialog.deleteLater)
    return dialog
