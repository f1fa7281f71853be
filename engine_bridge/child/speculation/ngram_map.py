"""A map of the n-grams of one text, and what it takes to draft with one map a slot.

Finds what llama.cpp's ``common_ngram_map_begin`` and ``common_ngram_map_draft``
(common/ngram-map.cpp) find, in the same order and with the same collisions. What is drafted from
a match is the business of ``ngram_map_k`` and ``ngram_map_k4v``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from engine_bridge.child.speculation.drafter import NOTHING, Wanted
from engine_bridge.child.speculation.ngram_search import hash_weights, hashes, starts_of
from engine_bridge.settings.config import EngineConfig

_FACTOR = 2654435761
_PLACES = 1 << 18
_VALUES = 4
MOST_COUNTED = 16380


@dataclass(slots=True)
class Value:
    """Tokens that followed a key.

    Attributes:
        start: Where they begin, 0 while unused.
        seen: How often they followed.
        draft_tok: Most tokens to draft: as many as were confirmed the last time.
    """

    draft_tok: int
    start: int = 0
    seen: int = 0


@dataclass(slots=True)
class Key:
    """An n-gram that occurred again.

    Attributes:
        start: Where it stood.
        counted_to: Up to which start its values are counted.
        hits: How often it was looked up.
        values: What followed it.
    """

    start: int
    values: list[Value]
    counted_to: int = 0
    hits: int = 0


class TextMap(ABC):
    """The n-grams of the text in one slot.

    Attributes:
        min_hits: How often a key must have been looked up before it drafts.

    Args:
        config: Says how many tokens a key (n) and a value (m) have.
    """

    def __init__(self, config: EngineConfig) -> None:
        """Know no text yet."""
        self.min_hits = config.ngram_min_hits
        self._n = key_tok = config.ngram_size_n
        self._m = config.ngram_size_m
        self._weights = hash_weights(_FACTOR, key_tok, np.uint32)
        self._start_anew()

    def _start_anew(self) -> None:
        self._places = np.zeros(_PLACES, np.uint32)  # by hash: where such an n-gram starts
        self._filed_to = 0
        self._begun_at = 0
        self._checked_to = 0
        self._keys: list[Key] = []
        self._by_tokens: dict[bytes, Key] = {}
        self._is_stale = False  # whether ``_by_tokens`` may be of an earlier turn's text
        self._used: Value | None = None  # whose tokens the latest draft was

    def begin(self, prompt: NDArray[np.int32]) -> None:
        """Go on with a text that may be shorter than the one before, as after a new turn."""
        size = len(prompt)
        stays_to = self._begun_at
        if stays_to > size:
            stays_to = max(0, size - self._n - self._m)
        if size < self._checked_to:
            self._places[self._places >= max(1, stays_to)] = 0
            self._filed_to = max(0, stays_to - 1)
            self._keys = [key for key in self._keys if self._outlives(key, stays_to)]
        self._is_stale = True
        self._checked_to = self._begun_at = size

    def draft(self, history: NDArray[np.int32]) -> NDArray[np.int32]:
        """What followed the last tokens of ``history`` the last time, or nothing."""
        self._used = None
        text, n, m = history[:-1], self._n, self._m
        size = len(text)
        if size < 2 * n + m:
            return NOTHING
        if size < self._checked_to:
            self._start_anew()  # the text was cut in its middle; llama.cpp would abort
        self._checked_to = size
        wanted = history[-n:]
        match = self._found(text, wanted)
        self._file(text)
        if match == 0:
            return NOTHING
        key = self._key_of(text, wanted, match)
        key.hits = min(key.hits + 1, MOST_COUNTED)
        self._used = self._chosen(text, wanted, key, match)
        if self._used is None:
            return NOTHING
        return text[match + n : match + n + min(m, self._used.draft_tok)]

    def accept(self, accepted_tok: int) -> None:
        """Draft as many tokens the next time."""
        if self._used is not None:
            self._used.draft_tok = accepted_tok

    @abstractmethod
    def _chosen(
        self, text: NDArray[np.int32], wanted: NDArray[np.int32], key: Key, match: int
    ) -> Value | None:
        """What to draft of what followed ``key``, None for nothing."""

    @abstractmethod
    def _outlives(self, key: Key, stays_to: int) -> bool:
        """Whether ``key`` still counts where only the text before ``stays_to`` stayed."""

    def _spans(self) -> tuple[tuple[int, int], ...]:
        """First and last start of the two stretches that are not filed yet.

        A little before the place where the answer began is in neither: llama.cpp skips it.
        """
        gap = self._n + self._m + 1
        return (
            (self._filed_to + 1, self._begun_at - gap),
            (max(self._begun_at, self._filed_to) + 1, self._checked_to - gap),
        )

    def _found(self, text: NDArray[np.int32], wanted: NDArray[np.int32]) -> int:
        """Where ``wanted`` stood before, 0 for nowhere (and for the very beginning)."""
        n = self._n
        place = int(self._places[int(hashes(wanted, self._weights)[0]) % _PLACES])
        is_close = place >= self._checked_to - n - self._m - 1
        # Another n-gram may have the same hash.
        if place and not is_close and np.array_equal(text[place : place + n], wanted):
            return place
        for first, last in self._spans():
            if first <= last:
                starts = starts_of(text, wanted, first, last)
                if starts.size:
                    return int(starts[-1])
        return 0

    def _file(self, text: NDArray[np.int32]) -> None:
        """File the n-grams that are new; a place that is taken stays, the latest goes first."""
        for first, last in self._spans():
            if first > last:
                continue
            at = hashes(text[first : last + self._n], self._weights) % _PLACES
            starts = np.arange(first, last + 1, dtype=np.uint32)
            is_free = self._places[at] == 0
            # Of equal hashes the last assignment holds, which is the latest start.
            self._places[at[is_free]] = starts[is_free]
        self._filed_to = max(self._checked_to - self._n - self._m - 1, self._filed_to)

    def _key_of(self, text: NDArray[np.int32], wanted: NDArray[np.int32], match: int) -> Key:
        """The key whose tokens are ``wanted``, a new one where there is none."""
        if self._is_stale:
            self._read_keys(text)
        tokens = wanted.tobytes()
        key = self._by_tokens.get(tokens)
        if key is None:
            key = Key(match, [Value(self._m) for _ in range(_VALUES)])
            self._keys.append(key)
            self._by_tokens[tokens] = key
        return key

    def _read_keys(self, text: NDArray[np.int32]) -> None:
        """See what stands now where the keys of an earlier turn stood; the oldest key counts."""
        self._by_tokens.clear()
        for key in self._keys:
            tokens = text[key.start : key.start + self._n]
            if len(tokens) == self._n:
                self._by_tokens.setdefault(tokens.tobytes(), key)
        # A key that reaches beyond the text is read once the text has grown.
        ends = max((key.start for key in self._keys), default=0) + self._n
        self._is_stale = ends > len(text)


@dataclass
class NgramMaps:
    """A drafter with a map for every slot.

    Attributes:
        make: Makes an empty map for a configuration.
    """

    make: Callable[[EngineConfig], TextMap]
    config: EngineConfig
    _maps: dict[int, TextMap] = field(default_factory=dict)

    def draft(self, wanted: Sequence[Wanted]) -> list[NDArray[np.int32]]:
        """Look every text up in its own map."""
        return [self._map(one.seq).draft(one.history) for one in wanted]

    def begin(self, seq: int, prompt: NDArray[np.int32]) -> None:
        """Keep of the map what the new text still has."""
        self._map(seq).begin(prompt)

    def accept(self, seq: int, accepted_tok: int, *, is_own: bool) -> None:
        """Learn how far the tokens behind a key can be trusted."""
        if is_own:
            self._map(seq).accept(accepted_tok)

    def set_live(self, config: EngineConfig) -> None:
        """Start new maps where the lengths are other ones: all of a map hangs on them."""
        before, self.config = _lengths(self.config), config
        if _lengths(config) != before:
            self._maps.clear()
        for one in self._maps.values():
            one.min_hits = config.ngram_min_hits

    def forget(self, seq: int) -> None:
        """Drop the map of a slot."""
        self._maps.pop(seq, None)

    def _map(self, seq: int) -> TextMap:
        if seq not in self._maps:
            self._maps[seq] = self.make(self.config)
        return self._maps[seq]


def _lengths(config: EngineConfig) -> tuple[int, int]:
    return config.ngram_size_n, config.ngram_size_m
