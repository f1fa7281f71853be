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
        measurements: What runs took, one file for each model on each machine.
        history: The experiments, one database.
        profiles: Named settings, a file each.
    """

    settings: Path
    conversations: Path
    logs: Path
    measurements: Path
    history: Path
    profiles: Path


def own_folders() -> Folders:
    """The folders of the user who runs this; none of them need exist."""
    dirs = platformdirs.PlatformDirs("tunedeck", appauthor=False)
    data = dirs.user_data_path
    return Folders(
        dirs.user_config_path,
        data / "conversations",
        dirs.user_log_path,
        data / "measurements",
        data / "history",
        data / "profiles",
    )
