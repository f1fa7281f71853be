"""Drafts that were found on a hub, in the view's words. Pure text."""

from __future__ import annotations

from app.figures import bytes_text, count_text
from app.library.draft_verdicts import percent_text, verdict_sentence, verdict_words
from app.library.hub_draft_shapes import HubDraft
from app.library.quantisations import quantisation_name
from widgets.hub_draft_rows import HubDraftRow

_DASH = "–"


def draft_row_of(draft: HubDraft) -> HubDraftRow:
    """One line of what was found."""
    size = draft.model.size_bytes
    name = draft.model.name
    sentence = verdict_sentence(draft.kind, draft.share, draft.why_not, draft.problem)
    if draft.loaded_bytes:
        sentence += f" To say so {bytes_text(draft.loaded_bytes)} of {bytes_text(size)} were read."
    return HubDraftRow(
        draft.repo,
        quantisation_name(name.removesuffix(".gguf")) or name or _DASH,
        draft.kind or _DASH,
        count_text(draft.parameters) if draft.parameters else _DASH,
        bytes_text(size) if size else _DASH,
        percent_text(draft.share) if size else _DASH,
        verdict_words(draft.kind, draft.share, draft.why_not, draft.problem),
        sentence,
        can_download=bool(draft.model.files) and draft.can_draft,
    )
