"""Everything of the desk that is no widget: engine, session, chats, meters, hardware.

The window is one view of it; a test or a bench can be another.
"""

from __future__ import annotations

import time
from typing import Protocol

from PySide6.QtCore import QObject, QTimer, Signal

from app.chats import Chats
from app.conversation import Conversation
from app.keeping import Keeping
from app.kept_settings import KeptSettings
from app.last_folder import LastFolder
from app.measurements import Measurements
from app.request import Request
from app.session import Session
from app.storage.conversation_store import ConversationStore
from app.storage.measurement_store import MeasurementStore
from engine_bridge.client import EngineClient
from engine_bridge.hardware.borrowed import NOTHING, Borrowed
from engine_bridge.hardware.machine import Sampler
from engine_bridge.memory_plan import MemoryPlan
from engine_bridge.metrics.board_activity import BoardActivity
from engine_bridge.metrics.core_crowding import CoreUse
from engine_bridge.metrics.meters import Meters
from engine_bridge.metrics.sound_figures import sound
from engine_bridge.protocol import Event, Hello, MemoryMeasured, RequestFinished
from engine_bridge.settings.config import EngineConfig

# Memory of other programs changes slowly, and reading it can take 10 ms.
_HARDWARE_PERIOD_S = 1.0


class Keeper(Protocol):
    """Keeps something of the user's in files."""

    def close(self) -> str:
        """Save what is not saved yet; a sentence if it could not be, else nothing."""


