"""What leaves into files: one where a dialog says, all into a folder, nothing written over unasked.

Waits for the disk: for a thread.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from app.storage.atomic_file import write_whole
from widgets.export_sheet import ExportPart

_WHAT = "The export could not be saved"
_PLAIN_SHELL, _WITH_ESCAPES = "#!/bin/sh", "#!/usr/bin/env bash"


def saved_text(part: ExportPart) -> str:
    """``part`` as it stands in its file: a command for a shell of Unix is a script."""
    if not part.is_command:
        return part.text
    if not part.file_name.endswith(".sh"):
        return f"{part.text}\n"
    # Only bash and its like know $'…'.
    shell = _WITH_ESCAPES if "$'" in part.text else _PLAIN_SHELL
    return f"{shell}\n{part.text}\n"


def save_part(path: Path, part: ExportPart) -> None:
    """Write one; whoever chose ``path`` was asked before.

    Raises:
        StorageError: If it cannot be written.
    """
    content = saved_text(part).encode("utf-8", "surrogateescape")
    write_whole(path, content, _WHAT)


def save_parts(folder: Path, parts: Sequence[ExportPart], *, may_replace: bool) -> tuple[str, ...]:
    """Write all into ``folder``, or nothing where a name is taken and nobody was asked.

    Args:
        folder: Where to.
        parts: What to write; their names differ.
        may_replace: Whether the user said that files there may be replaced.

    Returns:
        Names that are taken there; empty where everything was written.

    Raises:
        StorageError: If one cannot be written; those before it are.
    """
    taken = tuple(part.file_name for part in parts if os.path.lexists(folder / part.file_name))
    if taken and not may_replace:
        return taken
    for part in parts:
        save_part(folder / part.file_name, part)
    return ()
