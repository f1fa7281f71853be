"""How far a load is, with a way out."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QPushButton, QWidget

from resources.tokens import PANEL_GAP_PX, STEP_PX
from widgets.elided_label import ElidedLabel
from widgets.steady_label import SteadyLabel
from widgets.theme import set_role

_BAR_WIDTH_PX = 30 * STEP_PX
_LEAST_BAR_PX = 8 * STEP_PX


class LoadProgress(QWidget):
    """Stage, bar, per cent, Cancel.

    Signals:
        cancel_requested: The load is to be given up.
    """

    cancel_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make it at 0 per cent."""
        super().__init__(parent)
        self._stage = ElidedLabel("", self)
        set_role(self._stage, "muted")
        self._bar = QProgressBar(self)
        self._bar.setRange(0, 1000)
        self._bar.setTextVisible(False)
        self._bar.setMinimumWidth(_LEAST_BAR_PX)
        self._bar.setMaximumWidth(_BAR_WIDTH_PX)
        self._percent = SteadyLabel("100 %", self)
        set_role(self._percent, "muted")
        cancel = QPushButton("Cancel", self)
        cancel.setAccessibleName("Cancel loading")
        cancel.clicked.connect(self.cancel_requested)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(PANEL_GAP_PX)
        layout.addWidget(self._stage, 1)
        layout.addWidget(self._bar)
        layout.addWidget(self._percent)
        layout.addWidget(cancel)

    def set_progress(self, fraction: float, stage: str) -> None:
        """Show ``stage`` and ``fraction``, 0 to 1."""
        bounded = min(max(fraction, 0.0), 1.0)
        self._stage.set_text(stage or "loading")
        self._bar.setValue(round(bounded * 1000))
        self._bar.setAccessibleName(f"Loading: {stage}, {bounded:.0%}")
        self._percent.setText(f"{bounded * 100:.0f} %")
