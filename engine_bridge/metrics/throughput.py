"""Output tokens of all streams per second, over the same steps that TPOT is made of.

Knows step times and token counts only.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from engine_bridge.metrics.definitions import throughput_tok_s

# 256 streams with the steps that a TPOT is made of.
_STEPS = 4096
# Streams of one batch step at the same moment, but their tokens arrive one stream after the other.
_LATE_S = 0.1
# So steps are nearly in the order of time, but not quite.
_DISORDER_S = 2.0


class Throughput:
    """What all streams delivered last."""

    def __init__(self) -> None:
        """Start without steps."""
        self._steps: deque[tuple[float, int]] = deque(maxlen=_STEPS)

    def add_steps(self, step_s: Sequence[float], step_tok: Sequence[int]) -> None:
        """Take what steps delivered to a stream; see ``StreamMeter.add_steps``."""
        self._steps.extend(zip(step_s, step_tok, strict=True))

    def over(self, spans: Sequence[tuple[float, float]]) -> tuple[float | None, float | None]:
        """Tokens per second over the span that the streams have in view.

        A span holds the tokens of the steps after its first one, as a TPOT does: for one stream
        this is exactly 1 / TPOT.

        Args:
            spans: From when to when the TPOT of each active stream reaches, seconds.

        Returns:
            Tokens per second and the length of the span, seconds; None for no streams.
        """
        if not spans:
            return None, None
        newest_s = max(end_s for _, end_s in spans)
        begin_s = min(begin_s for begin_s, _ in spans)
        end_s = min(end_s for _, end_s in spans if newest_s - end_s < _LATE_S)
        tokens = 0
        for at_s, tok in reversed(self._steps):
            if at_s < begin_s - _DISORDER_S:
                break
            if begin_s < at_s <= end_s:
                tokens += tok
        return throughput_tok_s(tokens, end_s - begin_s), end_s - begin_s
