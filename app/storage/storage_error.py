"""What is raised where something could not be kept or read back."""

from __future__ import annotations

import errno
from pathlib import Path

_REASONS = {
    errno.ENOSPC: "the disk is full; free some space",
    errno.EDQUOT: "your disk quota is used up; free some space",
    errno.EROFS: "the disk is read-only; mount it writable",
    errno.EACCES: "permission was refused; make the folder writable for you",
    errno.EPERM: "permission was refused; make the folder writable for you",
    errno.ENOENT: "the file or its folder is gone; the drive may have been removed",
    errno.EEXIST: "a file stands where its folder should be; move it away",
    errno.ENOTDIR: "a file stands where its folder should be; move it away",
    errno.EIO: "the drive does not answer; check its connection",
}


class StorageError(Exception):
    """A sentence for the user: what could not be kept or read, why, and what to do."""


def storage_error(what: str, path: Path, error: OSError) -> StorageError:
    """The sentence for a failed system call.

    Args:
        what: What was lost by it, e.g. ``The settings could not be saved``.
        path: The file or folder.
        error: What the system said.
    """
    reason = _REASONS.get(error.errno or 0, error.strerror or str(error))
    return StorageError(f"{what}: {reason} ({path}).")
