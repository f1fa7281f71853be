"""A scripted session in the real window, with a picture and a check after each step.

Nothing is faked: the mouse moves real faders, the engine runs the real model. A step that does not
show what it should within its time makes the tour fail with a sentence.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

from app.tour_day import DayTour
from app.tour_desk import DeskTour
from app.tour_experiments import ExperimentsTour
from app.tour_files import FilesTour
from app.tour_live import LiveTour
from app.window import Window
from engine_bridge.engine_state import DeathReason
from engine_bridge.protocol import Refused

_POLL_MS = 50
# A picture waits this long after its step came about, so that it shows the end of it.
_SETTLE_MS = 400


class Tour(QObject):
    """Runs the steps one after the other.

    Signals:
        finished: 0 if every step showed what it should, else 1.
    """

    finished = Signal(int)

    def __init__(self, window: Window, out: Path, model: str | None) -> None:
        """Prepare a tour of ``window``; pictures go to ``out``, the model may be given."""
        super().__init__(window)
        self._window = window
        self._desk = window.desk
        self._out = out
        self._steps = [
            *DeskTour(window, model).steps(), *DayTour(window).steps(), *LiveTour(window).steps(),
            *ExperimentsTour(window).steps(), *FilesTour(window).steps(),
        ]  # fmt: skip
        self._index = -1
        self._deadline_s = 0.0
        self._faults: list[str] = []
        self._timer = QTimer(self)
        self._timer.setInterval(_POLL_MS)
        self._timer.timeout.connect(self._on_timer_timeout)
        self._desk.session.refused.connect(self._on_refused)
        self._desk.client.engine_died.connect(self._on_engine_died)

    def start(self) -> None:
        """Begin with the first step."""
        self._out.mkdir(parents=True, exist_ok=True)
        self._next()

    # --- The machinery ------------------------------------------------------------------

    def _next(self) -> None:
        self._index += 1
        if self._index == len(self._steps):
            self._end()
            return
        step = self._steps[self._index]
        self._deadline_s = time.monotonic() + step.timeout_s
        step.act()
        self._timer.start()

    def _on_timer_timeout(self) -> None:
        step = self._steps[self._index]
        if step.is_done():
            self._timer.stop()
            if step.must_settle:
                QTimer.singleShot(_SETTLE_MS, self, self._take_picture)
            else:
                self._take_picture()
        elif time.monotonic() > self._deadline_s:
            self._give_up(f"it did not happen within {step.timeout_s:.0f} s")

    def _on_refused(self, event: Refused) -> None:
        self._give_up(event.problem.message)

    def _on_engine_died(self, reason: DeathReason) -> None:
        self._give_up(reason.sentence)

    def _give_up(self, sentence: str) -> None:
        """End at a step that cannot come about any more."""
        if self._timer.isActive():
            self._timer.stop()
            step = self._steps[self._index]
            self._save(f"{step.name}-failed")
            self._faults.append(f"{step.name}: {sentence}")
            self._end()

    def _take_picture(self) -> None:
        step = self._steps[self._index]
        fault = step.fault()
        self._save(step.name, step.shown())
        step.end()
        sys.stdout.write(f"{step.name}: {fault or 'as it should be'}\n")
        if fault:
            self._faults.append(f"{step.name}: {fault}")
        self._next()

    def _save(self, name: str, shown: QWidget | None = None) -> None:
        path = self._out / f"{name}.png"
        if not (shown or self._window).grab().save(str(path)):
            self._faults.append(f"{name}: the picture could not be written to {path}")

    def _end(self) -> None:
        for fault in self._faults:
            sys.stderr.write(f"tour: {fault}\n")
        self._window.close()
        self.finished.emit(1 if self._faults else 0)
