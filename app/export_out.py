"""Files of an export, written into a folder: all of them or none, and never over another file.

Must not know any engine.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from app.export.dialect import ExportedFile
from app.storage.storage_error import StorageError, storage_error

_WHAT = "The files could not be written"


def write_files(folder: Path, files: Sequence[ExportedFile]) -> tuple[Path, ...]:
    """Write ``files`` into ``folder``, which is made where it is missing.

    Waits for the disk: never call it on the GUI thread.

    Returns:
        Where they lie now, in their order.

    Raises:
        StorageError: If one could not be written or its name is taken; none is left then.
    """
    paths = [folder / file.name for file in files]
    taken = [path.name for path in paths if path.exists() or path.is_symlink()]
    if taken:
        raise _taken(folder, taken)
    written: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, file in zip(paths, files, strict=True):
            with path.open("x", encoding="utf-8", newline="\n") as open_file:
                written.append(path)
                open_file.write(file.text)
    except FileExistsError as error:  # the folder is a file, or somebody was faster
        _take_back(written)
        if error.filename is not None and Path(error.filename) in paths:
            raise _taken(folder, [Path(error.filename).name]) from error
        raise storage_error(_WHAT, folder, error) from error
    except OSError as error:
        _take_back(written)
        raise storage_error(_WHAT, folder, error) from error
    return tuple(written)


def _taken(folder: Path, names: Sequence[str]) -> StorageError:
    return StorageError(
        f"Nothing was written, since {' and '.join(names)} would be overwritten in {folder}: "
        "choose another folder, or move what is there."
    )


def _take_back(written: Sequence[Path]) -> None:
    for path in written:
        with contextlib.suppress(OSError):
            path.unlink()
