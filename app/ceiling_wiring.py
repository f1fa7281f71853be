"""From the meters to the page "Ceiling"."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QObject

from app.background import Task
from app.desk import Desk
from engine_bridge.hardware.read_bandwidth import last_level_cache_bytes
from engine_bridge.metrics.bandwidth_meter import LIVE_S
from engine_bridge.metrics.ceiling import CeilingView
from widgets.ceiling_panel import CeilingPanel


class CeilingWiring(QObject):
    """Answers the page whenever it can be seen and something has changed."""

    def __init__(
        self,
        desk: Desk,
        panel: CeilingPanel,
        parent: QObject,
        cache_bytes: Callable[[], int] = last_level_cache_bytes,
    ) -> None:
        """Follow ``desk``.

        Args:
            desk: Whose meters are read.
            panel: The page.
            parent: The parent.
            cache_bytes: Reads the size of the processor's caches; called once, off the GUI thread.
        """
        super().__init__(parent)
        self._desk = desk
        self._panel = panel
        self._read_cache_bytes = cache_bytes
        self._cache_bytes: int | None = None
        self._shown = CeilingView()
        panel.view_wanted.connect(self._on_view_wanted)

    def view(self) -> CeilingView:
        """What the page is to show now."""
        meters, applied = self._desk.meters, self._desk.session.applied
        work = meters.work
        if applied is None:
            return CeilingView(peak=meters.bandwidth.peak())
        last_s = work.last_end_s
        is_live = last_s is not None and time.perf_counter() - last_s <= LIVE_S
        facts = self._desk.session.model
        return CeilingView(
            has_model=True,
            peak=meters.bandwidth.peak(),
            present=work.present,
            decoding=work.decoding,
            prefill=work.prefill,
            best_prefill=work.best_prefill,
            weights_bytes=applied.memory.weights_read,
            experts=0 if facts is None else facts.experts,
            cache_bytes=self._cache_bytes or 0,
            has_pools=applied.effective.slots > 1 and not applied.effective.kv_unified,
            is_live=is_live,
        )

    def _on_view_wanted(self) -> None:
        if self._cache_bytes is None:
            self._cache_bytes = 0
            task = Task(lambda _: self._read_cache_bytes(), self)
            task.succeeded.connect(self._on_cache_read)
            task.succeeded.connect(task.deleteLater)
            task.failed.connect(task.deleteLater)
            task.start()
        view = self.view()
        if view != self._shown:
            self._shown = view
            self._panel.show_view(view)

    def _on_cache_read(self, cache_bytes: int) -> None:
        self._cache_bytes = cache_bytes
