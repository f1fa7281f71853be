"""A slot: one sequence of the context, the tokens its cache holds, and how a prompt reuses them.

Knows prefix reuse; must not know batches, sampling or messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from engine_bridge.child.llama import Context, Model
from engine_bridge.child.sequence_state import put_back_state
from engine_bridge.protocol import SlotFacts
from engine_bridge.settings.config import EngineConfig

# llama-server's -sps: a match below this share of the prompt is no reason to take a slot.
_LEAST_SIMILARITY = 0.1
# Fewer tokens are computed again without a word.
FEW_TOK = 32
# Where the reading of a prompt pauses if it does not: beyond any text.
NO_STOP = 1 << 40


class Checkpoint(NamedTuple):
    """What of a sequence cannot be cut, as it was behind the first tokens of a text.

    Attributes:
        tokens: How many; the cache of the other layers is cut to them.
        state: (bytes,) uint8, a partial state.
        use: Which use of the slot it was taken in.
    """

    tokens: int
    state: NDArray[np.uint8]
    use: int


class Held(Protocol):
    """A text whose tokens are computed: in a slot, or kept in host memory."""

    @property
    def cached(self) -> int:
        """Tokens computed."""

    @property
    def checkpoints(self) -> Sequence[Checkpoint]:
        """Ascending by tokens."""

    def match(self, prompt: NDArray[np.int32]) -> int:
        """Tokens at the beginning in common with ``prompt``."""


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
        checkpoints: States at earlier tokens of the text, ascending.
        stop_tok: Where the reading of the prompt pauses, so that a checkpoint can be taken.
        message_starts: Tokens in front of each message of the user, as far as they are known.
        use: Number of the prompt that is read, for checkpoints.
        shared: Slots that hold the same cells of a common pool, and how many of the first.
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
        self.checkpoints: list[Checkpoint] = []
        self.stop_tok = NO_STOP
        self.message_starts: tuple[int, ...] = ()
        self.use = 0
        self.shared: dict[Slot, int] = {}
        self.reshape(cap_tok, most_drafts)

    def facts(self, request_id: int | None) -> SlotFacts:
        """Its state for the window while it is held by a request, or by none."""
        return SlotFacts(self.index, self.cached, request_id, self.conversation_id, self.common_tok)

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

    @property
    def checkpoint_bytes(self) -> int:
        """What its checkpoints take in host memory."""
        return sum(point.state.nbytes for point in self.checkpoints)

    @property
    def common_tok(self) -> int:
        """Tokens in the cache whose cells a slot before this one holds as well."""
        if not self.shared:
            return 0
        before = [
            min(tokens, self.cached, other.cached)
            for other, tokens in self.shared.items()
            if other.index < self.index
        ]
        return max(before, default=0)

    def match(self, prompt: NDArray[np.int32]) -> int:
        """Tokens at the beginning that ``prompt`` and the cache have in common."""
        return common_prefix(self.tokens[: self.cached], prompt)

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
        self.checkpoints.clear()
        self.keep_shared(0)

    def drop(self, context: Context) -> None:
        """Drop every cell and the text."""
        self.clear(context)
        self.known = 0

    def release(self) -> None:
        """Let the slot go; what is cached stays for whoever continues it."""
        self.known = self.cached
        self.is_free = True
        self.stop_tok = NO_STOP

    def keep_shared(self, kept: int) -> None:
        """Take note that beyond the first ``kept`` tokens the cells are no longer common ones."""
        for other, tokens in list(self.shared.items()):
            if kept < tokens:
                share(self, other, kept)

    def _rewind(self, kept: int, context: Context, *, is_own: bool = False) -> str:
        """Cut the cache to ``kept`` tokens or, where it cannot be cut, to fewer; say why."""
        if kept >= self.cached and not is_own:
            self.cached = kept  # nothing behind it: every kind of memory just goes on
            return ""
        if kept <= 0:
            self.clear(context)
            return ""
        self.keep_shared(kept)
        while self.checkpoints and self.checkpoints[-1].tokens > kept:
            self.checkpoints.pop()
        if self._cut(kept, context, is_own=is_own):
            self.cached = kept
            return ""
        self.go_back(context)
        return _not_recoverable(context.model, kept, self.cached)

    def _cut(self, kept: int, context: Context, *, is_own: bool) -> bool:
        """Drop the cells behind ``kept``; whether what is left is all that the next token needs."""
        is_state = keeps_state(context.model)
        # States of the last step alone can be gone back to; whoever begins comes later.
        if (is_state and not is_own) or not context.seq_rm(self.index, kept, -1):
            return False
        window = 0 if is_state else context.model.window_tok
        return not window or reaches_back(context.seq_pos_min(self.index), kept, window)

    def go_back(self, context: Context) -> None:
        """Put the last checkpoint back, or drop everything; the text stays known."""
        if self.checkpoints:
            tokens, state, _ = self.checkpoints[-1]
            is_back = put_back_state(context, self.index, state, is_partial=True)
            # The state stands at its place now; what the other layers cached is cut there.
            if is_back and context.seq_rm(self.index, tokens, -1):
                self.cached = tokens
                return
        self.clear(context)


def share(one: Slot, other: Slot, tokens: int) -> None:
    """Note how many of the first cells two slots have in common."""
    if tokens > 0:
        one.shared[other] = other.shared[one] = tokens
    else:
        one.shared.pop(other, None)
        other.shared.pop(one, None)


def common_prefix(text: NDArray[np.int32], other: NDArray[np.int32]) -> int:
    """Tokens at the beginning that two texts have in common."""
    shared = min(len(text), len(other))
    differs = np.flatnonzero(text[:shared] != other[:shared])
    return int(differs[0]) if differs.size else shared


def keeps_state(model: Model) -> bool:
    """Whether the model keeps a state instead of a cache, in some layers at least."""
    return model.is_recurrent or model.is_hybrid


def reaches_back(lowest: int, kept: int, window_tok: int) -> bool:
    """Whether a window cache whose lowest position is ``lowest`` serves the token at ``kept``.

    It sees ``window_tok`` positions, its own among them (is_masked_swa in llama-hparams.h).
    """
    return 0 <= lowest <= max(0, kept - window_tok + 1)


def usable_tok(held: Held, wanted: int, model: Model, lowest: int) -> int:
    """Tokens that need not be computed if ``held`` is to give its first ``wanted``.

    Args:
        held: What is there.
        wanted: At most what it holds.
        model: Its model.
        lowest: Lowest position that its sliding window would hold, 0 without one.
    """
    if wanted == held.cached:
        return wanted
    is_state = keeps_state(model)
    if not is_state and (not model.window_tok or reaches_back(lowest, wanted, model.window_tok)):
        return wanted
    return max((p.tokens for p in held.checkpoints if p.tokens <= wanted), default=0)


def choose_slot(
    slots: Iterable[Slot],
    prompt: NDArray[np.int32],
    conversation_id: str,
    *,
    can_copy: bool = True,
) -> Slot | None:
    """The free slot for a prompt: longest match, then its own, then empty, then least recent.

    Args:
        slots: All slots.
        prompt: (tokens,) int32.
        conversation_id: Whose prompt.
        can_copy: A copy gives as much of a text as its slot. Then nobody else's slot is taken for
            a beginning they share while another one is empty.

    Returns:
        None if no slot is free.
    """
    free = [slot for slot in slots if slot.is_free]
    least = _LEAST_SIMILARITY * len(prompt)
    has_empty = can_copy and any(slot.cached == 0 for slot in free)

    def rank(slot: Slot) -> tuple[int, bool, bool, int]:
        match = slot.match(prompt)
        is_own = bool(conversation_id) and slot.conversation_id == conversation_id
        would_rob = has_empty and not is_own and slot.cached - match > FEW_TOK
        return (
            match if match > least and not would_rob else 0,
            is_own,
            slot.cached == 0,
            -slot.used_at,
        )

    return max(free, key=rank, default=None)


def slot_cap_tok(context: Context, config: EngineConfig) -> int:
    """Tokens one slot may use: its part of the pool, its cap, and never more than training."""
    trained = context.model.ctx_train_tok or context.ctx_seq_tok
    return min(context.ctx_seq_tok, config.slot_cap_tok, trained)


def _not_recoverable(model: Model, wanted: int, reused: int) -> str:
    """Why ``wanted`` matching tokens were cut to ``reused``; empty where that hardly matters."""
    again = wanted - reused
    if again < FEW_TOK:
        return ""
    back = "of which no checkpoint is left" if not reused else "that goes back to checkpoints only"
    if keeps_state(model):
        return (
            f"{again:,} matching tokens are computed again: this model keeps a state instead of a "
            f"cache, {back}."
        )
    return (
        f"{again:,} matching tokens are computed again: the sliding window of "
        f"{model.window_tok:,} tokens has moved on, and "
        + ("no checkpoint is left. " if not reused else "the last checkpoint lies before them. ")
        + "With --swa-full the cache keeps all cells."
    )
