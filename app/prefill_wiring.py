"""Says it once when prompts are read many times slower since a change and the GPU does not work."""

from __future__ import annotations

import time

from PySide6.QtCore import QObject

from app.desk import Desk
from engine_bridge.metrics.prefill_collapse import Collapse, PrefillWatch
from engine_bridge.protocol import Applied, Event, RequestFinished, RequestStarted, TokensDelivered
from widgets.status_banner import StatusBanner

_TAKE_BACK, _KEEP = "take_back_slow_change", "keep_slow_change"
# Below it a GPU did nothing worth the name.
_IDLE = 0.1


class PrefillWiring(QObject):
    """From the engine's events and the boards' busy times to the banner."""

    def __init__(self, desk: Desk, banner: StatusBanner, parent: QObject) -> None:
        """Follow ``desk``.

        Args:
            desk: Its engine and boards.
            banner: Where it is said, unless something else stands there.
            parent: Owner.
        """
        super().__init__(parent)
        self._desk, self._banner = desk, banner
        self._watch = PrefillWatch()
        self._running: dict[int, RequestStarted] = {}
        self._crowded: set[int] = set()
        self._prefilling: int | None = None
        self._busy: float | None = None
        self._told: Collapse | None = None
        self._is_told = False
        desk.client.event_received.connect(self._on_event_received)
        desk.hardware_measured.connect(self._on_hardware_measured)
        banner.action_requested.connect(self._on_action_requested)

    def _on_event_received(self, event: Event) -> None:
        if isinstance(event, Applied):
            # What began under other settings says nothing about these.
            self._running.clear()
            self._prefilling, self._is_told = None, False
            self._watch.note_applied(event)
        elif isinstance(event, RequestStarted):
            self._note_started(event)
        elif isinstance(event, TokensDelivered) and event.step_ns:
            self._note_first_token(event.request_id, event.step_ns[0])
        elif isinstance(event, RequestFinished):
            self._running.pop(event.request_id, None)
            self._crowded.discard(event.request_id)
            if self._prefilling == event.request_id:
                self._prefilling = None

    def _note_started(self, event: RequestStarted) -> None:
        self._running[event.request_id] = event
        if len(self._running) > 1:
            self._crowded.update(self._running)
        self._prefilling, self._busy = event.request_id, None

    def _note_first_token(self, request_id: int, at_ns: int) -> None:
        if self._prefilling != request_id:
            return
        self._prefilling = None
        started = self._running[request_id]
        if request_id in self._crowded:
            return
        collapse = self._watch.note_prefill(
            started.prompt_tok - started.reused_tok,
            (at_ns - started.started_ns) / 1e9,
            self._busy,
        )
        if collapse is not None:
            self._say(collapse)

    def _on_hardware_measured(self, _: object) -> None:
        """A driver counts over the last second at most: only a longer prefill counts."""
        started = self._running.get(self._prefilling) if self._prefilling is not None else None
        if started is None or time.perf_counter_ns() - started.started_ns < 1_000_000_000:
            return
        told = [board.busy for board in self._desk.boards if board.busy is not None]
        if told:
            self._busy = max((*told, self._busy or 0.0))

    def _say(self, collapse: Collapse) -> None:
        """Once for each change; where something else stands in the banner, with the next prompt."""
        if self._is_told or self._banner.sentence():
            return
        self._told, self._is_told = collapse, True
        actions = [(_KEEP, "Keep it")]
        if collapse.restores:
            actions.insert(0, (_TAKE_BACK, "Take the change back"))
        self._banner.show_problem(collapse_sentence(collapse), "", actions)

    def _on_action_requested(self, action: str) -> None:
        if action == _TAKE_BACK and self._told is not None:
            self._banner.dismiss()
            self._desk.session.want(dict(self._told.restores))
            self._desk.session.apply()
        elif action == _KEEP:
            self._banner.dismiss()


def collapse_sentence(collapse: Collapse) -> str:
    """What happened, why as far as that is known, and what to look at."""
    factor = collapse.before_tok_s / collapse.after_tok_s
    since = "since the engine started anew"
    if collapse.changes:
        since = f"since the last change ({'; '.join(collapse.changes)})"
    speeds = f"{collapse.before_tok_s:,.0f} → {collapse.after_tok_s:,.0f} tok/s"
    return f"Prompts are read {factor:,.0f} times slower {since}: {speeds}. {_why(collapse)}"


def _why(collapse: Collapse) -> str:
    if collapse.layers_after < collapse.layers_before:
        return (
            f"Of the model's layers {collapse.layers_after} lie on the GPU, before it were "
            f"{collapse.layers_before}. Check the layers on the GPU, and how much of its memory "
            f"other programs took."
        )
    idle = ""
    if collapse.busy is not None and collapse.busy < _IDLE:
        idle = f" (the GPU was busy {collapse.busy * 100:.0f} % of the time)"
    return (
        f"Parts of the model probably run on the processor{idle}: llama.cpp computes there what "
        f"the GPU has no kernel for, and does not say so. Check the KV cache types and flash "
        f"attention, then how full the GPU's memory is."
    )