class Desk(QObject):
    """One engine with its conversations and gauges.

    Signals:
        hardware_measured: The newest snapshots of this machine's memories, main memory first.
        engine_said_hello: The ``Hello`` of a new engine process.
    """

    hardware_measured = Signal(object)
    engine_said_hello = Signal(object)

    def __init__(
        self,
        start: EngineConfig,
        client: EngineClient | None = None,
        parent: QObject | None = None,
        *,
        kept: KeptSettings | None = None,
        store: ConversationStore | None = None,
        measured: MeasurementStore | None = None,
    ) -> None:
        """Prepare a desk that wants ``start``; nothing runs before ``open``.

        Args:
            start: Settings to begin with.
            client: The engine's; None makes one.
            parent: Owner.
            kept: Where settings are kept from one start to the next; None forgets them.
            store: Where conversations are kept; None forgets them.
            measured: Where it is kept what runs took; None forgets it.
        """
        super().__init__(parent)
        self.kept = kept
        self.last_folder = LastFolder(kept, self)
        self.client = client or EngineClient(parent=self)
        self.meters = Meters()
        self.client.event_received.connect(self._on_event_received)
        self.client.engine_died.connect(
            lambda _: self.meters.note_engine_gone(time.perf_counter_ns())
        )
        self.measurements = Measurements(self.client.event_received, measured, self)
        self.session = Session(self.client, start, self)
        self.chats = Chats(self.client, self)
        self.keeping = Keeping(self.chats, store, self) if store is not None else None
        self._is_reopening = self.keeping is not None
        self._left_alone: list[str] = []
        if self.keeping is not None:
            self.keeping.reopening_finished.connect(self._on_reopened)
            self.keeping.opened.connect(self._on_opened)
        if kept is not None:
            self.session.wanted_changed.connect(kept.note_wanted)
            self.chats.conversation_touched.connect(self._note_open_conversations)
            self.chats.conversation_closed.connect(self._note_open_conversations)
        self.hello: Hello | None = None
        self.drafted_tok = 0
        self.accepted_tok = 0
        self._is_open = self._is_closed = False
        self.unsaved: tuple[str, ...] = ()
        self._more_keepers: list[Keeper] = []
        self.session.applied_changed.connect(self._on_applied_changed)
        self.session.plan_changed.connect(self._on_plan_changed)
        self.session.work_changed.connect(lambda work: self.meters.note_work(bool(work)))
        self.chats.answer_finished.connect(self._on_answer_finished)
        self.chats.request_sent.connect(self.meters.note_sent)
        self.chats.request_painted.connect(self.meters.note_first_paint)
        self._sampler = Sampler(_HARDWARE_PERIOD_S)
        self._hardware_timer = QTimer(self)
        self._hardware_timer.setInterval(round(_HARDWARE_PERIOD_S * 1000))
        self._hardware_timer.timeout.connect(self._on_hardware_timer_timeout)

    def open(self) -> None:
        """Start the engine process and the gauges, and look at what is stored."""
        self._is_open = True
        if self.kept is not None:
            self.kept.open()
        if self.keeping is not None:
            self.keeping.start()
            self.keeping.reopen(self.kept.open_conversations if self.kept else [])
        self._sampler.start()
        self._hardware_timer.start()
        self.client.start()

    def add_keeper(self, keeper: Keeper) -> None:
        """Let ``keeper`` save what it has when the desk closes."""
        self._more_keepers.append(keeper)

    def close(self) -> None:
        """End the engine process and the gauges and save what is new.

        Waits at most about three seconds for the engine and two each for conversations, settings
        and profiles where the disk does not answer; ``unsaved`` tells what could not be saved.
        """
        if self._is_closed:
            return
        self._note_open_conversations()
        self._is_open, self._is_closed = False, True
        self._hardware_timer.stop()
        self._sampler.stop()
        # Before the engine ends: its end is no news about an answer that was under way.
        self.chats.end_all()
        keepers: list[Keeper | None] = [self.keeping, self.kept, *self._more_keepers]
        sentences = [keeper.close() for keeper in keepers if keeper is not None]
        self.unsaved = tuple(filter(None, sentences))
        self.measurements.close()
        self.client.close_now()

    @property
    def is_open(self) -> bool:
        """Whether it was opened and is not closed yet."""
        return self._is_open

    @property
    def core_use(self) -> CoreUse | None:
        """Whose work kept the cores busy over the last second; None where unknown."""
        return self._sampler.core_use

    @property
    def idle_cores(self) -> float | None:
        """Processor cores without work over the last second; None where unknown."""
        return self._sampler.idle_cores

    @property
    def boards(self) -> tuple[BoardActivity, ...]:
        """What each GPU of this machine does, by its driver; empty where no driver tells."""
        return self._sampler.activity

    @property
    def has_boards(self) -> bool:
        """Whether layers can lie anywhere but in this machine's RAM: on a GPU or with a worker."""
        applied = self.session.applied
        lies_out = applied is not None and len(applied.memory.devices) > 1
        return self.has_gpu or lies_out or bool(self.session.candidate.rpc_servers)

    @property
    def has_gpu(self) -> bool:
        """Whether ggml sees a device that layers can be put on."""
        return self.hello is not None and any(d.kind in ("gpu", "igpu") for d in self.hello.devices)

    @property
    def acceptance(self) -> float | None:
        """Accepted share of all drafts since the last change of settings; None without drafts."""
        return self.accepted_tok / self.drafted_tok if self.drafted_tok else None

    def _on_event_received(self, event: Event) -> None:
        now_ns = time.perf_counter_ns()
        self.meters.fold(event, now_ns)
        if isinstance(event, MemoryMeasured) and sound(event, now_ns) is not None:
            borrowed = Borrowed(event.borrowed, event.owned) if event.borrowed else NOTHING
            self._sampler.note_borrowed(borrowed)
        if isinstance(event, Hello):
            self.hello = event
            self._sampler.watch(event.pid)
            self.engine_said_hello.emit(event)

    def _on_reopened(self, _: int) -> None:
        self._is_reopening = False
        if self.keeping is not None:
            self._left_alone = list(self.keeping.left_alone)
        self._note_open_conversations()

    def _on_opened(self, conversation: Conversation) -> None:
        """What another window had is this one's now, to be kept and closed as all others."""
        if conversation.id in self._left_alone:
            self._left_alone.remove(conversation.id)
        # Once it has its tab.
        QTimer.singleShot(0, self, self._note_open_conversations)

    def _note_open_conversations(self, _: str = "") -> None:
        """Those that are stored come back with the next start.

        What another window has stays remembered for it: only what is closed here is taken out.
        """
        if self.kept is None or self.keeping is None or self._is_reopening or self._is_closed:
            return
        here = [c.id for c in self.chats.conversations() if self.keeping.is_kept(c.id)]
        self.kept.open_conversations = list(dict.fromkeys((*self._left_alone, *here)))

    def _on_plan_changed(self, plan: MemoryPlan | None) -> None:
        applied = self.session.applied
        is_change = applied is not None and self.session.candidate != applied.config
        # A plan of settings that break a rule knows no bytes.
        is_known = plan is not None and plan.effective is not None
        self.meters.note_plan(plan if is_change and is_known else None)

    def _on_applied_changed(self, applied: object) -> None:
        if applied is None:
            self.meters.note_engine_gone(time.perf_counter_ns())
        self.drafted_tok = self.accepted_tok = 0

    def _on_answer_finished(self, _: str, event: RequestFinished, __: Request) -> None:
        self.drafted_tok += event.timing.drafted_tok
        self.accepted_tok += event.timing.accepted_tok

    def _on_hardware_timer_timeout(self) -> None:
        snapshots = self._sampler.latest
        if snapshots:
            self.meters.note_memory(snapshots)
            self.hardware_measured.emit(snapshots)
