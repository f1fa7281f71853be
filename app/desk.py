"""Everything of the desk that is no widget: engine, session, chats, meters, hardware.

The window is one view of it; a test or a bench can be another.
"""

from __future__ import annotations

import time

from PySide6.QtCore import QObject, QTimer, Signal

from app.chats import Chats, Request
from app.session import Session
from engine_bridge.client import EngineClient
from engine_bridge.hardware.machine import MachineSampler
from engine_bridge.metrics.meters import Meters
from engine_bridge.protocol import Event, Hello, RequestFinished
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.table import BY_KEY

# Memory of other programs changes slowly, and reading it can take 10 ms.
_HARDWARE_PERIOD_S = 1.0


class Desk(QObject):
    """One engine with its conversations and gauges.

    Signals:
        hardware_measured: The newest snapshot of the machine's memory.
        engine_said_hello: The ``Hello`` of a new engine process.
    """

    hardware_measured = Signal(object)
    engine_said_hello = Signal(object)

    def __init__(
        self, start: EngineConfig, client: EngineClient | None = None, parent: QObject | None = None
    ) -> None:
        """Prepare a desk that wants ``start``; nothing runs before ``open``."""
        super().__init__(parent)
        self.client = client or EngineClient(self)
        self.meters = Meters()
        self.client.event_received.connect(self._on_event_received)
        self.session = Session(self.client, start, self)
        self.chats = Chats(self.client, self)
        self.hello: Hello | None = None
        self.drafted_tok = 0
        self.accepted_tok = 0
        self.session.settings_applied.connect(self._on_settings_applied)
        self.chats.answer_finished.connect(self._on_answer_finished)
        self._sampler = MachineSampler(_HARDWARE_PERIOD_S)
        self._hardware_timer = QTimer(self)
        self._hardware_timer.setInterval(round(_HARDWARE_PERIOD_S * 1000))
        self._hardware_timer.timeout.connect(self._on_hardware_timer_timeout)

    def open(self) -> None:
        """Start the engine process and the gauges."""
        self._sampler.start()
        self._hardware_timer.start()
        self.client.start()

    def close(self) -> None:
        """End the engine process and the gauges; waits at most about three seconds."""
        self._hardware_timer.stop()
        self._sampler.stop()
        self.client.close_now()

    @property
    def has_gpu(self) -> bool:
        """Whether ggml sees a device that layers can be put on."""
        return self.hello is not None and any(d.kind in ("gpu", "igpu") for d in self.hello.devices)

    @property
    def acceptance(self) -> float | None:
        """Accepted share of all drafts since the last change of settings; None without drafts."""
        return self.accepted_tok / self.drafted_tok if self.drafted_tok else None

    def _on_event_received(self, event: Event) -> None:
        self.meters.fold(event, time.perf_counter_ns())
        if isinstance(event, Hello):
            self.hello = event
            self._sampler.watch(event.pid)
            self.engine_said_hello.emit(event)

    def _on_settings_applied(self, keys: tuple[str, ...]) -> None:
        applied = self.session.applied
        if applied is None:
            return
        self.drafted_tok = self.accepted_tok = 0
        words = [
            f"{BY_KEY[key].label} {BY_KEY[key].domain.format(getattr(applied.config, key))}"
            for key in keys
        ]
        if not keys and applied.model is not None:
            words = [f"Loaded {applied.model.name}"]
        if words:
            self.meters.mark(time.perf_counter_ns(), ", ".join(words))

    def _on_answer_finished(self, _: str, event: RequestFinished, request: Request) -> None:
        self.drafted_tok += event.timing.drafted_tok
        self.accepted_tok += event.timing.accepted_tok
        if request.painted_ns:
            self.meters.note_first_paint(request.number, request.painted_ns)

    def _on_hardware_timer_timeout(self) -> None:
        snapshot = self._sampler.latest()
        if snapshot is not None:
            self.meters.note_machine(snapshot, time.perf_counter_ns())
            self.hardware_measured.emit(snapshot)
