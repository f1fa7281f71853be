"""What kind of drafts a model file is made for, by its metadata and the names of its tensors.

Follows llama.cpp's ``common_speculative_types_from_gguf`` (common/speculative.cpp), and for files
that it does not tell apart, what src/models/eagle3.cpp and gemma4-assistant.cpp need to be run.
Pure: knows names only.
"""

from __future__ import annotations

from collections.abc import Collection

# A model of its own that drafts for any other with the same vocabulary.
PLAIN = "draft-simple"
_MTP = "draft-mtp"
# Architectures of nothing but drafters.
_DRAFTERS = {"eagle3": "draft-eagle3", "dflash": "draft-dflash", "gemma4-assistant": _MTP}
# Of the block drafters this one has a head beside it.
_MARKOV_HEAD = "markov_w1.weight"
# Architectures for whose guessing layers llama.cpp has a graph (LLM_GRAPH_TYPE_DECODER_MTP).
MTP_ARCHITECTURES = frozenset(
    {
        "bailingmoe3", "cohere2moe", "deepseek2", "deepseek32", "deepseek4", "glm-dsa", "glm4moe",
        "hy_v3", "mimo2", "nemotron_h_moe", "qwen35", "qwen35moe", "qwen3next", "step35",
    }
)  # fmt: skip


def draft_kind_of(architecture: str, blocks: int, names: Collection[str]) -> str:
    """The kind of draft that the file makes when it drafts for another model.

    Args:
        architecture: ``general.architecture``.
        blocks: Layers by its header, guessing ones among them.
        names: Names of its tensors.
    """
    if architecture == "dflash" and _MARKOV_HEAD in names:
        return "draft-dspark"
    if architecture in _DRAFTERS:
        return _DRAFTERS[architecture]
    has_trunk = "blk.0.attn_norm.weight" in names
    return _MTP if _has_guessing_layer(blocks, names) and not has_trunk else PLAIN


def guessing_layers_of(blocks: int, predictors: int, names: Collection[str]) -> int:
    """How many layers that guess ahead (NextN, MTP) stand in the file behind the model's own.

    Args:
        blocks: Layers by its header, these among them.
        predictors: How many it has by its header.
        names: Names of its tensors; files without these layers say that they have them, too.
    """
    if not 0 < predictors < blocks or not _has_guessing_layer(blocks, names):
        return 0
    return predictors


def _has_guessing_layer(blocks: int, names: Collection[str]) -> bool:
    return f"blk.{blocks - 1}.nextn.eh_proj.weight" in names
