"""ngram-mod: one table of n-grams for all slots, each with the token that followed it last.

Drafts what llama.cpp's ngram-mod drafts (common/ngram-mod.cpp and
``common_speculative_impl_ngram_mod`` in common/speculative.cpp), token by token: each drafted token
is looked up behind those before it. The table knows hashes only, so two n-grams may be taken for
one another. It is shared by all slots, as llama.cpp shares it: what one conversation said may be
drafted in another (and is said there only if the model says so itself).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine_bridge.child.speculation.drafter import NOTHING, Wanted
from engine_bridge.child.speculation.ngram_search import hash_weights, hashes
from engine_bridge.settings.config import EngineConfig

_FACTOR = 6364136223846793005
_PLACES = 4 * 1024 * 1024
_EMPTY = -1
# A fuller table takes too many n-grams for one another.
_FULLEST = 0.25
# Tokens that a text grows by before its n-grams are filed.
_CHUNK_TOK = 32
# A table whose drafts are confirmed to less than this share so often in a row is emptied.
_LEAST_ACCEPTED = 0.25
_MOST_POOR = 5


@dataclass(slots=True)
class _Slot:
    """Where a slot stands.

    Attributes:
        filed_to: The n-grams that start before it are in the table.
        drafted_tok: Tokens of its latest draft, before it was cut to what was wanted.
        poor: Drafts in a row of which little was confirmed.
    """

    filed_to: int = 0
    drafted_tok: int = 0
    poor: int = 0


class NgramMod:
    """The table and the slots that use it.

    Args:
        config: Says the lengths.
    """

    def __init__(self, config: EngineConfig) -> None:
        """Know nothing yet."""
        self._match_tok = 0
        self._slots: dict[int, _Slot] = {}
        self.set_live(config)

    def set_live(self, config: EngineConfig) -> None:
        """Take other lengths; with another match length the table starts anew."""
        self._n_min, self._n_max = config.ngram_mod_n_min, config.ngram_mod_n_max
        if config.ngram_mod_n_match == self._match_tok:
            return
        self._match_tok = n = config.ngram_mod_n_match
        self._table = np.full(_PLACES, _EMPTY, np.int32)
        self._used = 0
        self._weights = hash_weights(_FACTOR, n, np.uint64)
        # What the oldest token counts: taken away when the next one comes.
        self._oldest = pow(_FACTOR, n - 1, _PLACES)
        for slot in self._slots.values():
            slot.filed_to = 0

    def draft(self, wanted: Sequence[Wanted]) -> list[NDArray[np.int32]]:
        """Look every text up in the table."""
        return [self._drafted(self._slot(one.seq), one.history) for one in wanted]

    def begin(self, seq: int, prompt: NDArray[np.int32]) -> None:
        """File the prompt."""
        slot = self._slot(seq)
        slot.filed_to = slot.drafted_tok = 0
        if len(prompt) < self._match_tok:
            return
        self._file(slot, prompt)
        if self._used > _FULLEST * _PLACES:
            self._empty()

    def accept(self, seq: int, accepted_tok: int, *, is_own: bool) -> None:
        """Empty the table when it keeps guessing wrong."""
        slot = self._slot(seq)
        if not is_own or not slot.drafted_tok:
            return
        is_poor = accepted_tok / slot.drafted_tok < _LEAST_ACCEPTED
        slot.poor = slot.poor + 1 if is_poor else 0
        if slot.poor >= _MOST_POOR:
            self._empty()
            slot.poor = slot.filed_to = 0

    def forget(self, seq: int) -> None:
        """File the text of a slot anew; what is in the table stays, it is shared on purpose."""
        self._slot(seq).filed_to = 0

    def _slot(self, seq: int) -> _Slot:
        return self._slots.setdefault(seq, _Slot())

    def _drafted(self, slot: _Slot, history: NDArray[np.int32]) -> NDArray[np.int32]:
        slot.drafted_tok = 0
        text, n = history[:-1], self._match_tok
        if len(text) < n:
            return NOTHING
        if slot.filed_to + _CHUNK_TOK < len(text):
            self._file(slot, text)
        table, last = self._table, history[-n:].tolist()
        at = int(hashes(history[-n:], self._weights)[0]) % _PLACES
        while len(last) < n + self._n_max:
            token = int(table[at])
            if token == _EMPTY:
                if len(last) - n < self._n_min:
                    return NOTHING
                break
            at = ((at - last[len(last) - n] * self._oldest) * _FACTOR + token) % _PLACES
            last.append(token)
        slot.drafted_tok = len(last) - n
        return np.array(last[n:], np.int32)

    def _file(self, slot: _Slot, text: NDArray[np.int32]) -> None:
        """File the n-grams of ``text`` that were not yet; the latest of equal ones counts."""
        first, n = slot.filed_to, self._match_tok
        slot.filed_to = len(text) - n
        if first >= slot.filed_to:
            return
        at = (hashes(text[first:-1], self._weights) % np.uint64(_PLACES)).astype(np.int64)
        self._used += len(np.unique(at[self._table[at] == _EMPTY]))
        # Of equal hashes the last assignment holds.
        self._table[at] = text[first + n :]

    def _empty(self) -> None:
        self._table.fill(_EMPTY)
        self._used = 0
