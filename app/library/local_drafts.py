"""The models on this machine that might draft for one, listed and checked without a window.

Blocks. The folders are listed by the process that lists them for the window (``listing``), because
a dead drive keeps whoever asks it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from app.library.copies import copies_among
from app.library.draft_check import DraftTarget
from app.library.model_entry import (
    EntriesFound,
    FolderReported,
    FolderToList,
    ListAnswer,
    ListRequest,
    ModelEntry,
)
from app.library.model_walk import shown_path
from engine_bridge.gguf_window import GgufError

_MODULE = "app.library.listing"


class LocalDraft(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A model on this machine that might draft for another.

    Attributes:
        path: Its file; of a split model the first part. Bytes that are no text are escaped.
        name: The file's name for people.
        kind: What it drafts as.
        parameters: Number of weights.
        size_bytes: Size of all parts.
        share: Its size by that of the model.
        why_not: Why it cannot draft, a sentence; empty where it can.
    """

    path: str
    name: str
    kind: str
    parameters: int
    size_bytes: int
    share: float
    why_not: str = ""


class LocalModels(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a listing found.

    Attributes:
        entries: Models that can be loaded, each content once.
        problems: Why not all folders are in it, a sentence each.
    """

    entries: tuple[ModelEntry, ...]
    problems: tuple[str, ...] = ()


def local_models(
    folders: Sequence[FolderToList], recent: Sequence[str], cache_path: Path
) -> LocalModels:
    """List the models of ``folders``.

    Args:
        folders: Where to look.
        recent: Files opened lately, wherever they are.
        cache_path: Where the listing keeps what it found.
    """
    request = ListRequest(tuple(folders), tuple(map(os.fsencode, recent)), str(cache_path))
    entries: dict[bytes, ModelEntry] = {}
    problems = []
    decoder = msgspec.json.Decoder(ListAnswer)
    with subprocess.Popen(
        [sys.executable, "-m", _MODULE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).resolve().parents[2],
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        # Its input stays open: it ends with it.
        process.stdin.write(msgspec.json.encode(request) + b"\n")
        process.stdin.flush()
        for line in process.stdout:
            answer = decoder.decode(line)
            if isinstance(answer, EntriesFound):
                entries |= {entry.location: entry for entry in answer.entries}
            elif isinstance(answer, FolderReported) and answer.problem:
                problems.append(answer.problem)
    if process.returncode:
        problems.append(
            f"Listing the models ended early (exit code {process.returncode}); some may be missing."
        )
    hidden = {copy for copies in copies_among(entries.values()).values() for copy in copies}
    usable = [e for e in entries.values() if e.is_usable and e.location not in hidden]
    return LocalModels(tuple(usable), tuple(problems))


def local_drafts(path: str, entries: Sequence[ModelEntry]) -> tuple[LocalDraft, ...]:
    """Which of ``entries`` can draft for the model at ``path``: those first, the smallest first.

    Raises:
        GgufError: If ``path`` is no model that could be drafted for, in a sentence.
    """
    target = DraftTarget(path)
    own = Path(path).resolve()
    drafts = []
    for entry in entries:
        if Path(entry.path).resolve() == own or entry.facts is None:
            continue
        try:
            why_not = target.why_not(entry.path)
        except GgufError as error:
            why_not = str(error)
        share = entry.size_bytes / max(1, target.facts.file_bytes)
        facts = entry.facts
        drafts.append(
            LocalDraft(
                shown_path(entry.location), entry.name, facts.draft_kind, facts.parameters,
                entry.size_bytes, share, why_not,
            )
        )  # fmt: skip
    drafts.sort(key=lambda draft: (bool(draft.why_not), draft.size_bytes, draft.name))
    return tuple(drafts)
