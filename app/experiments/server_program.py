"""Which program of this machine is llama.cpp's server."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

CLASSIC, UNITED = "llama-server", "llama"


@dataclass(frozen=True)
class ServerProgram:
    """A program that can be started.

    Attributes:
        path: Its file.
        words: What a command line begins with: the file, and for the program that unites
            llama.cpp's tools the name of the tool.
    """

    path: str
    words: tuple[str, ...]


def program_at(path: str) -> ServerProgram:
    """The program in the file ``path``, whether or not it is one."""
    is_united = Path(path).stem.lower() == UNITED
    return ServerProgram(path, (path, "serve") if is_united else (path,))


def find_program(chosen: str = "", search_path: str | None = None) -> ServerProgram | None:
    """The program to try: the one chosen, else ``llama-server``, else ``llama``; asks the disk.

    Args:
        chosen: A file that the user named once; empty for none. One that is gone is passed over.
        search_path: Folders to look in, as ``PATH`` has them; None takes that of this process.
    """
    if chosen and is_program(chosen):
        return program_at(chosen)
    for name in (CLASSIC, UNITED):
        found = shutil.which(name, path=search_path)
        if found:
            return program_at(found)
    return None


def is_program(path: str) -> bool:
    """Whether ``path`` is a file that can be run; asks the disk."""
    return Path(path).is_file() and os.access(path, os.X_OK)
