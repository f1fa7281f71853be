"""Actions on profiles: choose, save, compare, import."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from app.actions import Actions

if TYPE_CHECKING:
    from app.window import Window

PROFILES = "Profiles"


def add_profile_actions(actions: Actions, window: Window) -> None:
    """Add what is done with the profiles of ``window``, and say there what came of it."""
    profiles = window.tune_wiring.profiles
    profiles.told.connect(window.say)
    for name, text, keys, slot, words in (
        ("choose", "Choose a profile…", "Ctrl+J, F2", partial(_choose, window),
         "switch configuration preset defaults recommended"),
        ("show", "Profiles: compare, rename, export…", "Ctrl+J, F3", profiles.open_view,
         "difference delete configuration preset file"),
        ("save_as", "Save the settings as a profile…", "Ctrl+J, Shift+F4", profiles.ask_name,
         "new name configuration preset"),
        ("import", "Import profiles…", "Ctrl+J, Shift+F3", profiles.ask_import,
         "open file json configuration preset"),
    ):  # fmt: skip
        actions.add(f"profiles.{name}", text, keys, slot, PROFILES, words=words)
    actions.add(
        "profiles.save", "Save the changes to the profile", "Ctrl+J, F4", profiles.save, PROFILES,
        why_not=profiles.use.why_no_save, words="keep configuration preset",
    )  # fmt: skip


def _choose(window: Window) -> None:
    window.docks.show("tune")
    window.tune_wiring.profiles.open_menu()
