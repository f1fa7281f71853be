"""Files of what followed which words, as llama.cpp's ngram-cache reads them.

The format is ``common_ngram_cache_save``'s (common/ngram-cache.cpp), as ``llama-lookup-create``
writes it: for each n-gram four tokens, padded with -1, a number of followers, and each of these
with its count; 32-bit numbers without any header. So nothing in such a file says which vocabulary
it was counted with, and every number is checked before it is used: where llama.cpp meets one that
cannot be, it ends the process. Must not know drafting.
"""

from __future__ import annotations

import stat
import time
from array import array
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine_bridge.gguf_window import shown_name

LONGEST_TOK = 4  # tokens of the longest n-grams (LLAMA_NGRAM_MAX)
_PAD = -1
_HEAD = LONGEST_TOK + 1
_NUMBER_BYTES = 4
# All of it is held in memory, and once more while it is read.
_MOST_BYTES = 1 << 30
# Numbers that are gone through at once: 2 ms, in which no other thread of the process runs.
_PIECE = 1 << 17
# Odd numbers with bits all over, to mix the halves of an n-gram.
_MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)


class LookupFileError(Exception):
    """A file that cannot be used; the message says why and what to do."""


class LookupCounts:
    """N-grams, and how often which token followed them.

    Args:
        numbers: The file, (numbers,) int32.
        starts: Where each n-gram's record begins in it, (n-grams,) int64.
    """

    def __init__(self, numbers: NDArray[np.int32], starts: NDArray[np.int64]) -> None:
        """Sort the n-grams by a number made of them, which few others share."""
        self._numbers = numbers
        tokens = np.stack([numbers[starts + place] for place in range(LONGEST_TOK)], axis=1)
        marks = _marks_of(tokens)
        order = marks.argsort(kind="stable")
        self._starts, self._marks = starts[order], marks[order]

    def followers(self, ngram: tuple[int, ...]) -> dict[int, int]:
        """How often which token followed ``ngram``, in the file's order; empty where unknown.

        Args:
            ngram: 1 to ``LONGEST_TOK`` tokens.
        """
        padded = np.full((1, LONGEST_TOK), _PAD, np.int32)
        padded[0, : len(ngram)] = ngram
        mark = _marks_of(padded)[0]
        begin, end = self._marks.searchsorted(mark), self._marks.searchsorted(mark, "right")
        # The first of equal ones in the file is the one that counts: nearly always this is it.
        for starts in (self._starts[begin:end][:1], self._starts[begin:end][1:]):
            tokens = self._numbers[starts[:, np.newaxis] + np.arange(LONGEST_TOK)]
            same = (tokens == padded).all(axis=1)
            if same.any():
                return self._followers_at(int(starts[same.argmax()]))
        return {}

    def _followers_at(self, start: int) -> dict[int, int]:
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
        raise unread(path, error) from None
    if status.st_size % _NUMBER_BYTES:
        raise _no_counts_at_all(path)
    return numbers.astype(np.int32, copy=False)


def _starts_of(numbers: NDArray[np.int32], path: str) -> NDArray[np.int64]:
    """Where each record begins: each says how long it is."""
    view, size, at = numbers.data, len(numbers), LONGEST_TOK
    counts = array("q")  # places of the numbers of followers
    note = counts.append
    while at < size:
        end = min(at + _PIECE, size)
        while at < end:
            note(at)
            followers = view[at]
            if followers < 1:
                raise _no_counts_at_all(path)
            at += _HEAD + 2 * followers
        # Whoever computes tokens meanwhile has the interpreter now, not in 5 ms.
        time.sleep(0)
    if at != size + LONGEST_TOK:
        raise _no_counts_at_all(path)
    return np.array(counts, np.int64) - LONGEST_TOK


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


def unread(path: str, error: OSError) -> LookupFileError:
    """The refusal of a file that the system does not give."""
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


def _marks_of(tokens: NDArray[np.int32]) -> NDArray[np.uint64]:
    """A number for each n-gram, (n-grams,): equal ones have the same, others seldom.

    Args:
        tokens: (n-grams, LONGEST_TOK).
    """
    halves = np.ascontiguousarray(tokens).view(np.uint64)
    marks: NDArray[np.uint64] = halves[:, 0] * _MIX[0] ^ halves[:, 1] * _MIX[1]
    return marks
