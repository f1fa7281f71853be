"""Recent models and the user's folders, wherever they are kept, and the listing of both."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Protocol

from app.library.known_folders import folders_to_list
from app.library.model_list import ModelList


class KeptModels(Protocol):
    """Where recent models and the user's folders are kept."""

    model_folders: list[str]

    @property
    def recent_models(self) -> list[str]:
        """Model files, the one used last in front."""
        ...

    def note_model(self, path: str) -> None:
        """``path`` runs now."""
        ...


@dataclass
class UnkeptModels:
    """The same, forgotten at the end."""

    recent_models: list[str] = field(default_factory=list)
    model_folders: list[str] = field(default_factory=list)

    def note_model(self, path: str) -> None:
        """``path`` runs now."""
        self.recent_models = [path, *(kept for kept in self.recent_models if kept != path)]


def refresh_models(models: ModelList, kept: KeptModels) -> None:
    """List the folders and recent files of ``kept`` anew."""
    recent = [os.fsencode(path) for path in kept.recent_models]
    models.refresh(folders_to_list(kept.model_folders), recent)
