"""Between the folders that were looked into and what the picker tells of them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from PySide6.QtCore import QObject

from app.folder_watching import FolderWatching
from app.kept_models import KeptModels
from app.library.known_folders import folders_to_list
from app.library.model_entry import RECENT, FolderReported, FolderToList, ModelEntry
from app.library.model_list import ModelList
from app.library.model_walk import shown_path
from app.picker_wiring import PickerWiring
from widgets.model_picker import ModelPicker
from widgets.model_rows import LookedPlace

_WATCHED = "While this list is open, what comes or goes in the folders is listed by itself."


class PlacesWiring(QObject):
    """Tells a person who finds nothing in the list where it was looked, and what to do."""

    def __init__(
        self,
        picker: PickerWiring,
        models: ModelList,
        kept: KeptModels,
        watching: FolderWatching,
    ) -> None:
        """Follow ``models`` for ``picker``, whose child it is."""
        super().__init__(picker)
        self._models = models
        self._kept = kept
        self._picker: ModelPicker | None = None
        self._reports: dict[bytes, FolderReported] = {}
        self._unwatched: tuple[str, ...] = ()
        picker.opened.connect(self._on_picker_opened)
        picker.closed.connect(self._on_picker_closed)
        models.folder_reported.connect(self._on_folder_reported)
        models.ended.connect(lambda _: self._show())
        watching.told.connect(self._on_watching_told)

    def _on_picker_opened(self, picker: ModelPicker) -> None:
        self._picker = picker
        self._reports.clear()
        self._show()

    def _on_picker_closed(self) -> None:
        self._picker = None

    def _on_folder_reported(self, report: FolderReported) -> None:
        self._reports[report.location] = report

    def _on_watching_told(self, sentences: tuple[str, ...]) -> None:
        self._unwatched = sentences
        self._show()

    def _show(self) -> None:
        if self._picker is None:
            return
        folders = folders_to_list(self._kept.model_folders)
        entries = self._models.entries
        places = places_of(folders, self._reports, entries)
        is_all_recent = all(entry.folder == RECENT for entry in entries)
        hint = hint_of(places, has_recent=bool(entries)) if places and is_all_recent else ""
        self._picker.set_places(places, hint, " ".join((_WATCHED, *self._unwatched)))


def places_of(
    folders: Sequence[FolderToList],
    reports: Mapping[bytes, FolderReported],
    entries: Sequence[ModelEntry],
) -> tuple[LookedPlace, ...]:
    """Each folder that was reported on, and how many models lie there, those opened lately too."""
    return tuple(
        _place(folder, report, entries)
        for folder in folders
        if (report := reports.get(folder.location)) is not None
    )


def hint_of(places: Sequence[LookedPlace], *, has_recent: bool) -> str:
    """What a person should know who sees no models, or nothing but some opened lately."""
    there = [place.title for place in places if place.is_there]
    # Of a program that moved its folder one name is enough.
    absent = [place.title for place in places if not place.is_there and "(" not in place.title]
    nothing = "Nothing else" if has_recent else "Nothing"
    noun = "folder" if len(there) == 1 else "folders"
    looked = f"{nothing} was found in the {noun} of {_listed(there)}. " if there else ""
    missing = f"{_listed(absent)}: no folder on this machine. " if absent else ""
    return f"{looked}{missing}Models elsewhere? Folders adds the folder they are in."


def _place(
    folder: FolderToList, report: FolderReported, entries: Sequence[ModelEntry]
) -> LookedPlace:
    path = shown_path(folder.location)
    if report.is_missing:
        return LookedPlace(folder.title, path, is_there=False)
    begin = folder.location.rstrip(os.sep.encode()) + os.sep.encode()
    count = sum(entry.location.startswith(begin) for entry in entries)
    noun = "model" if count == 1 else "models"
    words = report.problem or (f"{count:,} {noun}" if count else "no models")
    return LookedPlace(folder.title, path, words)


def _listed(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
