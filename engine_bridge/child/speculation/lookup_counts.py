"""Files of what followed which words, as llama.cpp's ngram-cache reads them.

The format is ``common_ngram_cache_save``'s (common/ngram-cache.cpp), as ``llama-lookup-create``
writes it: for each n-gram four tokens, padded with -1, a number of followers, and each of these
with its count; 32-bit numbers without any header. So nothing in such a file says which vocabulary
it was counted with, and every number is checked before it is used: where llama.cpp meets one that
cannot be, it ends the process. Must not know drafting.
"""

from __future__ import annotations

import functools
import stat
from array import array
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine_bridge.gguf_window import shown_name
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.problem import Problem

LONGEST_TOK = 4  # tokens of the longest n-grams (LLAMA_NGRAM_MAX)
_PAD = -1
_HEAD = LONGEST_TOK + 1
_NUMBER_BYTES = 4
# All of it is held in memory, and once more while it is read.
_MOST_BYTES = 1 << 30
_VERDICTS_KEPT = 8
LOOKUP_KEYS = ("lookup_cache_static_path", "lookup_cache_dynamic_path")


class LookupFileError(Exception):
    """A file that cannot be used; the message says why and what to do."""


class LookupCounts:
    """N-grams, and how often which token followed them.

    Args:
        numbers: The file, (numbers,) int32.
        starts: Where each n-gram's record begins in it, (n-grams,) int64.
    """

    def __init__(self, numbers: NDArray[np.int32], starts: NDArray[np.int64]) -> None:
        """Sort the n-grams, the first of equal ones in front: that is the one that counts."""
        self._numbers = numbers
        halves = [_paired(numbers[starts + place], numbers[starts + place + 1]) for place in (0, 2)]
        order = np.lexsort((halves[1], halves[0]))
        self._starts = starts[order]
        self._first, self._second = halves[0][order], halves[1][order]

    def followers(self, ngram: tuple[int, ...]) -> dict[int, int]:
        """How often which token followed ``ngram``, in the file's order; empty where unknown.

        Args:
            ngram: 1 to ``LONGEST_TOK`` tokens.
        """
        padded = np.full(LONGEST_TOK, _PAD, np.int32)
        padded[: len(ngram)] = ngram
        first, second = _paired(padded[::2], padded[1::2])
        begin, end = np.searchsorted(self._first, [first, first + np.uint64(1)])
        at = int(begin + np.searchsorted(self._second[begin:end], second))
        if at >= end or self._second[at] != second:
            return {}
        start = int(self._starts[at])
        size = 2 * int(self._numbers[start + LONGEST_TOK])
        pairs = self._numbers[start + _HEAD : start + _HEAD + size].tolist()
        found: dict[int, int] = {}
        for token, count in zip(pairs[::2], pairs[1::2], strict=True):
            found.setdefault(token, count)
        return found


def no_counts() -> LookupCounts:
    """What is known without a file."""
    return LookupCounts(np.zeros(0, np.int32), np.zeros(0, np.int64))


def read_lookup(path: str, vocab_tok: int) -> LookupCounts:
    """Read the file at ``path``.

    Args:
        path: The file.
        vocab_tok: Tokens of the model that it is to help.

    Raises:
        LookupFileError: If it cannot be read, is no such file, or was counted with another
            vocabulary.
    """
    numbers = _numbers_of(path)
    starts = _starts_of(numbers, path)
    _check_numbers(numbers, starts, vocab_tok, path)
    return LookupCounts(numbers, starts)


def lookup_problem(config: EngineConfig, model: ModelFacts) -> Problem | None:
    """Why a file that ngram-cache is to use cannot be used."""
    if "ngram-cache" not in config.spec_types:
        return None
    for key in LOOKUP_KEYS:
        path = getattr(config, key)
        sentence = _sentence_about(path, model.vocab) if path else ""
        if sentence:
            return Problem((key,), sentence, {key: ""})
    return None


