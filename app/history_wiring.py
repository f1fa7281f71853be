"""Between the history's file and its list in the window. Reads and writes in a thread of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.experiments.experiment import Experiment
from app.experiments.history_store import HistoryStore
from widgets.experiments.history_view import HistoryView


class HistoryWiring(QObject):
    """Fills the list, and carries out what is asked for there.

    ``store`` may be used from any thread but the GUI's: whoever runs an experiment keeps it there.

    Signals:
        experiment_read: An ``Experiment`` that was opened in the list.
        resume_read: An ``Experiment`` that is to be gone on with.
    """

    experiment_read = Signal(object)
    resume_read = Signal(object)

    def __init__(
        self,
        view: HistoryView,
        history_path: Path,
        say: Callable[[str], None],
        parent: QObject,
    ) -> None:
        """Connect them; the list is read at once.

        Args:
            view: The list.
            history_path: Folder of the history; it need not exist.
            say: Shows a sentence for a few seconds.
            parent: Owner.
        """
        super().__init__(parent)
        self._view = view
        self._say = say
        self.store = HistoryStore(history_path)

    def note_kept(self, experiment: Experiment) -> None:
        """An experiment was written, or a part of one: show it in the list."""

    def refresh(self) -> None:
        """Read the list again: another program may have written to the history."""

    def open(self, key: str) -> None:
        """Read an experiment and tell it by ``experiment_read``."""

    def close(self, timeout_s: float) -> bool:
        """Write what waits and let go of the file; gives whether that was done in time."""
        return True
