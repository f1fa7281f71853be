"""What the last listing found, kept so that the next one need not read the headers again."""

from __future__ import annotations

from pathlib import Path

import msgspec

from app.library.model_entry import ModelEntry
from app.storage.atomic_file import write_whole

# Of the file's layout and of the facts in it; another one is read as nothing.
_VERSION = 4


class KeptFolder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A folder as it was listed last.

    Attributes:
        location: Which one; ``RECENT`` for the files opened lately.
        entries: Its models.
        lost_since_s: When it was first found unreachable, seconds since 1970; 0 while it answers.
    """

    location: bytes
    entries: tuple[ModelEntry, ...]
    lost_since_s: float = 0.0


class ListCache(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file."""

    version: int = _VERSION
    folders: tuple[KeptFolder, ...] = ()

    def folder(self, location: bytes) -> KeptFolder:
        """What is known of a folder; nothing where it is new."""
        for kept in self.folders:
            if kept.location == location:
                return kept
        return KeptFolder(location, ())

    def known(self) -> dict[tuple[bytes, int, int], ModelEntry]:
        """Entries whose headers were read, by location, modification time and size."""
        return {
            (entry.location, entry.modified_ns, entry.size_bytes): entry
            for kept in self.folders
            for entry in kept.entries
            if entry.facts is not None
        }


def read_list_cache(path: Path) -> ListCache:
    """Read what was kept; nothing where it is missing, damaged or of another version.

    It can be had again from the files themselves, so a damaged one is no loss.
    """
    try:
        cache = msgspec.json.decode(path.read_bytes(), type=ListCache)
    except (OSError, msgspec.MsgspecError):
        return ListCache()
    return cache if cache.version == _VERSION else ListCache()


def write_list_cache(path: Path, folders: tuple[KeptFolder, ...]) -> None:
    """Keep what was found.

    Raises:
        StorageError: If it could not be written.
    """
    content = msgspec.json.encode(ListCache(folders=folders))
    write_whole(path, content, "The list of models could not be kept for the next time")