def _sentence_about(path: str, vocab_tok: int) -> str:
    try:
        status = Path(path).stat()
    except OSError as error:
        return str(_unread(path, error))
    return _verdict(path, status.st_mtime_ns, status.st_size, vocab_tok)


@functools.lru_cache(maxsize=_VERDICTS_KEPT)
def _verdict(path: str, changed_ns: int, size: int, vocab_tok: int) -> str:
    """Why the file that was last changed then and has that size cannot be used; empty if it can."""
    del changed_ns, size
    try:
        read_lookup(path, vocab_tok)
    except LookupFileError as error:
        return str(error)
    return ""


def _numbers_of(path: str) -> NDArray[np.int32]:
    name = shown_name(path)
    try:
        status = Path(path).stat()
        if not stat.S_ISREG(status.st_mode):
            raise LookupFileError(f"{name} is a folder, a device or a pipe. Choose a file.")
        if status.st_size > _MOST_BYTES:
            raise LookupFileError(
                f"{name} has {status.st_size / (1 << 20):,.0f} MiB, and its counts are held in "
                f"memory: {_MOST_BYTES >> 20:,} MiB is the most. Count a smaller text."
            )
        with Path(path).open("rb") as file:
            numbers = np.fromfile(file, "<i4", status.st_size // _NUMBER_BYTES)
    except OSError as error:
        raise _unread(path, error) from None
    if status.st_size % _NUMBER_BYTES:
        raise _no_counts_at_all(path)
    return numbers.astype(np.int32, copy=False)


def _starts_of(numbers: NDArray[np.int32], path: str) -> NDArray[np.int64]:
    """Where each record begins: each says how long it is."""
    view, size, at = numbers.data, len(numbers), 0
    starts = array("q")
    while at < size:
        if at + _HEAD > size or not 0 < view[at + LONGEST_TOK] <= (size - at - _HEAD) // 2:
            raise _no_counts_at_all(path)
        starts.append(at)
        at += _HEAD + 2 * view[at + LONGEST_TOK]
    return np.frombuffer(starts, np.int64) if starts else np.zeros(0, np.int64)


def _check_numbers(
    numbers: NDArray[np.int32], starts: NDArray[np.int64], vocab_tok: int, path: str
) -> None:
    """Refuse tokens that cannot be, of n-grams and of followers, and counts below 1."""
    is_head = np.zeros(len(numbers), bool)
    heads = starts[:, np.newaxis] + np.arange(_HEAD)
    is_head[heads] = True
    pairs = numbers[~is_head].reshape(-1, 2)
    tokens = numbers[heads[:, :LONGEST_TOK]]
    if not pairs.size:
        return
    if pairs.min() < 0 or pairs[:, 1].min() < 1 or tokens.min() < _PAD:
        raise _no_counts_at_all(path)
    highest = max(int(pairs[:, 0].max()), int(tokens.max()))
    if highest >= vocab_tok:
        raise LookupFileError(
            f"{shown_name(path)} was counted with another vocabulary: it holds token {highest:,}, "
            f"and this model has {vocab_tok:,}. Count a text with this model's tokens, or leave it "
            "out."
        )


def _unread(path: str, error: OSError) -> LookupFileError:
    name = shown_name(path)
    if isinstance(error, FileNotFoundError):
        return LookupFileError(
            f"There is no file {name}, or its drive is not connected. Write its whole path, or "
            "leave it out."
        )
    return LookupFileError(f"{name} cannot be read: {error.strerror or error}. Leave it out.")


def _no_counts_at_all(path: str) -> LookupFileError:
    return LookupFileError(
        f"{shown_name(path)} is no lookup cache, or a damaged one. llama-lookup-create makes such "
        "files; choose one of them, or leave it out."
    )


def _paired(high: NDArray[np.int32], low: NDArray[np.int32]) -> NDArray[np.uint64]:
    """Two tokens in one number."""
    return high.astype(np.uint32).astype(np.uint64) << np.uint64(32) | low.astype(np.uint32)
