"""The settings file: read with patience, written whole, shared with other copies of the program.

Knows JSON, the schema number, the lock and the file's faults; must not know what is kept in it.
"""

from __future__ import annotations

import contextlib
import json
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QLockFile

from app.storage.atomic_file import write_whole
from app.storage.settings_merge import Document, merged
from app.storage.storage_error import StorageError, storage_error

SCHEMA = 1
FILE_NAME = "settings.json"
_NOT_SAVED = "The settings could not be saved"
_NOT_READ = "The settings could not be read"
# The lock is held for one read and one write; a copy that takes longer has lost its disk.
_LOCK_WAIT_MS = 5000
# Of a copy on another machine (a home folder on the network) nobody can say whether it lives.
_STALE_AFTER_MS = 30_000
# A thousand times what a long list of models takes; more than that is no settings file.
_MAX_BYTES = 4_000_000
# Of a value, in a sentence.
_MOST_SHOWN = 60


class NewerSettingsError(StorageError):
    """The file is of a newer version of the program; it must not be written."""


class _DamagedError(ValueError):
    """The file is no settings file; the message says what is wrong with it."""


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
        except _DamagedError:
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
        except (_DamagedError, StorageError):
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
            except _DamagedError:
                self._move_aside()
                found = None
            if found is None:
                # A file that is gone gets everything back, not only the last change.
                base, found = {}, {}
            there = _without_schema(found)
            document = merged(base, mine, there)
            if document != there:
                write_whole(self.path, _text({"schema": SCHEMA, **document}), _NOT_SAVED)

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
            _DamagedError: If it is no settings file.
            NewerSettingsError: If a newer version wrote it.
            StorageError: If it cannot be read.
        """
        try:
            facts = self.path.stat()
            if not stat.S_ISREG(facts.st_mode):
                raise StorageError(f"{_NOT_READ}: {self.path} is no file; move it away.")
            if facts.st_size > _MAX_BYTES:
                raise _DamagedError(f"it has {facts.st_size:,} bytes")
            content = self.path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None  # who writes will be told of a folder that is none
        except OSError as error:
            raise storage_error(_NOT_READ, self.path, error) from error
        return self._checked(content)

    def _checked(self, content: bytes) -> Document:
        try:
            # Editors of Windows put a mark in front.
            document = json.loads(content.decode("utf-8-sig"), parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            raise _DamagedError(str(error)) from error
        if not isinstance(document, dict):
            raise _DamagedError("it holds no settings")
        schema = document.get("schema", SCHEMA)
        if isinstance(schema, bool) or not isinstance(schema, int) or schema < 1:
            raise _DamagedError(f"its schema is {_short(schema)}")
        if schema > SCHEMA:
            raise NewerSettingsError(
                f"The settings in {self.path} were written by a newer version of TuneDeck (schema "
                f"{_short(schema)}, this one knows {SCHEMA}). This one runs with its defaults and "
                "saves no settings; start the newer version, or move the file away."
            )
        return document

    def _set_aside(self) -> StoredSettings:
        """Look again under the lock, and move the file where it is still damaged."""
        try:
            with self._locked():
                try:
                    document = self._document() or {}
                except _DamagedError as damage:
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
        target = self.path.resolve()
        number = 1
        while (aside := target.with_name(f"{target.name}.damaged-{number}")).exists():
            number += 1
        try:
            target.rename(aside)
        except OSError as error:
            raise storage_error(
                "The damaged settings file could not be set aside", target, error
            ) from error
        return aside

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            target = self.path.resolve()
            target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise storage_error(_NOT_SAVED, self.path.parent, error) from error
        except RuntimeError as error:  # what Python makes of a link to itself
            raise StorageError(f"{_NOT_SAVED}: {self.path} is a link to itself.") from error
        lock = QLockFile(str(target.with_name(f".{target.name}.lock")))
        # The lock of a process that died on this machine is taken over at once, by its number.
        lock.setStaleLockTime(_STALE_AFTER_MS)
        if not lock.tryLock(_LOCK_WAIT_MS):
            raise StorageError(_lock_sentence(lock.error(), target))
        try:
            yield
        finally:
            lock.unlock()


def _lock_sentence(error: QLockFile.LockError, path: Path) -> str:
    if error is QLockFile.LockError.LockFailedError:
        return (
            f"{_NOT_SAVED}: another copy of TuneDeck has held them for {_LOCK_WAIT_MS // 1000} s "
            f"({path}). Close it if it hangs."
        )
    if error is QLockFile.LockError.PermissionError:
        return f"{_NOT_SAVED}: nothing can be written in {path.parent}; make it writable for you."
    return (
        f"{_NOT_SAVED}: nothing can be written in {path.parent}; the disk may be full, read-only "
        "or gone."
    )


def _damage_sentence(path: Path, damage: _DamagedError, moved: Path) -> str:
    return (
        f"The settings in {path} could not be understood ({damage}), so the defaults are used. The "
        f"file was set aside as {moved.name}; nothing in it is lost."
    )


def _without_schema(document: Document) -> Document:
    return {key: value for key, value in document.items() if key != "schema"}


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 1]}…"


def _refuse_constant(word: str) -> object:
    raise ValueError(f"{word} is no number")


def _text(document: Document) -> bytes:
    """For people to read; a file name that is no UTF-8 makes all of it ASCII."""
    try:
        return (json.dumps(document, ensure_ascii=False, indent=1) + "\n").encode()
    except UnicodeEncodeError:
        return (json.dumps(document, indent=1) + "\n").encode()
