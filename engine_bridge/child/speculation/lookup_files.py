"""Counts of other texts that were read, for whoever plans with them and whoever drafts.

A file of 10 MB takes tenths of a second to read, so each is read once, and never on the thread that
computes tokens: that one asks only for what was read already. Knows which files a configuration
names; their format is ``lookup_counts``'s.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import NamedTuple
from weakref import WeakValueDictionary

from engine_bridge.child.speculation.lookup_counts import (
    LookupCounts,
    LookupFileError,
    read_lookup,
    unread,
)
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.problem import Problem

_KEYS = ("lookup_cache_static_path", "lookup_cache_dynamic_path")
_REFUSALS_KEPT = 8
_File = tuple[str, int]  # a path, and the tokens of the model that its counts are to help
_Stamp = tuple[int, int]


class Checked(NamedTuple):
    """What became of the files that a configuration names.

    Attributes:
        counts: Their counts; whoever is to draft with them holds these until it has its own hold.
        problem: Why one of them cannot be used; None where all can.
    """

    counts: tuple[LookupCounts, ...] = ()
    problem: Problem | None = None


class LookupFiles:
    """Files that were read: their counts while anybody holds them, or why they have none."""

    def __init__(self) -> None:
        """Know no file."""
        self._reading = threading.Lock()
        self._read: WeakValueDictionary[_File, LookupCounts] = WeakValueDictionary()
        self._stamps: dict[_File, _Stamp] = {}
        self._refusals: dict[_File, tuple[_Stamp, str]] = {}
        self._latest: tuple[LookupCounts, ...] = ()

    def counts(self, path: str, vocab_tok: int) -> LookupCounts:
        """The counts of a file, read where nobody holds those of the file as it is now.

        Waits for the disk, and for another thread that reads: not for the thread of the tokens.

        Args:
            path: The file.
            vocab_tok: Tokens of the model that it is to help.

        Raises:
            LookupFileError: If it cannot be used.
        """
        with self._reading:
            file, stamp = (path, vocab_tok), _stamp_of(path)
            refused = self._refusals.get(file)
            if refused is not None and refused[0] == stamp:
                raise LookupFileError(refused[1])
            found = self._read.get(file)
            if found is None or self._stamps[file] != stamp:
                found = self._read_now(file, stamp)
            others = [one for one in self._latest if one is not found]
            # What is planned with is mostly run next; until then nobody else holds it.
            self._latest = (found, *others)[: len(_KEYS)]
            return found

    def newest(self, path: str, vocab_tok: int) -> LookupCounts | None:
        """What was read of a file last, None where nobody holds it; waits for nothing."""
        return self._read.get((path, vocab_tok))

    def let_go(self) -> None:
        """Nobody is about to draft with what was read: it goes, except where it is in use."""
        self._latest = ()

    def _read_now(self, file: _File, stamp: _Stamp) -> LookupCounts:
        path, vocab_tok = file
        try:
            found = read_lookup(path, vocab_tok)
        except LookupFileError as error:
            self._refusals.pop(file, None)
            self._refusals[file] = stamp, str(error)
            if len(self._refusals) > _REFUSALS_KEPT:
                del self._refusals[next(iter(self._refusals))]
            raise
        self._read[file] = found
        self._stamps = {one: self._stamps[one] for one in self._stamps if one in self._read}
        self._stamps[file] = stamp
        return found


LOOKUP_FILES = LookupFiles()


def lookup_paths(config: EngineConfig) -> tuple[str, ...]:
    """The files that ``config`` drafts with; none without the drafter that uses them."""
    if "ngram-cache" not in config.spec_types:
        return ()
    return tuple(path for path in (getattr(config, key) for key in _KEYS) if path)


def checked_counts(config: EngineConfig, model: ModelFacts) -> Checked:
    """Read the files that ``config`` names, for ``model``; waits as ``LookupFiles.counts`` does."""
    if not lookup_paths(config):
        LOOKUP_FILES.let_go()
        return Checked()
    counts = []
    for key in _KEYS:
        path = getattr(config, key)
        try:
            if path:
                counts.append(LOOKUP_FILES.counts(path, model.vocab))
        except LookupFileError as error:
            return Checked(problem=Problem((key,), str(error), {key: ""}))
    return Checked(tuple(counts))


def _stamp_of(path: str) -> _Stamp:
    """What tells whether a file is still the same one."""
    try:
        status = Path(path).stat()
    except OSError as error:
        raise unread(path, error) from None
    return status.st_mtime_ns, status.st_size
