"""What a model is, as far as settings depend on it.

Filled from a GGUF header (``gguf_file``); knows no file and no engine.
"""

from __future__ import annotations

import msgspec


class ModelFacts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Facts of one model.

    Attributes:
        path: File it was read from (of a split model, part 1).
        name: ``general.name`` or the file's name.
        architecture: ``general.architecture``.
        quantisation: What the file calls its mix of types, ``Q4_K_M``; else the type of most bytes.
        file_bytes: Size of all parts together.
        tensor_bytes: Bytes of tensor data in all parts.
        parameters: Number of weights.
        layers: Transformer layers.
        ctx_train_tok: Context it was trained for; 0 if unknown.
        vocab: Tokens in the vocabulary.
        heads: Query heads of a layer (largest).
        kv_heads: KV heads of a layer (largest); 0 for models without attention.
        head_dims_k: Distinct key dimensions per head.
        head_dims_v: Distinct value dimensions per head.
        window_tok: Sliding window, 0 without one.
        experts: Experts of a layer, 0 for dense models.
        experts_used: Experts that one token uses.
        is_recurrent: Whether every layer keeps a state instead of a cache.
        is_hybrid: Whether some layers keep a state and some a cache.
        is_mla: Whether attention is compressed (MLA).
        nextn_layers: Layers behind its own that guess ahead (NextN, MTP); 0 without them.
        nextn_blocks: Such layers by its header, whether the file holds them or not: llama.cpp
            counts them when it puts layers onto boards.
        draft_kind: What it makes when it drafts for another model, ``draft-simple`` for any model
            of its own; see ``draft_kind``.
        chat_template: The template's source, or the empty string for a base model.
        recommends_sampling: Whether the file brings sampling values (``general.sampling.*``), which
            llama-server takes for those its command line does not say.
        sampling: Those values as texts, by what stands behind ``general.sampling.``; see
            ``gguf_sampling``.
        bytes_per_token_f16: KV bytes per token over all layers at f16, windows ignored.
        window_k_values: Values of the keys of one token, over the windowed layers.
        window_v_values: Values of the values of one token, over those layers.
        width: Values of the state of a token that comes out behind the last layer.
    """

    path: str
    name: str
    architecture: str
    quantisation: str
    file_bytes: int
    tensor_bytes: int
    parameters: int
    layers: int
    ctx_train_tok: int
    vocab: int
    heads: int
    kv_heads: int
    head_dims_k: tuple[int, ...]
    head_dims_v: tuple[int, ...]
    window_tok: int = 0
    experts: int = 0
    experts_used: int = 0
    is_recurrent: bool = False
    is_hybrid: bool = False
    is_mla: bool = False
    nextn_layers: int = 0
    nextn_blocks: int = 0
    draft_kind: str = "draft-simple"
    chat_template: str = ""
    recommends_sampling: bool = False
    sampling: tuple[tuple[str, str], ...] = ()
    bytes_per_token_f16: int = 0
    window_k_values: int = 0
    window_v_values: int = 0
    width: int = 0

    @property
    def gpu_layers_max(self) -> int:
        """Layers that llama.cpp can put onto boards by its count, the output as one more."""
        return self.layers + self.nextn_blocks + 1

    @property
    def gqa_ratio(self) -> float:
        """Query heads per KV head; 0 for models without attention."""
        return self.heads / self.kv_heads if self.kv_heads else 0.0
