"""ngram-cache: what followed the last one to four tokens so far, by majority.

Drafts what llama.cpp's ngram-cache drafts (``common_ngram_cache_draft`` in common/ngram-cache.cpp
and ``common_speculative_impl_ngram_cache`` in common/speculative.cpp). It counts what each call
brings that is new, and no n-gram that reaches from one call's tokens into the next one's. llama.cpp
files every n-gram in a hash map; here the tokens themselves are kept and searched, which takes less
memory than a map of their fourfold. Counts of other texts come from two files, which the server
reads once and never writes: the dynamic one is asked where the conversation knows nothing, the
static one weighs what these two know and is asked last. Products of counts do not overflow here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from engine_bridge.child.speculation.drafter import NOTHING, Wanted
from engine_bridge.child.speculation.lookup_counts import LONGEST_TOK, LookupCounts, no_counts
from engine_bridge.child.speculation.map_order import map_order
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.spec_kinds import NGRAM_CACHE_TOK

# Of n-grams of 1 to 4 tokens: how often one must have been seen, and in how many per cent of these
# the likeliest token must have followed (draft_min_sample_size_lax, draft_min_percent_lax).
_LAX = ((2, 66), (2, 50), (1, 50), (1, 50))
# The same of what was counted in other texts (…_strict).
_STRICT = ((4, 75), (3, 66), (2, 66), (2, 66))
# Tokens of the n-grams of the static file (LLAMA_NGRAM_STATIC).
_STATIC_TOK = 2
# A token that followed there as well weighs a hundred times its count.
_STATIC_WEIGHT = 100


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
        self._before[begin:end] = np.minimum(np.arange(len(tokens)), LONGEST_TOK)
        self._size = end

    def next_token(self, last: Sequence[int], weights: Mapping[int, int]) -> int | None:
        """What mostly followed the last tokens, by the longest n-gram that was seen enough.

        Args:
            last: The latest token at the end; four, or all there are.
            weights: How often tokens followed in the static file.
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
            followers = tokens[by_length[length - 1]]
            if len(followers) < _LAX[length - 1][0]:
                continue
            token = _majority(_counted(followers), weights, _LAX[length - 1])
            if token is not None:
                return token
        return None


class NgramCache:
    """A count for every slot.

    Args:
        config: Names the files.
        read: Gives the counts of a file.
    """

    def __init__(self, config: EngineConfig, read: Callable[[str], LookupCounts]) -> None:
        """Know what stands in the files."""
        self._slots: dict[int, _Seen] = {}
        self._read = read
        self._paths = ("", "")
        self._static = self._dynamic = no_counts()
        self.set_live(config)

    def set_live(self, config: EngineConfig) -> None:
        """Take other files."""
        paths = config.lookup_cache_static_path, config.lookup_cache_dynamic_path
        if paths != self._paths:
            self._static, self._dynamic = (
                self._read(path) if path else no_counts() for path in paths
            )
            self._paths = paths

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
        if len(history) < _STATIC_TOK:
            return NOTHING
        last: list[int] = history[-LONGEST_TOK:].tolist()
        begin = len(last)
        while len(last) - begin < NGRAM_CACHE_TOK:
            token = self._next(seen, last[-LONGEST_TOK:])
            if token is None:
                break
            last.append(token)
        return np.array(last[begin:], np.int32)

    def _next(self, seen: _Seen, last: list[int]) -> int | None:
        has_static, has_dynamic = map(bool, self._paths)
        weights = self._static.followers(tuple(last[-_STATIC_TOK:])) if has_static else {}
        token = seen.next_token(last, weights)
        if token is None and has_dynamic:
            token = self._by_dynamic(last, weights)
        if token is None and weights:
            token = _majority(weights, {}, _LAX[_STATIC_TOK - 1])
        return token

    def _by_dynamic(self, last: list[int], weights: Mapping[int, int]) -> int | None:
        for length in range(len(last), 0, -1):
            counts = self._dynamic.followers(tuple(last[-length:]))
            token = _majority(counts, weights, _STRICT[length - 1]) if counts else None
            if token is not None:
                return token
        return None


def _counted(followers: NDArray[np.int32]) -> dict[int, int]:
    """How often each token followed, in the order in which they were new."""
    tokens, firsts, counts = np.unique(followers, return_index=True, return_counts=True)
    order = firsts.argsort()
    return dict(zip(tokens[order].tolist(), counts[order].tolist(), strict=True))


def _majority(
    counts: Mapping[int, int], weights: Mapping[int, int], limits: tuple[int, int]
) -> int | None:
    """The token that mostly followed an n-gram; None where that is not clear enough.

    Args:
        counts: How often which token followed it, in the order in which llama.cpp filed them.
        weights: How often tokens followed in the static file.
        limits: How often at least it was seen, and per cent that the token must have.
    """
    least_seen, least_percent = limits
    seen = sum(counts.values())
    if seen < least_seen:
        return None
    scores = counts
    if weights:
        scores = {
            token: count * _STATIC_WEIGHT * weights[token] if token in weights else count
            for token, count in counts.items()
        }
    most = max(scores.values())
    level = [token for token, score in scores.items() if score == most]
    best = level[0] if len(level) == 1 else _listed_first(level, list(counts))
    return best if 100 * counts[best] >= least_percent * seen else None


def _listed_first(level: list[int], tokens: list[int]) -> int:
    """The one of ``level`` that llama.cpp's map of ``tokens`` lists first."""
    order = [tokens[place] for place in map_order(tokens)]
    return min(level, key=order.index)
