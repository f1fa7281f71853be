"""What the process that compares two KV caches is asked, and what it answers, a line each.

``python -m engine_bridge.child.quality_once`` reads one request as a line of JSON and answers in
lines until it ends. Must not know the library or how anything is computed.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from engine_bridge.settings.config import EngineConfig


class QualityRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Two configurations of one model, and what is to be read with both.

    Attributes:
        base: What is compared with; its context length and slots are not used.
        candidate: The same model and placement with other settings of its context.
        text: What is read. In chunks of ``ctx_tok``, as llama-perplexity does it.
        ctx_tok: Tokens of a chunk, at least ``CTX_LEAST_TOK``; its second half is scored.
        chunks: Most chunks that are read, at least 1.
        facts: Facts of the recall test, at most ``FACTS_MOST``; 0 leaves it out.
        recall_ctx_tok: Tokens of the text that the facts are placed in, questions included.
        speed_steps: Steps of each context that are timed; 0 leaves them out.
        seed: Chooses the facts and the order in which they are asked for.
    """

    base: EngineConfig
    candidate: EngineConfig
    text: str
    ctx_tok: int = 512
    chunks: int = 20
    facts: int = 0
    recall_ctx_tok: int = 2048
    speed_steps: int = 24
    seed: int = 1


CTX_LEAST_TOK = 64
"""Fewer leave less than 31 scored tokens in a chunk, each after hardly any context."""
FACTS_MOST = 100


class Estimate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A figure and its standard error, both in the figure's unit."""

    value: float
    error: float


class DepthFigures(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The tokens of one stretch of the window.

    Attributes:
        begin_tok: First position in the window, from 0.
        end_tok: The position behind the last.
        tokens: Scored tokens there, over all chunks.
        kld: Mean KL divergence, nats.
        same_top: Share of tokens at which both find the same token most likely, 0 to 1.
    """

    begin_tok: int
    end_tok: int
    tokens: int
    kld: Estimate
    same_top: Estimate


class TextFigures(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How two contexts read the same text; as ``llama-perplexity --kl-divergence`` defines it.

    Attributes:
        chunks: Chunks read so far.
        tokens: Scored tokens.
        ppl_base: Perplexity of the base.
        ppl: Perplexity of the candidate.
        ppl_ratio: ``ppl`` / ``ppl_base``; its error is that of the pair, which is far smaller than
            those of the two.
        kld: Mean KL divergence of the candidate from the base, nats.
        kld_median: Median of it over the tokens.
        kld_p90: 90th percentile.
        kld_p99: 99th percentile.
        kld_max: Largest.
        same_top: Share of tokens at which both find the same token most likely, 0 to 1.
        depths: The same by position in the window.
    """

    chunks: int
    tokens: int
    ppl_base: Estimate
    ppl: Estimate
    ppl_ratio: Estimate
    kld: Estimate
    kld_median: float
    kld_p90: float
    kld_p99: float
    kld_max: float
    same_top: Estimate
    depths: tuple[DepthFigures, ...] = ()


class PairMade(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag=True):
    """Both contexts stand.

    Attributes:
        chunks: Chunks that will be read.
        text_tok: Tokens of the text, of a long one only as far as it was taken apart.
        flash_attn_base: ``on`` or ``off``; ``auto`` where llama.cpp does not tell.
        flash_attn: The same of the candidate.
        threads_batch: Threads that read the text.
    """

    chunks: int
    text_tok: int
    flash_attn_base: str
    flash_attn: str
    threads_batch: int


class QualityProgressed(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag=True):
    """How far it is: a share of 0 to 1, and what is done now."""

    share: float
    sentence: str


class TextScored(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag=True):
    """Another chunk is read; the figures are of all so far."""

    figures: TextFigures


class RecallTested(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag=True):
    """All facts were asked for; one entry a fact, in the order of their depth.

    Attributes:
        ctx_tok: Tokens of the text with the facts, questions included.
        depths: Where each was told, as a share of that length, 0 to 1.
        base: Whether the base recalled it.
        candidate: Whether the candidate did.
    """

    ctx_tok: int
    depths: tuple[float, ...]
    base: tuple[bool, ...]
    candidate: tuple[bool, ...]


class SpeedMeasured(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag=True):
    """Single tokens were decoded behind a long text, in both contexts by turns.

    Attributes:
        depth_tok: Tokens in the cache when it began.
        base_s: Length of each step of the base.
        candidate_s: Length of the candidate's step right beside it.
    """

    depth_tok: int
    base_s: tuple[float, ...]
    candidate_s: tuple[float, ...]


class QualityRefused(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag=True):
    """It cannot be done; a sentence for the user. Nothing comes after it."""

    message: str


class QualityDone(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag=True):
    """All was said."""


QualityAnswer: TypeAlias = (
    PairMade
    | QualityProgressed
    | TextScored
    | RecallTested
    | SpeedMeasured
    | QualityRefused
    | QualityDone
)
