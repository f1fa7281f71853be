"""Whether a file of nothing but guessing layers (NextN, MTP) was made for a model.

Such layers read what the model thinks of each token, so that architecture, width and vocabulary
must be the model's. llama-server asserts on the width and reads on with whatever else it is given
(common/speculative.cpp); here it is told first. Knows facts of headers; must not know the engine.
"""

from __future__ import annotations

from engine_bridge.draft_kind import MTP_ARCHITECTURES, guessing_problem
from engine_bridge.model_facts import ModelFacts

_WHAT_TO_DO = "Choose the file that was made from this very model."


def why_not_its_guesses(target: ModelFacts, layers: ModelFacts) -> str:
    """Why the layers in one file cannot guess for a model, vocabularies aside; empty if they can.

    Args:
        target: The model.
        layers: The file of guessing layers.
    """
    if layers.architecture not in MTP_ARCHITECTURES:
        # The draft menu shows the first sentence behind the colon whole: no longer than this.
        why = f"{layers.architecture} layers read the model's own cache and are not run here"
        how = "llama-server runs them with --spec-type draft-mtp -md FILE"
        return f"{layers.name} cannot draft for {target.name}: {why}. {how}."
    if target.architecture != layers.architecture:
        why = f"its layers are a {layers.architecture} model's, and this is {target.architecture}"
    elif target.width != layers.width:
        why = (
            f"its layers read states of {layers.width:,} values, and this model's have "
            f"{target.width:,}"
        )
    elif target.vocab != layers.vocab:
        why = (
            f"it has another vocabulary ({layers.vocab:,} tokens, and this model has "
            f"{target.vocab:,})"
        )
    else:
        why = guessing_problem(layers.architecture, layers.nextn_layers)
    return f"{layers.name} cannot draft for {target.name}: {why}. {_WHAT_TO_DO}" if why else ""
