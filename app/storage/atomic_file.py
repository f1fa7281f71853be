"""A file that is replaced whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from app.storage.storage_error import storage_error


def write_whole(path: Path, content: bytes, what: str) -> None:
    """Replace ``path`` with ``content``; a crash or a full disk leaves the old file as it was.

    Readable by this user alone. Waits for the disk: never call it on the GUI thread.

    Args:
        path: The file; its folder is made where it is missing. A link is followed, so that a
            settings file kept elsewhere (dotfiles) stays a link.
        content: All of it.
        what: Begins the sentence of an error, e.g. ``The settings could not be saved``.

    Raises:
        StorageError: If it could not be written; the old file is untouched.
    """
    target = path.resolve()
    temporary = ""
    try:
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(target)
        _sync_folder(target.parent)
    except OSError as error:
        if temporary:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()
        raise storage_error(what, target, error) from error


def _sync_folder(folder: Path) -> None:
    """Make the new name itself last through a power cut; where folders can be opened at all."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # some network drives cannot
            os.fsync(handle)
    finally:
        os.close(handle)
