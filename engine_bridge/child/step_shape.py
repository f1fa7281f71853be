"""The shape of a step: whose tokens, behind how many others, and how often weights are read for it.

Knows how llama.cpp cuts a batch into micro-batches; must not know what the step is for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from engine_bridge.child.micro_batches import Cutting

if TYPE_CHECKING:  # what is counted here needs no library
    from engine_bridge.child.llama import Context

# Streams start, end and draft: a step has few shapes, and the same one a thousand times.
_KEPT = 512


class Shape(NamedTuple):
    """What a step computes, in numbers.

    Attributes:
        depths: Tokens before it in the slot of each stream.
        takes: Tokens of each stream, drafts included.
        rows: Logit rows wanted.
        passes: Micro-batches it is cut into, each of which reads the weights.
    """

    depths: Sequence[int]
    takes: Sequence[int]
    rows: int
    passes: int = 1

    @property
    def tokens(self) -> int:
        """Tokens of all streams."""
        return sum(self.takes)

    def later(self, steps: int) -> Shape:
        """The same so many steps later, where each brings every stream a token."""
        return self._replace(depths=[depth + steps for depth in self.depths])


class Passes:
    """How often the weights are read for a step of one context.

    A cache that all sequences share takes any batch as it comes (``split_simple`` in
    src/llama-batch.cpp). With a cache for each, and where states are kept, a micro-batch holds as
    many tokens of one sequence as of the other (``split_equal``), and with a cache for each only
    sequences of successive numbers: drafts of different lengths, or an idle slot between two busy
    ones, have the weights read once more.
    """

    def __init__(self, context: Context) -> None:
        """Cut as ``context`` does."""
        model = context.model
        has_pools = context.ctx_seq_tok != context.ctx_tok
        keeps_states = model.is_recurrent or model.is_hybrid
        self._ubatch_tok = context.ubatch_tok
        self._is_simple = not (has_pools or keeps_states)
        is_sequential = has_pools and not model.is_recurrent
        self._cutting = Cutting(context.ubatch_tok, context.rollback_tok + 1, is_sequential)
        self._known: dict[tuple[tuple[int, int], ...], int] = {}

    def of(self, parts: Sequence[tuple[int, int]]) -> int:
        """Micro-batches of a batch.

        Args:
            parts: Sequence and tokens of each, in the order of the batch, at least one.
        """
        if self._is_simple or len(parts) == 1:
            return -(-sum([tokens for _, tokens in parts]) // self._ubatch_tok)
        key = tuple(parts)
        passes = self._known.get(key)
        if passes is None:
            if len(self._known) >= _KEPT:
                self._known.clear()
            passes = self._known[key] = len(self._cutting.micro_batches(parts))
        return passes
