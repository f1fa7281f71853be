"""The settings file: read with patience, written whole, shared with other copies of the program.

Knows the schema number and what befalls the file; must not know what is kept in it.
"""

from __future__ import annotations

import stat
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from app.storage.atomic_file import write_whole
from app.storage.file_lock import LOCK_WAIT_MS, locked
from app.storage.json_document import (
    DamagedError,
    document_bytes,
    document_in,
    move_aside,
    schema_in,
    short,
)
from app.storage.settings_merge import Document, merged
from app.storage.storage_error import StorageError, storage_error

SCHEMA = 1
FILE_NAME = "settings.json"
_NOT_SAVED = "The settings could not be saved"
_NOT_READ = "The settings could not be read"
_LOCK_WAIT_MS = LOCK_WAIT_MS
# A thousand times what a long list of models takes; more than that is no settings file.
_MAX_BYTES = 4_000_000


class NewerSettingsError(StorageError):
    """The file is of a newer version of the program; it must not be written."""


@dataclass(frozen=True)
class StoredSettings:
    """What was found at the start.

    Attributes:
        document: The file's content; empty where there is none that can be used.
        sentences: What the user should know about it.
        is_writable: False where writing would destroy what a newer version wrote.
    """

    document: Document
    sentences: tuple[str, ...] = ()
    is_writable: bool = True


class SettingsStore:
    """``settings.json`` in one folder.

    Every method waits for the disk; one thread at a time may use it.
    """

    def __init__(self, folder: Path) -> None:
        """Name the file in ``folder``; nothing is touched yet."""
        self.path = folder / FILE_NAME

    def read(self) -> StoredSettings:
        """Read the file; one that is damaged is set aside, never lost.

        Returns:
            What it holds, or nothing with the sentences that say why.
        """
        try:
            document = self._document() or {}
        except DamagedError:
            return self._set_aside()
        except NewerSettingsError as error:
            return StoredSettings({}, (str(error),), is_writable=False)
        except StorageError as error:
            return StoredSettings({}, (str(error),))
        return StoredSettings(_without_schema(document))

    def peek(self) -> Document:
        """The file's content for who only wants to look: nothing is touched, a fault is nothing."""
        try:
            return self._document() or {}
        except (DamagedError, StorageError):
            return {}

    def keep(self, base: Mapping[str, object], mine: Mapping[str, object]) -> None:
        """Bring everything that changed here into the file.

        What another copy of the program wrote meanwhile stays, and so do keys that this version
        does not know.

        Args:
            base: What this copy kept last, or found at the start.
            mine: What it wants kept now.

        Raises:
            NewerSettingsError: If a newer version wrote the file; it is left as it is.
            StorageError: If it could not be written; nothing has changed.
        """
        with self._locked():
            try:
                found = self._document()
            except DamagedError:
                self._move_aside()
                found = None
            if found is None:
                # A file that is gone gets everything back, not only the last change.
                base, found = {}, {}
            there = _without_schema(found)
            document = merged(base, mine, there)
            if document != there:
                write_whole(self.path, document_bytes({"schema": SCHEMA, **document}), _NOT_SAVED)

    def probe(self) -> None:
        """Find out whether the folder can be written, before there is anything to lose.

        Raises:
            StorageError: If it cannot.
        """
        with self._locked():
            return

    # --- Inside -------------------------------------------------------------------------

    def _document(self) -> Document | None:
        """The file's content; None where there is no file.

        Raises:
            DamagedError: If it is no settings file.
            NewerSettingsError: If a newer version wrote it.
            StorageError: If it cannot be read.
        """
        try:
            facts = self.path.stat()
            if not stat.S_ISREG(facts.st_mode):
                raise StorageError(f"{_NOT_READ}: {self.path} is no file; move it away.")
            if facts.st_size > _MAX_BYTES:
                raise DamagedError(f"it has {facts.st_size:,} bytes")
            content = self.path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None  # who writes will be told of a folder that is none
        except OSError as error:
            raise storage_error(_NOT_READ, self.path, error) from error
        return self._checked(content)

    def _checked(self, content: bytes) -> Document:
        document = document_in(content)
        schema = schema_in(document, SCHEMA)
        if schema > SCHEMA:
            raise NewerSettingsError(
                f"The settings in {self.path} were written by a newer version of TuneDeck (schema "
                f"{short(schema)}, this one knows {SCHEMA}). This one runs with its defaults and "
                "saves no settings; start the newer version, or move the file away."
            )
        return document

    def _set_aside(self) -> StoredSettings:
        """Look again under the lock, and move the file where it is still damaged."""
        try:
            with self._locked():
                try:
                    document = self._document() or {}
                except DamagedError as damage:
                    moved = self._move_aside()
                    return StoredSettings({}, (_damage_sentence(self.path, damage, moved),))
        except NewerSettingsError as error:
            return StoredSettings({}, (str(error),), is_writable=False)
        except StorageError as error:
            return StoredSettings(
                {}, (f"The settings file is damaged, so the defaults are used. {error}",)
            )
        return StoredSettings(_without_schema(document))

    def _move_aside(self) -> Path:
        return move_aside(self.path, "The damaged settings file could not be set aside")

    def _locked(self) -> AbstractContextManager[None]:
        return locked(self.path, _NOT_SAVED, _LOCK_WAIT_MS)


def _damage_sentence(path: Path, damage: DamagedError, moved: Path) -> str:
    return (
        f"The settings in {path} could not be understood ({damage}), so the defaults are used. The "
        f"file was set aside as {moved.name}; nothing in it is lost."
    )


def _without_schema(document: Document) -> Document:
    return {key: value for key, value in document.items() if key != "schema"}
