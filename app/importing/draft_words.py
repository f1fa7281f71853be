"""What a draft's name and an engine's word for its kind say in llama.cpp's terms."""

from __future__ import annotations

import re

from app.importing.gathering import Gathering

_EAGLE3 = re.compile(r"eagle-?_?3", re.IGNORECASE)
_MTP = re.compile(r"(?:^|[^a-z])(?:mtp|nextn)(?:[^a-z]|$)", re.IGNORECASE)


def names_eagle3(name: str) -> bool:
    """Whether the name of a draft says that it is a head of the third EAGLE."""
    return _EAGLE3.search(_last_part(name)) is not None


def kind_by_name(name: str) -> str:
    """What a GGUF draft most likely is, told by its name."""
    if names_eagle3(name):
        return "draft-eagle3"
    return "draft-mtp" if _MTP.search(_last_part(name)) else "draft-simple"


def derive_kind(gathering: Gathering, name: str) -> None:
    """Set the kind that an engine chooses by itself, where the text says none."""
    if "spec_types" not in gathering.settings:
        gathering.setting("spec_types", (kind_by_name(name),), derived=True)


def without_heir(gathering: Gathering, what: str) -> None:
    """Tell that a way of drafting has no counterpart in llama.cpp."""
    gathering.problem("no_heir", f"{what} has no spec type in llama.cpp; it is not taken over")


def settle_lengths(gathering: Gathering) -> None:
    """Move the length of a draft to the setting of its kind, whichever was said first."""
    settings = gathering.settings
    if settings.get("spec_types") == ("ngram-simple",) and "draft_n_max" in settings:
        settings["ngram_size_m"] = settings.pop("draft_n_max")


def _last_part(name: str) -> str:
    return re.split(r"[/\\]", name.rstrip("/\\"))[-1]
