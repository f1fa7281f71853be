"""How llama.cpp cuts a step into micro-batches where a memory keeps states.

Source: ``llama_batch_allocr::split_equal`` in src/llama-batch.cpp. Arithmetic on numbers of tokens;
must not know streams.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Cutting:
    """What llama.cpp cuts by.

    Attributes:
        ubatch_tok: Tokens of a micro-batch, more than ``tail_tok``.
        tail_tok: Last tokens of a sequence that stay together, as their states are kept.
        is_sequential: Only sequences of successive numbers go together (a pool for each).
    """

    ubatch_tok: int
    tail_tok: int
    is_sequential: bool

    def micro_batches(self, parts: Sequence[tuple[int, int]]) -> list[list[int]]:
        """The sequences of each micro-batch.

        Args:
            parts: Sequence and tokens, at least one, in the order of the batch.
        """
        left, made = dict(parts), []
        while left:
            together = self._together(left)
            take = max(1, self.ubatch_tok // len(together))
            take = min(take, *(left[seq] for seq in together))
            kept: list[int] = []
            for seq in together:
                if 0 < left[seq] - take < self.tail_tok:
                    break
                kept.append(seq)
            if not kept:  # the first goes alone, its tail in one piece
                kept = together[:1]
                whole = left[kept[0]]
                take = whole if whole <= self.ubatch_tok else whole - self.tail_tok
            for seq in kept:
                left[seq] -= take
                if left[seq] <= 0:
                    del left[seq]
            made.append(kept)
        return made

    def _together(self, left: dict[int, int]) -> list[int]:
        together: list[int] = []
        for seq in left:
            if not together or not self.is_sequential or seq == together[-1] + 1:
                together.append(seq)
        return together


def moved_later(micro_batches: Sequence[Sequence[int]]) -> frozenset[int]:
    """Sequences whose kept states may lie elsewhere than llama.cpp looks for them.

    It brings the states of a micro-batch of several sequences side by side, and moves what lay
    there; of that it moves the newest state alone (``find_slot`` in src/llama-memory-recurrent.cpp,
    measured). So who was computed before such a micro-batch cannot go back by itself.
    """
    moved: set[int] = set()
    for number, seqs in enumerate(micro_batches):
        if any(len(later) > 1 for later in micro_batches[number + 1 :]):
            moved.update(seqs)
    return frozenset(moved)
