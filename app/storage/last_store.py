"""The settings that ran last with each model, a file each.

Every method waits for the disk: never call one on the GUI thread. Must not know what settings mean.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path

from app.plain_file import EndlessFileError, read_plain
from app.profiles import LAST_ID, ModelScope, Profile
from app.storage.atomic_file import write_whole
from app.storage.json_document import DamagedError
from app.storage.profile_file import MOST_BYTES, profile_bytes, profile_in
from app.storage.storage_error import StorageError, storage_error

# Models that were tried once and never again are forgotten.
_FILES = 200
_NOT_READ = "What ran last with this model could not be read"
_NOT_KEPT = "What ran last with this model could not be kept for the next time"


class LastStore:
    """A folder in which a model's file is called by its key."""

    def __init__(self, folder: Path) -> None:
        """Use ``folder``; it need not exist."""
        self.folder = folder

    @classmethod
    def beside(cls, profiles: Path) -> LastStore:
        """The one that belongs to a folder of profiles."""
        return cls(profiles / "last")

    def read(self, model: ModelScope) -> Profile | None:
        """What ran last with ``model``; None where nothing did, and where the file is damaged.

        Raises:
            StorageError: If there is something that cannot be read, or a newer version wrote it.
        """
        path = self._path(model)
        try:
            profile = profile_in(read_plain(path, MOST_BYTES), str(path))
        except FileNotFoundError:
            return None
        except DamagedError:
            return None  # it is written anew with what runs next
        except (IsADirectoryError, EndlessFileError) as error:
            raise StorageError(f"{_NOT_READ}: {error}; move it away.") from error
        except OSError as error:
            raise storage_error(_NOT_READ, path, error) from error
        return replace(profile, id=LAST_ID, model=model)

    def write(self, profile: Profile, model: ModelScope) -> None:
        """Keep what ran last with ``model``, and forget the models used least lately.

        Raises:
            StorageError: If it could not be written.
        """
        write_whole(self._path(model), profile_bytes(profile), _NOT_KEPT)
        with contextlib.suppress(OSError):  # another copy of the program may do the same
            paths = sorted(self.folder.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
            for path in paths[:-_FILES]:
                path.unlink(missing_ok=True)

    def _path(self, model: ModelScope) -> Path:
        return self.folder / f"{model.key}.json"
