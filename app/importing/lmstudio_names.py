"""What LM Studio calls models and shares, in its line and in its files."""

from __future__ import annotations

from app.importing.gathering import Gathering
from app.importing.model_words import DRAFT, is_path, place_file
from app.importing.typed_numbers import decimal


def take_name(gathering: Gathering, name: str) -> None:
    """Take a model by its file or by LM Studio's name of it."""
    if is_path(name):
        place_file(gathering, name, "the model")
        return
    gathering.understood("source_model", name)
    gathering.problem(
        "no_model",
        f"{name} is a name of LM Studio's, which tells no file; choose the GGUF of that model",
    )


def draft_name(gathering: Gathering, name: str) -> None:
    """Take a draft in the same way."""
    if is_path(name):
        place_file(gathering, name, "the draft", DRAFT)
        return
    gathering.understood("draft_source_model", name)
    gathering.problem(
        "no_model", f"the draft {name} is a name of LM Studio's; choose the GGUF of that model"
    )


def layer_share(gathering: Gathering, text: str, written: str) -> None:
    """Take the share of the layers on the GPU, which is a number only once the model is known."""
    word = text.lower()
    if word == "max" or decimal(word) == 1:
        gathering.setting("n_gpu_layers", "all")
    elif word == "off" or decimal(word) == 0:
        gathering.setting("n_gpu_layers", 0)
    elif word == "auto":
        gathering.setting("n_gpu_layers", "auto")
    elif decimal(word) is None:
        gathering.open("n_gpu_layers", text, written)
    else:
        gathering.settings["n_gpu_layers"] = None
        gathering.understood_decimal("gpu_ratio", text, written)
        gathering.problem(
            "not_transferable",
            f"{written} {text} is a share of the layers; say their number once the model is chosen",
        )
