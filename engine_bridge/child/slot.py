"""A slot: one sequence of the context, the tokens its cache holds, and how a prompt reuses them.

Knows prefix reuse; must not know batches, sampling or messages.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from engine_bridge.child.llama import Context

# llama-server's -sps: a match below this share of the prompt is no reason to take a slot.
_LEAST_SIMILARITY = 0.1


class Slot:
    """One sequence and its tokens.

    Attributes:
        index: Number of the sequence.
        cap_tok: Tokens it may hold.
        tokens: (cap_tok + drafts,) int32; the first ``known`` are the text so far, of which the
            first ``cached`` lie in the cache at the position of the same number.
        known: Tokens of the text; one more than ``cached`` while a stream generates.
        cached: Tokens in the cache.
        conversation_id: Whose text it is, or the empty string.
        used_at: Counts up with each use; the smallest is the least recently used.
        is_free: Whether no request holds it.
    """

    def __init__(self, index: int, cap_tok: int, most_drafts: int) -> None:
        """An empty slot."""
        self.index = index
        self.tokens = np.zeros(0, np.int32)
        self.known = 0
        self.cached = 0
        self.conversation_id = ""
        self.used_at = 0
        self.is_free = True
        self.reshape(cap_tok, most_drafts)

    def reshape(self, cap_tok: int, most_drafts: int) -> None:
        """Change how many tokens the slot may hold, and how many drafts may stand behind them."""
        self.cap_tok = cap_tok
        size = cap_tok + most_drafts + 1
        if size > len(self.tokens):
            longer = np.zeros(size, np.int32)
            longer[: self.known] = self.tokens[: self.known]
            self.tokens = longer

    @property
    def pending(self) -> int:
        """Tokens of the text that are not computed yet."""
        return self.known - self.cached

    def match(self, prompt: NDArray[np.int32]) -> int:
        """Tokens at the beginning that ``prompt`` and the cache have in common."""
        shared = min(len(prompt), self.cached)
        differs = np.flatnonzero(self.tokens[:shared] != prompt[:shared])
        return int(differs[0]) if differs.size else shared

    def begin(self, prompt: NDArray[np.int32], context: Context) -> tuple[int, str]:
        """Make ``prompt`` the text, keeping what the cache can give.

        At least the last token is computed, for its logits.

        Returns:
            Tokens reused, and why tokens that match are computed again (or the empty string).
        """
        wanted = min(self.match(prompt), len(prompt) - 1)
        reason = self._rewind(wanted, context)
        self.tokens[: len(prompt)] = prompt
        self.known = len(prompt)
        return self.cached, reason

    def forget_beyond(self, kept: int, context: Context) -> None:
        """Drop cells behind the first ``kept`` (rejected drafts, an aborted step)."""
        self._rewind(kept, context, is_own=True)

    def clear(self, context: Context) -> None:
        """Drop every cell; the text stays known and would be computed again."""
        context.seq_rm(self.index, -1, -1)
        self.cached = 0

    def release(self) -> None:
        """Let the slot go; what is cached stays for whoever continues it."""
        self.known = self.cached
        self.is_free = True

    def _rewind(self, kept: int, context: Context, *, is_own: bool = False) -> str:
        """Cut the cache to ``kept`` tokens or, where it cannot be cut, to none; say why."""
        model = context.model
        if kept >= self.cached and not is_own:
            self.cached = kept  # nothing behind it: every kind of memory just goes on
            return ""
        if kept <= 0:
            self.clear(context)
            return ""
        if not context.seq_rm(self.index, kept, -1):
            self.clear(context)
            return (
                f"{kept:,} matching tokens are computed again: this model keeps a state instead of "
                "a cache, and a state cannot be taken back to an earlier token."
            )
        lowest = context.seq_pos_min(self.index)
        window = 0 if model.is_recurrent or model.is_hybrid else model.window_tok
        if window and not 0 <= lowest <= max(0, kept - window):
            self.clear(context)
            return (
                f"{kept:,} matching tokens are computed again: the sliding window of {window:,} "
                "tokens has moved on, and its older cells are gone. The full sliding-window cache "
                "(swa_full) keeps them."
            )
        self.cached = kept
        return ""


def choose_slot(
    slots: Iterable[Slot], prompt: NDArray[np.int32], conversation_id: str
) -> Slot | None:
    """The free slot for a prompt: longest match, then its own, then empty, then least recent.

    Returns:
        None if no slot is free.
    """
    free = [slot for slot in slots if slot.is_free]
    least = _LEAST_SIMILARITY * len(prompt)

    def rank(slot: Slot) -> tuple[int, bool, bool, int]:
        match = slot.match(prompt)
        return (
            match if match > least else 0,
            bool(conversation_id) and slot.conversation_id == conversation_id,
            slot.cached == 0,
            -slot.used_at,
        )

    return max(free, key=rank, default=None)
