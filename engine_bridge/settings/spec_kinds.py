"""The kinds of drafts: llama.cpp's names, in the order in which it asks them.

Source: ``common_speculative_init`` and ``common_speculative_n_max`` (common/speculative.cpp).
"""

from __future__ import annotations

# They look a text up in itself, or in what was read before; no second model.
NGRAM_KINDS = ("ngram-simple", "ngram-map-k", "ngram-map-k4v", "ngram-mod", "ngram-cache")
# Kinds that share ngram_size_n, ngram_size_m and ngram_min_hits.
SIZED_KINDS = ("ngram-simple", "ngram-map-k", "ngram-map-k4v")
# What ngram-cache drafts at most; llama.cpp has no setting for it.
NGRAM_CACHE_TOK = 8
