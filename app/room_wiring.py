"""What memory still holds, shown: answers of the engine, its slots, its memory by use."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject, QTimer

from app.desk import Desk
from app.room_finder import RoomFinder
from app.room_words import (
    ASKING,
    ENGINE_GONE,
    NO_MODEL,
    RESTING,
    WAITING,
    room_fits,
    use_values,
    waiting_fits,
)
from app.slot_watch import SlotWatch
from engine_bridge.engine_state import EngineState
from engine_bridge.memory_plan import MemoryPlan
from engine_bridge.metrics.memory_table import memory_tables
from engine_bridge.metrics.snapshot import MemorySnapshot
from engine_bridge.protocol import Applied, DeviceFacts, Hello, MemoryMeasured
from widgets.room_panel import RoomPanel

# Figures that change more often cannot be read.
_SLOTS_EVERY_MS = 250


class RoomWiring(QObject):
    """Keeps the page up to date while it is seen."""

    def __init__(self, desk: Desk, panel: RoomPanel, parent: QObject) -> None:
        """Follow ``desk``."""
        super().__init__(parent)
        self._desk = desk
        self._panel = panel
        self._watch = SlotWatch()
        self._snapshots: tuple[MemorySnapshot, ...] = ()
        self._devices: tuple[DeviceFacts, ...] = ()
        self._caches_bytes = 0
        self._dry_run: MemoryPlan | None = None
        self.finder = RoomFinder(desk.session, desk.client, self)
        self._slots_timer = QTimer(self)
        self._slots_timer.setSingleShot(True)
        self._slots_timer.setInterval(_SLOTS_EVERY_MS)
        self._slots_timer.timeout.connect(self._show_slots)
        panel.seen_changed.connect(self._on_seen_changed)
        panel.fits.use_requested.connect(self._on_use_requested)
        self.finder.changed.connect(self._on_answers_changed)
        desk.client.state_changed.connect(lambda _: self._on_answers_changed())
        desk.client.event_received.connect(self._on_event_received)
        desk.client.engine_died.connect(self._on_engine_died)
        desk.hardware_measured.connect(self._on_hardware_measured)
        desk.session.plan_changed.connect(self._on_plan_changed)
        desk.session.applied_changed.connect(self._on_applied_changed)
        self._show_all()

    # --- What came in -------------------------------------------------------------------

    def _on_seen_changed(self, is_seen: bool) -> None:
        self.finder.set_seen(is_seen)
        if is_seen:
            self._show_all()
        else:
            self._slots_timer.stop()

    def _on_answers_changed(self) -> None:
        if self._panel.is_seen:
            self._show_fits()

    def _on_event_received(self, event: object) -> None:
        if isinstance(event, (Hello, MemoryMeasured)):
            self._devices = event.devices
        if isinstance(event, MemoryMeasured):
            self._caches_bytes = event.caches
        is_about_slots = self._watch.fold(event)
        if is_about_slots and self._panel.is_seen and not self._slots_timer.isActive():
            self._slots_timer.start()

    def _on_engine_died(self, _: object) -> None:
        self._watch.forget()
        self._dry_run = None
        self._caches_bytes = 0
        if self._panel.is_seen:
            self._show_all()

    def _on_hardware_measured(self, snapshots: tuple[MemorySnapshot, ...]) -> None:
        self._snapshots = snapshots
        if self._panel.is_seen:
            self._show_memory()
            self.finder.refresh()

    def _on_plan_changed(self, plan: MemoryPlan | None) -> None:
        """Remember the dry run of what runs: it was made before anything was allocated."""
        applied = self._desk.session.applied
        is_known = plan is not None and plan.effective is not None
        if applied is not None and is_known and self._desk.session.planned == applied.config:
            self._dry_run = plan

    def _on_applied_changed(self, applied: Applied | None) -> None:
        self._dry_run = None
        if self._panel.is_seen:
            self._show_memory()

    def _on_use_requested(self, key: str) -> None:
        found = self.finder.found
        if found is None or found.room is None or not self.finder.is_current:
            return
        values = use_values(key, found.room)
        if values:
            self._desk.session.want(dict(values))

    # --- What goes out ------------------------------------------------------------------

    def _show_all(self) -> None:
        self._show_fits()
        self._show_slots()
        self._show_memory()

    def _show_fits(self) -> None:
        fits, finder = self._panel.fits, self.finder
        if self._desk.client.state is EngineState.DEAD:
            fits.show_fits((), ENGINE_GONE, is_warning=self._desk.hello is not None)
            return
        applied = self._desk.session.applied
        if applied is None:
            fits.show_fits((), NO_MODEL)
            return
        found, config = finder.found, finder.found_config
        if found is None or config is None:
            fits.show_fits(waiting_fits(), ASKING if finder.is_asking else RESTING)
        elif found.room is None:
            message = "" if found.problem is None else found.problem.message
            fits.show_fits(waiting_fits(), message, is_warning=True)
        else:
            answers = room_fits(found.room, config, applied.model)
            if finder.is_current:
                fits.show_fits(answers)
            else:  # nothing to be set by mistake
                fits.show_fits([replace(answer, use="") for answer in answers], WAITING)

    def _show_slots(self) -> None:
        open_now = {each.id: each for each in self._desk.chats.conversations()}

        def title_of(name: str) -> str:
            return open_now[name].title if name in open_now else ""

        self._panel.slots.set_pool(self._watch.pool(title_of))

    def _show_memory(self) -> None:
        applied = self._desk.session.applied
        is_alive = self._desk.client.state is not EngineState.DEAD
        plan = applied.memory if applied is not None and is_alive else None
        if plan is not None and self._dry_run is not None:
            plan = self._dry_run
        tables = memory_tables(plan, self._snapshots, self._devices, self._caches_bytes)
        self._panel.memory.show_tables(tables)
