"""What each slot holds and does, folded from the engine's events. Pure: no Qt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from engine_bridge.protocol import (
    Applied,
    ContextShifted,
    Hello,
    RequestFinished,
    RequestStarted,
    SlotFacts,
    StepsMeasured,
    TokensDelivered,
    Unloaded,
)
from engine_bridge.settings.row import Applies
from widgets.slot_state import Lane, LaneState, Pool


@dataclass
class _Work:
    """A request in a slot.

    Attributes:
        slot: Its index.
        reused_tok: Tokens that stood there before.
        prompt_tok: Tokens of the whole prompt.
        is_writing: Whether a token of the answer has come.
    """

    slot: int
    reused_tok: int
    prompt_tok: int
    is_writing: bool = False


class SlotWatch:
    """The slots as the last events left them."""

    def __init__(self) -> None:
        """There is no model yet."""
        self._applied: Applied | None = None
        self._trained_tok = 0
        self._facts: dict[int, SlotFacts] = {}
        self._work: dict[int, _Work] = {}
        self._folds: dict[type, Callable[[Any], None]] = {
            Applied: self._fold_applied,
            StepsMeasured: self._fold_steps,
            RequestStarted: self._fold_started,
            TokensDelivered: self._fold_delivered,
            ContextShifted: self._fold_shifted,
            RequestFinished: self._fold_finished,
            Hello: lambda _: self.forget(),
            Unloaded: lambda _: self.forget(),
        }

    def fold(self, event: object) -> bool:
        """Take an event; whether it said anything about slots."""
        take = self._folds.get(type(event))
        if take is not None:
            take(event)
        return take is not None

    def forget(self) -> None:
        """The engine has no slots any more."""
        self._applied = None
        self._facts.clear()
        self._work.clear()

    def pool(self, title_of: Callable[[str], str]) -> Pool:
        """The slots now.

        Args:
            title_of: A conversation's title by its id; empty where it is unknown.
        """
        applied = self._applied
        if applied is None:
            return Pool()
        made = applied.effective
        facts = [self._facts.get(n, SlotFacts(n, 0, None, "")) for n in range(made.slots)]
        own_tok = [max(0, slot.used_tok - slot.common_tok) for slot in facts]
        part_tok = made.ctx_per_slot_tok
        if not made.kv_unified:
            part_tok = max(part_tok, made.ctx_total_tok // made.slots)
        lanes = []
        for slot, own in zip(facts, own_tok, strict=True):
            others_tok = 0
            if made.kv_unified:
                left_tok = max(0, made.ctx_total_tok - (sum(own_tok) - own))
                others_tok = max(0, made.ctx_per_slot_tok - left_tok)
            lanes.append(
                self._lane(slot, own, (made.ctx_per_slot_tok, part_tok, others_tok), title_of)
            )
        return Pool(made.ctx_total_tok, made.kv_unified, self._trained_tok, tuple(lanes))

    def _lane(
        self,
        slot: SlotFacts,
        own_tok: int,
        sizes: tuple[int, int, int],
        title_of: Callable[[str], str],
    ) -> Lane:
        cap_tok, part_tok, others_tok = sizes
        work = None if slot.request_id is None else self._work.get(slot.request_id)
        state: LaneState = "idle" if slot.used_tok else "empty"
        kept_tok, progress = slot.used_tok, 0.0
        if slot.request_id is not None:
            state = "writing" if work is not None and work.is_writing else "reading"
            kept_tok = 0 if work is None else min(work.reused_tok, slot.used_tok)
        if state == "reading" and work is not None and work.prompt_tok:
            progress = min(1.0, slot.used_tok / work.prompt_tok)
        title = title_of(slot.conversation_id) if slot.conversation_id else ""
        return Lane(
            slot=slot.slot,
            used_tok=slot.used_tok,
            kept_tok=kept_tok,
            own_tok=own_tok,
            cap_tok=cap_tok,
            part_tok=part_tok,
            others_tok=others_tok,
            state=state,
            progress=progress,
            title=title,
        )

    # --- Events -------------------------------------------------------------------------

    def _fold_applied(self, event: Applied) -> None:
        self._applied = event
        if event.model is not None:
            self._trained_tok = event.model.ctx_train_tok
        if event.cost != Applies.LIVE.value:
            # Other slots: what they took over they tell with their next report.
            self._facts.clear()

    def _fold_steps(self, event: StepsMeasured) -> None:
        self._take(event.slots)

    def _take(self, slots: Sequence[SlotFacts]) -> None:
        self._facts = {slot.slot: slot for slot in slots}

    def _fold_started(self, event: RequestStarted) -> None:
        self._work[event.request_id] = _Work(event.slot, event.reused_tok, event.prompt_tok)

    def _fold_delivered(self, event: TokensDelivered) -> None:
        work = self._work.get(event.request_id)
        if work is not None and event.step_ns:
            work.is_writing = True

    def _fold_shifted(self, event: ContextShifted) -> None:
        """Of what was kept some is gone: what is left counts as of this turn."""
        work = self._work.get(event.request_id)
        if work is not None:
            work.reused_tok = min(work.reused_tok, event.kept_tok)

    def _fold_finished(self, event: RequestFinished) -> None:
        work = self._work.pop(event.request_id, None)
        before = None if work is None else self._facts.get(work.slot)
        if before is not None and before.request_id in (None, event.request_id):
            self._facts[before.slot] = SlotFacts(
                before.slot,
                event.used_tok,
                None,
                before.conversation_id,
                min(before.common_tok, event.used_tok),
            )
