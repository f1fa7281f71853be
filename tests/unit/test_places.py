"""What the picker says of where it looked."""

from __future__ import annotations

import os

from app.library.model_entry import FolderReported, FolderToList, ModelEntry
from app.places_wiring import hint_of, places_of

HOME, HUB, STUDIO = (
    FolderToList(os.fsencode(f"/data/me/{name}"), title)
    for name, title in (("models", "TuneDeck"), ("hub", "Hugging Face"), ("lm", "LM Studio"))
)
OLD = FolderToList(b"/data/me/old", "LM Studio (older)")


def entry(path: str, folder: bytes) -> ModelEntry:
    return ModelEntry(os.fsencode(path), folder, "a.gguf", 1, 1)


def reports(*folders: FolderToList, **problems: str) -> dict[bytes, FolderReported]:
    missing = (STUDIO.location, OLD.location)
    return {
        folder.location: FolderReported(
            folder.location, problems.get(folder.title, ""), is_missing=folder.location in missing
        )
        for folder in folders
    }


def test_that_models_are_counted_where_they_lie_even_if_opened_lately() -> None:
    entries = (
        entry("/data/me/models/a.gguf", b""),
        entry("/data/me/models-2/b.gguf", b""),
        entry("/data/me/hub/x/c.gguf", HUB.location),
    )
    home, hub, studio = places_of(
        (HOME, HUB, STUDIO, OLD), reports(HOME, HUB, STUDIO), entries
    )  # the last was not reported on yet
    assert (home.words, hub.words, studio.is_there) == ("1 model", "1 model", False)
    assert home.path == "/data/me/models"


def test_that_a_folder_that_cannot_be_listed_says_why() -> None:
    (place,) = places_of((HOME,), reports(HOME, TuneDeck="It is locked."), ())
    assert place.words == "It is locked."


def test_that_who_sees_nothing_is_told_where_it_was_looked_and_what_to_do() -> None:
    places = places_of((HOME, HUB, STUDIO, OLD), reports(HOME, HUB, STUDIO, OLD), ())
    assert hint_of(places, has_recent=True) == (
        "Nothing else was found in the folders of TuneDeck and Hugging Face. LM Studio: no folder "
        "on this machine. Models elsewhere? Folders adds the folder they are in."
    )
    lone = hint_of(places_of((HUB,), reports(HUB), ()), has_recent=False)
    assert lone.startswith("Nothing was found in the folder of Hugging Face. Models elsewhere?")
    absent = hint_of(places_of((STUDIO,), reports(STUDIO), ()), has_recent=False)
    assert absent.startswith("LM Studio: no folder on this machine.")
