"""The experiments of the window: list, form, run and result, brought together.

The user's settings are in force again when a run has ended, which is said; what it measured is in
the history by then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication

from app.desk import Desk
from app.draft_wiring import DraftWiring
from app.experiment_apply import ExperimentApply
from app.experiment_form_wiring import ExperimentFormWiring
from app.experiment_request import ProbeRequest, Request
from app.experiment_resume import resume_request
from app.experiment_rigs import rigged
from app.experiment_run import ExperimentRun, RunEnd
from app.experiments.experiment import Experiment, Kind
from app.experiments.terminal import SENTENCES, duration_text
from app.experiments.tune_result import best_cell
from app.experiments.window_port import WindowPort
from app.history_wiring import HistoryWiring
from app.result_dressing import dressed_sheet
from app.result_sheets import sheet_of
from app.storage.folders import own_folders
from app.try_request import TryRequest
from app.worker import Worker
from engine_bridge.engine_state import EngineState
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.table import SETTINGS
from resources.tokens import Palette
from widgets.chat_tabs import ChatTabs
from widgets.experiments.experiment_form import ExperimentForm
from widgets.experiments.experiments_page import ExperimentsPage
from widgets.experiments.history_view import HistoryView
from widgets.experiments.kind_words import kind_name
from widgets.experiments.result_sheet import ResultSheet
from widgets.experiments.result_view import ResultView

KINDS = ("bench", "sweep", "compare", "users", "tune", "quality", "probe")
"""What can be set up in the window."""

_HISTORY_WAIT_S = 2.0
_UNDO, _SHOW, _BEST = "undo", "show", "best"
_BUSY = "An experiment is under way. Cancel it first, or wait for its end."
_BACK = "Your settings are in force again."
_GONE = "The engine is not running."


class ExperimentsWiring(QObject):
    """All of the experiments' page.

    Attributes:
        page: What the window shows.
        run: The experiment under way.
        history: The list's own wiring.

    Signals:
        shown: The page is to come to the front.
        busy_changed: Whether an experiment is under way (bool).
    """

    shown = Signal()
    busy_changed = Signal(bool)

    def __init__(
        self,
        desk: Desk,
        tabs: ChatTabs,
        say: Callable[[str], None],
        parent: QObject,
        history_folder: Path | None = None,
    ) -> None:
        """Make the page.

        Args:
            desk: Whose engine is measured.
            tabs: Whose conversation in front can be replayed.
            say: Shows a sentence for a few seconds.
            parent: Owner.
            history_folder: Of the history; None takes that of this user.
        """
        super().__init__(parent)
        self._desk = desk
        self._say = say
        self.page = ExperimentsPage(HistoryView(), ExperimentForm(SETTINGS, KINDS), ResultView())
        folder = history_folder or own_folders().history
        self.history = HistoryWiring(
            self.page.history, folder, say, self, last_folder=desk.last_folder
        )
        self.run = ExperimentRun(sheet_of, self)
        self._form = ExperimentFormWiring(
            desk, self.page.form, tabs, lambda: self.run.is_under_way, self
        )
        self._apply = ExperimentApply(desk.session, self)
        self._sheets = Worker("experiment sheets", self)
        # What runs, as it is shown; and whether that, and not an older one, is in front.
        self._running: tuple[Experiment, ResultSheet] | None = None
        self._shown: Experiment | None = None
        self._is_following = False
        self._kind = ""
        self._is_end_told = False  # by the strip, so that what is next is offered there
        self._best: Mapping[str, object] | None = None  # what the last tuning found
        self._before: EngineConfig | None = None  # what ran when the experiment began
        self._connect()

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self.page.set_palette(palette)

    def follow_drafts(self, drafts: DraftWiring) -> None:
        """Offer the tuner the draft models that ``drafts`` finds."""
        self._form.follow_drafts(drafts)

    def close(self) -> None:
        """The window closes: stop what runs, and let go of the history; waits two seconds at most.

        What was measured is kept; a run that was cut short by this counts as stopped, or as cut
        where not even that could be written.
        """
        self._form.close()
        self.run.shut()
        self._sheets.close()
        self.history.close(_HISTORY_WAIT_S)

    # --- What can be done ---------------------------------------------------------------

    def show_page(self) -> None:
        """Bring the page to the front, as it is."""
        self.shown.emit()

    def set_up(self, kind: str) -> None:
        """Bring the form to the front for that kind."""
        if kind not in KINDS:
            self._say(f"{kind_name(kind)} is run from the command line: tunedeck {kind} --help.")
            return
        self.shown.emit()
        self.page.show_form(kind)

    def cancel(self) -> None:
        """End what is under way in good order."""
        if self.run.is_under_way:
            self.run.cancel()
            self.page.strip.set_stopping()

    def why_no_cancel(self) -> str:
        """Why there is nothing to cancel; empty where there is."""
        if not self.run.is_under_way:
            return "No experiment is under way."
        return "It is being stopped already." if self.run.is_stopping else ""

    def start(self, request: Request) -> None:
        """Begin ``request``, unless something is under way or no model runs."""
        applied = self._desk.session.applied
        if self.run.is_under_way:
            self._say(_BUSY)
        elif isinstance(request, ProbeRequest | TryRequest) and request.config is None:
            self._begin(request)
        elif applied is None or self._desk.client.hello is None:
            self._say("No model is loaded. Choose one first.")
        elif self._desk.session.work:
            self._say("The engine is being changed. Start the experiment once that is done.")
        else:
            self._begin(request)

    # --- Inside -------------------------------------------------------------------------

    def _connect(self) -> None:
        page, run = self.page, self.run
        page.history.new_wanted.connect(self.set_up)
        self.history.experiment_read.connect(self._on_experiment_read)
        self.history.resume_read.connect(self._on_resume_read)
        self._form.request_ready.connect(self.start)
        page.result.apply_wanted.connect(self._on_apply_wanted)
        page.result.resume_wanted.connect(self._on_resume_wanted)
        page.strip.cancel_requested.connect(self.cancel)
        page.strip.shown_requested.connect(self._show_running)
        page.strip.action_requested.connect(self._on_action_requested)
        page.screen_changed.connect(self._on_screen_changed)
        run.begun.connect(self._on_begun)
        run.progressed.connect(self._on_progressed)
        run.kept.connect(self._on_kept)
        run.said.connect(self._say)
        run.ended.connect(self._on_ended)
        self._apply.told.connect(self._on_apply_told)
        for changed in (self._desk.session.applied_changed, self._desk.session.wanted_changed):
            changed.connect(self._tell_running)

    def _begin(self, request: Request) -> None:
        self._kind = kind_name(str(request.kind))
        self._before = None
        self._running = None
        work, rig = rigged(request, self._desk, self._port, self.run)
        self.run.start(work, rig, self.history.store.keep)

    def _port(self) -> WindowPort:
        """A way to the window's engine, which is the experiment's from now on."""
        desk = self._desk
        applied = desk.session.applied
        self._before = None if applied is None else applied.config
        measured = desk.meters.bandwidth.host_peak
        peak_bytes_per_s = 0.0 if measured is None else measured.peak_bytes_per_s
        port = WindowPort(desk.client, desk.session, desk.kept, peak_bytes_per_s, self.run)
        port.is_peak_lower_bound = measured is not None and measured.is_lower_bound
        return port

    def _on_begun(self) -> None:
        self._is_end_told = False
        self.page.strip.begin(self._kind)
        self.page.result.set_sheet(None)
        self._follow(True)
        self.page.show_result()
        self._form.refresh()
        self.busy_changed.emit(True)

    def _on_progressed(self, share: float, sentence: str, left_s: float | None) -> None:
        left = "" if left_s is None else duration_text(left_s)
        self.page.strip.set_progress(share, sentence, left)

    def _on_kept(self, experiment: Experiment, sheet: ResultSheet) -> None:
        self._running = (experiment, sheet)
        self.history.note_kept()
        if self._is_following:
            self._show(experiment, sheet)

    def _on_ended(self, end: RunEnd) -> None:
        experiment = end.experiment
        is_warning = bool(end.sentence) and not end.is_stopped
        words = _end_words(self._kind, end, self._back_words())
        self.page.strip.end(words, is_warning=is_warning)
        if experiment is not None:
            self._sheets.do(
                partial(dressed_sheet, self.history.store, experiment),
                then=partial(self._on_last_sheet, experiment),
            )
        elif self._is_following:
            # Nothing was measured, so there is nothing to look at.
            self.page.show_form()
        self._form.refresh()
        self.busy_changed.emit(False)
        self._offer_what_is_next(experiment)
        QApplication.alert(self.page.window())
        if end.fault is not None:
            raise end.fault

    def _back_words(self) -> str:
        """What became of the user's settings; empty where they never were others."""
        applied, before = self._desk.session.applied, self._before
        if before is None:
            return ""
        if applied is None or self._desk.client.state is EngineState.DEAD:
            return _GONE
        return _BACK if applied.config == before else ""

    def _offer_what_is_next(self, experiment: Experiment | None) -> None:
        """After the end: a look at it, and the best of a tuning to be applied."""
        best = None if experiment is None else best_cell(experiment)
        self._best = None if best is None else best.config
        self._is_end_told = True
        self._offer_end()

    def _offer_end(self) -> None:
        offered = [(_BEST, "Apply the best")] if self._best is not None else []
        if self._running is not None and not self._is_following:
            offered.append((_SHOW, "Show"))
        self.page.strip.offer(*offered)

    def _on_last_sheet(self, experiment: Experiment, sheet: ResultSheet) -> None:
        if self.run.is_under_way:  # another one has begun meanwhile, and is what is shown
            return
        self._running = (experiment, sheet)
        if self._is_following:
            self._show(experiment, sheet)

    def _show_running(self) -> None:
        self._follow(True)
        if self._running is not None:
            self._show(*self._running)
        else:
            self.page.result.set_sheet(None)
        self.page.show_result()

    def _show(self, experiment: Experiment, sheet: ResultSheet) -> None:
        self._shown = experiment
        self.page.result.set_sheet(sheet)
        self._tell_running()

    def _tell_running(self, _: object = None) -> None:
        """What runs already need not be applied."""
        path = "" if self._shown is None else self._shown.subject.model_path
        self.page.result.set_running(self._apply.running_values(path))

    def _follow(self, is_following: bool) -> None:
        """Whether what is under way is in front; else the strip has the way to it."""
        self._is_following = is_following
        self.page.strip.show_it.setHidden(is_following)

    def _on_screen_changed(self) -> None:
        if not self.page.is_result_shown:
            self._follow(False)
        self._offer_again()

    def _offer_again(self) -> None:
        """Another screen is in front: the way to the one that ended is offered, or needs not be."""
        if self._is_end_told and self.page.strip.isVisibleTo(self.page):
            self._offer_end()

    def _on_experiment_read(self, experiment: Experiment) -> None:
        running = self._running
        if running is not None and running[0].key == experiment.key and self.run.is_under_way:
            self._show_running()
            return
        self._sheets.do(
            partial(dressed_sheet, self.history.store, experiment),
            then=partial(self._on_old_sheet, experiment),
        )

    def _on_old_sheet(self, experiment: Experiment, sheet: ResultSheet) -> None:
        self._follow(False)
        self._show(experiment, sheet)
        self.page.show_result()
        self._offer_again()

    def _on_resume_wanted(self) -> None:
        if self._shown is not None:
            self._on_resume_read(self._shown)

    def _on_resume_read(self, experiment: Experiment) -> None:
        applied = self._desk.session.applied
        try:
            request = resume_request(experiment, None if applied is None else applied.config)
        except SENTENCES as error:
            self._say(str(error))
            return
        self.start(request)

    def _on_apply_wanted(self, values: Mapping[str, object]) -> None:
        if self.run.is_under_way:
            self._say("An experiment is under way; apply settings when it has ended.")
            return
        path = "" if self._shown is None else self._shown.subject.model_path
        # Those of a comparison of caches are no more than the caches.
        self._apply.apply_over(values, path)

    def _on_apply_told(self, sentence: str, can_undo: bool) -> None:
        self._is_end_told = False
        self.page.strip.end(sentence)
        if can_undo:
            self.page.strip.offer((_UNDO, "Undo"))

    def _on_action_requested(self, key: str) -> None:
        if key == _UNDO and not self.run.is_under_way:
            self._apply.undo()
        elif key == _BEST and self._best is not None:
            path = "" if self._running is None else self._running[0].subject.model_path
            self._apply.apply(self._best, path)
        elif key == _SHOW:
            self.page.strip.end("")
            self._show_running()


def _end_words(kind: str, end: RunEnd, back: str) -> str:
    """What is said of an experiment that ended."""
    kept = "" if end.experiment is None else _kept_words(end.experiment)
    if end.is_stopped:
        return f"{kind} stopped; {kept or 'nothing was measured yet'}. {back}".rstrip()
    if end.sentence:
        kept = kept and f" {kept[0].upper()}{kept[1:]}."
        return f"{kind}: {end.sentence}{kept} {back}".rstrip()
    return f"{kind} done. {back}".rstrip()


def _kept_words(experiment: Experiment) -> str:
    runs = sum(len(cell.runs) for cell in experiment.cells)
    if not runs:
        # A cache's quality is no run; elsewhere these are what the engine said of a configuration.
        is_quality = experiment.kind is Kind.QUALITY
        has_more = is_quality and any(cell.extra for cell in experiment.cells)
        return "what was measured is kept" if has_more else ""
    return "the one run that had ended is kept" if runs == 1 else f"{runs:,} runs are kept"
