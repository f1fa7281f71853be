"""Between the models on this machine and the draft menu of the top bar."""

from __future__ import annotations

import os
import time

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog

from app.desk import Desk
from app.draft_words import (
    FILE,
    HUB,
    HUB_LINE,
    WITHOUT_FILE,
    choices_of,
    draft_text,
    values_of_choice,
)
from app.kept_models import KeptModels, refresh_models
from app.last_folder import MODELS
from app.library.drafters import Drafters
from app.library.model_entry import ModelEntry
from app.library.model_list import ModelList
from app.model_sheets import location_of
from engine_bridge.draft_kind import GUESSES, PLAIN
from widgets.top_bar import TopBar

# A list older than this is made anew when the menu opens.
_STALE_S = 60.0


class DraftWiring(QObject):
    """Says what drafts, offers what could, and wants what is chosen.

    Signals:
        fitting_changed: ``fitting`` may say something else now.
        hub_wanted: Drafts are to be looked for on the hub.
    """

    fitting_changed = Signal()
    hub_wanted = Signal()

    def __init__(
        self, desk: Desk, models: ModelList, kept: KeptModels, top: TopBar, parent: QObject
    ) -> None:
        """Connect the menu of ``top`` to the session of ``desk``."""
        super().__init__(parent)
        self._session = desk.session
        self._last_folder = desk.last_folder
        self._models = models
        self._kept = kept
        self._top = top
        self._drafters = Drafters(self)
        self._listed_s: float | None = None
        self._problem = ""
        self._is_wanted = False
        self._drafters.verdicts_changed.connect(self._show)
        self._drafters.failed.connect(self._on_failed)
        models.ended.connect(self._on_listing_ended)
        top.draft_choices_wanted.connect(self._on_choices_wanted)
        top.draft_chosen.connect(self._on_chosen)
        self._session.wanted_changed.connect(lambda _: self._show())
        self._session.applied_changed.connect(self._on_applied_changed)
        self._show()

    def look(self) -> None:
        """Find out which models on this machine could draft, as when the menu opens."""
        self._on_choices_wanted()

    def fitting(self) -> tuple[ModelEntry, ...]:
        """Models that are known to fit the one in use, the smallest first."""
        target = self._target_location()
        if target is None:
            return ()
        able = [e for e in self._candidates(target) if _can_draft(e)]
        able = [e for e in able if self._drafters.why_not(target, e) == ""]
        return tuple(sorted(able, key=lambda entry: entry.size_bytes))

    def close(self) -> None:
        """End the check under way; waits at most a second."""
        self._drafters.close()

    def _on_applied_changed(self, _: object) -> None:
        self._show()

    def _on_choices_wanted(self) -> None:
        self._is_wanted = True
        self._problem = ""
        is_fresh = self._listed_s is not None and time.monotonic() - self._listed_s < _STALE_S
        if is_fresh and not self._models.is_listing:
            self._check()
        elif not self._models.is_listing:
            refresh_models(self._models, self._kept)
        self._show()

    def _on_listing_ended(self, _: str) -> None:
        self._listed_s = time.monotonic()
        if self._is_wanted:
            self._check()
            self._show()

    def _check(self) -> None:
        target = self._target_location()
        if target is not None:
            self._drafters.check(target, self._candidates(target))

    def _on_failed(self, sentence: str) -> None:
        self._problem = sentence
        self._show()

    def _on_chosen(self, key: str) -> None:
        if key == FILE:
            self._browse()
            return
        if key == HUB:
            self.hub_wanted.emit()
            return
        wanted = self._session.wanted
        if key in WITHOUT_FILE:
            self._session.want(values_of_choice(key, "", wanted))
            return
        location = location_of(key)
        entry = self._models.entry(location)
        kind = PLAIN if entry is None or entry.facts is None else entry.facts.draft_kind
        self._session.want(values_of_choice(key, os.fsdecode(location), wanted, kind))

    def _browse(self) -> None:
        """Choose a draft model in the system's own dialog."""
        dialog = QFileDialog(self._top, "Choose a draft model")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters(["GGUF models (*.gguf)", "All files (*)"])
        dialog.fileSelected.connect(self._on_file_selected)
        dialog.finished.connect(dialog.deleteLater)
        self._last_folder.open(dialog, MODELS)

    def _on_file_selected(self, path: str) -> None:
        self._session.want(values_of_choice(FILE, path, self._session.wanted))

    def _show(self) -> None:
        applied, wanted = self._session.applied, self._session.wanted
        self._top.set_draft(draft_text(applied.config if applied else None, wanted))
        if not self._is_wanted:
            return
        target = self._target_location()
        lines = choices_of(
            wanted,
            None if target is None else self._models.entry(target),
            [] if target is None else self._candidates(target),
            lambda entry: self._drafters.why_not(target or b"", entry),
            self._waiting(target),
        )
        self._top.set_draft_choices(lines if target is None else [*lines, HUB_LINE])
        self.fitting_changed.emit()

    def _waiting(self, target: bytes | None) -> str:
        if self._problem:
            return self._problem
        if target is None:
            return "Models that can draft are offered once a model is loaded."
        if self._models.is_listing:
            return "Looking for models …"
        return "Comparing vocabularies …" if self._drafters.is_checking else ""

    def _candidates(self, target: bytes) -> list[ModelEntry]:
        return [e for e in self._models.entries if e.is_usable and e.location != target]

    def _target_location(self) -> bytes | None:
        model = self._session.model
        return os.fsencode(model.path) if model else None


def _can_draft(entry: ModelEntry) -> bool:
    """Whether the engine runs its kind, so that it may fit the model in use."""
    return entry.facts is not None and entry.facts.draft_kind in (PLAIN, GUESSES)
