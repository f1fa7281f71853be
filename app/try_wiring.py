"""Try it: between the desk, the experiments and the view of a trial."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QDialog, QFileDialog, QVBoxLayout, QWidget

from app.background import Task
from app.command_wiring import TRIED, UNITED, CommandWiring
from app.desk import Desk
from app.dialog_size import fit_dialog
from app.experiment_run import RunEnd
from app.experiments.experiment import Experiment, State
from app.experiments.server_program import (
    ServerProgram,
    find_program,
    is_program,
    program_at,
)
from app.experiments.terminal import duration_text
from app.experiments.workload import Workload
from app.experiments_wiring import ExperimentsWiring
from app.last_folder import PROGRAMS
from app.try_request import Order, TryRequest
from app.try_sheets import try_sheet
from app.try_words import NO_PROGRAM, WAYS_TO_GET, memory_offer, work_choices, works_for
from engine_bridge.engine_state import EngineState
from engine_bridge.memory_plan import MemoryPlan
from engine_bridge.metrics.snapshot import MemorySnapshot
from resources.tokens import STEP_PX
from widgets.theme import set_role
from widgets.try_view import TryView

_SIZE_PX = (235 * STEP_PX, 190 * STEP_PX)
# Often enough to follow a log, seldom enough for a server that says much.
_LOG_MS = 100
_ORDERS = (Order.TURNS, Order.AFTER, Order.ALONE)
_CHOOSE = "Choose the program first."
_NO_MODEL = "No model is loaded. Choose one first."
_DEAD = "The engine has ended, so there is nothing to stand beside. Start it again first."
_BUSY = "An experiment is under way. Cancel it first, or wait for its end."
_CHANGING = "The engine is being changed; wait until that is done."
_LOOKING = "Looking for the program…"
_WAIT = "Wait until the program is found."
_NO_WORK = "The context of a slot is too short for any work. Raise it first."


class LogLines:
    """Lines on their way from the server's thread to the window's, which fetches them."""

    def __init__(self, most: int = 5_000) -> None:
        """Keep the last ``most`` that nobody has fetched."""
        self._lines: deque[str] = deque(maxlen=most)
        self._lock = threading.Lock()

    def put(self, line: str) -> None:
        """Add a line; from any thread."""
        with self._lock:
            self._lines.append(line)

    def take(self) -> list[str]:
        """Those since the last time."""
        with self._lock:
            lines = list(self._lines)
            self._lines.clear()
        return lines


class TryWiring(QObject):
    """The dialog, and the trial under way."""

    def __init__(
        self,
        desk: Desk,
        command: CommandWiring,
        experiments: ExperimentsWiring,
        window: QWidget,
        show_experiments: Callable[[], None],
    ) -> None:
        """Start nothing yet.

        Args:
            desk: Its engine stands beside.
            command: Knows the line.
            experiments: Carry it out, and keep what it measures.
            window: Owner of the dialog, and of this.
            show_experiments: Brings the experiments to the front.
        """
        super().__init__(window)
        self._window = window
        self._desk = desk
        self._command = command
        self._experiments = experiments
        self._show_experiments = show_experiments
        self._program: ServerProgram | None = None
        self._is_looking = self._is_own = False
        self._works_ctx_tok = -1
        self._works: dict[str, Workload] = {}
        self._machine: tuple[MemorySnapshot, ...] = ()
        self._lines = LogLines()
        self.dialog = QDialog(window)
        self.dialog.setWindowTitle("Try it")
        set_role(self.dialog, "background")
        self.view = TryView(self.dialog)
        layout = QVBoxLayout(self.dialog)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.view)
        self._timer = QTimer(self, interval=_LOG_MS)
        self._connect()

    def open(self) -> None:
        """Show it, beside the window, which goes on working."""
        if not self.dialog.isVisible():
            fit_dialog(self.dialog, self._window, _SIZE_PX)
            self._look_for_program()
        self.refresh()
        self.dialog.show()
        self.dialog.activateWindow()

    def why_not(self) -> str:
        """Why no trial can begin now; empty where one can."""
        if why := self._why_no_engine() or next(iter(self._command.refusals()), ""):
            return why
        if self._program is None:
            return _WAIT if self._is_looking else _CHOOSE
        return "" if self._works else _NO_WORK

    def refresh(self) -> None:
        """Show what would be tried now."""
        if self._is_own:
            return  # what is under way is what is shown
        self._refresh_works()
        path = "" if self._program is None else self._program.path
        self.view.form.set_program(path, _LOOKING if self._is_looking else NO_PROGRAM)
        self.view.set_help("" if path or self._is_looking else WAYS_TO_GET)
        is_united = self._program is not None and len(self._program.words) > 1
        self.view.set_line(self._command.exported(UNITED if is_united else TRIED).text)
        self._refresh_memory()
        self.view.set_ready(self.why_not())

    # --- The program --------------------------------------------------------------------

    def choose_program(self, path: str) -> None:
        """Try with the program in the file ``path`` from now on, if it is one."""
        task = Task(lambda _: is_program(path), self)
        task.succeeded.connect(lambda is_one: self._on_program_looked_at(path, is_one=is_one))
        task.succeeded.connect(task.deleteLater)
        task.failed.connect(task.deleteLater)
        task.start()

    def use_program(self, program: ServerProgram) -> None:
        """Try with ``program`` from now on, whatever it is."""
        self._program = program
        self.refresh()

    def _on_program_looked_at(self, path: str, *, is_one: bool) -> None:
        if not is_one:
            words = f"{Path(path).name} is no program that can be run; choose another."
            self.view.end(words, is_warning=True)
            return
        self.view.end("", is_warning=False)
        self.use_program(program_at(path))
        if self._desk.kept is not None:
            self._desk.kept.server_program = path

    def _look_for_program(self) -> None:
        if self._is_looking or self._program is not None:
            return
        chosen = "" if self._desk.kept is None else self._desk.kept.server_program
        self._is_looking = True
        task = Task(lambda _: find_program(chosen), self)
        task.succeeded.connect(self._on_program_found)
        task.succeeded.connect(task.deleteLater)
        task.failed.connect(lambda _: self._on_program_found(None))
        task.failed.connect(task.deleteLater)
        task.start()

    def _on_program_found(self, program: ServerProgram | None) -> None:
        self._is_looking = False
        self._program = self._program or program
        self.refresh()

    def _on_program_wanted(self) -> None:
        dialog = QFileDialog(self.dialog, "Choose llama-server or llama")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(self.choose_program)
        dialog.finished.connect(dialog.deleteLater)
        self._desk.last_folder.open(dialog, PROGRAMS)

    # --- The trial ----------------------------------------------------------------------

    def start(self) -> None:
        """Begin what the form says, if it can be done."""
        why = self.why_not()
        if why or self._program is None:
            self.view.set_ready(why)
            return
        form = self.view.form
        request = TryRequest(
            program=self._program.words,
            flags=self._command.server_flags(),
            tried=self._desk.session.wanted,
            workload=self._works[form.work()],
            runs=form.runs(),
            order=_ORDERS[form.order()],
            on_line=self._lines.put,
        )
        self._lines.take()
        self._is_own = True
        self.view.begin()
        self._timer.start()
        self._experiments.start(request)
        if not self._experiments.run.is_under_way:  # refused after all, and said
            self._leave("", is_warning=False)

    def _connect(self) -> None:
        view, run, session = self.view, self._experiments.run, self._desk.session
        view.start_requested.connect(self.start)
        view.cancel_requested.connect(self._experiments.cancel)
        view.shown_requested.connect(self._show_experiments)
        view.form.program_wanted.connect(self._on_program_wanted)
        view.form.changed.connect(self.refresh)
        run.progressed.connect(self._on_progressed)
        run.kept.connect(self._on_kept)
        run.ended.connect(self._on_ended)
        self._timer.timeout.connect(self._on_timer_timeout)
        self._command.refreshed.connect(self._on_something_changed)
        session.work_changed.connect(self._on_something_changed)
        self._experiments.busy_changed.connect(self._on_something_changed)
        self._desk.hardware_measured.connect(self._on_hardware_measured)

    def _plan(self) -> MemoryPlan | None:
        """What the settings wanted take, as far as it is known."""
        session = self._desk.session
        if session.plan is not None and session.planned == session.wanted:
            return session.plan
        applied = session.applied
        is_running = applied is not None and applied.config == session.wanted
        return applied.memory if applied is not None and is_running else None

    def _why_no_engine(self) -> str:
        session = self._desk.session
        if self._experiments.run.is_under_way:
            return _BUSY
        if session.applied is None or not session.wanted.model_path:
            return _NO_MODEL
        if self._desk.client.state is EngineState.DEAD:
            return _DEAD
        return _CHANGING if session.work else ""

    def _refresh_works(self) -> None:
        """Looking at every conversation of every work takes some milliseconds: once a context."""
        ctx_tok = self._desk.session.wanted.slot_cap_tok
        if ctx_tok != self._works_ctx_tok:
            self._works_ctx_tok = ctx_tok
            self._works = works_for(ctx_tok)
            self.view.form.set_works(work_choices(self._works))

    def _refresh_memory(self) -> None:
        session, form = self._desk.session, self.view.form
        is_loaded = session.model is not None and session.model.path == session.wanted.model_path
        offer = memory_offer(self._plan(), self._machine, is_loaded=is_loaded)
        form.set_memory(offer.sentence, is_short=offer.is_short)
        if not form.is_order_chosen:
            form.set_order(_ORDERS.index(Order.AFTER if offer.is_short else Order.TURNS))

    def _on_something_changed(self, _: object = None) -> None:
        if self.dialog.isVisible():
            self.refresh()

    def _on_hardware_measured(self, snapshots: tuple[MemorySnapshot, ...]) -> None:
        self._machine = snapshots
        if self.dialog.isVisible() and not self._is_own:
            self._refresh_memory()

    def _on_progressed(self, share: float, sentence: str, left_s: float | None) -> None:
        if self._is_own:
            left = "" if left_s is None else duration_text(left_s)
            self.view.set_progress(share, sentence, left)

    def _on_kept(self, experiment: Experiment, _: object) -> None:
        if self._is_own:
            self.view.set_sheet(try_sheet(experiment))

    def _on_ended(self, end: RunEnd) -> None:
        if not self._is_own:
            return
        if end.experiment is not None:
            self.view.set_sheet(try_sheet(end.experiment))
        is_done = end.experiment is not None and end.experiment.state is State.DONE
        words = "Done; it is kept in the history of experiments." if is_done else end.sentence
        if end.is_stopped:
            words = "Stopped. The server is gone."
        self._leave(words, is_warning=not is_done and not end.is_stopped)

    def _leave(self, words: str, *, is_warning: bool) -> None:
        self._is_own = False
        self._timer.stop()
        self._on_timer_timeout()
        self.view.end(words, is_warning=is_warning)
        self.refresh()

    def _on_timer_timeout(self) -> None:
        self.view.append_log(self._lines.take())
