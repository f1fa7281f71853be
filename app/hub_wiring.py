"""Between the hub and its view: what is searched, opened, judged and downloaded."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.desk import Desk
from app.hub_asking import HubAsking
from app.hub_download import HubDownload
from app.hub_words import hit_of, search_of, sheet_of
from app.library.hub_filters import HubFound
from app.library.hub_found_words import found_words
from app.library.hub_questions import (
    Answer,
    DownloadFiles,
    HubFailed,
    JudgeModels,
    ModelJudged,
    ModelsFound,
    OpenRepository,
    RepositoryOpened,
    SearchHub,
)
from app.library.hub_shapes import HubRepository, Judged, Quantisation
from app.worker import Worker
from engine_bridge.settings.config import EngineConfig
from widgets.hub_rows import DownloadRow, HubWish
from widgets.hub_view import HubView

_ASKING, _OPENING = "Asking the hub …", "Opening {} …"


class HubWiring(QObject):
    """Opens the view, and goes on downloading when it is closed.

    Signals:
        downloaded: Path (str) of a model that has arrived.
    """

    downloaded = Signal(str)

    def __init__(self, desk: Desk, window: QWidget, load: Callable[[str], None]) -> None:
        """Ask nothing yet; ``load`` loads a path."""
        super().__init__(window)
        self._desk = desk
        self._window = window
        self._load = load
        self._view: HubView | None = None
        self._asked, self._before, self._found = SearchHub(""), HubFound(), HubFound()
        self._repository: HubRepository | None = None
        self._judged: dict[str, Judged] = {}
        self._waiting: tuple[Quantisation, ...] = ()
        self._row: DownloadRow | None = None
        self._searching, self._opening = HubAsking(self), HubAsking(self)
        self._judging = HubAsking(self)
        self._searching.answered.connect(self._on_found)
        self._opening.answered.connect(self._on_opened)
        self._judging.answered.connect(self._on_judged)
        self._judging.ended.connect(self._on_judging_ended)
        self.download = HubDownload(self)
        self.download.changed.connect(self._on_download_changed)
        self.download.finished.connect(self.downloaded)
        self._deleting: Worker | None = None

    @property
    def view(self) -> HubView | None:
        """The view while it is open."""
        return self._view

    def open(self, repo: str = "") -> None:
        """Show the view with ``repo``; without one what is downloaded most stands there first."""
        if self._view is not None:
            self._view.raise_()
            self._view.activateWindow()
            if repo:
                self._show_repository(self._view, repo)
            return
        view = HubView(self._window)
        self._view = view
        view.search_wanted.connect(self._on_search_wanted)
        view.finder.more_wanted.connect(self._on_more_wanted)
        view.repo_chosen.connect(self._on_repo_chosen)
        view.quant_chosen.connect(self._on_quant_chosen)
        view.judge_all_wanted.connect(self._on_judge_all_wanted)
        view.download_wanted.connect(self._on_download_wanted)
        view.strip.pause_wanted.connect(self.download.pause)
        view.strip.resume_wanted.connect(self.download.resume)
        view.strip.cancel_wanted.connect(self.cancel_download)
        view.strip.load_wanted.connect(self._on_load_wanted)
        view.finished.connect(self._on_closed)
        if self._row is not None:
            view.strip.show_download(self._row)
        view.show()
        self._show_repository(view, repo)

    def close(self) -> None:
        """End what is under way; a download goes on at its place the next time."""
        for asking in (self._searching, self._opening, self._judging):
            asking.close()
        self.download.close()
        if self._deleting is not None:
            self._deleting.close()
        if self._view is not None:
            self._view.reject()

    def cancel_download(self) -> None:
        """Give the download up, and delete what is here of it."""
        question = self.download.cancel()
        self._row = None
        if self._view is not None:
            self._view.strip.hide()
        if question is not None:
            if self._deleting is None:
                self._deleting = Worker("delete a download", self)
            self._deleting.do(partial(_forget, question))

    # --- What is found ------------------------------------------------------------------

    def _show_repository(self, view: HubView, repo: str) -> None:
        view.finder.search.setText(repo)
        self._on_search_wanted(view.finder.wish())

    def _on_search_wanted(self, wish: HubWish) -> None:
        if self._view is None:
            return
        self._view.finder.set_status(_ASKING)
        self._asked = search_of(wish)
        self._before = self._found = HubFound()
        self._searching.ask(self._asked)
        words = wish.words
        if words.count("/") == 1 and " " not in words and not words.endswith("/"):
            self._on_repo_chosen(words)

    def _on_more_wanted(self) -> None:
        if self._view is not None and self._found.next:
            self._view.finder.set_status(_ASKING)
            self._before = self._found
            self._searching.ask(msgspec.structs.replace(self._asked, after=self._found.next))

    def _on_found(self, answer: Answer) -> None:
        if self._view is None:
            return
        finder, asked = self._view.finder, self._asked
        if isinstance(answer, ModelsFound):
            self._found = found = self._before.followed_by(answer.found, asked.sort)
            said = found_words(found, asked.filters, asked.sort, asked.words)
            can_go_on = found.is_done and bool(found.next)
            finder.show_hits([hit_of(each) for each in found.models], said, can_go_on=can_go_on)
            finder.filters.offer(found.architectures, found.quantisations)
        elif isinstance(answer, HubFailed) and self._found.looked_through:
            ended = msgspec.structs.replace(self._found, is_done=True)
            said = found_words(ended, asked.filters, asked.sort, asked.words)
            finder.set_status(f"{said.rstrip('.')}. {answer.sentence}", can_go_on=bool(ended.next))
        elif isinstance(answer, HubFailed):
            finder.show_fault(answer.sentence)

    def _on_repo_chosen(self, repo: str) -> None:
        if self._view is None or (self._repository is not None and self._repository.repo == repo):
            return
        self._repository, self._judged = None, {}
        self._judging.stop()
        self._view.show_sheet(None, _OPENING.format(repo))
        self._opening.ask(OpenRepository(repo))

    def _on_opened(self, answer: Answer) -> None:
        if self._view is None:
            return
        if isinstance(answer, HubFailed):
            self._view.show_sheet(None, answer.sentence)
        elif isinstance(answer, RepositoryOpened):
            self._repository = answer.repository
            self._show()
            self._on_quant_chosen(self._view.quant())

    # --- What is judged -----------------------------------------------------------------

    def _on_quant_chosen(self, name: str) -> None:
        model = self._model(name)
        if model is not None and name not in self._judged and model not in self._waiting:
            self._judge((model, *self._waiting))

    def _on_judge_all_wanted(self) -> None:
        if self._repository is not None:
            self._judge(
                tuple(m for m in self._repository.quantisations if m.name not in self._judged)
            )

    def _judge(self, models: tuple[Quantisation, ...]) -> None:
        """Judge these next, in this order."""
        whole = tuple(model for model in models if not model.missing_parts)
        if self._repository is None or not whole:
            return
        self._waiting = whole
        applied = self._desk.session.applied
        config = self._desk.session.wanted if applied is None else applied.config
        running = None if applied is None else applied.memory
        # Workers serve one program at a time, and files beside the model are of the one that runs.
        alone: dict[str, object] = {
            "rpc_servers": (), "lora": (), "mmproj_path": "", "draft_model_path": "",
            "spec_types": (),
        }  # fmt: skip
        judged_with: EngineConfig = config.with_values(alone)
        self._judging.ask(JudgeModels(self._repository, whole, judged_with, running))
        self._show()

    def _on_judged(self, answer: Answer) -> None:
        if isinstance(answer, ModelJudged):
            name = answer.judged.name
            self._judged[name] = answer.judged
            self._waiting = tuple(model for model in self._waiting if model.name != name)
            self._show()
        elif isinstance(answer, HubFailed):
            self._waiting = ()
            self._show(answer.sentence)

    def _on_judging_ended(self) -> None:
        if self._waiting:
            self._waiting = ()
            self._show()

    def _model(self, name: str) -> Quantisation | None:
        return None if self._repository is None else self._repository.quantisation(name)

    def _show(self, said: str = "") -> None:
        if self._view is not None and self._repository is not None:
            under_way = frozenset(model.name for model in self._waiting)
            sheet = sheet_of(self._repository, self._judged, under_way, self._asked.filters)
            self._view.show_sheet(sheet, said)

    # --- What is downloaded -------------------------------------------------------------

    def _on_download_wanted(self, name: str) -> None:
        model = self._model(name)
        if model is None or self._repository is None or self._view is None:
            return
        if self.download.is_under_way:
            self._view.show_sheet(
                sheet_of(self._repository, self._judged, frozenset()),
                "One download at a time: pause or cancel the other one first.",
            )
            return
        self.download.start(self._repository, model)

    def _on_download_changed(self, row: DownloadRow) -> None:
        self._row = row
        if self._view is not None:
            self._view.strip.show_download(row)

    def _on_load_wanted(self) -> None:
        path = self.download.path
        if self._view is not None:
            self._view.accept()
        if path:
            self._load(path)

    def _on_closed(self) -> None:
        for asking in (self._searching, self._opening, self._judging):
            asking.stop()
        self._repository, self._judged, self._waiting = None, {}, ()
        if self._view is not None:
            self._view.deleteLater()
            self._view = None


def _forget(question: DownloadFiles) -> Path | None:
    """Delete what is here of an unfinished download; called in a thread of its own."""
    # Its client takes a second to be imported.
    from app.library.download import Download  # noqa: PLC0415
    from app.library.hub import Hub  # noqa: PLC0415

    hub = Hub()
    for file in question.files:
        Download(hub, question.repo, question.commit, file).forget()
    return None
