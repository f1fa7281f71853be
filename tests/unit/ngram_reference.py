"""The rules of llama.cpp's n-gram drafters, one token at a time and without any haste.

An independent reading of common/ngram-map.cpp, common/ngram-mod.cpp, common/ngram-cache.cpp and
common/speculative.cpp that the drafters of the engine are held against.
"""

from __future__ import annotations

from collections.abc import Sequence

_MAP_PLACES = 262_144
_MOD_PLACES = 4 * 1024 * 1024


def _hash(tokens: Sequence[int], factor: int, bits: int) -> int:
    value = 0
    for token in tokens:
        value = (value * factor + token) % 2**bits
    return value


class MapReference:
    """ngram-map-k and ngram-map-k4v in one slot."""

    def __init__(self, n: int, m: int, *, has_values: bool, min_hits: int) -> None:
        self.n, self.m, self.has_values, self.min_hits = n, m, has_values, min_hits
        self.table = [0] * _MAP_PLACES
        self.used: set[int] = set()  # filled entries of the table, so that a test stays quick
        self.filed_to = self.begun = self.checked = 0
        self.keys: list[dict[str, int]] = []
        self.values: list[list[dict[str, int]]] = []
        self.last: tuple[int, int] | None = None

    def begin(self, text: list[int]) -> None:
        size, cleanup = len(text), self.begun
        if cleanup > size:
            cleanup = size - self.n - self.m if size > self.n + self.m else 0
        if size < self.checked:
            for place in list(self.used):
                if self.table[place] >= cleanup:
                    self.table[place] = 0
                    self.used.discard(place)
            self.filed_to = cleanup - 1 if cleanup > 0 else 0
            kept = [at for at in range(len(self.keys)) if self._stays(at, cleanup)]
            self.keys = [self.keys[at] for at in kept]
            self.values = [self.values[at] for at in kept]
        self.checked = self.begun = size

    def _stays(self, at: int, cleanup: int) -> bool:
        if self.keys[at]["start"] >= cleanup:
            return False
        if not self.has_values:
            return True
        values = [value for value in self.values[at] if value["start"] < cleanup]
        unused = {"start": 0, "seen": 0, "most": self.m}
        self.values[at] = values + [dict(unused) for _ in range(4 - len(values))]
        return self.values[at][0]["start"] != 0

    def draft(self, history: list[int]) -> list[int]:
        self.last = None
        text, n, m = history[:-1], self.n, self.m
        size = len(text)
        if size < 2 * n + m:
            return []
        self.checked = size
        wanted = history[-n:]
        match = self._match(text, wanted)
        for start in self._unfiled():
            place = _hash(text[start : start + n], 2654435761, 32) % _MAP_PLACES
            if self.table[place] == 0:
                self.table[place] = start
                self.used.add(place)
        self.filed_to = max(size - n - m - 1, self.filed_to)
        if match == 0:
            return []
        at = self._key(text, wanted, match)
        key, values = self.keys[at], self.values[at]
        key["hits"] += 1
        chosen = 0
        if self.has_values:
            if key["hits"] < self.min_hits:
                return []
            self._count(text, wanted, at, match)
            seen = [value["seen"] for value in values]
            chosen = seen.index(max(seen))
            others = sum(seen) - seen[chosen]
            if others > 0 and seen[chosen] < 2 * others:
                return []
        self.last = (at, chosen)
        return text[match + n : match + n + min(m, values[chosen]["most"])]

    def accept(self, accepted: int) -> None:
        if self.last is not None:
            self.values[self.last[0]][self.last[1]]["most"] = accepted

    def _unfiled(self) -> list[int]:
        """Starts in the order in which they are looked at: twice from the back."""
        gap = self.n + self.m + 1
        before = range(self.begun - gap, self.filed_to, -1)
        behind = range(self.checked - gap, max(self.begun, self.filed_to), -1)
        return [*before, *behind]

    def _match(self, text: list[int], wanted: list[int]) -> int:
        place = self.table[_hash(wanted, 2654435761, 32) % _MAP_PLACES]
        if 0 < place < len(text) - self.n - self.m - 1 and text[place : place + self.n] == wanted:
            return place
        for start in self._unfiled():
            if text[start : start + self.n] == wanted:
                return start
        return 0

    def _key(self, text: list[int], wanted: list[int], match: int) -> int:
        for at, key in enumerate(self.keys):
            if text[key["start"] : key["start"] + self.n] == wanted:
                return at
        self.keys.append({"start": match, "hits": 0, "counted": 0})
        self.values.append([{"start": 0, "seen": 0, "most": self.m} for _ in range(4)])
        return len(self.keys) - 1

    def _count(self, text: list[int], wanted: list[int], at: int, match: int) -> None:
        n, m = self.n, self.m
        for start in range(self.keys[at]["counted"], match + 1):
            if text[start : start + n] != wanted:
                continue
            behind = text[start + n : start + n + m]
            for value in self.values[at]:
                if value["start"] == 0:
                    value.update(start=start + n, seen=1, most=m)
                    break
                if text[value["start"] : value["start"] + m] == behind:
                    value["seen"] += 1
                    break
        self.keys[at]["counted"] = match


