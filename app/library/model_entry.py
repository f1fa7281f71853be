"""What stands in the list of models, and what the listing process is asked and answers.

Locations are bytes: a file's name need not be text, and JSON carries only text.
"""

from __future__ import annotations

import os

import msgspec

from engine_bridge.header_facts import HeaderFacts

# The group of files that the user opened lately; folders are named by their own location.
RECENT = b""


# No cycles can go through these, and thousands of them are kept: not to be looked through for any.
class ModelEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """One model file of the list; a split model is one entry, its part 1.

    Attributes:
        location: Path in the bytes of the file system.
        folder: Location of the listed folder it was found under, ``RECENT`` for a recent file.
        name: The file's name for people; bytes that are no text are escaped.
        size_bytes: Size of all parts.
        modified_ns: Latest modification of a part, nanoseconds since 1970.
        device: Number of the file system it lies on.
        parts: Files it consists of.
        facts: What its header says; None while it is unread or where it cannot be used.
        problem: Why it cannot be loaded, a sentence; empty where it can or is still unread.
        is_read: Whether its header was read, well or badly.
        is_reachable: Whether its folder answered.
        is_growing: Whether it is not whole and was written to a moment ago.
        content: What its content is recognised by, see ``copies``; empty while it is unread.
    """

    location: bytes
    folder: bytes
    name: str
    size_bytes: int
    modified_ns: int
    device: int = 0
    parts: int = 1
    facts: HeaderFacts | None = None
    problem: str = ""
    is_read: bool = False
    is_reachable: bool = True
    is_growing: bool = False
    content: bytes = b""

    @property
    def path(self) -> str:
        """The path as Python spells it; bytes that are no text become surrogates."""
        return os.fsdecode(self.location)

    @property
    def is_usable(self) -> bool:
        """Whether it is known to be a model that can be loaded."""
        return self.facts is not None and not self.problem


class FolderToList(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A folder whose models are wanted.

    Attributes:
        location: Its path in bytes.
        title: What people call it.
        is_own: Whether the user added it; the others need not exist.
        levels: How many levels down it is looked into.
        is_ollama: Whether Ollama keeps its models there, by digests and manifests.
    """

    location: bytes
    title: str
    is_own: bool = False
    # The hub's cache needs four, publishers' folders three; below that lies somebody's disk.
    levels: int = 6
    is_ollama: bool = False

    @property
    def path(self) -> str:
        """The path as Python spells it."""
        return os.fsdecode(self.location)


class ListRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the listing process is asked.

    Attributes:
        folders: In the order of the list.
        recent: Files opened lately, wherever they are.
        cache_path: Where it keeps what it found, for the next time.
        silence_s: A folder that does not answer for so long is given up.
    """

    folders: tuple[FolderToList, ...]
    recent: tuple[bytes, ...]
    cache_path: str
    silence_s: float = 5.0


class EntriesFound(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="entries"):
    """Entries that are new, or known better than before."""

    entries: tuple[ModelEntry, ...]


class FolderReported(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="folder"):
    """A folder is through.

    Attributes:
        location: Which one.
        problem: Why not all of it is listed, a sentence; empty where it is.
        is_missing: Whether it is a folder of another program, and is not there.
    """

    location: bytes
    problem: str
    is_missing: bool = False


class ListingDone(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="done"):
    """Nothing more comes.

    Attributes:
        problem: Why the list could not be kept for the next time; empty where it was.
    """

    problem: str = ""


ListAnswer = EntriesFound | FolderReported | ListingDone
