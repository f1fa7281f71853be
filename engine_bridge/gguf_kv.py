"""The shape of a model's attention cache, from its header.

Knows which metadata keys llama.cpp reads for heads, windows, compressed and recurrent layers
(``load_hparams`` in src/llama-model.cpp and the files of src/models); must not know bytes on disk.
Bytes found here ignore windows and padding: exact numbers are the planner's.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from engine_bridge.gguf_header import Header
from engine_bridge.gguf_windows import windowed_layers

# Architectures whose recurrent layers follow an interval where no list says otherwise.
_INTERVAL_ARCHITECTURES = frozenset({"qwen3next", "qwen35", "qwen35moe", "qwen4exp", "minimax-01"})
# Layers without KV heads keep a state instead; here they keep both or are told otherwise.
_GEMMA3N_KV_LAYERS = 20
_DEFAULT_INTERVAL = 4
_F16_BYTES = 2


@dataclass(frozen=True)
class CacheLayers:
    """Layers whose rows of the cache are of one size.

    Attributes:
        layers: How many there are.
        k_values: Values of the K row of one token in one of them.
        v_values: Values of its V row; 0 where V is a part of K (MLA).
        is_windowed: Whether they keep no more tokens than the window (and what a batch adds).
    """

    layers: int
    k_values: int
    v_values: int
    is_windowed: bool


@dataclass(frozen=True)
class AttentionShape:
    """Heads and dimensions of the attention layers.

    Attributes:
        heads: Query heads of a layer (largest).
        kv_heads: KV heads of a layer (largest), 0 without attention.
        head_dims_k: Distinct key dimensions per head.
        head_dims_v: Distinct value dimensions per head.
        is_mla: Whether keys and values are stored compressed together.
        bytes_per_token_f16: KV bytes of one token over all layers at f16, windows ignored.
        window_tok: Sliding window of the windowed layers, 0 without them.
        cache: Layers that keep a cache, by the size of their rows.
    """

    heads: int
    kv_heads: int
    head_dims_k: tuple[int, ...]
    head_dims_v: tuple[int, ...]
    is_mla: bool
    bytes_per_token_f16: int
    window_tok: int = 0
    cache: tuple[CacheLayers, ...] = ()

    @property
    def windowed(self) -> tuple[CacheLayers, ...]:
        """Those of ``cache`` that look back over the window only."""
        return tuple(row for row in self.cache if row.is_windowed)


def attention_shape(header: Header, arch: str, layers: int) -> AttentionShape:
    """Read the attention's shape for ``layers`` layers of a model of ``arch``."""
    attention = f"{arch}.attention"
    heads = header.number(f"{attention}.head_count")
    if heads <= 0:
        return AttentionShape(0, 0, (), (), False, 0)
    is_mla = all(header.number(f"{attention}.{kind}_length_mla") for kind in ("key", "value"))
    derived = header.number(f"{arch}.embedding_length") // heads
    dims = {
        kind: _head_dims(header, f"{attention}.{kind}_length", derived) for kind in ("key", "value")
    }
    kv_heads = _kv_heads_by_layer(header, arch, layers)
    window_tok, windowed = windowed_layers(header, arch, layers)
    found: Counter[tuple[int, int, bool]] = Counter()
    for layer, count in enumerate(kv_heads):
        which = 1 if windowed[layer] else 0
        v_values = 0 if is_mla else count * dims["value"][which]
        if count:
            found[count * dims["key"][which], v_values, windowed[layer]] += 1
    cache = tuple(CacheLayers(number, *row) for row, number in found.items())
    values = sum(row.layers * (row.k_values + row.v_values) for row in cache)
    return AttentionShape(
        heads=heads,
        kv_heads=max(kv_heads),
        head_dims_k=tuple(sorted(set(dims["key"]))),
        head_dims_v=tuple(sorted(set(dims["value"]))),
        is_mla=is_mla or arch == "deepseek4",
        bytes_per_token_f16=values * _F16_BYTES,
        window_tok=window_tok,
        cache=cache,
    )


def _head_dims(header: Header, key: str, derived: int) -> tuple[int, int]:
    """Dimension of a head in full and in windowed layers."""
    full = header.number(key, derived)
    return full, header.number(f"{key}_swa", full)


def _kv_heads_by_layer(header: Header, arch: str, layers: int) -> list[int]:
    """KV heads of each layer, 0 where it keeps no cache of its own."""
    attention = f"{arch}.attention"
    written = header.numbers(f"{attention}.head_count_kv") or header.numbers(
        f"{attention}.head_count"
    )
    heads = list(written) * layers if len(written) == 1 else list(written)
    heads = (heads + [0] * layers)[:layers]
    recurrent = _recurrent_layers(header, arch, layers)
    with_cache = _layers_with_own_cache(header, arch, layers)
    return [
        0 if recurrent[layer] or layer >= with_cache else max(0, heads[layer])
        for layer in range(layers)
    ]


def _recurrent_layers(header: Header, arch: str, layers: int) -> list[bool]:
    if arch not in _INTERVAL_ARCHITECTURES:
        return [False] * layers
    if header.numbers(f"{arch}.attention.recurrent_layers"):
        return _flags_by_layer(header, f"{arch}.attention.recurrent_layers", layers)
    interval = header.number(f"{arch}.full_attention_interval", _DEFAULT_INTERVAL)
    return [interval > 0 and (layer + 1) % interval != 0 for layer in range(layers)]


def _layers_with_own_cache(header: Header, arch: str, layers: int) -> int:
    """Layers from the first on that keep a cache; later ones read those."""
    if arch == "gemma3n":
        return _GEMMA3N_KV_LAYERS
    return layers - header.number(f"{arch}.attention.shared_kv_layers")


def _flags_by_layer(header: Header, key: str, layers: int) -> list[bool]:
    """An array of one flag a layer; all false where it is none."""
    numbers = header.numbers(key)
    flags = [bool(number) for number in numbers] if len(numbers) > 1 else []
    return (flags + [False] * layers)[:layers]
