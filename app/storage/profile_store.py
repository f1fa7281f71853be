"""The profiles kept on this machine, a file each; several windows may change them at once.

Every method waits for the disk: never call one on the GUI thread. Must not know what settings mean.
"""

from __future__ import annotations

import contextlib
import os
import time
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from app.plain_file import EndlessFileError, read_plain
from app.profiles import (
    BUILT_IN_NAMES,
    ModelScope,
    Profile,
    folded,
    free_name,
)
from app.storage.atomic_file import write_whole
from app.storage.json_document import DamagedError, move_aside
from app.storage.profile_file import MOST_BYTES, profile_bytes, profile_in
from app.storage.storage_error import StorageError, storage_error

_ENDING = ".json"
_DELETED = "deleted"
_LOCK = "profiles"
# Deleted ones can be brought back for so long, by hand where the window's offer is gone.
_TRASH_S = 30 * 86400.0
# More than anyone chooses from; the rest of a folder full of other files is not looked at.
_MOST = 1000
_NOT_READ = "The profiles could not be read"
_NOT_CHANGED = "The profiles could not be changed"
_NOT_ASIDE = "A damaged profile could not be set aside"


class NameTakenError(StorageError):
    """There is a profile of that name already, for the same model."""


@dataclass(frozen=True)
class StoredProfiles:
    """What was found.

    Attributes:
        profiles: By name.
        sentences: One for each file that could not be read.
    """

    profiles: tuple[Profile, ...]
    sentences: tuple[str, ...] = ()


class ProfileStore:
    """A folder of profiles."""

    def __init__(self, folder: Path, clock_s: Callable[[], float] = time.time) -> None:
        """Use ``folder``, which need not exist; ``clock_s`` gives seconds since 1970."""
        self.folder = folder
        self._clock_s = clock_s

    def read(self) -> StoredProfiles:
        """All profiles; a file that is damaged is set aside, one of a newer version left alone.

        Raises:
            StorageError: If the folder cannot be read.
        """
        profiles: list[Profile] = []
        sentences: list[str] = []
        paths = self._paths()
        if len(paths) > _MOST:
            sentences.append(
                f"There are {len(paths):,} files of profiles in {self.folder}; {_MOST:,} are read. "
                "Move some of them away."
            )
        for path in paths[:_MOST]:
            try:
                profiles.append(self._read(path))
            except FileNotFoundError:
                continue  # another window has just deleted it
            except DamagedError:
                sentence = self._set_aside(path)
                if sentence:
                    sentences.append(sentence)
            except StorageError as error:
                sentences.append(str(error))
        profiles.sort(key=_order)
        return StoredProfiles(tuple(profiles), tuple(sentences))

    def add(self, profile: Profile, *, is_numbered: bool = False) -> Profile:
        """Keep a new profile.

        Args:
            profile: What is to be kept; its id counts for nothing.
            is_numbered: Take a number behind the name where it is taken, as for a file that is
                imported.

        Returns:
            It with its id, and with the name that it has now.

        Raises:
            NameTakenError: If its name is taken.
            StorageError: If it could not be written.
        """
        with self._locked():
            names = self._names(profile.model)
            name = free_name(profile.name, names) if is_numbered else profile.name
            _refuse_taken(name, names)
            return self._write(replace(profile, id=uuid.uuid4().hex, name=name))

    def replace(self, profile: Profile, seen: Profile) -> Profile:
        """Write a profile anew, under its old name or another one.

        Args:
            profile: What is to be kept in the file of ``seen``.
            seen: What the window showed, which has to be there still.

        Raises:
            NameTakenError: If it has a new name, which is taken.
            StorageError: If another window changed or deleted it meanwhile; nothing is overwritten.
        """
        with self._locked():
            path = self._path(seen.id)
            try:
                there = self._read(path)
            except (FileNotFoundError, DamagedError):
                raise StorageError(
                    f"“{seen.name}” is not there any more: another window deleted it. Save the "
                    "settings as a new profile."
                ) from None
            if there != seen:
                raise StorageError(
                    f"“{seen.name}” was changed in another window meanwhile, and that is kept. "
                    "Look at it again, or save the settings under another name."
                )
            if folded(profile.name) != folded(seen.name):
                _refuse_taken(profile.name, self._names(profile.model))
            return self._write(replace(profile, id=seen.id))

    def delete(self, profile_id: str) -> str:
        """Take a profile out of the list; its file is kept for 30 days.

        Returns:
            What ``restore`` brings it back by.

        Raises:
            StorageError: If it could not be moved.
        """
        with self._locked():
            path = self._path(profile_id)
            token = f"{path.stem}.{uuid.uuid4().hex[:8]}"
            target = self.folder / _DELETED / f"{token}{_ENDING}"
            try:
                target.parent.mkdir(mode=0o700, exist_ok=True)
                path.rename(target)
            except OSError as error:
                raise storage_error(_NOT_CHANGED, path, error) from error
            with contextlib.suppress(OSError):
                os.utime(target, (self._clock_s(),) * 2)  # deleted now, whenever it was saved
            self._forget_old()
            return token

    def restore(self, token: str) -> Profile:
        """Bring a deleted profile back, numbered where its name is taken meanwhile.

        Raises:
            StorageError: If it is not there any more, or could not be moved.
        """
        with self._locked():
            source = self.folder / _DELETED / f"{token}{_ENDING}"
            try:
                profile = self._read(source)
            except (FileNotFoundError, DamagedError):
                raise StorageError(
                    f"The profile cannot be brought back: {source} is gone or damaged."
                ) from None
            name = free_name(profile.name, self._names(profile.model))
            profile_id = token.rpartition(".")[0]
            if self._path(profile_id).exists():
                profile_id = uuid.uuid4().hex
            restored = self._write(replace(profile, id=profile_id, name=name))
            with contextlib.suppress(OSError):  # goes with the next ones of its age
                source.unlink()
            return restored

    # --- Inside -------------------------------------------------------------------------

    def _locked(self) -> contextlib.AbstractContextManager[None]:
        # Who only reads, as a command line does, does not wait for Qt.
        from app.storage.file_lock import locked  # noqa: PLC0415

        return locked(self.folder / _LOCK, _NOT_CHANGED)

    def _paths(self) -> list[Path]:
        try:
            found = [
                path
                for path in self.folder.iterdir()
                if path.suffix == _ENDING and not path.name.startswith(".")
            ]
        except (FileNotFoundError, NotADirectoryError):
            return []  # who writes will be told of a folder that is none
        except OSError as error:
            raise storage_error(_NOT_READ, self.folder, error) from error
        return sorted(found)

    def _path(self, profile_id: str) -> Path:
        return self.folder / f"{profile_id}{_ENDING}"

    @staticmethod
    def _read(path: Path) -> Profile:
        """One file.

        Raises:
            FileNotFoundError: If there is none.
            DamagedError: If it is no profile.
            StorageError: If it cannot be read, or is of a newer version.
        """
        try:
            content = read_plain(path, MOST_BYTES)
        except FileNotFoundError:
            raise
        except (IsADirectoryError, EndlessFileError) as error:
            raise StorageError(f"A profile could not be read: {error}; move it away.") from error
        except OSError as error:
            raise storage_error("A profile could not be read", path, error) from error
        return replace(profile_in(content, str(path)), id=path.stem)

    def _names(self, model: ModelScope | None) -> tuple[str, ...]:
        """Names in use for a model, or for all; what cannot be read has none."""
        key = model.key if model is not None else None
        names = []
        for path in self._paths():
            with contextlib.suppress(FileNotFoundError, DamagedError, StorageError):
                profile = self._read(path)
                if (profile.model.key if profile.model is not None else None) == key:
                    names.append(profile.name)
        return tuple(names)

    def _write(self, profile: Profile) -> Profile:
        """Write the file, and give what a reader finds in it."""
        content = profile_bytes(profile)
        write_whole(self._path(profile.id), content, "The profile could not be saved")
        return replace(profile_in(content, profile.id), id=profile.id)

    def _set_aside(self, path: Path) -> str:
        """Look again under the lock, and move the file where it is still damaged."""
        try:
            with self._locked():
                try:
                    self._read(path)
                except DamagedError as damage:
                    moved = move_aside(path, _NOT_ASIDE)
                    return (
                        f"The profile in {path} could not be understood ({damage}) and is not "
                        f"listed. The file was set aside as {moved.name}; nothing in it is lost."
                    )
        except FileNotFoundError:
            return ""
        except StorageError as error:
            return str(error)
        return ""  # whole by now; the next look has it

    def _forget_old(self) -> None:
        before_s = self._clock_s() - _TRASH_S
        with contextlib.suppress(OSError):
            for path in (self.folder / _DELETED).glob(f"*{_ENDING}"):
                if path.stat().st_mtime < before_s:
                    path.unlink(missing_ok=True)


