"""Steps of the model that drafts: guarded, timed, counted, and a fault said once.

Knows contexts and their pace; must not know what is drafted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from engine_bridge.child.batch import Batch
from engine_bridge.child.llama import Context
from engine_bridge.child.pace import Pace
from engine_bridge.child.step_guard import StepGuard
from engine_bridge.child.step_shape import Shape

NO_ROOM, ABORTED = 1, 2  # what llama_decode returns


class DraftSteps:
    """Steps of one context.

    Attributes:
        pace: Their measured speed.
        on_step: Told of every step: its nanoseconds, what it computed (of all texts together), and
            the prompt tokens among that.

    Args:
        context: Whose.
        guard: Stands around every step.
        on_step: See above.
        say: Takes a sentence for the user.
    """

    def __init__(
        self,
        context: Context,
        guard: StepGuard,
        on_step: Callable[[int, Shape, int], None],
        say: Callable[[str], None],
    ) -> None:
        """Know no speed yet."""
        self.pace = Pace()
        self.on_step = on_step
        self._context = context
        self._guard = guard
        self._say = say
        self._is_silent = False

    def run(self, batch: Batch, count: int, depths: Sequence[int], prompt_tok: int) -> int:
        """Compute the first ``count`` tokens of ``batch``; what ``llama_decode`` returned.

        Args:
            batch: What to compute.
            count: How much of it.
            depths: Depth of each text.
            prompt_tok: Prompt tokens among those.
        """
        context = self._context
        begin_ns = self._guard.enter(context, self.pace.expected_s(prompt_tok))
        code = context.decode(batch, count)
        rows = int(np.count_nonzero(batch.wants_logits[:count]))
        if code == 0 and rows:
            context.logits()  # waits for a GPU, so that the time below is true
        took_ns = self._guard.leave() - begin_ns
        if code == 0:
            self.on_step(took_ns, Shape(depths, (count,), rows), prompt_tok)
            self.pace.saw(prompt_tok, took_ns / 1e9)
        return code

    def failed(self, code: int, what: str) -> None:
        """Say once that ``what`` could not be computed; nothing of a step that was ended early."""
        if code == ABORTED or self._is_silent:
            return
        self._is_silent = True
        self._say(
            f"llama.cpp could not compute {what} (code {code}); answers go on without it. A "
            "smaller context or micro-batch may help."
        )
