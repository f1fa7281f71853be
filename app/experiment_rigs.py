"""What experiments are carried out with where that is not the window's engine alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.desk import Desk
from app.experiment_request import ProbeRequest, QualityRequest, Request
from app.experiment_run import Rig
from app.experiments.experiment import Experiment
from app.experiments.quality_process import QualityProcess
from app.experiments.reporter import Reporter
from app.experiments.window_port import WindowPort
from app.try_request import TryRequest
from app.try_rig import TryRig

if TYPE_CHECKING:
    from app.experiments.probe_port import ServerPort

Do = Callable[[Reporter], Experiment]
"""Carries an experiment out; blocks."""


def rigged(
    request: Request, desk: Desk, port: Callable[[], WindowPort], parent: QObject
) -> tuple[Do, Rig]:
    """What carries ``request`` out, and what with.

    Args:
        request: What is asked for.
        desk: Whose engine it is.
        port: Makes a way to that engine, which is the experiment's from then on.
        parent: Owner of what is an object of Qt's.
    """
    if isinstance(request, QualityRequest):
        hello = desk.client.hello
        assert hello is not None
        quality = QualityRig()
        return partial(request.do, quality.process, hello), quality
    if isinstance(request, ProbeRequest | TryRequest):
        engine = port() if request.config is not None else None
        if isinstance(request, TryRequest):
            trial = TryRig(request, desk, engine, parent)
            return trial.do, trial
        probe = ProbeRig(request, engine, parent)
        return probe.do, probe
    own = port()
    return partial(request.do, own), own


class QualityRig:
    """The process that compares caches; the window's engine goes on beside it."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self.process = QualityProcess()

    def stop(self) -> None:
        """End the comparison under way."""
        self.process.stop()

    def close(self) -> None:
        """Nothing was taken from the window."""

    def shut(self) -> None:
        """The window closes."""
        self.process.stop()


class ProbeRig(QObject):
    """A server, and the window's engine beside it where that is wanted."""

    def __init__(self, request: ProbeRequest, engine: WindowPort | None, parent: QObject) -> None:
        """Connect to nothing yet; ``engine`` is this object's from now on."""
        super().__init__(parent)
        self._request = request
        self._engine = engine
        if engine is not None:
            engine.setParent(self)
        self._server: ServerPort | None = None
        self._is_stopped = False

    def do(self, reporter: Reporter) -> Experiment:
        """Carry the request out; blocks."""
        reporter.progressed(0.0, "Looking at the server", None)
        with self._request.server() as server:
            self._server = server
            if self._is_stopped:  # a moment ago, while there was nothing to stop
                server.stop()
            return self._request.do(server, self._engine, reporter)

    def stop(self) -> None:
        """End it soon."""
        self._is_stopped = True
        if self._server is not None:
            self._server.stop()
        if self._engine is not None:
            self._engine.stop()

    def close(self) -> None:
        """Give the engine back."""
        if self._engine is not None:
            self._engine.close()

    def shut(self) -> None:
        """The window closes."""
        self.stop()
        if self._engine is not None:
            self._engine.shut()
