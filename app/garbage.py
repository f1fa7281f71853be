"""Python's collector of reference cycles runs in the GUI thread alone.

By itself it runs in whichever thread happens to allocate. A widget that is part of a cycle (its own
slot in a lambda is enough) was destroyed in a worker thread then, which Qt does not survive for
long: measured with a widget, a timer and a plain QObject.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

# Objects come to thousands a second while answers stream; a look takes microseconds.
_LOOK_MS = 250


class Garbage(QObject):
    """Collects as often as Python would, between two events; one such object a process."""

    def __init__(self, parent: QObject) -> None:
        """Take over from now on, until ``give_back``.

        Args:
            parent: Lives in the GUI thread, as long as anything of Qt does.
        """
        super().__init__(parent)
        gc.disable()
        self._timer = QTimer(self)
        self._timer.setInterval(_LOOK_MS)
        self._timer.timeout.connect(self.look)
        self._timer.start()
        QTimer.singleShot(0, self, self._spare)

    def look(self) -> None:
        """Collect the oldest generation whose threshold is exceeded, and the younger ones."""
        counts, thresholds = gc.get_count(), gc.get_threshold()
        full = [age for age in range(3) if thresholds[age] and counts[age] > thresholds[age]]
        if full:
            gc.collect(max(full))

    def give_back(self) -> None:
        """Let Python collect by itself again: no widget is left."""
        self._timer.stop()
        gc.unfreeze()
        gc.enable()

    def _spare(self) -> None:
        """Once events come, all modules and the window are there, for good.

        Looking through these 80,000 objects for garbage took 70 ms of the GUI thread, and several
        times that on a busy machine.
        """
        if self._timer.isActive():
            gc.freeze()
