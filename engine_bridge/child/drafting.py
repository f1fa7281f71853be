"""The drafts of a step: who may draft how much, and with what.

Knows streams and drafters; verifying what was drafted is ``batcher``'s.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine_bridge.child import sentences
from engine_bridge.child.llama import Context
from engine_bridge.child.measure import StepMeter
from engine_bridge.child.scheduler import Limits, drafts_allowed
from engine_bridge.child.speculation.choice import drafter_of
from engine_bridge.child.speculation.draft_simple import DraftSimple
from engine_bridge.child.speculation.drafter import Drafter, Wanted
from engine_bridge.child.step_guard import StepGuard
from engine_bridge.child.stream import Stream
from engine_bridge.protocol import Event, Logged
from engine_bridge.settings.config import EngineConfig


class Drafting:
    """Drafts for the streams of one context at a time.

    Attributes:
        drafter: What drafts, None where nothing does.

    Args:
        guard: Stands around the draft model's steps.
        meter: Counts them.
        emit: Takes events.
    """

    def __init__(self, guard: StepGuard, meter: StepMeter, emit: Callable[[Event], None]) -> None:
        """Draft nothing yet."""
        self.drafter: Drafter | None = None
        self._guard = guard
        self._meter = meter
        self._emit = emit
        self._has_told = False
        self._draft_simple: DraftSimple | None = None
        self._can_rewind = True

    def adopt(self, context: Context, draft_context: Context | None, config: EngineConfig) -> None:
        """Draft for ``context``, with ``draft_context`` where there is one."""
        self._can_rewind = not (context.model.is_recurrent or context.model.is_hybrid)
        self._draft_simple = None
        if draft_context is not None:
            self._draft_simple = DraftSimple(
                draft_context,
                context.model.vocab,
                config,
                self._guard,
                on_step=self._meter.drafted,
                say=self._say,
            )
        self.set_live(config)

    def set_live(self, config: EngineConfig) -> None:
        """Take what needs no new context."""
        if self._draft_simple is not None:
            self._draft_simple.set_live(config)
        self.drafter = drafter_of(config, self._draft_simple)
        if self.drafter is None or self._can_rewind:
            return
        self.drafter = None
        if not self._has_told:
            self._has_told = True
            self._say(sentences.NO_DRAFTS)

    @property
    def is_on(self) -> bool:
        """Whether anything drafts."""
        return self.drafter is not None

    def draft(self, generating: Sequence[Stream], limits: Limits) -> bool:
        """Put a draft behind the text of each stream that may have one.

        Returns:
            False where a cancel ended it early, so that the step should not go on.
        """
        if self.drafter is None:
            return True
        asking, wanted = [], []
        for stream in generating:
            stream.draft_tok = 0
            slot = stream.slot
            most_tok = drafts_allowed(stream, limits, len(generating))
            if most_tok > 0:
                asking.append(stream)
                wanted.append(Wanted(slot.index, slot.tokens[: slot.known], most_tok))
        if not wanted:
            return True
        self._guard.is_interrupted = False
        for stream, draft in zip(asking, self.drafter.draft(wanted), strict=True):
            slot = stream.slot
            stream.draft_tok = len(draft)
            slot.tokens[slot.known : slot.known + len(draft)] = draft
        return not self._guard.is_interrupted

    def _say(self, sentence: str) -> None:
        self._emit(Logged("warning", sentence))
