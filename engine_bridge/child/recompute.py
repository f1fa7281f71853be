"""Why a turn computed tokens that its conversation had computed before, in a sentence.

Remembers the last text of each conversation. Must not know caches.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine_bridge.child.slot import FEW_TOK, Slot, common_prefix

# A text of 100,000 tokens takes 400 kB here.
_CONVERSATIONS = 64

OTHER_TOOK_SLOT = "another conversation took the slot"
POOL_WAS_SHORT = "the shared pool needed the cells for others"
SETTING_CHANGED = "a changed setting made another cache"
CACHING_OFF = "prompts are not kept while prompt caching is off"
SHIFTED = "a context shift had dropped a part of the text and moved up what follows"
_GONE = "the slot no longer had them"


@dataclass
class _Text:
    """What a conversation had computed, and what became of it."""

    tokens: NDArray[np.int32]
    cause: str = ""


class Recompute:
    """The texts of the conversations, as they were left."""

    def __init__(self) -> None:
        """Remember none."""
        self._texts: OrderedDict[str, _Text] = OrderedDict()

    def left(self, slot: Slot, *, is_shifted: bool = False) -> None:
        """A request ends: its text lies in ``slot``, without a part of it where it was shifted."""
        if not slot.conversation_id or not slot.cached:
            return
        cause = SHIFTED if is_shifted else ""
        self._texts[slot.conversation_id] = _Text(slot.tokens[: slot.cached].copy(), cause)
        self._texts.move_to_end(slot.conversation_id)
        if len(self._texts) > _CONVERSATIONS:
            self._texts.popitem(last=False)

    def inherit(self, other: Recompute) -> None:
        """Remember what ``other`` does."""
        self._texts = other._texts

    def lost(self, conversation_id: str, cause: str) -> None:
        """The slot of a conversation no longer holds its text."""
        text = self._texts.get(conversation_id)
        if text is not None:
            text.cause = cause

    def lost_all(self, cause: str) -> None:
        """No slot holds what it held."""
        for text in self._texts.values():
            text.cause = cause

    def forget(self, conversation_id: str) -> None:
        """A conversation is closed."""
        self._texts.pop(conversation_id, None)

    def reason(
        self, conversation_id: str, prompt: NDArray[np.int32], reused_tok: int, cut: str
    ) -> str:
        """The sentence for the turn that begins; empty where there is nothing to say.

        Args:
            conversation_id: Whose.
            prompt: (tokens,) int32, the text to compute.
            reused_tok: Tokens of it that are not computed.
            cut: Why the cache could not give all that it holds, as ``Slot.begin`` says, or empty.
        """
        text = self._texts.get(conversation_id)
        if cut or text is None:
            return cut
        common = common_prefix(text.tokens, prompt)
        again = min(common, len(prompt) - 1) - reused_tok
        if again >= FEW_TOK:
            return f"{again:,} tokens are computed again: {text.cause or _GONE}."
        no_longer = len(text.tokens) - common
        if common < len(prompt) and no_longer >= FEW_TOK:
            if text.cause == SHIFTED:
                return f"{len(prompt) - reused_tok:,} tokens are computed again: {SHIFTED}."
            return (
                f"The text differs from token {common + 1:,} on: {no_longer:,} computed tokens no "
                "longer apply."
            )
        return ""
