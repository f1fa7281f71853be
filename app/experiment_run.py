"""Carries an experiment out in a thread of its own, and tells the window how far it is.

The function blocks in that thread (ADR 25); what it reports comes over as queued signals. Every
part is kept in the history there, before the next begins. When it ends, however it does, the
engine is given back first and its end is told after that.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from PySide6.QtCore import QCoreApplication, QObject, Qt, Signal

from app.experiments.experiment import Experiment, State
from app.experiments.port import StoppedError
from app.experiments.reporter import Reporter
from app.experiments.terminal import SENTENCES
from app.result_names import said
from app.storage.storage_error import StorageError

Keep = Callable[[Experiment], None]
"""Writes an experiment down; may raise ``StorageError``."""

Dress = Callable[[Experiment], object]
"""Makes of an experiment what is shown of it; called in the experiment's thread."""


class Rig(Protocol):
    """What an experiment is carried out with, such as a port to the window's engine."""

    def stop(self) -> None:
        """Make the experiment end soon; from any thread."""

    def close(self) -> None:
        """Give back what was used; in the experiment's thread, blocks until that is done."""

    def shut(self) -> None:
        """The window closes: stop, and wait for nothing; in the GUI thread."""


@dataclass(frozen=True)
class RunEnd:
    """How an experiment ended.

    Attributes:
        experiment: What there is of it; None where nothing was measured.
        sentence: Why it could not be done, or went no further; empty where it was done.
        is_stopped: Whether the user stopped it.
        fault: What this program did wrong; None usually.
    """

    experiment: Experiment | None
    sentence: str = ""
    is_stopped: bool = False
    fault: Exception | None = None


class ExperimentRun(QObject):
    """One experiment at a time.

    Signals:
        begun: It is under way.
        progressed: Share done (0 to 1), what is done now, seconds left (None where unknown).
        kept: The ``Experiment`` after another part, and what is shown of it.
        said: A sentence to be read once, such as that the disk takes nothing.
        ended: A ``RunEnd``; what was used is given back by then.
    """

    begun = Signal()
    progressed = Signal(float, str, object)
    kept = Signal(object, object)
    said = Signal(str)
    ended = Signal(object)
    _told = Signal(object)

    def __init__(self, dress: Dress, parent: QObject | None = None) -> None:
        """Carry out nothing yet; ``dress`` makes what is shown."""
        super().__init__(parent)
        self._dress = dress
        self._rig: Rig | None = None
        self._link: _Link | None = None
        self._is_stopping = False
        self._told.connect(self._on_told, Qt.ConnectionType.QueuedConnection)

    @property
    def is_under_way(self) -> bool:
        """Whether ``ended`` is still to come."""
        return self._rig is not None

    @property
    def is_stopping(self) -> bool:
        """Whether it was cancelled and has not ended yet."""
        return self._is_stopping

    def start(self, work: Callable[[Reporter], Experiment], rig: Rig, keep: Keep | None) -> None:
        """Begin ``work``.

        Args:
            work: The experiment; blocks, and raises one of ``SENTENCES`` where it cannot be done.
            rig: What it is carried out with; a QObject is deleted behind it.
            keep: Writes it down after each part; called in the experiment's thread.

        Raises:
            RuntimeError: If one is under way.
        """
        if self._rig is not None:
            raise RuntimeError("An experiment is under way.")
        self._rig = rig
        self._is_stopping = False
        self._link = _Link(self._told.emit)
        thread = _Thread(work, rig, _Reports(self._link, keep, self._dress))
        self.begun.emit()
        thread.start()

    def cancel(self) -> None:
        """End it in good order; what was measured is kept."""
        if self._rig is not None and not self._is_stopping:
            self._is_stopping = True
            self._rig.stop()

    def shut(self) -> None:
        """The window closes: stop, and wait for nothing; nothing is told any more."""
        if self._link is not None:
            self._link.cut()
        rig = self._rig
        self._rig = None
        if rig is None:
            return
        rig.shut()
        owned, app = _as_object(rig), QCoreApplication.instance()
        if owned is not None and app is not None:
            # Its thread still holds on to it, longer than the window lives.
            owned.setParent(app)

    # --- Inside -------------------------------------------------------------------------

    def _on_told(self, call: Callable[[ExperimentRun], None]) -> None:
        if self._rig is not None:  # else the window closed while it was on its way
            call(self)

    def tell_end(self, end: RunEnd) -> None:
        """Called for the thread, in the GUI thread."""
        owned = _as_object(self._rig)
        self._rig = None
        self._is_stopping = False
        if owned is not None:
            owned.deleteLater()
        self.ended.emit(end)


def _as_object(rig: object) -> QObject | None:
    """The rig, if it is one of Qt's objects."""
    return rig if isinstance(rig, QObject) else None


class _Link:
    """The way from the thread to the object, which may be gone before the thread is."""

    def __init__(self, emit: Callable[[object], None]) -> None:
        self._emit = emit
        self._lock = threading.Lock()
        self._is_cut = False

    def tell(self, call: Callable[[ExperimentRun], None]) -> None:
        """Have ``call`` made in the GUI thread."""
        with self._lock:
            if not self._is_cut:
                self._emit(call)

    def cut(self) -> None:
        """Nothing goes over any more."""
        with self._lock:
            self._is_cut = True


class _Reports:
    """Listens to the experiment, in its thread; see ``Reporter``."""

    def __init__(self, link: _Link, keep: Keep | None, dress: Dress) -> None:
        self.link = link
        self._keep = keep
        self._dress = dress
        self._has_told_loss = False

    def progressed(self, share: float, sentence: str, left_s: float | None) -> None:
        self.link.tell(lambda run: run.progressed.emit(share, said(sentence), left_s))

    def kept(self, experiment: Experiment) -> None:
        if self._keep is not None:
            try:
                self._keep(experiment)
            except StorageError as error:
                self._tell_loss(str(error))
        shown = self._dress(experiment)
        self.link.tell(lambda run: run.kept.emit(experiment, shown))

    def _tell_loss(self, sentence: str) -> None:
        """Once: a disk that fails stops no measurement."""
        if not self._has_told_loss:
            self._has_told_loss = True
            self.link.tell(lambda run: run.said.emit(sentence))


class _Thread(threading.Thread):
    """The experiment's thread."""

    def __init__(self, work: Callable[[Reporter], Experiment], rig: Rig, reports: _Reports) -> None:
        # The end of the program does not wait for it.
        super().__init__(name="experiment", daemon=True)
        self._work = work
        self._rig = rig
        self._reports = reports

    def run(self) -> None:
        end = self._end()
        try:
            self._rig.close()
        except Exception as error:  # a fault of the program: told where it is seen
            end = RunEnd(end.experiment, end.sentence, end.is_stopped, end.fault or error)
        self._reports.link.tell(lambda run: run.tell_end(end))

    def _end(self) -> RunEnd:
        try:
            experiment = self._work(self._reports)
        except StoppedError as error:
            return RunEnd(None, str(error), is_stopped=True)
        except SENTENCES as error:
            return RunEnd(None, str(error))
        except Exception as error:  # a fault of the program: told where it is seen
            return RunEnd(None, "The experiment ended by a fault of TuneDeck.", fault=error)
        return RunEnd(experiment, experiment.failure, experiment.state is State.STOPPED)
