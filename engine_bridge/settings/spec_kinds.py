"""The kinds of drafts: llama.cpp's names, in the order in which it asks them.

Source: ``common_speculative_init`` and ``common_speculative_n_max`` (common/speculative.cpp).
"""

from __future__ import annotations

# Each with a sentence for whoever chooses. These need no model and are asked first.
NGRAM_KINDS = {
    "ngram-simple": "Copies what followed the same words the last time. Strong on code edits and "
    "quotes.",
    "ngram-map-k": "The same from a map, which is quick in long texts, and no longer than what "
    "was right behind these words before.",
    "ngram-map-k4v": "Counts up to four continuations of the same words and copies only where one "
    "clearly leads.",
    "ngram-mod": "One table for all slots: what was said in one conversation helps the others. "
    "Takes 16 MiB.",
    "ngram-cache": "Guesses up to 8 tokens by majority: what mostly followed the last one to four "
    "tokens of this conversation.",
}
MODEL_KINDS = {
    "draft-simple": "Asks a smaller model with the same vocabulary, chosen beside the model.",
    "draft-eagle3": "A head trained for this model. Goes into the command line only.",
    "draft-mtp": "Asks layers that were trained to guess ahead for this model: its own, where it "
    "has them, or those of a file chosen beside it.",
    "draft-dflash": "A block drafter trained for this model. Goes into the command line only.",
    "draft-dspark": "A block drafter with a Markov head, trained for this model. Goes into the "
    "command line only.",
}
# The desk writes these into command lines and runs without them.
EXPORT_ONLY_KINDS = ("draft-eagle3", "draft-dflash", "draft-dspark")
WHY_EXPORT_ONLY = (
    "its draft model reads what stands between the layers of the model, which llama-cpp-python has "
    "no call for"
)
# What ngram-cache drafts at most; llama.cpp has no setting for it.
NGRAM_CACHE_TOK = 8
_SIZED = ("ngram-simple", "ngram-map-k", "ngram-map-k4v")
# Settings that only some of the kinds use.
KINDS_OF_KEY = {
    "ngram_size_n": _SIZED,
    "ngram_size_m": _SIZED,
    "ngram_min_hits": ("ngram-map-k4v",),
    "ngram_mod_n_match": ("ngram-mod",),
    "ngram_mod_n_min": ("ngram-mod",),
    "ngram_mod_n_max": ("ngram-mod",),
    "lookup_cache_static_path": ("ngram-cache",),
    "lookup_cache_dynamic_path": ("ngram-cache",),
}


def kinds_that_use(key: str, spec_types: tuple[str, ...]) -> tuple[str, ...]:
    """Of ``spec_types`` the kinds that use the setting ``key``, in llama.cpp's order."""
    return tuple(kind for kind in KINDS_OF_KEY[key] if kind in spec_types)