class ModReference:
    """ngram-mod for all slots; a dictionary is its table."""

    def __init__(self, n: int, n_min: int, n_max: int) -> None:
        self.n, self.n_min, self.n_max = n, n_min, n_max
        self.table: dict[int, int] = {}
        self.filed: dict[int, int] = {}
        self.drafted: dict[int, int] = {}
        self.poor: dict[int, int] = {}

    def _place(self, tokens: Sequence[int]) -> int:
        return _hash(tokens, 6364136223846793005, 64) % _MOD_PLACES

    def _file(self, text: list[int], first: int) -> None:
        for start in range(first, len(text) - self.n):
            self.table[self._place(text[start : start + self.n])] = text[start + self.n]

    def begin(self, seq: int, text: list[int]) -> None:
        self.filed[seq] = self.drafted[seq] = 0
        if len(text) < self.n:
            return
        self._file(text, 0)
        self.filed[seq] = len(text) - self.n
        if len(self.table) > _MOD_PLACES / 4:
            self.table.clear()

    def draft(self, seq: int, history: list[int]) -> list[int]:
        self.drafted[seq] = 0
        text = history[:-1]
        if len(text) < self.n:
            return []
        if self.filed.get(seq, 0) + 32 < len(text):
            self._file(text, self.filed.get(seq, 0))
            self.filed[seq] = len(text) - self.n
        drafted: list[int] = []
        while len(drafted) < self.n_max:
            token = self.table.get(self._place((history + drafted)[-self.n :]))
            if token is None:
                if len(drafted) < self.n_min:
                    return []
                break
            drafted.append(token)
        self.drafted[seq] = len(drafted)
        return drafted

    def accept(self, seq: int, accepted: int) -> None:
        if self.drafted[seq] == 0:
            return
        if accepted / self.drafted[seq] >= 0.25:
            self.poor[seq] = 0
            return
        self.poor[seq] = self.poor.get(seq, 0) + 1
        if self.poor[seq] == 5:
            self.table.clear()
            self.poor[seq] = self.filed[seq] = 0


Counts = dict[tuple[int, ...], dict[int, int]]
_LAX = ((4, 1, 50), (3, 1, 50), (2, 2, 50), (1, 2, 66))
_STRICT = ((4, 2, 66), (3, 2, 66), (2, 3, 66), (1, 4, 75))


def count(counts: Counts, tokens: list[int], lengths: tuple[int, ...] = (1, 2, 3, 4)) -> None:
    """Add to ``counts`` what follows the n-grams of ``tokens``."""
    for length in lengths:
        for at in range(length, len(tokens)):
            followers = counts.setdefault(tuple(tokens[at - length : at]), {})
            followers[tokens[at]] = followers.get(tokens[at], 0) + 1


class CacheReference:
    """ngram-cache in one slot: dictionaries of n-grams, each with its followers."""

    def __init__(self, static: Counts | None = None, dynamic: Counts | None = None) -> None:
        self.counted = 0
        self.followers: Counts = {}
        self.static, self.dynamic = static or {}, dynamic or {}

    def draft(self, history: list[int]) -> list[int]:
        new = history[self.counted :]
        self.counted = max(self.counted, len(history))
        count(self.followers, new)
        drafted: list[int] = []
        while len(drafted) < 8 and len(history) > 1:
            token = self._next(history + drafted)
            if token is None:
                break
            drafted.append(token)
        return drafted

    def _next(self, text: list[int]) -> int | None:
        weights = self.static.get(tuple(text[-2:]), {})
        for source, limits in ((self.followers, _LAX), (self.dynamic, _STRICT)):
            for length, least, percent in limits:
                counts = source.get(tuple(text[-length:]), {}) if len(text) >= length else {}
                token = self._most(counts, weights, least, percent)
                if token is not None:
                    return token
        return self._most(weights, {}, 2, 50)

    def _most(
        self, counts: dict[int, int], weights: dict[int, int], least: int, percent: int
    ) -> int | None:
        total = sum(counts.values())
        if total < least:
            return None
        best, most, weight = None, 0, 0
        # A small hash map of libstdc++ lists what came in last first.
        for token, number in reversed(counts.items()):
            factor = 100 * weights[token] if token in weights else 1
            if number * factor > most * weight:
                best, most, weight = token, number, factor
        return best if 100 * most >= percent * total else None
