"""Figures of scored tokens, by the definitions of ``llama-perplexity --kl-divergence``.

Source: tools/perplexity/perplexity.cpp of llama.cpp (``mean_and_uncertainty``, ``covariance``,
``percentile``). Pure arithmetic; where the scores come from is not its concern.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine_bridge.quality_messages import DepthFigures, Estimate, TextFigures

# Stretches of the window that are told apart.
DEPTHS = 4


@dataclass(frozen=True)
class TokenScores:
    """What two contexts made of the same tokens; one entry a token, shape (tokens,).

    Attributes:
        nll_base: Negative log-likelihood of the token that came, base, nats (float64).
        nll: The same of the candidate.
        kld: KL divergence of the candidate's distribution from the base's, nats (float64).
        is_same: Whether both find the same token most likely (bool).
    """

    nll_base: NDArray[np.float64]
    nll: NDArray[np.float64]
    kld: NDArray[np.float64]
    is_same: NDArray[np.bool_]

    @classmethod
    def joined(cls, parts: Sequence[TokenScores]) -> TokenScores:
        """The tokens of all ``parts`` (at least one), in their order."""
        return cls(
            np.concatenate([part.nll_base for part in parts]),
            np.concatenate([part.nll for part in parts]),
            np.concatenate([part.kld for part in parts]),
            np.concatenate([part.is_same for part in parts]),
        )

    def at(self, chosen: NDArray[np.bool_]) -> TokenScores:
        """Some of the tokens."""
        return TokenScores(
            self.nll_base[chosen], self.nll[chosen], self.kld[chosen], self.is_same[chosen]
        )


def text_figures(chunks: Sequence[TokenScores], ctx_tok: int) -> TextFigures:
    """The figures of some chunks (at least one) of ``ctx_tok`` tokens each."""
    scores = TokenScores.joined(chunks)
    mean_base, mean = mean_of(scores.nll_base), mean_of(scores.nll)
    p90, p99 = np.percentile(scores.kld, (90, 99))
    return TextFigures(
        chunks=len(chunks),
        tokens=scores.kld.size,
        ppl_base=_exponent(mean_base),
        ppl=_exponent(mean),
        # Var(a) + Var(b) - 2 Cov(a, b), as the tool has it, is the variance of the difference.
        ppl_ratio=_exponent(mean_of(scores.nll - scores.nll_base)),
        kld=mean_of(scores.kld),
        kld_median=float(np.median(scores.kld)),
        kld_p90=float(p90),
        kld_p99=float(p99),
        kld_max=float(scores.kld.max()),
        same_top=share_of(scores.is_same),
        depths=_by_depth(scores, len(chunks), ctx_tok),
    )


def mean_of(values: NDArray[np.float64]) -> Estimate:
    """Mean of some values (at least one) and its standard error; no error of a single one."""
    count = values.size
    error = math.sqrt(float(values.var()) / (count - 1)) if count > 1 else 0.0
    return Estimate(float(values.mean()), error)


def share_of(values: NDArray[np.bool_]) -> Estimate:
    """Share of what is true among some values (at least one), and its standard error."""
    count, share = values.size, float(values.mean())
    return Estimate(share, math.sqrt(share * (1 - share) / (count - 1)) if count > 1 else 0.0)


def _exponent(mean: Estimate) -> Estimate:
    value = math.exp(mean.value)
    return Estimate(value, value * mean.error)


def _by_depth(scores: TokenScores, chunks: int, ctx_tok: int) -> tuple[DepthFigures, ...]:
    first, last = ctx_tok // 2, ctx_tok - 1
    edges = np.linspace(first, last, DEPTHS + 1).astype(int)
    positions = np.tile(np.arange(first, last), chunks)
    found = []
    for begin, end in itertools.pairwise(edges):
        part = scores.at((positions >= begin) & (positions < end))
        if part.kld.size:
            found.append(
                DepthFigures(
                    begin_tok=int(begin),
                    end_tok=int(end),
                    tokens=part.kld.size,
                    kld=mean_of(part.kld),
                    same_top=share_of(part.is_same),
                )
            )
    return tuple(found)
