"""An exported line in the real llama-server, measured with the ruler of the embedded engine.

Plain functions that block, for a thread that is not the window's; the experiment that comes of it
is a probe like any other (ADR 30), with the memory of both processes beside.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING

import msgspec
import psutil

from app.experiments.bench import bench
from app.experiments.conditions import Conditions
from app.experiments.experiment import Cell, Experiment, State
from app.experiments.measures import BY_FIGURE
from app.experiments.memory_watch import MemoryWatch, memory_figures
from app.experiments.port import ConfigRefusedError, EnginePort, PortError, StoppedError
from app.experiments.reporter import Reporter
from app.experiments.runner import WorkloadRunner
from app.experiments.server_address import ApiKey, address_of
from app.experiments.server_process import process_of
from app.experiments.started_server import (
    LOOPBACK,
    STOPPED,
    Patience,
    StartedServer,
    free_port,
    withheld,
)
from app.experiments.verdict import Outcome, verdict_of_runs
from app.quoting import QuotingError, own_shell, quote
from app.try_request import Order, TryRequest

if TYPE_CHECKING:
    from app.experiments.probe_port import ServerPort

SERVER, OWN = "server", "engine"
IN_TURNS = "Both ran the same model file with the same settings, and were asked the same in turns."
ONE_AFTER_THE_OTHER = (
    "Both ran the same model file with the same settings, one after the other: what the machine "
    "did meanwhile may have differed."
)
_COMPARED = ("tpot_s", "ttft_s", "total_tok_s")
_KEY_FLAG = "--api-key"
# What follows these is nobody's business.
_SECRET_FLAGS = (_KEY_FLAG, "-hft", "--hf-token")
_HIDDEN = "hidden"


class TryOut:
    """One request under way; ``stop`` may be called from any thread.

    Attributes:
        is_over: Set once the server is gone, however it ended.
    """

    def __init__(
        self,
        request: TryRequest,
        release: Callable[[], None],
        *,
        patience: Patience | None = None,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        """Start nothing yet.

        Args:
            request: What to try.
            release: Has the embedded engine give its memory back; blocks until it did.
            patience: What is borne of a server that does not serve yet.
            environment: Variables by name.
        """
        self.is_over = threading.Event()
        self._request = request
        self._release = release
        self._patience = patience
        self._environment = environment
        self._is_stopped = threading.Event()
        self._lock = threading.Lock()
        self._server: StartedServer | None = None
        self._port: ServerPort | None = None

    def do(self, engine: EnginePort | None, reporter: Reporter) -> Experiment:
        """Carry it out.

        Args:
            engine: The embedded engine; None where it is not measured.
            reporter: Told how far it is; handed the experiment after every run.

        Raises:
            PortError: If the server, or the engine, cannot be measured at all.
            WorkloadError: If the workload, or the number of runs, cannot be used.
        """
        try:
            with MemoryWatch() as watch:
                return self._do(engine, reporter, watch)
        finally:
            self.is_over.set()

    def stop(self) -> None:
        """End it soon; what was measured is kept."""
        self._is_stopped.set()
        with self._lock:
            server, port = self._server, self._port
        if server is not None:
            server.stop()
        if port is not None:
            port.stop()

    # --- The parts ----------------------------------------------------------------------

    def _do(self, engine: EnginePort | None, reporter: Reporter, watch: MemoryWatch) -> Experiment:
        if self._request.order is Order.TURNS:
            return self._measured_server(engine, reporter, watch, None)
        if self._request.order is Order.ALONE or engine is None:
            return self._measured_server(None, reporter, watch, None)
        own = self._measured_first(engine, reporter, watch)
        if own.state is not State.DONE:
            reporter.kept(own)
            return own
        try:
            reporter.progressed(0.5, "TuneDeck's engine gives its memory back", None)
            self._release()
            return self._measured_server(None, _Half(reporter, 0.5), watch, own)
        except PortError:
            reporter.kept(own)  # there will be no probe that has it
            raise

    def _measured_first(
        self, engine: EnginePort, reporter: Reporter, watch: MemoryWatch
    ) -> Experiment:
        request = self._request
        runner = WorkloadRunner(request.workload, _watching(watch, engine))
        half = _Half(reporter, 0.0)
        try:
            return bench(engine, request.tried, request.workload, half, request.runs, runner=runner)
        finally:
            watch.follow(OWN, 0)

    def _measured_server(
        self,
        engine: EnginePort | None,
        reporter: Reporter,
        watch: MemoryWatch,
        own: Experiment | None,
    ) -> Experiment:
        if self._is_stopped.is_set():
            raise StoppedError(STOPPED)
        request, number = self._request, free_port()
        words = (*request.program, *request.flags, "--host", LOOPBACK, "--port", str(number))
        reporter.progressed(0.0, f"Starting {Path(words[0]).name}", None)
        with StartedServer(
            words, request.on_line, environment=self._environment, patience=self._patience
        ) as server:
            self._hold(server, None)
            server.await_health(number, lambda said: reporter.progressed(0.0, said, None))
            watch.follow(SERVER, _serving(server.pid, number))
            dressing = _Dressing(reporter, watch, own, self._notes(words))
            return self._probed(server, number, engine, dressing, _watching(watch, engine))

    def _probed(
        self,
        server: StartedServer,
        number: int,
        engine: EnginePort | None,
        dressing: _Dressing,
        watching: Callable[[int], Conditions],
    ) -> Experiment:
        # Their client takes a second to be imported: not before somebody asks for it.
        from app.experiments.probe import Beside, probe  # noqa: PLC0415
        from app.experiments.probe_port import ServerPort  # noqa: PLC0415

        request = self._request
        address = address_of(f"http://{LOOPBACK}:{number}")
        with ServerPort(address, _key_in(request.flags)) as port:
            self._hold(server, port)
            beside = None if engine is None else Beside(engine, request.tried)
            try:
                experiment = probe(
                    port, "", request.workload, dressing, request.runs,
                    beside=beside, watch=watching,
                )  # fmt: skip
            except (StoppedError, ConfigRefusedError):
                raise
            except PortError as error:
                raise PortError(server.end_sentence() or str(error)) from None
            if experiment.state is State.FAILED:
                failure = server.end_sentence() or experiment.failure
                experiment = msgspec.structs.replace(experiment, failure=failure)
                dressing.kept(experiment)
            return dressing.dressed(experiment)

    # --- Inside -------------------------------------------------------------------------

    def _hold(self, server: StartedServer, port: ServerPort | None) -> None:
        """Have ``stop`` reach them; it may have come a moment ago."""
        with self._lock:
            self._server, self._port = server, port
        if self._is_stopped.is_set():
            self.stop()

    def _notes(self, words: Sequence[str]) -> tuple[str, ...]:
        notes = [f"Started by Try it: {shown_line(words)}"]
        left_out = withheld(self._environment)
        if left_out:
            notes.append(f"Without {', '.join(left_out)} of the environment: the line alone.")
        return tuple(notes)


def _watching(memory: MemoryWatch, engine: EnginePort | None) -> Callable[[int], Conditions]:
    """Watches this machine in a run, and from the first one on the engine's memory.

    Before that the engine borrows some for a second, to read the peak bandwidth.
    """

    def watch(pid: int) -> Conditions:
        if engine is not None and pid == engine.pid:
            memory.follow(OWN, pid)
        return Conditions(pid)

    return watch


class _Half:
    """Half of the work: its share of the whole, and nothing that is kept by itself."""

    def __init__(self, reporter: Reporter, begin: float) -> None:
        self._reporter = reporter
        self._begin = begin

    def progressed(self, share: float, sentence: str, left_s: float | None) -> None:
        del left_s  # of this half alone
        self._reporter.progressed(self._begin + share / 2, sentence, None)

    def kept(self, experiment: Experiment) -> None:
        if self._begin:
            self._reporter.kept(experiment)


class _Dressing:
    """Adds to a probe what only its starter knows: memory, the line, the engine measured before."""

    def __init__(
        self,
        reporter: Reporter,
        watch: MemoryWatch,
        own: Experiment | None,
        notes: tuple[str, ...],
    ) -> None:
        self._reporter = reporter
        self._watch = watch
        self._own = own
        self._notes = notes

    def progressed(self, share: float, sentence: str, left_s: float | None) -> None:
        self._reporter.progressed(share, sentence, left_s)

    def kept(self, experiment: Experiment) -> None:
        self._reporter.kept(self.dressed(experiment))

    def dressed(self, experiment: Experiment) -> Experiment:
        """The same again where it was dressed before."""
        from app.experiments.probe_words import SAME_MODEL  # noqa: PLC0415 - loads the client

        if not experiment.cells:
            return experiment
        server, *beside = experiment.cells
        server = _with_memory(server, self._watch, SERVER)
        if self._notes[0] not in server.notes:
            server = msgspec.structs.replace(server, notes=(*self._notes, *server.notes))
        if self._own is not None:
            own = self._own.cells[0]
            beside = [msgspec.structs.replace(own, name=_own_name(own))]
        cells = (server, *(_with_memory(cell, self._watch, OWN) for cell in beside))
        conclusion = tuple(
            IN_TURNS if sentence == SAME_MODEL else sentence for sentence in experiment.conclusion
        )
        if self._own is not None and experiment.state is not State.RUNNING:
            conclusion = _conclusion(cells)
        return msgspec.structs.replace(experiment, cells=cells, conclusion=conclusion)


def _serving(started: int, number: int) -> int:
    """The process that serves: the one that was started, or one that it started in turn.

    Raises:
        PortError: If somebody else listens there, who was there first.
    """
    found = process_of(address_of(f"http://{LOOPBACK}:{number}"))
    if found is None or found == started:
        return started
    try:
        above = {parent.pid for parent in psutil.Process(found).parents()}
    except psutil.Error:
        return started
    if started not in above:
        raise PortError(
            f"Another program began to listen at {LOOPBACK}:{number} meanwhile. Try it again."
        )
    return found


def shown_line(words: Sequence[str]) -> str:
    """The line as it may be kept and shown to others: no secrets, files without their folders."""
    shown = [_without_folder(word) for word in words]
    for place, word in enumerate(words[:-1]):
        if word in _SECRET_FLAGS:
            shown[place + 1] = _HIDDEN
    try:
        return quote(shown, own_shell())
    except QuotingError:
        return " ".join(shown)


def _without_folder(word: str) -> str:
    for path in (PurePosixPath(word), PureWindowsPath(word)):
        if path.is_absolute():
            return path.name or word
    return word


def _own_name(cell: Cell) -> str:
    return "embedded engine" if cell.name == "defaults" else f"embedded engine, {cell.name}"


def _with_memory(cell: Cell, watch: MemoryWatch, name: str) -> Cell:
    figures = memory_figures(watch.peaks(name))
    return msgspec.structs.replace(cell, extra=cell.extra | figures) if figures else cell


def _conclusion(cells: Sequence[Cell]) -> tuple[str, ...]:
    if not all(cell.runs for cell in cells):
        return ()
    names = (f"the server at {cells[0].name}", "the embedded engine")
    sentences = []
    for key in _COMPARED:
        server, own = ([getattr(run, key) for run in cell.runs] for cell in cells)
        verdict = verdict_of_runs(server, own, BY_FIGURE[key], names)
        sentences.append(verdict.sentence)
        if verdict.outcome is Outcome.UNKNOWN:  # the others are as unknown
            break
    return (*(said[:1].upper() + said[1:] for said in sentences), ONE_AFTER_THE_OTHER)


def _key_in(flags: Sequence[str]) -> ApiKey | None:
    """The key that the line itself makes the server ask for; the last one counts."""
    values = [flags[at + 1] for at, word in enumerate(flags[:-1]) if word == _KEY_FLAG]
    return ApiKey(values[-1].split(",")[0], _KEY_FLAG) if values else None
