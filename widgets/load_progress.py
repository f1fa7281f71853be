"""How far a load is, with a way out."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QPushButton, QWidget

from resources.tokens import PANEL_GAP_PX, STEP_PX
from widgets.elided_label import ElidedLabel
from widgets.plain_tip import plain_tip
from widgets.steady_label import SteadyLabel
from widgets.theme import set_role

_BAR_WIDTH_PX = 30 * STEP_PX
_LEAST_BAR_PX = 8 * STEP_PX
_LEAST_STAGE_PX = 20 * STEP_PX


class LoadProgress(QWidget):
    """Stage, bar, per cent, Cancel: what there is no room for is left out, Cancel last.

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
        self._cancel = QPushButton("Cancel", self)
        self._cancel.setAccessibleName("Cancel loading")
        self._cancel.clicked.connect(self.cancel_requested)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(PANEL_GAP_PX)
        layout.addStretch()
        layout.addWidget(self._stage, 1)
        layout.addWidget(self._bar)
        layout.addWidget(self._percent)
        layout.addWidget(self._cancel)

    def set_progress(self, fraction: float, stage: str) -> None:
        """Show ``stage`` and ``fraction``, 0 to 1."""
        bounded = min(max(fraction, 0.0), 1.0)
        self._stage.set_text(stage or "loading")
        self._bar.setValue(round(bounded * 1000))
        self._bar.setAccessibleName(f"Loading: {stage}, {bounded:.0%}")
        self._percent.setText(f"{bounded * 100:.0f} %")
        self.setToolTip(plain_tip(f"{stage or 'loading'}, {bounded * 100:.0f} %"))

    def minimumSizeHint(self) -> QSize:
        """Room for Cancel."""
        return self._cancel.minimumSizeHint()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave out what there is no room for."""
        super().resizeEvent(event)
        left = self.width() - self._cancel.sizeHint().width()
        needs = (
            (self._percent, self._percent.sizeHint().width()),
            (self._bar, _LEAST_BAR_PX),
            (self._stage, _LEAST_STAGE_PX),
        )
        for widget, width in needs:
            left -= width + PANEL_GAP_PX
            widget.setVisible(left >= 0)
