"""What this machine was measured at, kept from one start to the next, and what follows from it.

Holds no widget. Reads, writes and sums in a thread of its own; sums only when somebody asks, so
that no core is taken from an answer.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal, SignalInstance

from app.storage.measurement_store import Found, MeasurementStore
from app.storage.storage_error import StorageError
from app.worker import Worker
from engine_bridge.metrics.observations import Observation, Observations, machine_key, model_key
from engine_bridge.metrics.prediction import Predictor
from engine_bridge.metrics.run_observer import RunObserver
from engine_bridge.metrics.step_cost import ModelSize
from engine_bridge.model_facts import ModelFacts
from engine_bridge.protocol import Applied, Event, Hello, StepsMeasured

# An answer brings several observations; the disk hears of them together.
_SAVE_AFTER_MS = 3000
_CLOSING_WAIT_S = 2.0
# A prediction for another depth is another one from so much on.
_NEW_DEPTH_SHARE = 0.1


class Measurements(QObject):
    """Observations of the model that runs.

    Signals:
        changed: Predictions may say something else now.
        noted: A sentence for the log.

    Attributes:
        runs: What is under way: the newest prompt, streams and their depth.
    """

    changed = Signal()
    noted = Signal(str)

    def __init__(
        self,
        event_received: SignalInstance,
        store: MeasurementStore | None = None,
        parent: QObject | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Listen to an engine.

        Args:
            event_received: The client's signal.
            store: Where measurements are kept; None forgets them.
            parent: Owner.
            clock: Seconds since 1970.
        """
        super().__init__(parent)
        self.runs = RunObserver()
        self._store = store
        self._clock = clock
        self._worker = Worker("measurements", self)
        self._machine = ""
        self._model = ""
        self._size: ModelSize | None = None
        self._known = Observations()
        self._predictor: Predictor | None = None
        self._is_stale = True
        self._is_fitting = False
        self._told_place = (0, 0, 0.0)
        self._save_soon = QTimer(self, singleShot=True, interval=_SAVE_AFTER_MS)
        self._save_soon.timeout.connect(self._save)
        event_received.connect(self._on_event_received)

    def predictor(self) -> Predictor | None:
        """What predicts for the model that runs, by all that was measured before the last answer.

        None while it is being made; ``changed`` tells when a new one is there.
        """
        if self._is_stale and not self._is_fitting and self._size is not None:
            self._is_stale, self._is_fitting = False, True
            fit = partial(_fitted, self._known.all(), self._size)
            self._worker.do(fit, then=partial(self._on_fitted, self._model))
        return self._predictor

    def close(self) -> None:
        """Keep what is new; waits for the disk, at most two seconds."""
        last = self._writing() if self._save_soon.isActive() else _nothing
        self._save_soon.stop()

        def end() -> None:
            with contextlib.suppress(StorageError):  # it can be measured again
                last()

        self._worker.close(end, _CLOSING_WAIT_S)

    # --- Inside -------------------------------------------------------------------------

    def _on_event_received(self, event: Event) -> None:
        if isinstance(event, Hello):
            self._machine = machine_key(event, os.cpu_count() or 0)
        found = self.runs.fold(event, self._clock())
        if isinstance(event, Applied) and event.model is not None:
            self._take_model(event.model)
        if found:
            for observation in found:
                self._known.add(observation)
            self._is_stale = True
            if self._store is not None and not self._save_soon.isActive():
                self._save_soon.start()
        if found or (isinstance(event, StepsMeasured) and self._is_elsewhere()):
            self.changed.emit()

    def _is_elsewhere(self) -> bool:
        """Whether streams or depths are others than when it was told last."""
        prompt_tok, streams, depth_tok = self._told_place
        runs = self.runs
        is_same = (prompt_tok, streams) == (runs.prompt_tok, runs.streams)
        if is_same and abs(runs.depth_tok - depth_tok) <= _NEW_DEPTH_SHARE * depth_tok:
            return False
        self._told_place = (runs.prompt_tok, runs.streams, runs.depth_tok)
        return True

    def _take_model(self, facts: ModelFacts) -> None:
        key = model_key(facts)
        if key == self._model:
            return
        if self._save_soon.isActive():
            self._save_soon.stop()
            self._save()
        self._model, self._size = key, ModelSize.of(facts)
        self._known, self._predictor, self._is_stale = Observations(), None, True
        if self._store is not None:
            read = partial(self._store.read, self._machine, key)
            self._worker.do(read, then=partial(self._on_read, key), failed=self.noted.emit)
        self.changed.emit()

    def _on_read(self, model: str, found: Found) -> None:
        if found.sentence:
            self.noted.emit(found.sentence)
        if model != self._model or not found.observations:
            return
        newer = self._known.all()
        self._known = Observations(found.observations, self._clock())
        for observation in newer:
            self._known.add(observation)
        self._is_stale = True
        self.changed.emit()

    def _on_fitted(self, model: str, found: Predictor | Exception) -> None:
        self._is_fitting = False
        if isinstance(found, Predictor) and model == self._model:
            self._predictor = found
        self.changed.emit()
        if isinstance(found, Exception):
            raise found  # what predicted before goes on; the next measurement is another try

    def _save(self) -> None:
        self._worker.do(self._writing(), failed=self.noted.emit)

    def _writing(self) -> Callable[[], None]:
        """What writes the observations as they are now."""
        if self._store is None:
            return _nothing
        return partial(self._store.write, self._machine, self._model, self._known.all())


def _fitted(known: tuple[Observation, ...], size: ModelSize) -> Predictor | Exception:
    """What predicts, or the fault that kept it from being made: whoever waits must hear of it."""
    try:
        return Predictor(known, size, os.cpu_count())
    except Exception as error:
        return error


def _nothing() -> None:
    """There is nothing to be kept."""
