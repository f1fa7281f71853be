"""What is known of each file, so that a list of thousands need not read them all.

Only ever a shortcut: a row counts while the file has the size and the time it had, and without
the index everything is read once more.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from pathlib import Path

import msgspec

from app.storage.atomic_file import write_whole
from app.storage.conversation_entry import ConversationEntry
from app.storage.journal_file import read_file
from app.storage.storage_error import StorageError

_NAME = ".index"
_SCHEMA = 1


class IndexRow(msgspec.Struct, frozen=True, array_like=True):
    """What was found in a file.

    Attributes:
        modified_ns: Of the file, when it was read.
        size_bytes: Of the file, when it was read.
        entry: What the list shows; None for a file that cannot be opened.
        sentence: Why it cannot be opened.
    """

    modified_ns: int
    size_bytes: int
    entry: ConversationEntry | None
    sentence: str = ""


class _Stored(msgspec.Struct):
    schema: int
    rows: dict[str, IndexRow]


class ConversationIndex:
    """Rows by the name of the file."""

    def __init__(self, folder: Path) -> None:
        """Begin with what the last program left in ``folder``, read when it is first needed."""
        self._path = folder / _NAME
        self._rows: dict[str, IndexRow] | None = None
        self._changes = 0

    @property
    def changes(self) -> int:
        """Rows that changed since the index was last written."""
        return self._changes

    def find(self, name: str, modified_ns: int, size_bytes: int) -> IndexRow | None:
        """The row of a file, if it is still that file."""
        row = self._all().get(name)
        if row is None or (row.modified_ns, row.size_bytes) != (modified_ns, size_bytes):
            return None
        return row

    def put(self, name: str, row: IndexRow) -> None:
        """Remember ``row``."""
        self._all()[name] = row
        self._changes += 1

    def keep_only(self, names: Collection[str]) -> None:
        """Forget the files that are gone."""
        rows = self._all()
        for name in rows.keys() - set(names):
            del rows[name]
            self._changes += 1

    def save(self) -> None:
        """Write it, if it can be written: it is only a shortcut."""
        if not self._changes:
            return
        content = msgspec.msgpack.encode(_Stored(_SCHEMA, self._all()))
        with contextlib.suppress(StorageError):
            write_whole(self._path, content, "The list of conversations could not be kept")
        self._changes = 0

    def _all(self) -> dict[str, IndexRow]:
        if self._rows is None:
            self._rows = {}
            with contextlib.suppress(OSError, msgspec.DecodeError):
                stored = msgspec.msgpack.decode(read_file(self._path), type=_Stored)
                if stored.schema == _SCHEMA:
                    self._rows = stored.rows
        return self._rows
