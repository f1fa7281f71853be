"""What ``tunedeck drafts`` does, told to a terminal or as JSON."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import msgspec

from app.figures import bytes_text, count_text
from app.json_output import tell_error, write_json
from app.library.draft_verdicts import percent_text, verdict_sentence, verdict_words
from app.library.known_folders import folders_to_list, list_cache_path
from app.library.local_drafts import LocalDraft, local_drafts, local_models
from app.library.model_entry import FolderToList
from app.plain_output import printable
from app.storage.folders import own_folders
from app.storage.settings_store import SettingsStore
from app.storage.settings_values import values_in
from engine_bridge.gguf_file import read_model_facts
from engine_bridge.gguf_window import GgufError
from engine_bridge.settings.home_path import whole_path


def tell_local_drafts(arguments: argparse.Namespace) -> int:
    """List what can draft for ``arguments.model``; gives the exit status."""
    path = whole_path(arguments.model)
    try:
        own_layers = read_model_facts(path).nextn_layers
        kept, _ = values_in(SettingsStore(own_folders().settings).peek())
        models = local_models(
            _folders(path, _texts(kept.get("model_folders"))),
            _texts(kept.get("recent_models")),
            list_cache_path(),
        )
        drafts = local_drafts(path, models.entries)
    except GgufError as error:
        tell_error(str(error), as_json=arguments.json)
        return 1
    if arguments.json:
        told = [
            msgspec.structs.asdict(draft) | {"can_draft": not draft.why_not} for draft in drafts
        ]
        write_json(
            {
                "model": path, "own_layers": own_layers, "drafts": told,
                "problems": models.problems,
            },
            sys.stdout,
        )  # fmt: skip
        return 0
    for line in _lines(drafts, own_layers):
        sys.stdout.write(f"{printable(line)}\n")
    for problem in models.problems:
        sys.stderr.write(f"{printable(problem)}\n")
    return 0


def _lines(drafts: tuple[LocalDraft, ...], own_layers: int) -> list[str]:
    lines = []
    if own_layers:
        one = own_layers == 1
        layers = "a layer" if one else f"{own_layers} layers"
        guess = "guesses" if one else "guess"
        lines.append(f"The model has {layers} of its own that {guess} ahead (draft-mtp).")
    for draft in drafts:
        parts = [
            draft.name, draft.kind, count_text(draft.parameters), bytes_text(draft.size_bytes),
            f"{percent_text(draft.share)} of the model",
            verdict_words(draft.kind, draft.share, draft.why_not),
        ]  # fmt: skip
        lines.append(" · ".join(parts))
        lines.append(f"    {verdict_sentence(draft.kind, draft.share, draft.why_not)}")
        if not draft.why_not:
            lines.append(f"    {draft.path}")
    if not any(not draft.why_not for draft in drafts):
        lines.append(
            "No model on this machine can draft for it. `tunedeck hub drafts MODEL` looks on the "
            "hub."
        )
    return lines


def _folders(path: str, own: list[str]) -> tuple[FolderToList, ...]:
    """Those that are listed in the window, and the one that the model lies in."""
    beside = Path(path).absolute().parent
    listed = folders_to_list(own)
    if any(beside.is_relative_to(folder.path) for folder in listed if not folder.is_ollama):
        return listed
    return (FolderToList(os.fsencode(beside), beside.name, levels=0), *listed)


def _texts(value: object) -> list[str]:
    return [str(text) for text in value] if isinstance(value, list) else []
