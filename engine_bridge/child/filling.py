"""Shares of a step, written into a batch.

Knows the arrays of a batch; must not know what the step is for.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine_bridge.child.llama import Context
from engine_bridge.child.scheduler import Share
from engine_bridge.child.step_shape import Passes, Shape


class Filling:
    """A batch and how it is filled.

    Attributes:
        batch: The batch.
    """

    def __init__(self, context: Context) -> None:
        """Reserve the arrays for the batches of ``context``."""
        self.batch = context.new_batch(context.batch_tok)
        self._positions = np.arange(context.ctx_tok + 1, dtype=np.int32)
        self._passes = Passes(context)

    def shape(self, shares: Sequence[Share], rows: int) -> Shape:
        """What a step of ``shares`` with ``rows`` output rows computes, before it is booked."""
        passes = self._passes.of([(share.stream.slot.index, share.tokens) for share in shares])
        depths = [share.stream.slot.cached for share in shares]
        return Shape(depths, [share.tokens for share in shares], rows, passes)

    def fill(self, shares: Sequence[Share]) -> tuple[int, int]:
        """Write the batch.

        Returns:
            Its tokens and output rows.
        """
        batch, at, rows = self.batch, 0, 0
        for share in shares:
            slot, count = share.stream.slot, share.tokens
            first = slot.cached
            if count == 1:  # by far the most frequent; slices cost three times as much
                batch.token[at] = slot.tokens[first]
                batch.pos[at] = first
                batch.seq[at] = slot.index
                batch.wants_logits[at] = share.rows
            else:
                end = at + count
                batch.token[at:end] = slot.tokens[first : first + count]
                batch.pos[at:end] = self._positions[first : first + count]
                batch.seq[at:end] = slot.index
                batch.wants_logits[at : end - share.rows] = 0
                batch.wants_logits[end - share.rows : end] = 1
            at += count
            rows += share.rows
        return at, rows
