"""The folder the conversations lie in: which files there are, what they hold, where bad ones go.

Every method may wait for the disk. Knows nothing of conversations that are open.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import uuid
from collections.abc import Collection, Iterator
from pathlib import Path

from app.storage.conversation_entry import ConversationEntry, entry_of
from app.storage.conversation_index import ConversationIndex, IndexRow
from app.storage.journal_file import BusyError, JournalFile, read_file
from app.storage.journal_records import DamagedError, NewerSchemaError, storable
from app.storage.journal_replay import Journal, read_journal
from app.storage.storage_error import StorageError, storage_error

_SUFFIX = ".jsonl"
_TRASH = "trash"
_DAMAGED = "damaged"
_UNNAMEABLE = (
    "A conversation is left out of the list, since the name of its file is no text: rename {}."
)
# Fewer new rows are not worth writing the index before the program ends.
_INDEX_CHANGES = 20
# Of what claims to be a name, in a sentence.
_MOST_SHOWN = 80


class ConversationFolder:
    """One folder of journals, with a trash and a place for damaged ones."""

    def __init__(self, folder: Path) -> None:
        """Begin with ``folder``, which need not exist."""
        self._folder = folder
        self._index = ConversationIndex(folder)
        self._findings: list[str] = []
        self._told: set[str] = set()

    # --- Files --------------------------------------------------------------------------

    def path_of(self, conversation_id: str) -> Path:
        """Where a conversation is kept.

        Raises:
            StorageError: If that is no name of a file in this folder.
        """
        name = conversation_id + _SUFFIX
        is_name = Path(name).name == name and not name.startswith(".") and "\0" not in name
        if not is_name or storable(name) != name:
            shown = storable(conversation_id[:_MOST_SHOWN])
            raise StorageError(f"“{shown}” is not the name of a conversation.")
        return self._folder / name

    def entries(self, open_ids: Collection[str] = ()) -> list[ConversationEntry]:
        """What the files hold, but for those of ``open_ids``, which others know better.

        Raises:
            StorageError: If the folder cannot be read.
        """
        entries, names = [], []
        for name, modified_ns, size_bytes in self._files():
            names.append(name)
            if size_bytes and name.removesuffix(_SUFFIX) not in open_ids:
                row = self._index.find(name, modified_ns, size_bytes)
                row = row or self._look_into(name, modified_ns, size_bytes)
                if row is not None and row.entry is not None:
                    entries.append(row.entry)
                elif row is not None:
                    self._tell(row.sentence)
        self._index.keep_only(names)
        if self._index.changes > _INDEX_CHANGES:
            self._index.save()
        return entries

    def read(self, conversation_id: str) -> Journal:
        """A journal's content, whoever writes it meanwhile.

        Raises:
            StorageError: If it cannot be read.
        """
        path = self.path_of(conversation_id)
        with told_as("The conversation could not be read", path):
            return named(read_journal(read_file(path)), conversation_id)

    def remember(self, entry: ConversationEntry) -> None:
        """Note in the index what a file that was just closed holds."""
        with contextlib.suppress(OSError):  # read anew the next time
            about = self.path_of(entry.id).stat(follow_symlinks=False)
            if about.st_size == entry.size_bytes:
                row = IndexRow(about.st_mtime_ns, about.st_size, entry)
                self._index.put(entry.id + _SUFFIX, row)

    def save_index(self) -> None:
        """Write the index, so that the next program need not read all files."""
        self._index.save()

    # --- The trash ----------------------------------------------------------------------

    def discard(self, conversation_id: str) -> None:
        """Put a file into the trash; nothing where there is none.

        Raises:
            StorageError: If another window has it open, or it could not be moved.
        """
        path = self.path_of(conversation_id)
        with told_as("The conversation could not be deleted", path):
            try:
                JournalFile.open(path).close()
            except FileNotFoundError:
                return
            trash = self._folder / _TRASH
            trash.mkdir(mode=0o700, exist_ok=True)
            path.replace(trash / path.name)
            os.utime(trash / path.name)  # the days in the trash count from now

    def take_back(self, conversation_id: str) -> None:
        """Take a file out of the trash.

        Raises:
            StorageError: If it is not there, or could not be moved.
        """
        path = self.path_of(conversation_id)
        with told_as("The conversation could not be restored", path):
            if path.exists():
                raise FileExistsError(f"{path.name} is in its place")
            (self._folder / _TRASH / path.name).replace(path)

    def empty_trash(self, before_s: float) -> int:
        """Delete for good what was put into the trash before then, and drafts that old.

        Returns:
            How many files that were; what cannot be deleted stays for the next time.
        """
        count = 0
        trashed = sorted((self._folder / _TRASH).glob(f"*{_SUFFIX}"))
        # Drafts of files written anew, of programs that died over it.
        for file in trashed + sorted(self._folder.glob(f".*{_SUFFIX}.*")):
            with contextlib.suppress(OSError):
                if file.lstat().st_mtime < before_s:
                    file.unlink()
                    count += 1
        return count

    # --- What is damaged ----------------------------------------------------------------

    def take_findings(self) -> list[str]:
        """Sentences about files that could not be opened whole, each told once."""
        findings, self._findings = self._findings, []
        return findings

    def save_damaged(self, conversation_id: str) -> bool:
        """Keep a copy of a file of which only the beginning can be read, and tell of it.

        Returns:
            False if there is no place for it; the file must stay as it is then.
        """
        path = self.path_of(conversation_id)
        what = f"A part of the conversation {path.name} is damaged. What comes before it is open; "
        try:
            place = self._damaged_place(path)
            shutil.copyfile(path, place)
            place.chmod(0o600)
        except OSError as error:
            self._tell(f"{what}this goes on as a copy. {storage_error('No backup', path, error)}")
            return False
        self._tell(f"{what}the file as it was is kept as {place}.")
        return True

    # --- Inside -------------------------------------------------------------------------

    def _files(self) -> Iterator[tuple[str, int, int]]:
        """Name, time of the last change (ns), and size of every journal."""
        with told_as("The conversations could not be listed", self._folder):
            try:
                listing = os.scandir(self._folder)
            except FileNotFoundError:
                return  # nothing was kept yet
            with listing:
                for file in listing:
                    if file.name.endswith(_SUFFIX) and file.is_file(follow_symlinks=False):
                        if storable(file.name) != file.name:
                            self._tell(_UNNAMEABLE.format(ascii(file.name)))
                            continue
                        try:
                            about = file.stat(follow_symlinks=False)
                        except FileNotFoundError:
                            continue  # another window has just deleted it
                        yield file.name, about.st_mtime_ns, about.st_size

    def _look_into(self, name: str, modified_ns: int, size_bytes: int) -> IndexRow | None:
        """Read a file for the index; None where it cannot be told yet what it is."""
        path = self._folder / name
        try:
            journal = named(read_journal(read_file(path)), name.removesuffix(_SUFFIX))
        except NewerSchemaError:
            sentence = _newer(path)
            row = IndexRow(modified_ns, size_bytes, None, sentence)
        except DamagedError as error:
            self._set_aside(path, str(error))
            return None
        except OSError as error:
            self._tell(str(storage_error("A conversation could not be read", path, error)))
            return None
        else:
            state = journal.state
            entry = entry_of(state.kept, state.updated_s, size_bytes)
            row = IndexRow(modified_ns, size_bytes, entry)
        self._index.put(name, row)
        return row

    def _set_aside(self, path: Path, why: str) -> None:
        """Move a file that is no conversation out of the way, unless somebody is writing it."""
        what = f"A conversation cannot be opened: {why}."
        try:
            JournalFile.open(path).close()
            place = self._damaged_place(path)
            path.replace(place)
        except (FileNotFoundError, BusyError):
            return
        except OSError as error:
            self._tell(f"{what} {storage_error('It could not be set aside', path, error)}")
        else:
            self._tell(f"{what} It was set aside as {place}; nothing of it was deleted.")

    def _damaged_place(self, path: Path) -> Path:
        folder = self._folder / _DAMAGED
        folder.mkdir(mode=0o700, exist_ok=True)
        place = folder / path.name
        return place.with_stem(f"{path.stem}-{uuid.uuid4().hex[:8]}") if place.exists() else place

    def _tell(self, sentence: str) -> None:
        if sentence not in self._told:
            self._told.add(sentence)
            self._findings.append(sentence)


def named(journal: Journal, conversation_id: str) -> Journal:
    """The name of the file is what counts: people copy files."""
    journal.state.kept.id = conversation_id
    return journal


@contextlib.contextmanager
def told_as(what: str, path: Path) -> Iterator[None]:
    """Faults of the disk and of files become sentences that begin with ``what``.

    Raises:
        StorageError: Instead of them.
    """
    try:
        yield
    except OSError as error:
        raise storage_error(what, path, error) from error
    except NewerSchemaError as error:
        raise StorageError(_newer(path)) from error
    except DamagedError as error:
        raise StorageError(f"{what}: {error} ({path}).") from error
    except BusyError as error:
        raise StorageError(
            f"{what}: it is open in another window. Close it there first ({path})."
        ) from error


def _newer(path: Path) -> str:
    return f"{path} was written by a newer TuneDeck; it is left as it is. Update to open it."