def exported_to(path: Path, profile: Profile) -> None:
    """Write a profile where the user wants it.

    Raises:
        StorageError: If it could not be written.
    """
    write_whole(path, profile_bytes(profile), "The profile could not be exported")


def imported_from(path: Path) -> Profile:
    """The profile that a file of the user's holds, without an id.

    Raises:
        StorageError: If it cannot be read or holds none, in a sentence; nothing is half-read.
    """
    try:
        content = read_plain(path, MOST_BYTES)
        return profile_in(content, path.name)
    except (IsADirectoryError, EndlessFileError) as error:
        raise StorageError(f"The profile could not be imported: {error}.") from error
    except OSError as error:
        raise storage_error("The profile could not be imported", path, error) from error
    except DamagedError as damage:
        raise StorageError(
            f"The profile could not be imported: {path.name} could not be understood ({damage}). "
            "Choose a file that TuneDeck exported."
        ) from damage


def _refuse_taken(name: str, names: Iterable[str]) -> None:
    """Refuse a name.

    Raises:
        NameTakenError: If it is in use.
    """
    if folded(name) in set(map(folded, BUILT_IN_NAMES)):
        raise NameTakenError(f"“{name}” is the name of a profile that is built in; take another.")
    if folded(name) in set(map(folded, names)):
        raise NameTakenError(f"There is a profile “{name}” already; take another name.")


def _order(profile: Profile) -> tuple[str, str, str]:
    """By name, that for all models before those for one."""
    model = profile.model.name if profile.model is not None else ""
    return folded(profile.name), model, profile.id
