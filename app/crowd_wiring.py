"""Says in the live column when other programs keep cores busy which the engine's threads want."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.desk import Desk
from engine_bridge.metrics.core_crowding import Crowding, CrowdWatch
from engine_bridge.metrics.prefill_collapse import lies_on_board
from engine_bridge.protocol import Applied, Event, Hello, RequestFinished, RequestStarted
from widgets.board_strip import BoardStrip


class CrowdWiring(QObject):
    """From readings of the cores and the engine's requests to the strip of hardware."""

    def __init__(self, desk: Desk, strip: BoardStrip, parent: QObject) -> None:
        """Follow ``desk``.

        Args:
            desk: Its engine and cores.
            strip: Where it is said, for as long as it is so.
            parent: Owner.
        """
        super().__init__(parent)
        self._desk, self._strip = desk, strip
        self._watch = CrowdWatch()
        self._running: set[int] = set()
        desk.client.event_received.connect(self._on_event_received)
        desk.hardware_measured.connect(self._on_hardware_measured)

    def _on_event_received(self, event: Event) -> None:
        if isinstance(event, RequestStarted):
            self._running.add(event.request_id)
        elif isinstance(event, RequestFinished):
            self._running.discard(event.request_id)
        elif isinstance(event, Hello):
            self._running.clear()

    def _on_hardware_measured(self, _: object) -> None:
        found = self._watch.look(
            self._desk.core_use,
            threads_on_processor(self._desk.session.applied),
            is_serving=bool(self._running),
        )
        self._strip.set_warning("" if found is None else crowding_sentence(found))


def threads_on_processor(applied: Applied | None) -> int | None:
    """Threads that decode; None without a model, and where any of it lies on a GPU or a worker."""
    if applied is None or lies_on_board(applied):
        return None
    return max(1, applied.effective.threads)


def crowding_sentence(crowding: Crowding) -> str:
    """What happens, what follows from it, and what to do."""
    threads = crowding.threads
    noun, why = "threads", "its threads wait for each other at every step"
    if threads == 1:
        noun, why = "thread", "it waits for its turn"
    to_do = "Close those programs"
    if crowding.fitting_threads < threads:
        to_do = f"{to_do}, or set threads to {crowding.fitting_threads:,}"
    return (
        f"Other programs keep {crowding.others:.1f} of {crowding.cores:,} cores busy, and the "
        f"engine wants {threads:,} for its {noun}: {why}. Speeds measured now are too low. {to_do}."
    )
