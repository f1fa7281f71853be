"""What to say where an engine is not given the GGUF file but other weights of the same model.

The place of the model is left so that the line cannot be run by accident: no hub and no file system
has such a name. Must not know any engine's flags.
"""

from __future__ import annotations

from app.export.llama_flag import Situation

MODEL_PLACE = "<MODEL: hub name or folder>"
DRAFT_PLACE = "<DRAFT MODEL: hub name or folder>"
_BYTES_PER_WEIGHT_16 = 2
_GB = 1e9


def place_note(engine: str, situation: Situation) -> str:
    """What belongs into the model's place, a sentence or two."""
    return (
        f"{engine} is run with other weights than a GGUF file: {_model(situation)} as safetensors, "
        f"whole or quantised for it. Put the name on the hub or the folder in the place of "
        f"{MODEL_PLACE}; the line does not run before.{_size(situation)}"
    )


def model_reason(engine: str) -> str:
    """Why the file is not named, a sentence."""
    return f"{engine} wants other weights than a GGUF file; {MODEL_PLACE} stands in their place."


def draft_reason(engine: str) -> str:
    """Why the draft model's file is not named, a sentence."""
    return f"{engine} wants other weights than a GGUF file; {DRAFT_PLACE} stands in their place."


def _model(situation: Situation) -> str:
    if situation.facts is not None and situation.facts.name:
        return f"the model “{situation.facts.name}”"
    return "the same model"


def _size(situation: Situation) -> str:
    facts = situation.facts
    if facts is None or facts.parameters <= 0 or facts.tensor_bytes <= 0:
        return ""
    wide_bytes = facts.parameters * _BYTES_PER_WEIGHT_16
    if wide_bytes <= facts.tensor_bytes:
        return ""
    return (
        f" The file's weights take {facts.tensor_bytes / _GB:.2f} GB; in 16 bits they would take "
        f"{wide_bytes / _GB:.2f} GB, so memory and speed will not be what was measured here."
    )
