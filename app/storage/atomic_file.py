"""A file that is replaced whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from pathlib import Path

from app.storage.storage_error import StorageError, storage_error

_DRAFT_CHARACTERS = 40


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
    target, temporary = path, ""
    try:
        target = path.resolve()
        _refuse_what_is_no_file(target)
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # The name itself may be as long as the file system lets it.
        draft = f".{target.name[:_DRAFT_CHARACTERS]}."
        handle, temporary = tempfile.mkstemp(prefix=draft, dir=target.parent)
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
    except (RuntimeError, ValueError) as error:  # a link to itself, a name that is no text
        raise StorageError(
            f"{what}: “{ascii(str(path))[1:-1]}” leads to no file; choose another name."
        ) from error


def _refuse_what_is_no_file(target: Path) -> None:
    """A pipe or a device would be replaced by a file, and whoever waits there hears nothing."""
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "something that is no file has this name; choose another")


def _sync_folder(folder: Path) -> None:
    """Make the new name itself last through a power cut; where folders can be opened at all."""
    if os.name != "posix":
        return
    # Some network drives cannot, and a folder may be written in that cannot be looked into. The
    # file is in its place by now: no failure any more.
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
