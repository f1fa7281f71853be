"""What steps read and computed, by how many streams they were for.

Knows the last seconds of computing of each kind, and the best prefill since the engine started; no
clock of its own.
"""

from __future__ import annotations

from collections import deque
from functools import reduce
from operator import add

from engine_bridge.protocol import Applied, StepsMeasured
from engine_bridge.settings.row import Group
from engine_bridge.settings.table import BY_KEY
from engine_bridge.step_work import StepWork

LEAST_PREFILL_TOK = 32
"""A prompt below this says nothing of how fast the machine computes: it is read like a decode."""

# So much computing of a kind stands for it: the mean of a second or two, spans of a tenth each.
_RECENT_S = 2.0
_MOST_SPANS = 64
# What these change is which token is taken, not what a step costs.
_CHOICE = (Group.SAMPLING, Group.MORE_SAMPLING)


class WorkMeter:
    """The work of the steps, by the number of streams; 0 stands for steps with prompt tokens.

    Attributes:
        best_prefill: The span of prompts with the most operations a second; None before one.
        last_end_s: When decode steps were last reported, seconds of the engine's clock.
    """

    def __init__(self) -> None:
        """Start without steps."""
        self.best_prefill: StepWork | None = None
        self.last_end_s: float | None = None
        self._spans: dict[int, deque[StepWork]] = {}
        self._model = ""
        self._present = 0

    def forget(self) -> None:
        """Another engine process: nothing of the old one counts."""
        self._forget_steps()
        self.best_prefill = None
        self._model = ""

    def note_applied(self, before: Applied | None, after: Applied) -> None:
        """Other settings run: what was measured with the old ones does not speak for them.

        The best prefill of a model stays its best with other settings, not with another model.
        """
        if after.config.model_path != self._model:
            self.forget()
            self._model = after.config.model_path
        elif before is None or _changes_speed(before, after):
            self._forget_steps()

    def add_span(self, event: StepsMeasured) -> None:
        """Take what the loop did since the span before."""
        most_steps = 0
        for work in event.work:
            spans = self._spans.setdefault(work.streams, deque(maxlen=_MOST_SPANS))
            spans.append(work)
            while len(spans) > 1 and sum(span.seconds for span in spans) > _RECENT_S:
                spans.popleft()
            if work.is_prefill:
                self._note_prefill(work)
            elif work.steps > most_steps:
                most_steps, self._present = work.steps, work.streams
                self.last_end_s = event.end_ns / 1e9

    @property
    def present(self) -> StepWork | None:
        """Decoding with as many streams as it had last; None before any."""
        return self._recent(self._present) if self._present else None

    @property
    def prefill(self) -> StepWork | None:
        """The last prompts; None before any."""
        return self._recent(0)

    @property
    def decoding(self) -> tuple[StepWork, ...]:
        """Decoding with each number of streams that was seen, the fewest first."""
        found = (self._recent(streams) for streams in sorted(self._spans) if streams)
        return tuple(work for work in found if work is not None)

    def _note_prefill(self, work: StepWork) -> None:
        if work.computed_tok < LEAST_PREFILL_TOK or work.seconds <= 0:
            return
        best = self.best_prefill
        if best is None or work.operations_per_s > best.operations_per_s:
            self.best_prefill = work

    def _recent(self, streams: int) -> StepWork | None:
        spans = self._spans.get(streams)
        return reduce(add, spans) if spans else None

    def _forget_steps(self) -> None:
        self._spans.clear()
        self._present = 0
        self.last_end_s = None


def _changes_speed(before: Applied, after: Applied) -> bool:
    """Whether anything but the choice of tokens differs."""
    changed = after.config.changed_from(before.config)
    return any(BY_KEY[key].group not in _CHOICE for key in changed)
