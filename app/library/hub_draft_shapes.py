"""What a search for drafts on a hub found, and how far it went. Data alone; ``hub_drafts`` asks."""

from __future__ import annotations

import msgspec

from app.library.hub_shapes import Quantisation


class HubDraft(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A model on a hub that might draft for one on this machine.

    Attributes:
        repo: Its repository, ``owner/name``.
        commit: The commit that was looked at; empty where the repository could not be opened.
        model: Its files; the usual quantisation where there are several. Without files where the
            repository could not be opened.
        kind: What it drafts as, by its header; empty where that could not be read.
        parameters: Number of weights, by its header, else as the hub says; 0 if not told.
        downloads: Of its repository, in the last 30 days.
        target_bytes: Size of the model's own files, for comparison.
        loaded_bytes: What was loaded of it to say so.
        why_not: Why it cannot draft, a sentence; empty where it can or nobody knows.
        problem: Why it could not be checked, a sentence; empty where it was.
    """

    repo: str
    commit: str
    model: Quantisation
    kind: str = ""
    parameters: int = 0
    downloads: int = 0
    target_bytes: int = 0
    loaded_bytes: int = 0
    why_not: str = ""
    problem: str = ""

    @property
    def can_draft(self) -> bool:
        """Whether it is known that it can."""
        return not self.why_not and not self.problem

    @property
    def share(self) -> float:
        """Its size by that of the model it would draft for; 0 where one of them is not told."""
        return self.model.size_bytes / self.target_bytes if self.target_bytes else 0.0


class DraftsLookedFor(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How far a search went.

    Attributes:
        names: Words that were searched for.
        found: Repositories that have them in their names and could have a draft.
        looked: How many of them were looked into.
        loaded_bytes: What was loaded of headers.
        problem: Why it ended before its end, a sentence; empty where it did not.
    """

    names: tuple[str, ...]
    found: int
    looked: int
    loaded_bytes: int
    problem: str = ""
