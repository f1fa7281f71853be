"""ngram-cache: what followed the last one to four tokens so far, by majority.

Drafts what llama.cpp's ngram-cache drafts without files of statistics
(``common_ngram_cache_draft`` in common/ngram-cache.cpp and ``common_speculative_impl_ngram_cache``
in common/speculative.cpp). It counts what each call brings that is new, and no n-gram that reaches
from one call's tokens into the next one's. llama.cpp files every n-gram in a hash map; here the
tokens themselves are kept and searched, which takes less memory than a map of their fourfold.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine_bridge.child.speculation.drafter import NOTHING, Wanted
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.spec_kinds import NGRAM_CACHE_TOK

# Of n-grams of 1 to 4 tokens: how often one must have been seen, and in how many per cent of these
# the likeliest token must have followed (draft_min_sample_size_lax, draft_min_percent_lax).
_LEAST_SEEN = (2, 2, 1, 1)
_LEAST_PERCENT = (66, 50, 50, 50)
_LONGEST = len(_LEAST_SEEN)


class _Seen:
    """What was counted in a slot.

    Attributes:
        text_tok: Tokens of the text that were counted.
    """

    def __init__(self) -> None:
        """Nothing yet."""
        self.text_tok = 0
        self._size = 0
        self._tokens = np.zeros(0, np.int32)
        self._before = np.zeros(0, np.int8)  # tokens before each that came in the same call

    def add(self, tokens: NDArray[np.int32]) -> None:
        """Count ``tokens``, which came together."""
        begin, end = self._size, self._size + len(tokens)
        if end > len(self._tokens):
            self._tokens = np.concatenate((self._tokens[:begin], np.zeros(2 * end, np.int32)))
            self._before = np.concatenate((self._before[:begin], np.zeros(2 * end, np.int8)))
        self._tokens[begin:end] = tokens
        self._before[begin:end] = np.minimum(np.arange(len(tokens)), _LONGEST)
        self._size = end

    def next_token(self, last: Sequence[int]) -> int | None:
        """What mostly followed the last tokens, by the longest n-gram that was seen enough.

        Args:
            last: The latest token at the end; four, or all there are.
        """
        tokens, before = self._tokens[: self._size], self._before[: self._size]
        places = np.flatnonzero(tokens[:-1] == last[-1]) + 1
        places = places[before[places] >= 1]
        by_length = [places]
        for length in range(2, len(last) + 1):
            places = places[before[places] >= length]
            places = places[tokens[places - length] == last[-length]]
            by_length.append(places)
        for length in range(len(last), 0, -1):
            token = _majority(tokens[by_length[length - 1]], length)
            if token is not None:
                return token
        return None


class NgramCache:
    """A count for every slot."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._slots: dict[int, _Seen] = {}

    def set_live(self, config: EngineConfig) -> None:
        """It has no settings."""

    def begin(self, seq: int, prompt: NDArray[np.int32]) -> None:
        """Go on counting; the next draft brings the prompt."""

    def accept(self, seq: int, accepted_tok: int, *, is_own: bool) -> None:
        """It does not learn from its guesses."""

    def forget(self, seq: int) -> None:
        """Drop the count of a slot; llama.cpp would go on with it for another conversation."""
        self._slots.pop(seq, None)

    def draft(self, wanted: Sequence[Wanted]) -> list[NDArray[np.int32]]:
        """Count what is new in every text, and guess on."""
        return [self._drafted(one) for one in wanted]

    def _drafted(self, one: Wanted) -> NDArray[np.int32]:
        seen, history = self._slots.setdefault(one.seq, _Seen()), one.history
        if seen.text_tok < len(history):
            seen.add(history[seen.text_tok :])
            seen.text_tok = len(history)
        if len(history) < 2:
            return NOTHING
        last: list[int] = history[-_LONGEST:].tolist()
        begin = len(last)
        while len(last) - begin < NGRAM_CACHE_TOK:
            token = seen.next_token(last[-_LONGEST:])
            if token is None:
                break
            last.append(token)
        return np.array(last[begin:], np.int32)


def _majority(followers: NDArray[np.int32], length: int) -> int | None:
    """The token that mostly followed an n-gram of ``length`` tokens; None without enough of it."""
    seen = len(followers)
    if seen < _LEAST_SEEN[length - 1]:
        return None
    tokens, firsts, counts = np.unique(followers, return_index=True, return_counts=True)
    if 100 * int(counts.max()) < _LEAST_PERCENT[length - 1] * seen:
        return None
    # Only two tokens that followed equally often can be level here. llama.cpp takes the one that
    # its hash map (libstdc++) lists first, which is the one that was new there last.
    level = np.flatnonzero(counts == counts.max())
    return int(tokens[level[firsts[level].argmax()]])
