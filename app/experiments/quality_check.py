"""What a comparison of caches cannot be asked for, told before a model is read. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from engine_bridge.quality_messages import CTX_LEAST_TOK, FACTS_MOST
from engine_bridge.settings.domain import DomainError, Value
from engine_bridge.settings.rules import errors_of

if TYPE_CHECKING:
    from app.experiments.quality import QualityAsked
    from engine_bridge.model_facts import ModelFacts

CHUNKS_MOST = 100_000
"""Of 512 tokens that is more than a text file of 8 MiB holds many times over."""


def refuse_wrong_words(asked: QualityAsked) -> None:
    """Refuse what cannot be done with any model.

    Raises:
        DomainError: In a sentence.
    """
    for option, value, least, most, unit in (
        ("--chunks", asked.chunks, 1, CHUNKS_MOST, "chunks"),
        ("--facts", asked.facts, 0, FACTS_MOST, "facts"),
    ):
        if not least <= value <= most:
            raise DomainError(f"{option} takes {max(1, least)} to {most:,} {unit}; got {value:,}.")
    lengths = [("--ctx", asked.ctx_tok)]
    lengths += [("--recall-ctx", asked.recall_ctx_tok)] if asked.facts else []
    for option, tokens in lengths:
        if tokens < CTX_LEAST_TOK:
            raise DomainError(f"{option} takes at least {CTX_LEAST_TOK} tokens; got {tokens:,}.")
    _refuse_candidates(asked, asked.candidates)


def refuse_model(asked: QualityAsked, model: ModelFacts) -> None:
    """Refuse what cannot be done with this model, by its header.

    Raises:
        DomainError: In a sentence.
    """
    if model.is_recurrent:
        raise DomainError(
            f"{model.name} keeps a state in place of a KV cache, so cache types change nothing "
            "in it. Choose a model with attention."
        )
    longest_tok = max(asked.ctx_tok, asked.recall_ctx_tok if asked.facts else 0)
    if 0 < model.ctx_train_tok < longest_tok:
        raise DomainError(
            f"{model.name} was trained for {model.ctx_train_tok:,} tokens; what it says behind "
            f"them tells nothing of a cache. Read at most {model.ctx_train_tok:,} tokens at once; "
            f"got {longest_tok:,}."
        )


def _refuse_candidates(asked: QualityAsked, candidates: Sequence[Mapping[str, Value]]) -> None:
    """Refuse one that stands there twice, and all where each of them breaks a rule."""
    for place, candidate in enumerate(candidates):
        if candidate in candidates[:place]:
            types = ", ".join(f"{key}={value}" for key, value in candidate.items())
            raise DomainError(f"The candidate {types} is named twice.")
    broken = [errors_of(asked.base.with_values(dict(candidate))) for candidate in candidates]
    if broken and all(broken):
        raise DomainError(" ".join(dict.fromkeys(problems[0].message for problems in broken)))
