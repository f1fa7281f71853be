"""Before the window closes: what would be lost is told, and the user decides."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMainWindow, QMessageBox

from app.desk import Desk


class Closing:
    """Asks whether to close where the last words of a conversation cannot be saved."""

    def __init__(self, desk: Desk, window: QMainWindow) -> None:
        """Ask in front of ``window``."""
        self._desk = desk
        self._window = window
        self._question: QMessageBox | None = None
        self._is_decided = False

    def may_close(self) -> bool:
        """Whether nothing would be lost, or the user wants to close all the same.

        Waits at most about two seconds for the disk. If it says no, a question stands in the
        window; what it decides is carried out by it.
        """
        keeping = self._desk.keeping
        if self._is_decided or keeping is None:
            return True
        why = keeping.save_now()
        if not why:
            return True
        self._ask(keeping.unsaved_titles, why)
        return False

    def _ask(self, titles: Sequence[str], why: str) -> None:
        if self._question is not None:
            self._question.activateWindow()
            return
        question = QMessageBox(self._window)
        self._question = question
        question.setIcon(QMessageBox.Icon.Warning)
        question.setWindowTitle("Close TuneDeck?")
        question.setTextFormat(Qt.TextFormat.PlainText)
        question.setText(f"The last words of {_named(titles)} cannot be saved.")
        question.setInformativeText(f"{why}\n\nClosing now loses them.")
        stay = question.addButton("Keep open", QMessageBox.ButtonRole.RejectRole)
        leave = question.addButton("Close anyway", QMessageBox.ButtonRole.DestructiveRole)
        question.setDefaultButton(stay)
        question.setEscapeButton(stay)
        leave.clicked.connect(self._leave)
        question.finished.connect(self._on_finished)
        question.open()

    def _leave(self) -> None:
        self._is_decided = True
        self._window.close()

    def _on_finished(self) -> None:
        if self._question is not None:
            self._question.deleteLater()
            self._question = None


def _named(titles: Sequence[str]) -> str:
    if not titles:
        return "the conversations"
    more = len(titles) - 1
    if not more:
        return f"“{titles[0]}”"
    return f"“{titles[0]}” and {more:,} more {'conversation' if more == 1 else 'conversations'}"
