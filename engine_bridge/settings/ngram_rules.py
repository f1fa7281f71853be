"""Rules of drafts: what never drafts, drafts badly, or does not fit into a batch.

Sources: common/ngram-map.cpp and common/speculative.cpp in the llama.cpp tree.
"""

from __future__ import annotations

from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.problem import Problem, Rule, Severity
from engine_bridge.settings.spec_kinds import kinds_that_use

# Below this llama.cpp warns: too many texts are taken for one another.
_GOOD_MATCH_TOK = 16


def _draft_fits_in_batch(config: EngineConfig, _: ModelFacts | None) -> Problem | None:
    needed = 1 + config.drafted_max_tok
    if config.batch_tok >= needed:
        return None
    return Problem(
        (_key_of_the_longest(config), "batch_tok"),
        f"A draft of {config.drafted_max_tok} tokens and the token before it do not fit into a "
        f"batch of {config.batch_tok}.",
        {"batch_tok": 1 << (needed - 1).bit_length()},
    )


def _key_of_the_longest(config: EngineConfig) -> str:
    longest = config.drafted_max_tok
    for key in ("ngram_size_m", "ngram_mod_n_max"):
        if kinds_that_use(key, config.spec_types) and getattr(config, key) == longest:
            return key
    return "draft_n_max"


def _draft_shorter_than_match(config: EngineConfig, _: ModelFacts | None) -> Problem | None:
    if "ngram-simple" not in config.spec_types or config.ngram_size_m >= config.ngram_size_n:
        return None
    return Problem(
        ("ngram_size_m", "ngram_size_n"),
        f"ngram-simple never drafts when the draft ({config.ngram_size_m}) is shorter than the "
        f"match ({config.ngram_size_n}); llama-server drops such drafts too.",
        {"ngram_size_n": config.ngram_size_m},
        Severity.WARNING,
    )


def _table_s_shortest_above_longest(config: EngineConfig, _: ModelFacts | None) -> Problem | None:
    shortest, longest = config.ngram_mod_n_min, config.ngram_mod_n_max
    if "ngram-mod" not in config.spec_types or shortest <= longest:
        return None
    return Problem(
        ("ngram_mod_n_min", "ngram_mod_n_max"),
        f"ngram-mod drafts {longest} tokens at most, so a shortest draft of {shortest} means that "
        "only drafts of full length count.",
        {"ngram_mod_n_min": longest},
        Severity.WARNING,
    )


def _table_s_match_is_short(config: EngineConfig, _: ModelFacts | None) -> Problem | None:
    if "ngram-mod" not in config.spec_types or config.ngram_mod_n_match >= _GOOD_MATCH_TOK:
        return None
    return Problem(
        ("ngram_mod_n_match",),
        f"With {config.ngram_mod_n_match} tokens to match, ngram-mod takes many passages for one "
        f"another and mostly guesses wrong; llama.cpp advises {_GOOD_MATCH_TOK} or more.",
        {"ngram_mod_n_match": _GOOD_MATCH_TOK},
        Severity.WARNING,
    )


NGRAM_RULES: tuple[Rule, ...] = (
    _draft_fits_in_batch,
    _draft_shorter_than_match,
    _table_s_shortest_above_longest,
    _table_s_match_is_short,
)
