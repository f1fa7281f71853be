"""From the sampler and ggml to the live column: boards, main memory, cores that are idle."""

from __future__ import annotations

import time
from collections.abc import Sequence

from PySide6.QtCore import QObject

from app.crowd_wiring import CrowdWiring
from app.desk import Desk
from app.prefill_wiring import PrefillWiring
from engine_bridge.metrics.board_activity import BoardActivity
from engine_bridge.metrics.board_spill import Allocated, SpillWatch
from engine_bridge.metrics.ggml_boards import is_same, with_ggml
from engine_bridge.metrics.snapshot import MemorySnapshot
from engine_bridge.protocol import Applied, DeviceFacts, Event, Hello, MemoryMeasured
from widgets.live_panel import LivePanel
from widgets.status_banner import StatusBanner


class HardwareWiring(QObject):
    """Tells the live column what was read of the hardware, and the banner what it should not do."""

    def __init__(
        self, desk: Desk, live: LivePanel, parent: QObject, banner: StatusBanner | None = None
    ) -> None:
        """Follow ``desk``.

        Args:
            desk: Whose hardware it is.
            live: Where it is shown.
            parent: Owner.
            banner: Where a GPU that stopped working is told; None tells it nowhere.
        """
        super().__init__(parent)
        self._desk = desk
        self._live = live
        self._devices: tuple[DeviceFacts, ...] = ()
        self._spills = SpillWatch()
        self.crowd = CrowdWiring(desk, live.boards, self)
        self.prefill = None if banner is None else PrefillWiring(desk, banner, self)
        desk.hardware_measured.connect(self._on_hardware_measured)
        desk.client.event_received.connect(self._on_event_received)

    def _on_event_received(self, event: Event) -> None:
        if isinstance(event, Hello | MemoryMeasured):
            self._devices = event.devices

    def _on_hardware_measured(self, snapshots: Sequence[MemorySnapshot]) -> None:
        boards = with_ggml(self._desk.boards, self._devices, time.perf_counter_ns())
        applied = self._desk.session.applied
        self._live.boards.set_boards(
            self._spills.look(boards, allocated(applied, boards, self._devices))
        )
        self._live.boards.set_ram(next((s for s in snapshots if s.kind == "system"), None))
        idle = self._desk.idle_cores
        if idle is not None:
            self._live.note_idle_cores(idle)


def allocated(
    applied: Applied | None, boards: Sequence[BoardActivity], devices: Sequence[DeviceFacts]
) -> Allocated:
    """What the engine allocated, by the names that ``boards`` have."""
    if applied is None:
        return Allocated()
    by_board: dict[str, int] = {}
    for used in applied.memory.devices:
        device = next((known for known in devices if known.name == used.name), None)
        if device is None:
            continue
        for name in {board.name for board in boards if is_same(board.name, device)}:
            by_board[name] = by_board.get(name, 0) + used.needed
    sizes = applied.memory.bytes
    return Allocated(by_board, max(0, sizes.host - sizes.weights_mapped - sizes.draft_mapped))
