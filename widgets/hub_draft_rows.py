"""What the view of drafts on a hub shows, as plain data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class HubDraftRow:
    """A model that might draft.

    Attributes:
        repo: ``owner/name``.
        quantisation: Of its file; where that tells none, its name.
        kind: What it drafts as; a dash while nobody knows.
        parameters: As a text.
        size: Of its files, as a text.
        share: Its size by that of the model, as a text.
        verdict: Whether it can draft, in a few words.
        sentence: Why.
        can_download: Whether a download makes sense.
    """

    repo: str
    quantisation: str
    kind: str
    parameters: str
    size: str
    share: str
    verdict: str
    sentence: str = ""
    can_download: bool = False
