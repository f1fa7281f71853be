"""What a person wants to know of a model before loading it, from its header alone.

Small enough to be kept for thousands of files: it goes through JSON into the picker's cache.
"""

from __future__ import annotations

import os
from collections import Counter

import msgspec

from engine_bridge.gguf_file import read_model
from engine_bridge.gguf_header import Header
from engine_bridge.gguf_kv import attention_shape
from engine_bridge.gguf_window import GgufError, shown_name
from engine_bridge.header_oddities import embeddings_words, oddities
from engine_bridge.header_traits import rope_words, special_tokens, tokenizer_words
from engine_bridge.settings.cache_type import CACHE_TYPES

# Architectures whose cache is not the rows that their header describes.
_UNUSUAL_CACHES = frozenset({"deepseek4"})
_LONGEST_LICENCE = 80


# Kept for thousands of files, and part of no cycle: not to be looked through for any (``gc``).
class CacheRows(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """Layers whose cache rows are of one size: see ``gguf_kv.CacheLayers``."""

    layers: int
    k_values: int
    v_values: int
    is_windowed: bool


class KvBytes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one token takes in the cache.

    Attributes:
        full: Bytes in the layers that keep every token.
        windowed: Bytes in the layers that keep the last ``window_tok`` ones.
    """

    full: int
    windowed: int


class HeaderFacts(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """The facts of one model, read from its header.

    Attributes:
        name: ``general.name`` or the file's name.
        architecture: ``general.architecture``.
        quantisation: What the file calls its mix of types, e.g. ``Q4_K_M``.
        mix: Tensor types with their bytes, the largest first.
        parameters: Number of weights.
        layers: Transformer layers.
        heads: Query heads of a layer (largest), 0 without attention.
        kv_heads: KV heads of a layer (largest), 0 without a cache.
        head_dims: Distinct dimensions of a head, K and V together.
        ctx_train_tok: Context it was trained for, 0 if unknown.
        window_tok: Sliding window, 0 without one.
        cache: What its layers keep of each token; empty without a cache, or where the header does
            not tell.
        experts: Experts of a layer, 0 for dense models.
        experts_used: Experts that one token uses.
        is_recurrent: Whether every layer keeps a state instead of a cache.
        is_hybrid: Whether some layers keep a state beside the cache of the others.
        is_mla: Whether keys and values are stored compressed together.
        nextn_layers: Layers behind its own that guess ahead, 0 without them.
        draft_kind: What it makes when it drafts for another model; see ``ModelFacts``.
        vocab: Tokens in the vocabulary.
        has_chat_template: Whether it brings a chat template.
        licence: What it says of its licence; empty if nothing.
        rope: How positions are told, in words; empty if it says nothing.
        tokenizer: Family of its tokenizer, in words.
        special: Special tokens: what each is for, and its text.
        embeddings: How its embeddings and its output are stored, in words; empty without any.
        oddities: What should be known before trusting the file, a sentence each.
    """

    name: str
    architecture: str
    quantisation: str
    mix: tuple[tuple[str, int], ...]
    parameters: int
    layers: int
    heads: int
    kv_heads: int
    head_dims: tuple[int, ...]
    ctx_train_tok: int
    window_tok: int
    cache: tuple[CacheRows, ...]
    experts: int
    experts_used: int
    is_recurrent: bool
    is_hybrid: bool
    is_mla: bool
    nextn_layers: int
    draft_kind: str
    vocab: int
    has_chat_template: bool
    licence: str
    rope: str = ""
    tokenizer: str = ""
    special: tuple[tuple[str, str], ...] = ()
    embeddings: str = ""
    oddities: tuple[str, ...] = ()

    @property
    def gqa_ratio(self) -> float:
        """Query heads per KV head; 0 without a cache."""
        return self.heads / self.kv_heads if self.kv_heads else 0.0

    @property
    def windowed_layers(self) -> int:
        """Layers that keep no more than the window."""
        return sum(rows.layers for rows in self.cache if rows.is_windowed)

    @property
    def cached_layers(self) -> int:
        """Layers that keep a cache at all."""
        return sum(rows.layers for rows in self.cache)

    def kv_bytes_per_token(self, cache_type: str) -> KvBytes | None:
        """Bytes of one token over all layers, with K and V stored as ``cache_type``.

        A token takes in each layer a K row of KV heads × key dimension values and a V row alike
        (``hparams.n_embd_k_gqa`` and ``n_embd_v_gqa`` in llama_kv_cache's constructor,
        src/llama-kv-cache.cpp), a row of ``ggml_row_size`` bytes; MLA stores one compressed row.
        Windowed layers have a cache of their own that does not grow beyond the window and one
        batch (src/llama-kv-cache-iswa.cpp). Exact, but for the padding of the whole pool to
        256 tokens. States of recurrent layers are not in it.

        Returns:
            None where a head does not divide into the type's blocks: llama.cpp refuses that.
        """
        kind = CACHE_TYPES[cache_type]
        if any(dim % kind.block_values for dim in self.head_dims):
            return None
        sums = {True: 0, False: 0}
        for rows in self.cache:
            per_layer = kind.row_bytes(rows.k_values) + kind.row_bytes(rows.v_values)
            sums[rows.is_windowed] += rows.layers * per_layer
        return KvBytes(sums[False], sums[True])


def read_header_facts(path: str | os.PathLike[str]) -> HeaderFacts:
    """Read the facts of a model; of a split one from any part.

    Raises:
        GgufError: If it cannot be used as a model; a sentence that says why and what to do.
    """
    model = read_model(path)
    facts, header = model.facts, model.header
    shape = attention_shape(header, facts.architecture, facts.layers)
    is_unusual = facts.architecture in _UNUSUAL_CACHES
    mix: Counter[str] = Counter()
    for tensor in model.tensors:
        mix[tensor.type_name] += tensor.bytes
    licence = header.line("general.license") or header.line("general.license.name")
    return HeaderFacts(
        name=facts.name,
        architecture=facts.architecture,
        quantisation=facts.quantisation,
        mix=tuple(mix.most_common()),
        parameters=facts.parameters,
        layers=facts.layers,
        heads=facts.heads,
        kv_heads=facts.kv_heads,
        head_dims=tuple(sorted({*facts.head_dims_k, *facts.head_dims_v})),
        ctx_train_tok=facts.ctx_train_tok,
        window_tok=shape.window_tok,
        cache=()
        if is_unusual or facts.is_recurrent
        else tuple(
            CacheRows(row.layers, row.k_values, row.v_values, row.is_windowed)
            for row in shape.cache
        ),
        experts=facts.experts,
        experts_used=facts.experts_used,
        is_recurrent=facts.is_recurrent,
        is_hybrid=facts.is_hybrid,
        is_mla=facts.is_mla,
        nextn_layers=facts.nextn_layers,
        draft_kind=facts.draft_kind,
        vocab=facts.vocab,
        has_chat_template=bool(facts.chat_template),
        licence=licence[:_LONGEST_LICENCE],
        rope=rope_words(header, facts.architecture),
        tokenizer=tokenizer_words(header),
        special=_special_tokens(header),
        embeddings=embeddings_words(model.tensors),
        oddities=oddities(header, facts, model.tensors),
    )


def _special_tokens(header: Header) -> tuple[tuple[str, str], ...]:
    try:
        return special_tokens(header)
    except OSError as error:
        raise GgufError(
            f"{shown_name(header.path)} cannot be read: {error.strerror or error}. Check the drive "
            "it is on."
        ) from None
