"""Between the engine's state and the top bar, the banner and the model menu."""

from __future__ import annotations

import time
from collections.abc import Mapping

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QWidget

from app.background import Task
from app.desk import Desk
from app.draft_wiring import DraftWiring
from app.folder_watching import FolderWatching
from app.hub_drafts_wiring import HubDraftsWiring
from app.kept_models import KeptModels, UnkeptModels
from app.library.demo_model import DemoModel, demo_model_path
from app.library.known_folders import list_cache_path
from app.library.model_list import ModelList
from app.lost_workers import LostWorkers
from app.memory_help import MemoryHelp
from app.model_bound import for_file
from app.model_files import ModelFiles
from app.picker_wiring import PickerWiring
from app.places_wiring import PlacesWiring
from app.template_sample_wiring import TemplateSampleWiring
from app.unused_gpu import UnusedGpu
from engine_bridge.engine_state import DeathKind, DeathReason, EngineState
from engine_bridge.model_facts import ModelFacts
from engine_bridge.protocol import UNASKED, Applied, Hello, Refused
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import DomainError
from engine_bridge.settings.rules import repair_words
from widgets.drop_target import is_model, wanted_path
from widgets.dropped_path import DroppedPath
from widgets.status_banner import StatusBanner
from widgets.top_bar import TopBar

# What the buttons of the banner do, by the id they carry.
_RESTART, _REPAIR, _OPEN, _RELOAD = "restart", "repair", "open", "reload"


