"""Where things are kept, by the habits of each system."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import platformdirs


@dataclass(frozen=True)
class Folders:
    """The folders of one user of this program.

    Attributes:
        settings: The settings file.
        conversations: One file per conversation.
        logs: Diagnostics files and the log of the last runs.
    """

    settings: Path
    conversations: Path
    logs: Path


def own_folders() -> Folders:
    """The folders of the user who runs this; none of them need exist."""
    dirs = platformdirs.PlatformDirs("tunedeck", appauthor=False)
    return Folders(dirs.user_config_path, dirs.user_data_path / "conversations", dirs.user_log_path)
