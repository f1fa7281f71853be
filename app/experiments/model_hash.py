"""The SHA-256 of a model file, computed once for as long as the file stays as it is.

Hashing reads the whole file, tens of seconds for a large model, so what was found is kept by path,
size and time of change. It can be computed again: a damaged or unwritable cache is no loss.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import platformdirs

from app.storage.atomic_file import write_whole
from app.storage.storage_error import StorageError

_BLOCK_BYTES = 16 << 20
_PART_NAME = re.compile(r"^(?P<stem>.*)-\d{5}-of-(?P<count>\d{5})\.gguf$", re.DOTALL)
_MOST = 256
# Far more than so many entries take; a larger file is none of ours.
_LARGEST_BYTES = 1 << 20
_WHAT = "The hash of the model could not be kept for the next time"

Hashed = Callable[[float], None]
"""Is told how much of the files is hashed, 0 to 1; may raise to give it up."""


class _Known(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    size_bytes: int
    changed_ns: int
    sha256: str


class ModelHashes:
    """Hashes of model files. Waits for the disk: never call it on the GUI thread."""

    def __init__(self, cache: Path | None = None) -> None:
        """Keep them in the file ``cache``; in the user's cache folder by default."""
        folder = platformdirs.user_cache_path("tunedeck", appauthor=False)
        self._cache = folder / "model-hashes.json" if cache is None else cache

    def of(self, path: str, hashed: Hashed | None = None) -> str:
        """The hash in hexadecimal digits; empty where the file cannot be read.

        Of a model in parts it is that of all parts one behind the other.

        Args:
            path: The model's file; of one in parts any part.
            hashed: Told while files are read; not called where the hash is known.
        """
        try:
            files = parts_of(Path(path).resolve())
            states = [file.stat() for file in files]
        except (OSError, RuntimeError, ValueError):
            return ""
        key = str(files[0])
        size_bytes = sum(state.st_size for state in states)
        changed_ns = max(state.st_mtime_ns for state in states)
        known = self._read()
        found = known.get(key)
        if found is not None and (found.size_bytes, found.changed_ns) == (size_bytes, changed_ns):
            return found.sha256
        try:
            sha256 = _hash(files, size_bytes, hashed or (lambda share: None))
        except OSError:
            return ""
        known.pop(key, None)
        self._write({**known, key: _Known(size_bytes, changed_ns, sha256)})
        return sha256

    def _read(self) -> dict[str, _Known]:
        try:
            if self._cache.stat().st_size > _LARGEST_BYTES:
                return {}
            return msgspec.json.decode(self._cache.read_bytes(), type=dict[str, _Known])
        except (OSError, msgspec.MsgspecError):
            return {}

    def _write(self, known: dict[str, _Known]) -> None:
        newest = dict(list(known.items())[-_MOST:])
        with contextlib.suppress(StorageError):  # it is computed again next time
            write_whole(self._cache, msgspec.json.encode(newest), _WHAT)


def parts_of(path: Path) -> tuple[Path, ...]:
    """All files of a model, by their names as llama.cpp finds them; one without parts is alone."""
    found = _PART_NAME.match(path.name)
    if found is None:
        return (path,)
    count = int(found["count"])
    return tuple(
        path.with_name(f"{found['stem']}-{number:05d}-of-{count:05d}.gguf")
        for number in range(1, count + 1)
    )


def _hash(files: Sequence[Path], size_bytes: int, hashed: Hashed) -> str:
    digest, read_bytes = hashlib.sha256(), 0
    for path in files:
        # Unbuffered: blocks are large, and what is read is read once.
        with path.open("rb", buffering=0) as file:
            while block := os.read(file.fileno(), _BLOCK_BYTES):
                digest.update(block)
                read_bytes += len(block)
                hashed(min(1.0, read_bytes / max(1, size_bytes)))
    return digest.hexdigest()