class EngineWiring(QObject):
    """Loads models, shows progress, and tells of refusals and deaths with a way on."""

    def __init__(
        self,
        desk: Desk,
        top: TopBar,
        banner: StatusBanner,
        parent: QWidget,
        kept: KeptModels | None = None,
    ) -> None:
        """Connect the widgets to ``desk``.

        Args:
            desk: What they show.
            top: The bar on top.
            banner: Where refusals and deaths are told.
            parent: The window; GGUF files and folders may be dropped on it.
            kept: Recent models and the user's folders; None forgets them.
        """
        super().__init__(parent)
        self._desk = desk
        self._session = desk.session
        self._top = top
        self._banner = banner
        self._kept: KeptModels = kept or UnkeptModels()
        self._refused: Refused | None = None
        self._refused_config = desk.session.wanted
        self._refused_load: EngineConfig | None = None
        self._waiting: tuple[str, Mapping[str, object] | None] | None = None
        self._demo: Task | None = None
        desk.client.state_changed.connect(self._on_state_changed)
        desk.client.engine_died.connect(self._on_engine_died)
        desk.client.stall_suspected.connect(self._on_stall_suspected)
        desk.engine_said_hello.connect(self._on_engine_said_hello)
        self._session.applied_changed.connect(self._on_applied_changed)
        self._session.work_changed.connect(self._on_work_changed)
        self._session.load_progressed.connect(self._on_load_progressed)
        self._session.refused.connect(self._on_refused)
        self._session.model_lost.connect(self._on_model_lost)
        self._session.wanted_changed.connect(self._on_wanted_changed)
        desk.client.stall_ended.connect(banner.dismiss)
        top.model_open_requested.connect(self.ask_for_model)
        top.restart_requested.connect(self.restart)
        banner.action_requested.connect(self._on_action_requested)
        self.models = ModelList(list_cache_path(), self)
        self.picker = PickerWiring(
            desk, self.models, self._kept, parent, load=self.load, load_demo=self.load_demo
        )
        self.samples = TemplateSampleWiring(self.picker)
        self.watching = FolderWatching(self.models, self._kept, self)
        self.picker.opened.connect(lambda _: self.watching.start())
        self.picker.closed.connect(self.watching.stop)
        PlacesWiring(self.picker, self.models, self._kept, self.watching)
        self.files = ModelFiles(self)
        self.files.trouble_found.connect(self._on_file_trouble_found)
        self.files.trouble_ended.connect(self._on_file_trouble_ended)
        self.drafts = DraftWiring(desk, self.models, self._kept, top, self)
        hub = self.picker.hub
        self.hub_drafts = HubDraftsWiring(desk, parent, hub, open_repo=hub.open)
        self.drafts.hub_wanted.connect(self.hub_drafts.open)
        self.workers = LostWorkers(desk, banner, self, load=self.load_anew)
        if desk.kept is not None:  # a desk that remembers nothing would say it every time
            self.unused_gpu = UnusedGpu(desk, banner, self, desk.kept)
        self.memory_help = MemoryHelp(desk, banner, self, load=self.load)
        self.picker.refused.connect(
            lambda sentence: banner.show_problem(sentence, "", [(_OPEN, "Open a model file…")])
        )
        drops = DroppedPath(parent, wanted_path)
        drops.dropped.connect(self._on_path_dropped)
        parent.installEventFilter(self)
        top.set_model(None, None)
        top.set_state("starting")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """End with the window what must not outlive it."""
        if event.type() is QEvent.Type.Close:
            self.close()
        return super().eventFilter(watched, event)

    def close(self) -> None:
        """End the processes that list and look at models; waits at most a second for each."""
        self.picker.close()
        self.samples.close()
        self.watching.close()
        self.drafts.close()
        self.hub_drafts.close()
        self.memory_help.close()
        self.models.close()
        self.files.stop()

    # --- What the user does -------------------------------------------------------------

    def load(self, path: str, values: Mapping[str, object] | None = None) -> None:
        """Load the model at ``path``, as soon as the engine answers.

        Args:
            path: The file; of a split model any part.
            values: Settings to change with it.
        """
        self._banner.dismiss()
        try:
            EngineConfig.from_values({"model_path": path})
        except DomainError as error:
            self._banner.show_problem(str(error), "", [(_OPEN, "Open another file…")])
            return
        if self._desk.client.state in (EngineState.STARTING, EngineState.DEAD):
            self._waiting = (path, values)
            if self._desk.client.state is EngineState.DEAD:
                self._desk.client.restart()
            return
        self._session.load(path, values)

    def load_anew(self, path: str, values: Mapping[str, object]) -> None:
        """Load the model at ``path`` in a new engine: the one that runs may never answer."""
        self._waiting = (path, values)
        self._desk.client.restart()

    def ask_for_model(self) -> None:
        """Let the user choose a model."""
        self.picker.open()

    def load_demo(self) -> None:
        """Fetch the demo model if it is not here yet, and load it."""
        if self._demo is not None:
            return
        self._demo = Task(demo_model_path, self)
        self._demo.progressed.connect(self._on_load_progressed)
        self._demo.succeeded.connect(self._on_demo_succeeded)
        self._demo.failed.connect(self._on_demo_failed)
        self._top.set_state("loading")
        self._demo.start()

    def restart(self) -> None:
        """Start the engine anew; the model that ran is loaded again."""
        self._banner.dismiss()
        self._desk.client.restart()

    # --- What came in -------------------------------------------------------------------

    def _on_path_dropped(self, path: str) -> None:
        if is_model(path):
            self.load(path)
        else:
            self.picker.add_dropped(path)

    def _on_demo_succeeded(self, demo: DemoModel) -> None:
        self._demo = None
        self._top.set_progress(None, "")
        self.load(str(demo.path))

    def _on_demo_failed(self, error: Exception) -> None:
        self._demo = None
        self._top.set_progress(None, "")
        self._top.set_state(str(self._desk.client.state))
        self._banner.show_problem(str(error), "", [(_OPEN, "Open a model file…")])

    def _on_engine_said_hello(self, _: Hello) -> None:
        if self._waiting is not None:
            (path, values), self._waiting = self._waiting, None
            self._session.load(path, values)
        else:
            self._session.reload()

    def _on_state_changed(self, state: EngineState) -> None:
        is_fetching = self._demo is not None and state is EngineState.READY
        self._top.set_state("loading" if is_fetching else str(state))

    def _on_work_changed(self, work: str) -> None:
        if not work:
            self._top.set_progress(None, "")

    def _on_load_progressed(self, fraction: float, stage: str) -> None:
        self._top.set_progress(fraction, stage)

    def _on_applied_changed(self, applied: Applied | None) -> None:
        if applied is None:
            self._top.set_model(None, None)
            self._top.set_device("")
            self.files.stop()
            return
        is_anew = self.files.follow(applied)
        # What makes room for a load that is refused then comes back by itself: the refusal stays.
        if applied.request_id != UNASKED or self._refused is None:
            self._refused = None
            if not self.files.has_told(self._banner.sentence()):
                self._banner.dismiss()
        model = applied.model
        if model is None:
            return
        self._top.set_model(model.name, model.quantisation)
        self._top.set_device(self._device_words(applied, model))
        if is_anew:
            self._kept.note_model(model.path)

    def _on_file_trouble_found(self, sentence: str) -> None:
        actions = [(_RELOAD, "Reload"), (_OPEN, "Open another file…")]
        self._banner.show_problem(sentence, "", actions)

    def _on_file_trouble_ended(self, sentence: str) -> None:
        if self._banner.sentence() == sentence:
            self._banner.dismiss()

    def _device_words(self, applied: Applied, model: ModelFacts) -> str:
        hello = self._desk.hello
        gpus = [d for d in hello.devices if d.kind in ("gpu", "igpu")] if hello else []
        count = applied.effective.threads
        threads = f"{count} thread{'s' if count != 1 else ''}"
        layers = f"{applied.effective.n_gpu_layers}/{model.gpu_layers_max} layers"
        if not gpus:
            workers = [d.name for d in applied.memory.devices[:-1] if d.needed]
            return " · ".join([*(workers or ["CPU"]), *([layers] if workers else []), threads])
        return f"{gpus[0].description} · {gpus[0].backend} · {layers} · {threads}"

    def _on_refused(self, event: Refused) -> None:
        if event.is_cancelled:
            return
        self._refused, self._refused_config = event, self._session.wanted
        self._refused_load = self._session.tried
        actions = [(_REPAIR, repair_words(event.problem))] if event.problem.fix else []
        if event.command == "load":
            actions.append((_OPEN, "Open another file…"))
        self._banner.show_problem(event.problem.message, "", actions)

    def _on_model_lost(self, sentence: str) -> None:
        self._refused = None
        self._banner.show_problem(sentence, "", [(_OPEN, "Open a model file…")])

    def _on_wanted_changed(self, wanted: EngineConfig) -> None:
        """A refusal of other settings than these says nothing any more."""
        if self._refused is not None and self._refused_config != wanted:
            self._refused = None
            self._banner.dismiss()

    def _on_engine_died(self, reason: DeathReason) -> None:
        self._top.set_progress(None, "")
        self.files.stop()
        if reason.kind is DeathKind.REPLACED:
            return
        self._banner.show_problem(
            reason.sentence, _details(reason), [(_RESTART, "Restart the engine")]
        )

    def _on_stall_suspected(self, sentence: str) -> None:
        self._banner.show_problem(sentence, "", [(_RESTART, "Restart the engine")])

    def _on_action_requested(self, action: str) -> None:
        self._banner.dismiss()
        if action == _RESTART:
            self.restart()
        elif action == _OPEN:
            self.ask_for_model()
        elif action == _RELOAD and self._session.model is not None:
            self.load(self._session.model.path)
        elif action == _REPAIR and self._refused is not None:
            refused, self._refused = self._refused, None
            if refused.command == "load":
                self._load_repaired(refused.problem.fix)
            else:
                self._session.repair(refused.problem)
                self._session.apply()

    def _load_repaired(self, fix: Mapping[str, object]) -> None:
        """Load what was refused, with the settings that it was asked for with and ``fix``."""
        session, refused = self._session, self._refused_load
        values: dict[str, object] = {}
        if refused is not None and session.applied is not None:  # else they are wanted already
            start = for_file(session.base, refused.model_path)
            values = {key: getattr(refused, key) for key in refused.changed_from(start)}
            values.pop("model_path", None)
        session.load(session.load_path, values | dict(fix))


def _details(reason: DeathReason) -> str:
    """What the engine wrote, each line with its time: an old one is no cause of the end."""
    if not reason.stderr_times_s:
        return "\n".join(reason.stderr)
    lines = zip(reason.stderr, reason.stderr_times_s, strict=True)
    return "\n".join(
        f"{time.strftime('%H:%M:%S', time.localtime(at_s))}  {line}" for line, at_s in lines
    )
