"""What a hub says of its models: repositories, and in each of them the models by quantisation.

Data alone; ``hub`` asks for it.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from engine_bridge.settings.domain import Value


class HubSort(StrEnum):
    """By what a search is sorted."""

    DOWNLOADS = "downloads"
    LIKES = "likes"
    UPDATED = "updated"
    TRENDING = "trending"
    SMALLEST = "smallest"
    LARGEST = "largest"


class HubFault(StrEnum):
    """Kinds of faults."""

    OFFLINE = "offline"
    LOGIN = "login"
    GATED = "gated"
    MISSING = "missing"
    BUSY = "busy"
    SERVER = "server"
    CHANGED = "changed"
    DISK = "disk"
    DAMAGED = "damaged"


class HubModel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A repository that a search found.

    Attributes:
        repo: ``owner/name``.
        downloads: In the last 30 days.
        likes: People who like it.
        updated: Day of its last change, ``2026-11-30``; empty if not told.
        is_gated: Whether its terms must be accepted before a download.
        architecture: As its GGUF files say; empty if not told.
        parameters: Number of weights; 0 if not told.
        ctx_train_tok: Context it was trained for; 0 if not told.
        quantisations: That its files' names tell, each once, in the order of the files.
    """

    repo: str
    downloads: int = 0
    likes: int = 0
    updated: str = ""
    is_gated: bool = False
    architecture: str = ""
    parameters: int = 0
    ctx_train_tok: int = 0
    quantisations: tuple[str, ...] = ()


class HubFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file of a repository.

    Attributes:
        path: Inside the repository.
        size_bytes: Its size; 0 if not told.
        sha256: Of its content, in hex digits; empty if not told.
    """

    path: str
    size_bytes: int
    sha256: str = ""

    @property
    def name(self) -> str:
        """Its name without the folder."""
        return self.path.rpartition("/")[2]


class Quantisation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A model of the repository: one file, or all parts of a split one in order.

    Attributes:
        name: As ``llama serve -hf REPO:NAME`` takes it, e.g. ``Q4_K_M``; the file's name where
            that has none.
        files: Its parts.
        missing_parts: Parts that the names announce and the repository lacks.
    """

    name: str
    files: tuple[HubFile, ...]
    missing_parts: int = 0

    @property
    def size_bytes(self) -> int:
        """All parts together."""
        return sum(file.size_bytes for file in self.files)


class HubRepository(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a repository holds.

    Attributes:
        repo: ``owner/name``.
        commit: The commit that was looked at; downloads are of it.
        quantisations: Its models, the smallest first.
        projectors: Files with which a model sees or hears (mmproj).
        drafts: Files that are named as drafts for another model.
        is_gated: Whether its terms must be accepted.
        licence: As the repository says; empty if not told.
        base_model: What it was made of; empty if not told.
    """

    repo: str
    commit: str
    quantisations: tuple[Quantisation, ...]
    projectors: tuple[HubFile, ...] = ()
    drafts: tuple[HubFile, ...] = ()
    is_gated: bool = False
    licence: str = ""
    base_model: str = ""

    @property
    def draft_models(self) -> tuple[Quantisation, ...]:
        """The files that are named as drafts, each as a model called by its file's name."""
        return tuple(Quantisation(file.name, (file,)) for file in self.drafts)

    def quantisation(self, name: str) -> Quantisation | None:
        """The one of that name, whatever its case; a draft by the name of its file."""
        wanted = name.casefold()
        models = (*self.quantisations, *self.draft_models)
        return next((each for each in models if each.name.casefold() == wanted), None)


class Judged(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one model would take on this machine.

    Attributes:
        name: Of the quantisation.
        size_bytes: Of its files.
        loaded_bytes: What was loaded to say so.
        total_bytes: Memory that it would take with the settings; 0 where nobody could say.
        fits: Whether it would run so.
        ways: Changes with which it would, each tried, the nearest first.
        problem: Why nothing is known, a sentence; empty where it is.
    """

    name: str
    size_bytes: int
    loaded_bytes: int = 0
    total_bytes: int = 0
    fits: bool = False
    ways: tuple[dict[str, Value], ...] = ()
    problem: str = ""
