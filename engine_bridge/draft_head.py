"""Whether a head that drafts (EAGLE3, DFlash, DSpark) was made for a model, by what it reads of it.

Such a head takes the states of some layers of the model it drafts for. llama.cpp aborts where one
of these layers is not there, and hands over rows of whatever width the model has
(common/speculative.cpp, src/models/eagle3.cpp, src/models/dflash.cpp). Knows facts of headers; must
not know the engine.
"""

from __future__ import annotations

from engine_bridge.gguf_header import Header
from engine_bridge.model_facts import ModelFacts

_WHAT_TO_DO = "Choose the file that was made for this very model."


def why_not_its_head(target: ModelFacts, head: ModelFacts, header: Header) -> str:
    """Why a head cannot draft for a model, vocabularies aside; a sentence, empty if it can.

    Args:
        target: The model.
        head: The head.
        header: The head's own.
    """
    architecture = head.architecture
    # One that does not say how wide the states are that it reads is as wide itself.
    reads = header.number(f"{architecture}.target_hidden_size") or head.width
    layers = header.numbers(f"{architecture}.target_layers")
    # Behind the last layer EAGLE3 may read, too; the others read what goes into a layer.
    last = target.layers if architecture == "eagle3" else target.layers - 1
    why = ""
    if target.width and reads and reads != target.width:
        why = f"it reads states of {reads:,} values, and this model's have {target.width:,}"
    elif layers and max(layers) > last:
        why = f"it reads layer {max(layers):,}, and this model has {target.layers:,} layers"
    return f"{head.name} cannot draft for {target.name}: {why}. {_WHAT_TO_DO}" if why else ""
