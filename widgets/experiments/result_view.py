"""What came out of an experiment: the verdict first, then the figures, the charts, the settings."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from resources.tokens import DARK, Palette
from widgets.experiments.result_sheet import ResultSheet


class ResultView(QFrame):
    """The result of one experiment, finished or still running.

    Signals:
        apply_wanted: The settings (dict by key) of a configuration are to be used.
        back_wanted: The list of experiments is to be shown again.
        resume_wanted: The experiment is to go on where it ended.
    """

    apply_wanted = Signal(object)
    back_wanted = Signal()
    resume_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Show that there is nothing yet."""
        super().__init__(parent)
        self._colours = DARK
        self._sheet: ResultSheet | None = None
        QVBoxLayout(self)

    def sheet(self) -> ResultSheet | None:
        """What is shown; None for nothing."""
        return self._sheet

    def set_sheet(self, sheet: ResultSheet | None) -> None:
        """Show an experiment; of the same one what is picked and scrolled to stays."""
        self._sheet = sheet

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self._colours = palette
