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

_CACHE_DOMAIN = ChoiceDomain(tuple(CACHE_TYPES))

SPECULATION: tuple[Setting, ...] = (
    Setting(
        "spec_types",
        "Drafts",
        ListDomain(("ngram-simple", "draft-simple")),
        (),
        Applies.CONTEXT,
        True,
        Group.MAIN,
        "Tokens guessed ahead, checked in one pass. ngram-simple copies what followed the same "
        "words earlier: strong on code edits and quotes. draft-simple asks a smaller model. With "
        "both, the copy goes first.",
    ),
    Setting(
        "ngram_size_m",
        "Draft length",
        IntDomain(1, 256, (2, 4, 8, 12, 16, 24, 32, 48, 64)),
        48,
        Applies.CONTEXT,
        True,
        Group.MAIN,
        "Most tokens drafted at a time by ngram-simple. It drafts nothing while this is below "
        "the match length.",
        "tok",
    ),
    Setting(
        "ngram_size_n",
        "Match length",
        IntDomain(1, 256, (2, 3, 4, 6, 8, 12, 16, 24)),
        12,
        Applies.LIVE,
        False,
        Group.MAIN,
        "Tokens in a row that must repeat for a draft to start. A shorter match drafts more often "
        "and is wrong more often.",
        "tok",
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
