"""Between the hub and the view of drafts: what is looked for, downloaded and then drafts."""

from __future__ import annotations

import os
from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.desk import Desk
from app.draft_words import FILE, values_of_choice
from app.hub_asking import HubAsking
from app.hub_draft_words import draft_row_of
from app.hub_wiring import HubWiring
from app.library.hub_draft_shapes import HubDraft
from app.library.hub_draft_words import searched_words
from app.library.hub_questions import Answer, DraftFound, DraftsDone, FindDrafts, HubFailed
from app.library.hub_shapes import HubRepository
from widgets.hub_drafts_view import HubDraftsView
from widgets.hub_rows import DownloadRow

_LOOKING = "Looking for relatives of the model …"
_STOPPED = "Stopped."
_ANOTHER = (
    "Another model is loaded than the one that it was found for. Load that one, and choose the "
    "file in the draft menu."
)
_BUSY = "One download at a time: pause or cancel the other one first."


class HubDraftsWiring(QObject):
    """Opens the view for the model in use; downloads are the hub's, and go on when it is closed."""

    def __init__(
        self, desk: Desk, window: QWidget, hub: HubWiring, open_repo: Callable[[str], None]
    ) -> None:
        """Ask nothing yet.

        Args:
            desk: Whose model is drafted for.
            window: Parent of the view.
            hub: Whose download it is.
            open_repo: Opens a repository in the view of the hub.
        """
        super().__init__(window)
        self._session = desk.session
        self._window = window
        self._hub = hub
        self._open_repo = open_repo
        self._view: HubDraftsView | None = None
        self._target = b""
        self._found: list[HubDraft] = []
        self._loading: HubDraft | None = None
        self._loading_for = b""
        self._row: DownloadRow | None = None
        self._asking = HubAsking(self)
        self._asking.answered.connect(self._on_answered)
        self._asking.ended.connect(self._on_ended)
        hub.download.changed.connect(self._on_download_changed)

    @property
    def view(self) -> HubDraftsView | None:
        """The view while it is open."""
        return self._view

    def open(self) -> None:
        """Show the view and look for drafts for the model in use; nothing without one."""
        model = self._session.model
        if model is None:
            return
        if self._view is not None:
            self._view.raise_()
            self._view.activateWindow()
        else:
            self._view = self._new_view()
            self._view.show()
        if os.fsencode(model.path) != self._target or not self._found:
            self._look()

    def close(self) -> None:
        """End what is under way."""
        self._asking.close()
        if self._view is not None:
            self._view.reject()

    # --- What is found ------------------------------------------------------------------

    def _new_view(self) -> HubDraftsView:
        view = HubDraftsView(self._window)
        view.search_wanted.connect(self._look)
        view.stop_wanted.connect(self._on_stop_wanted)
        view.repo_wanted.connect(self._open_repo)
        view.download_wanted.connect(self._on_download_wanted)
        view.strip.pause_wanted.connect(self._hub.download.pause)
        view.strip.resume_wanted.connect(self._hub.download.resume)
        view.strip.cancel_wanted.connect(self._on_cancel_wanted)
        view.strip.load_wanted.connect(self._on_use_wanted)
        view.finished.connect(self._on_closed)
        if self._row is not None:
            view.strip.show_download(self._row)
        return view

    def _look(self) -> None:
        model = self._session.model
        if model is None or self._view is None:
            return
        self._target, self._found = os.fsencode(model.path), []
        self._view.set_target(model.name)
        self._view.show_rows(())
        self._view.set_status(_LOOKING)
        self._view.set_searching(is_searching=True)
        self._asking.ask(FindDrafts(self._target))

    def _on_answered(self, answer: Answer) -> None:
        if self._view is None:
            return
        if isinstance(answer, DraftFound):
            self._found.append(answer.draft)
            self._view.show_rows([draft_row_of(draft) for draft in self._found])
            self._view.set_status(f"Looked into {answer.draft.repo} …")
        elif isinstance(answer, DraftsDone):
            able = sum(draft.can_draft for draft in self._found)
            said = searched_words(answer.ended, able)
            self._view.set_status(said, is_problem=bool(answer.ended.problem))
        elif isinstance(answer, HubFailed):
            self._view.set_status(answer.sentence, is_problem=True)

    def _on_ended(self) -> None:
        if self._view is not None:
            self._view.set_searching(is_searching=False)

    def _on_stop_wanted(self) -> None:
        self._asking.stop()
        if self._view is not None:
            self._view.set_status(_STOPPED)
            self._view.set_searching(is_searching=False)

    # --- What is downloaded -------------------------------------------------------------

    def _on_download_wanted(self, number: int) -> None:
        if self._view is None or not 0 <= number < len(self._found):
            return
        if self._hub.download.is_under_way:
            self._view.set_status(_BUSY, is_problem=True)
            return
        draft = self._found[number]
        self._loading, self._loading_for = draft, self._target
        repository = HubRepository(draft.repo, draft.commit, (draft.model,))
        self._hub.download.start(repository, draft.model)

    def _on_download_changed(self, row: DownloadRow) -> None:
        draft = self._loading
        if draft is None or row.name != f"{draft.repo} {draft.model.name}":
            # The view of the hub began another one.
            self._loading = self._row = None
            if self._view is not None:
                self._view.strip.hide()
            return
        self._row = row
        if self._view is not None:
            self._view.strip.show_download(row)

    def _on_cancel_wanted(self) -> None:
        self._loading = self._row = None
        self._hub.cancel_download()
        if self._view is not None:
            self._view.strip.hide()

    def _on_use_wanted(self) -> None:
        """Draft with what was downloaded."""
        draft, path = self._loading, self._hub.download.path
        model = self._session.model
        if draft is None or not path:
            return
        if model is None or os.fsencode(model.path) != self._loading_for:
            if self._view is not None:
                self._view.set_status(_ANOTHER, is_problem=True)
            return
        values = values_of_choice(FILE, path, self._session.wanted, draft.kind)
        self._session.want(values)
        self._loading = self._row = None
        if self._view is not None:
            self._view.accept()

    def _on_closed(self) -> None:
        self._asking.stop()
        if self._view is not None:
            self._view.deleteLater()
            self._view = None
        self._found = []
