"""Files that are links, for containers: a container sees one folder, and a link in it leads away.

Looks at links and folders, and reads no file.
"""

from __future__ import annotations

import os
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

from app.export.told import with_paths
from engine_bridge.settings.config import EngineConfig

# More than Linux follows; a ring of links ends here.
_MOST_LINKS = 40


def with_links_followed(config: EngineConfig) -> EngineConfig:
    """``config`` with the paths of the real files where its paths are links on this machine."""
    return with_paths(config, lambda _, path: real_file(path))


def real_file(path: str) -> str:
    """Where the links that ``path`` is end; ``path`` itself where it is none, or leads nowhere.

    A file in a snapshot of the hub's cache is the end: it links into its own repository, which is
    mounted as a whole, and has the name there that the parts of a split model are found by.
    """
    try:
        file = _end_of_links(Path(path))
        return str(file) if file.is_file() else path
    except (OSError, RuntimeError, ValueError):
        # A folder that may not be entered, a ring of folders, a name that no file can have.
        return path


def _end_of_links(file: Path) -> Path:
    for _ in range(_MOST_LINKS):
        if repository_of(file) is not None or not file.is_symlink():
            break
        aim = file.parent / file.readlink()
        file = aim.parent.resolve() / aim.name
    return file


def repository_of(file: PurePath) -> PurePath | None:
    """The folder of a repository in the hub's cache that ``file`` is a snapshot's of."""
    parts = file.parts
    for place, part in enumerate(parts[:-1]):
        if part == "snapshots" and place and parts[place - 1].startswith("models--"):
            return type(file)(*parts[:place])
    return None


def stands_below(file: PurePath, folder: PurePath) -> bool:
    """Whether ``file`` is found below ``folder`` by its relative path, also from inside.

    Not where a folder between the two is a link: that leads out of what a container sees.
    """
    if not file.is_relative_to(folder):
        return False
    if not isinstance(file, PureWindowsPath if os.name == "nt" else PurePosixPath):
        return True
    between = file.relative_to(folder).parts[:-1]
    ways = (Path(folder, *between[: depth + 1]) for depth in range(len(between)))
    try:
        return not any(way.is_symlink() for way in ways)
    except OSError:
        # A folder that may not be entered: nothing is known of what is in it.
        return True
