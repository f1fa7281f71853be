"""Whether the files that a tuner is to work with are what it needs, before an engine is started.

Reads headers and vocabularies; where a draft model is refused, the engine would refuse it too.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from app.experiments.subject import facts_of
from app.experiments.tune_drafts import kind_of_file, never_runs
from app.library.draft_check import DraftRequest, DraftVerdict, check
from engine_bridge.gguf_window import shown_name
from engine_bridge.settings.domain import DomainError
from engine_bridge.settings.spec_kinds import WHY_EXPORT_ONLY


def refuse_files(model_path: str, drafts: Sequence[str]) -> None:
    """Refuse a file that is no model, and drafts that cannot draft for it.

    Args:
        model_path: The model that is tuned.
        drafts: Files of models that may draft for it.

    Raises:
        DomainError: In a sentence for each file that is of no use.
    """
    facts_of(model_path)
    verdicts: list[DraftVerdict] = []
    if drafts:
        locations = tuple(os.fsencode(path) for path in drafts)
        check(DraftRequest(os.fsencode(model_path), locations), verdicts.append)
    reasons = [
        verdict.why_not or _why_never(path) for path, verdict in zip(drafts, verdicts, strict=True)
    ]
    if told := list(dict.fromkeys(filter(None, reasons))):
        raise DomainError(" ".join(told))


def _why_never(path: str) -> str:
    """Why a file that fits drafts nothing here all the same; empty where it does."""
    kind = kind_of_file(path)
    if not never_runs({"spec_types": (kind,)}):
        return ""
    return f"{shown_name(path)} cannot draft here by {kind}: {WHY_EXPORT_ONLY}."
