"""What kind of drafts a model file is made for, by its metadata and the names of its tensors.

Follows llama.cpp's ``common_speculative_types_from_gguf`` (common/speculative.cpp), and for files
that it does not tell apart, what src/models/eagle3.cpp and gemma4-assistant.cpp need to be run.
Pure: knows names only.
"""

from __future__ import annotations

from collections.abc import Collection

# A model of its own that drafts for any other with the same vocabulary.
PLAIN = "draft-simple"
# Guessing layers of a model in a file of their own.
GUESSES = "draft-mtp"
# Architectures of nothing but drafters.
_DRAFTERS = {"eagle3": "draft-eagle3", "dflash": "draft-dflash", "gemma4-assistant": GUESSES}
# Of the block drafters this one has a head beside it.
_MARKOV_HEAD = "markov_w1.weight"
# Architectures for whose guessing layers llama.cpp has a graph (LLM_GRAPH_TYPE_DECODER_MTP).
MTP_ARCHITECTURES = frozenset(
    {
        "bailingmoe3", "cohere2moe", "deepseek2", "deepseek32", "deepseek4", "glm-dsa", "glm4moe",
        "hy_v3", "mimo2", "nemotron_h_moe", "qwen35", "qwen35moe", "qwen3next", "step35",
    }
)  # fmt: skip
# Of these the ones whose graph takes more than one such layer; the others end the process.
_SEVERAL_LAYERS = frozenset({"hy_v3", "mimo2", "step35"})


def guessing_problem(architecture: str, layers: int) -> str:
    """Why llama.cpp cannot run the guessing layers of a file, a clause; empty where it can.

    Args:
        architecture: ``general.architecture``.
        layers: How many of them the file holds.
    """
    if architecture not in MTP_ARCHITECTURES:
        return f"llama.cpp has no such drafts for {architecture} models"
    if not layers:
        return "the file holds none, or not all that its header announces"
    if layers > 1 and architecture not in _SEVERAL_LAYERS:
        return f"llama.cpp runs one such layer of {architecture} models, not {layers} of them"
    return ""


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
    return GUESSES if _guesses(blocks - 1, names) and not has_trunk else PLAIN


def guessing_layers_of(blocks: int, predictors: int, names: Collection[str]) -> int:
    """How many layers that guess ahead (NextN, MTP) stand in the file behind the model's own.

    Args:
        blocks: Layers by its header, these among them.
        predictors: How many it has by its header.
        names: Names of its tensors; files without these layers say that they have them, too, and
            llama.cpp ends the process over one that lacks some.
    """
    if not 0 < predictors < blocks:
        return 0
    own = range(blocks - predictors, blocks)
    return predictors if all(_guesses(block, names) for block in own) else 0


def _guesses(block: int, names: Collection[str]) -> bool:
    return f"blk.{block}.nextn.eh_proj.weight" in names
