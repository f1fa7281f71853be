"""What the hub's process is asked and what it answers, a line of JSON each."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from app.library.hub_draft_shapes import DraftsLookedFor, HubDraft
from app.library.hub_filters import HubFilters, HubFound
from app.library.hub_shapes import (
    HubFault,
    HubFile,
    HubRepository,
    HubSort,
    Judged,
    Quantisation,
)
from engine_bridge.memory_plan import MemoryPlan
from engine_bridge.settings.config import EngineConfig


class _Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="type"):
    """Base of all."""


class SearchHub(_Message, frozen=True, tag="search"):
    """Repositories whose name has ``words`` in it and that pass ``filters``.

    Attributes:
        words: May be empty.
        sort: What stands first.
        filters: What passes.
        after: Where an earlier search of the same ended; empty for the beginning.
    """

    words: str
    sort: HubSort = HubSort.DOWNLOADS
    filters: HubFilters = HubFilters()
    after: tuple[tuple[str, str], ...] = ()


class OpenRepository(_Message, frozen=True, tag="open"):
    """What ``owner/name`` holds."""

    repo: str


class JudgeModels(_Message, frozen=True, tag="judge"):
    """What models of a repository would take here.

    Attributes:
        repository: Theirs.
        models: Which of them.
        config: The settings; its model counts for nothing.
        running: What an engine occupies now and would give back; None if none does.
    """

    repository: HubRepository
    models: tuple[Quantisation, ...]
    config: EngineConfig
    running: MemoryPlan | None = None


class DownloadFiles(_Message, frozen=True, tag="download"):
    """Files of one commit into the hub's cache."""

    repo: str
    commit: str
    files: tuple[HubFile, ...]


class FindDrafts(_Message, frozen=True, tag="find_drafts"):
    """What can draft for a model on this machine.

    Attributes:
        target: Location of its file.
    """

    target: bytes


Question: TypeAlias = SearchHub | OpenRepository | JudgeModels | DownloadFiles | FindDrafts


class ModelsFound(_Message, frozen=True, tag="found"):
    """What a search has found up to now since its beginning; told again with each page."""

    found: HubFound


class RepositoryOpened(_Message, frozen=True, tag="opened"):
    """What it holds."""

    repository: HubRepository


class ModelJudged(_Message, frozen=True, tag="judged"):
    """One of those that were to be judged."""

    judged: Judged


class DownloadProgressed(_Message, frozen=True, tag="progressed"):
    """How far a download is.

    Attributes:
        here_bytes: What is here of all files.
        size_bytes: Of all files.
        is_checking: Whether what came is being compared with what was announced.
    """

    here_bytes: int
    size_bytes: int
    is_checking: bool = False


class DownloadDone(_Message, frozen=True, tag="done"):
    """All files are there.

    Attributes:
        paths: In the order of the question.
    """

    paths: tuple[str, ...]


class DraftFound(_Message, frozen=True, tag="draft"):
    """One that might draft, and whether it can."""

    draft: HubDraft


class DraftsDone(_Message, frozen=True, tag="drafts_done"):
    """No more are looked for."""

    ended: DraftsLookedFor


class HubFailed(_Message, frozen=True, tag="failed"):
    """The question has no answer.

    Attributes:
        kind: Of fault.
        sentence: For the person who asked.
        wait_s: After so many seconds it may be asked again; None where nobody says.
    """

    kind: HubFault
    sentence: str
    wait_s: float | None = None


Answer: TypeAlias = (
    ModelsFound
    | RepositoryOpened
    | ModelJudged
    | DownloadProgressed
    | DownloadDone
    | DraftFound
    | DraftsDone
    | HubFailed
)
