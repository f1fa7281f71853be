"""How long prompts and answers are: all the same, or spread in one of three ways. Pure.

As a word of the command line: ``200``, ``uniform:100:400``, ``lognormal:200:0.6`` (median and
sigma, then if wanted the shortest and the longest), ``values:120,300,80``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from random import Random
from statistics import NormalDist, fmean
from typing import TypeAlias

import msgspec

from app.experiments.workload_error import WorkloadError
from engine_bridge.typed_text import quoted, whole_number

# More than any model's context; what is above it is a slip of the keyboard.
LIMIT_TOK = 1_000_000
_LIMIT_SIGMA = 3.0
_LIMIT_VALUES = 100_000
# The median lies between the limits, so a draw misses them at most about every second time.
_TRIES = 64
_TAKES = "takes 200, uniform:100:400, lognormal:200:0.6 or values:120,300,80"


class _Spread(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="spread"):
    """Base of the four."""


class Fixed(_Spread, frozen=True, tag="fixed"):
    """All have the same length.

    Attributes:
        tok: The length, at least 1.
    """

    tok: int

    @property
    def mean_tok(self) -> float:
        """Mean length."""
        return self.tok

    @property
    def words(self) -> str:
        """For a line of text."""
        return f"{self.tok:,} tokens"

    def draw(self, _random: Random) -> int:
        """One length."""
        return self.tok

    def problem(self) -> str:
        """What is wrong with it, as the rest of a sentence; empty if nothing."""
        return _outside(self.tok)


class Uniform(_Spread, frozen=True, tag="uniform"):
    """Each length from ``low_tok`` to ``high_tok``, both included, is as likely as another."""

    low_tok: int
    high_tok: int

    @property
    def mean_tok(self) -> float:
        """Mean length."""
        return (self.low_tok + self.high_tok) / 2

    @property
    def words(self) -> str:
        """For a line of text."""
        return f"{self.low_tok:,} to {self.high_tok:,} tokens"

    def draw(self, random: Random) -> int:
        """One length."""
        return random.randint(self.low_tok, self.high_tok)

    def problem(self) -> str:
        """What is wrong with it, as the rest of a sentence; empty if nothing."""
        if self.low_tok > self.high_tok:
            return f"goes from {self.low_tok:,} to {self.high_tok:,}; the shorter comes first"
        return _outside(self.low_tok) or _outside(self.high_tok)


class LogNormal(_Spread, frozen=True, tag="lognormal"):
    """Many short ones and a few long ones, as people write.

    What falls outside the limits is drawn again, so that nothing piles up there.

    Attributes:
        median_tok: Half of them are shorter.
        sigma: Standard deviation of the natural logarithm, above 0, at most 3.
        low_tok: None is shorter.
        high_tok: None is longer.
    """

    median_tok: int
    sigma: float
    low_tok: int = 1
    high_tok: int = LIMIT_TOK

    @property
    def mean_tok(self) -> float:
        """Mean length, the limits taken into account."""
        unit, mu = NormalDist(), math.log(self.median_tok)
        low, high = (
            (math.log(limit) - mu) / self.sigma
            for limit in (max(self.low_tok - 0.5, 0.5), self.high_tok + 0.5)
        )
        inside = unit.cdf(high) - unit.cdf(low)
        if inside <= 0:
            return self.median_tok
        weight = unit.cdf(high - self.sigma) - unit.cdf(low - self.sigma)
        return math.exp(mu + self.sigma**2 / 2) * weight / inside

    @property
    def words(self) -> str:
        """For a line of text."""
        return f"about {self.median_tok:,} tokens (log-normal, sigma {self.sigma:g})"

    def draw(self, random: Random) -> int:
        """One length."""
        mu = math.log(self.median_tok)
        for _ in range(_TRIES):
            tok = round(math.exp(random.gauss(mu, self.sigma)))
            if self.low_tok <= tok <= self.high_tok:
                return tok
        return self.median_tok

    def problem(self) -> str:
        """What is wrong with it, as the rest of a sentence; empty if nothing."""
        if not 0 < self.sigma <= _LIMIT_SIGMA:
            return f"has a sigma of {self.sigma:g}; it must be above 0 and at most 3"
        outside = _outside(self.low_tok) or _outside(self.high_tok)
        if not outside and not self.low_tok <= self.median_tok <= self.high_tok:
            return (
                f"has a median of {self.median_tok:,} outside its limits, "
                f"{self.low_tok:,} to {self.high_tok:,}"
            )
        return outside


class Observed(_Spread, frozen=True, tag="values"):
    """Lengths as they were observed, each as likely as another.

    Attributes:
        values_tok: The lengths; one that was seen twice stands there twice.
    """

    values_tok: tuple[int, ...]

    @property
    def mean_tok(self) -> float:
        """Mean length."""
        return fmean(self.values_tok)

    @property
    def words(self) -> str:
        """For a line of text."""
        count = len(self.values_tok)
        if count == 1:
            return f"{self.values_tok[0]:,} tokens"
        low, high = min(self.values_tok), max(self.values_tok)
        return f"{low:,} to {high:,} tokens ({count:,} observed lengths)"

    def draw(self, random: Random) -> int:
        """One length."""
        return random.choice(self.values_tok)

    def problem(self) -> str:
        """What is wrong with it, as the rest of a sentence; empty if nothing."""
        if not self.values_tok:
            return "is a list of lengths without one"
        if len(self.values_tok) > _LIMIT_VALUES:
            return f"lists more than {_LIMIT_VALUES:,} lengths"
        return _outside(min(self.values_tok)) or _outside(max(self.values_tok))


Lengths: TypeAlias = Fixed | Uniform | LogNormal | Observed


def lengths_of(key: str, text: str) -> Lengths:
    """Read a word of the command line.

    Args:
        key: What it is the length of, for the sentence.
        text: The word.

    Raises:
        WorkloadError: If it is no such word.
    """
    kind, _, rest = text.strip().partition(":")
    if not rest:
        kind, rest = "fixed", kind
    read = _READERS.get(kind)
    if read is None:
        raise WorkloadError(f"{key} {_TAKES}; got {quoted(text)}.")
    try:
        lengths = read(rest)
    except (ValueError, TypeError) as error:
        raise WorkloadError(f"{key} {_TAKES}; got {quoted(text)}.") from error
    wrong = lengths.problem()
    if wrong:
        raise WorkloadError(f"{key} {wrong}.")
    return lengths


def _read_lognormal(text: str) -> Lengths:
    median, sigma, *limits = text.split(":")
    return LogNormal(whole_number(median), float(sigma), *map(whole_number, limits))


_READERS: Mapping[str, Callable[[str], Lengths]] = {
    "fixed": lambda text: Fixed(whole_number(text)),
    "uniform": lambda text: Uniform(*map(whole_number, text.split(":"))),
    "lognormal": _read_lognormal,
    "values": lambda text: Observed(tuple(map(whole_number, text.split(",")))),
}


def _outside(tok: int) -> str:
    if tok < 1:
        return f"must be at least 1 token; got {tok:,}"
    return f"must be at most {LIMIT_TOK:,} tokens; got {tok:,}" if tok > LIMIT_TOK else ""
