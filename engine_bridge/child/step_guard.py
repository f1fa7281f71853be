"""Ending a step that is under way, from another thread.

Knows when that is worth it; must not know what the step computes.
"""

from __future__ import annotations

from collections.abc import Callable

from engine_bridge.child.llama import Context

# A cancel must be felt within 100 ms. Ending a step takes up to 30 ms and throws its work away.
_WORTH_ENDING_S, _WORTH_ENDING_FOR_ONE_S = 0.06, 0.01


class StepGuard:
    """Stands around every ``llama_decode``. All but ``interrupt`` belongs to the loop's thread.

    Attributes:
        requests: Whom the steps are for.
        is_interrupted: Whether something was ended early since this was last set to False.
    """

    def __init__(self, clock: Callable[[], int]) -> None:
        """Nothing is under way; ``clock`` gives nanoseconds."""
        self.requests: frozenset[int] = frozenset()
        self.is_interrupted = False
        self._clock = clock
        self._in_step: tuple[Context, frozenset[int], int, float] | None = None

    def enter(self, context: Context, expected_s: float) -> int:
        """A step of ``context`` begins that should take ``expected_s``; when."""
        context.request_abort(False)
        begin_ns = self._clock()
        self._in_step = (context, self.requests, begin_ns, expected_s)
        return begin_ns

    def leave(self) -> int:
        """The step is over; when."""
        self._in_step = None
        return self._clock()

    def interrupt(self, request_id: int | None) -> None:
        """End the step under way early if it holds that request (None: in any case).

        For any thread. Does nothing where the step will be over soon anyway.
        """
        in_step = self._in_step
        if in_step is None:
            return
        context, requests, begin_ns, expected_s = in_step
        if request_id is not None and request_id not in requests:
            return
        left_s = expected_s - (self._clock() - begin_ns) / 1e9
        worth_s = _WORTH_ENDING_FOR_ONE_S if len(requests) == 1 else _WORTH_ENDING_S
        if expected_s <= 0 or left_s > worth_s:
            self.is_interrupted = True
            context.request_abort(True)
