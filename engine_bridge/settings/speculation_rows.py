"""The rows of the settings table that draft tokens ahead; ``table`` takes them in."""

from __future__ import annotations

from engine_bridge.settings.cache_type import CACHE_TYPES
from engine_bridge.settings.domain import (
    ChoiceDomain,
    FloatDomain,
    IntDomain,
    ListDomain,
    PathDomain,
)
from engine_bridge.settings.row import Applies, Group, Setting
from engine_bridge.settings.spec_kinds import MODEL_KINDS, NGRAM_KINDS

_CACHE_DOMAIN = ChoiceDomain(tuple(CACHE_TYPES))

SPECULATION: tuple[Setting, ...] = (
    Setting(
        "spec_types",
        "Drafts",
        ListDomain((*NGRAM_KINDS, *MODEL_KINDS), (*NGRAM_KINDS.values(), *MODEL_KINDS.values())),
        (),
        Applies.CONTEXT,
        True,
        Group.MAIN,
        "Tokens guessed ahead, checked in one pass. The ngram kinds copy what was said before; "
        "draft-simple asks a smaller model. Of several kinds the first that has a guess makes "
        "the draft, in the order listed.",
    ),
    Setting(
        "ngram_size_m",
        "Draft length",
        IntDomain(1, 256, (2, 4, 8, 12, 16, 24, 32, 48, 64)),
        48,
        Applies.CONTEXT,
        True,
        Group.NGRAM,
        "Most tokens copied at a time. For ngram-simple, -map-k and -map-k4v; ngram-simple drafts "
        "nothing while this is below the match length.",
        "tok",
    ),
    Setting(
        "ngram_size_n",
        "Match length",
        IntDomain(1, 256, (2, 3, 4, 6, 8, 12, 16, 24)),
        12,
        Applies.LIVE,
        False,
        Group.NGRAM,
        "Tokens in a row that must repeat for a draft. For ngram-simple, -map-k and -map-k4v; a "
        "shorter match drafts more often and is wrong more often.",
        "tok",
    ),
    Setting(
        "ngram_min_hits",
        "Least hits",
        IntDomain(1, 1024, (1, 2, 3, 4, 6, 8)),
        1,
        Applies.LIVE,
        False,
        Group.NGRAM,
        "How often the same words must have come before. Then ngram-map-k4v drafts what followed "
        "them; higher drafts less and is right more often.",
    ),
    Setting(
        "ngram_mod_n_match",
        "Table: match length",
        IntDomain(1, 256, (8, 12, 16, 20, 24, 32, 48)),
        24,
        Applies.LIVE,
        False,
        Group.NGRAM,
        "Tokens in a row that ngram-mod looks up. Below 16 it takes many texts for one another; "
        "another length empties its table.",
        "tok",
    ),
    Setting(
        "ngram_mod_n_min",
        "Table: shortest draft",
        IntDomain(0, 256, (0, 2, 4, 8, 16, 24, 32, 48, 64)),
        48,
        Applies.LIVE,
        False,
        Group.NGRAM,
        "Drafts of ngram-mod that are shorter are thrown away. Lower it for texts that repeat "
        "less than a paragraph at a time.",
        "tok",
    ),
    Setting(
        "ngram_mod_n_max",
        "Table: draft length",
        IntDomain(1, 256, (8, 16, 24, 32, 48, 64, 96, 128)),
        64,
        Applies.CONTEXT,
        True,
        Group.NGRAM,
        "Most tokens drafted at a time by ngram-mod. Longer drafts pay where whole passages come "
        "again.",
        "tok",
    ),
    Setting(
        "lookup_cache_static_path",
        "Static counts",
        PathDomain(),
        "",
        Applies.LIVE,
        False,
        Group.NGRAM,
        "What follows which words in a large text. ngram-cache weighs by this file what the "
        "conversation says, and asks it last; llama-lookup-create makes it for one vocabulary.",
    ),
    Setting(
        "lookup_cache_dynamic_path",
        "Dynamic counts",
        PathDomain(),
        "",
        Applies.LIVE,
        False,
        Group.NGRAM,
        "What followed which words in earlier answers. ngram-cache asks this file where the "
        "conversation knows nothing; it is read and, as by llama-server, never written.",
    ),
    Setting(
        "draft_model_path",
        "Draft model",
        PathDomain(),
        "",
        Applies.RELOAD,
        True,
        Group.MODEL,
        "The GGUF file of the small model that draft-simple asks. It must have the vocabulary of "
        "the model it drafts for, which stays loaded when this one changes.",
    ),
    Setting(
        "draft_n_max",
        "Drafted tokens",
        IntDomain(1, 256, (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32)),
        3,
        Applies.CONTEXT,
        True,
        Group.DRAFT,
        "Most tokens guessed at a time. More pay off where most are accepted; every rejected one "
        "was computed twice for nothing.",
        "tok",
    ),
    Setting(
        "draft_n_min",
        "Shortest draft",
        IntDomain(0, 256, (0, 1, 2, 3, 4, 6, 8)),
        0,
        Applies.LIVE,
        False,
        Group.DRAFT,
        "Shorter drafts of the draft model are thrown away. Worth raising where checking a draft "
        "costs more than a token or two can save.",
        "tok",
    ),
    Setting(
        "draft_p_min",
        "Least confidence",
        FloatDomain(0.0, 1.0, 0.05),
        0.0,
        Applies.LIVE,
        False,
        Group.DRAFT,
        "A draft ends where its model is less sure than this. It means the share of the likeliest "
        "token among the ten likeliest; 0 never stops early, higher makes drafts shorter.",
    ),
    Setting(
        "draft_n_gpu_layers",
        "Draft layers on GPU",
        IntDomain(0, 1024, tuple(range(0, 129)), ("auto", "all")),
        "auto",
        Applies.RELOAD,
        True,
        Group.DRAFT,
        "Its layers in GPU memory, counted from the last. Auto is all of them; a slow draft "
        "helps nobody.",
    ),
    Setting(
        "draft_cache_type_k",
        "Draft K cache",
        _CACHE_DOMAIN,
        "f16",
        Applies.CONTEXT,
        True,
        Group.DRAFT,
        "Number format of the keys in its own KV cache. A coarse one costs accepted tokens, never "
        "the answer's quality.",
    ),
    Setting(
        "draft_cache_type_v",
        "Draft V cache",
        _CACHE_DOMAIN,
        "f16",
        Applies.CONTEXT,
        True,
        Group.DRAFT,
        "Number format of the values in its own KV cache. Any quantised type needs flash "
        "attention.",
    ),
)
