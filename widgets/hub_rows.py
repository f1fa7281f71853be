"""What the view of a hub shows, as plain data: what was found, a repository, a download."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

DownloadState = Literal["running", "checking", "paused", "done", "failed"]


@dataclass(frozen=True)
class HubWish:
    """What is looked for.

    Attributes:
        words: That names have in them.
        sort: What stands first, one of ``hub_finder.SORTS``.
        architecture: As GGUF files say it; empty for any.
        quantisation: That a repository holds; empty for any.
        min_parameters: The least number of weights; 0 for no bound.
        max_parameters: The most; 0 for no bound.
    """

    words: str
    sort: str
    architecture: str = ""
    quantisation: str = ""
    min_parameters: int = 0
    max_parameters: int = 0


@dataclass(frozen=True)
class HubHit:
    """A repository that was found.

    Attributes:
        repo: ``owner/name``.
        about: Size, architecture, in a few words.
        downloads: As a text.
        tip: More of it.
    """

    repo: str
    about: str
    downloads: str
    tip: str = ""


@dataclass(frozen=True)
class QuantRow:
    """A model of the repository.

    Attributes:
        name: Of the quantisation.
        size: Of its files, as a text.
        memory: What it takes on this machine; a dash while nobody knows.
        verdict: Whether it runs, or how, in a few words.
        tip: The whole sentence.
        can_download: Whether all of it is there.
    """

    name: str
    size: str
    memory: str
    verdict: str
    tip: str = ""
    can_download: bool = True


@dataclass(frozen=True)
class HubSheet:
    """A repository.

    Attributes:
        repo: ``owner/name``.
        about: Licence, what it was made of, what else is in it.
        rows: Its models, the smallest first.
        chosen: Name of the one to begin with.
    """

    repo: str
    about: str
    rows: tuple[QuantRow, ...]
    chosen: str = ""


@dataclass(frozen=True)
class DownloadRow:
    """A download.

    Attributes:
        name: What is downloaded.
        share: How much of it is here, 0 to 1.
        words: Bytes, speed, time left; or why it failed.
        state: How it stands.
        is_stalled: Whether nothing has come for a while, though it is tried.
    """

    name: str
    share: float
    words: str
    state: DownloadState
    is_stalled: bool = False
