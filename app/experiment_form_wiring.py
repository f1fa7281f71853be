"""Between the form of experiments and what it is filled in for: the session, the chat in front.

What is typed is checked in a thread of its own, since a text of the user's may lie on a slow disk.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from PySide6.QtCore import QEvent, QObject, QTimer, Signal
from PySide6.QtWidgets import QFileDialog

from app.desk import Desk
from app.draft_wiring import DraftWiring
from app.experiment_estimate import Engine
from app.experiment_fields import FormError
from app.experiment_form import read_form
from app.experiment_offers import offers_for
from app.experiment_reading import Checked, Situation
from app.experiments.experiment import Kind
from app.experiments.replay import replay_of
from app.experiments.workload import Workload
from app.experiments.workload_error import WorkloadError
from app.figures import bytes_text
from app.last_folder import ATTACHMENTS
from app.worker import Worker
from engine_bridge.metrics.observations import run_settings
from engine_bridge.settings.table import SETTINGS
from widgets.chat_tabs import ChatTabs
from widgets.experiments.experiment_form import ExperimentForm
from widgets.experiments.form_fields import FormOffers, Offer
from widgets.experiments.form_values import FormValues

# What is typed is looked at once the fingers rest.
_CHECK_MS = 250
_REFRESH_MS = 50
_BUSY = "An experiment is under way. Cancel it above, or wait for its end."
_Found: TypeAlias = Checked | Exception | None
_FILTER = "Text, workload or conversation (*.txt *.md *.json *.csv *.py);;All files (*)"


class ExperimentFormWiring(QObject):
    """Says what the form offers, what is wrong in it, and what it asks for.

    Signals:
        request_ready: A ``Request`` that is to begin.
    """

    request_ready = Signal(object)

    def __init__(
        self,
        desk: Desk,
        form: ExperimentForm,
        tabs: ChatTabs,
        is_busy: Callable[[], bool],
        parent: QObject,
    ) -> None:
        """Follow ``desk`` and ``tabs``; ``is_busy`` says whether an experiment is under way."""
        super().__init__(parent)
        self._desk = desk
        self._form = form
        self._tabs = tabs
        self._is_busy = is_busy
        self._worker = Worker("experiment form", self)
        self._situation = Situation(None, desk.session.wanted)
        self._asked = 0
        # Which question is the one of Start; nothing but another Start goes before its answer.
        self._start_asked = 0
        self._drafts: DraftWiring | None = None
        self._has_looked = False
        self._check_soon = QTimer(self, singleShot=True, interval=_CHECK_MS)
        self._check_soon.timeout.connect(self._check)
        self._refresh_soon = QTimer(self, singleShot=True, interval=_REFRESH_MS)
        self._refresh_soon.timeout.connect(self.refresh)
        form.edited.connect(self._on_edited)
        form.start_wanted.connect(self._on_start_wanted)
        form.path_requested.connect(self._on_path_requested)
        form.installEventFilter(self)
        session = desk.session
        for signal in (
            session.applied_changed, session.wanted_changed, desk.measurements.changed,
            tabs.current_changed, desk.chats.answer_finished, desk.chats.answer_started,
        ):  # fmt: skip
            signal.connect(self._on_changed)
        self.refresh()

    def follow_drafts(self, drafts: DraftWiring) -> None:
        """Offer the draft models that ``drafts`` finds; they are looked for once they are seen."""
        self._drafts = drafts
        drafts.fitting_changed.connect(self._on_changed)

    def refresh(self) -> None:
        """Offer what there is now, and look at what was typed again."""
        if self._is_busy():
            # The settings are those of the experiment meanwhile, and no choice of the user's.
            offers = offers_for(self._situation, self._fitting())
            self._show(FormOffers(
                offers.sources, offers.usual, offers.choices, offers.notes, offers.drafts, _BUSY
            ))  # fmt: skip
            return
        self._situation = self._situation_now()
        self._show(offers_for(self._situation, self._fitting()))
        self._check()

    def close(self) -> None:
        """Look at nothing any more; waits for nothing."""
        self._check_soon.stop()
        self._refresh_soon.stop()
        self._worker.close()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """What changed while nobody saw the form is told when somebody does."""
        if watched is self._form and event.type() == QEvent.Type.Show:
            self._has_looked = False
            self._refresh_soon.start()
        return super().eventFilter(watched, event)

    # --- Inside -------------------------------------------------------------------------

    def _on_edited(self, values: FormValues) -> None:
        self._check_soon.start()
        if values.kind == Kind.TUNE and not self._has_looked:
            self._refresh_soon.start()

    def _fitting(self) -> tuple[Offer, ...]:
        """Draft models for the form; the first time somebody sees it they are looked for."""
        if self._drafts is None or self._form.values().kind != Kind.TUNE:
            return ()
        if not self._has_looked and self._form.isVisible():
            self._has_looked = True
            self._drafts.look()
        return tuple(
            Offer(entry.path, entry.name, bytes_text(entry.size_bytes))
            for entry in self._drafts.fitting()
        )

    def _on_changed(self, *_: object) -> None:
        if self._form.isVisible() and not self._refresh_soon.isActive():
            self._refresh_soon.start()

    def _show(self, offers: FormOffers) -> None:
        self._form.set_offers(offers)
        config = self._situation.running or self._situation.wanted
        self._form.set_now(
            {row.key: row.domain.format(getattr(config, row.key)) for row in SETTINGS}
        )

    def _situation_now(self) -> Situation:
        session = self._desk.session
        applied = session.applied
        replay, why_not = self._replay()
        if applied is None:
            return Situation(None, session.wanted, replay=replay, why_no_replay=why_not)
        engine = Engine(
            self._desk.measurements.predictor(),
            run_settings(applied.config, applied.effective),
            applied.effective.slots,
        )
        return Situation(
            applied.config,
            session.wanted,
            model=session.model,
            memory=applied.memory,
            engine=engine,
            replay=replay,
            why_no_replay=why_not,
        )

    def _replay(self) -> tuple[Workload | None, str]:
        """The conversation in front as a workload, or why it is none."""
        try:
            conversation = self._desk.chats.conversation(self._tabs.current_id())
            return replay_of(conversation), ""
        except WorkloadError as error:
            return None, str(error)
        except KeyError:
            return None, "No conversation is open."

    def _check(self) -> None:
        if self._start_asked:
            return  # what is said to Start is looked at again behind it
        if self._form.isVisible() and not self._is_busy():
            self._ask(self._form.values(), self._on_checked)

    def _on_start_wanted(self, values: FormValues) -> None:
        if not self._is_busy():
            if self._refresh_soon.isActive():  # what has just changed counts already
                self._situation = self._situation_now()
            self._start_asked = self._ask(values, self._on_checked_for_start)

    def _ask(self, values: FormValues, then: Callable[[Checked | FormError], None]) -> int:
        """Have ``values`` looked at; what was asked before is of no interest any more.

        Returns:
            The number of this question.
        """
        self._check_soon.stop()
        self._asked += 1
        self._worker.do(
            partial(self._read, self._asked, values, self._situation),
            then=partial(self._on_read, self._asked, then),
        )
        return self._asked

    def _read(self, number: int, values: FormValues, situation: Situation) -> _Found:
        """Called in the worker's thread."""
        if number != self._asked:
            return None
        try:
            return read_form(values, situation)
        except Exception as error:  # a fault of the program is raised where it is seen
            return error

    def _on_read(
        self,
        number: int,
        then: Callable[[Checked | FormError], None],
        found: _Found,
    ) -> None:
        if number == self._start_asked:
            self._start_asked = 0
            self._check_soon.start()  # for what was typed or changed meanwhile
        if isinstance(found, Exception) and not isinstance(found, FormError):
            raise found
        if number == self._asked and found is not None:
            then(found)

    def _on_checked(self, found: Checked | FormError) -> None:
        if isinstance(found, FormError):
            self._form.set_checked(found.problems, {}, "")
        else:
            self._form.set_checked({}, found.notes, found.estimate)

    def _on_checked_for_start(self, found: Checked | FormError) -> None:
        self._on_checked(found)
        if isinstance(found, FormError):
            self._form.tell_all()
        elif not self._is_busy():
            self.request_ready.emit(found.request)

    def _on_path_requested(self, name: str) -> None:
        dialog = QFileDialog(self._form.window(), "Choose a file", "", _FILTER)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(partial(self._form.set_text, name))
        dialog.finished.connect(dialog.deleteLater)
        self._desk.last_folder.open(dialog, ATTACHMENTS)
