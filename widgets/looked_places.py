"""Where it was looked for models, as lines of a menu that are only read."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from widgets.model_rows import LookedPlace
from widgets.plain_tip import plain_tip


def add_places(menu: QMenu, places: Sequence[LookedPlace]) -> None:
    """Add a line for each folder that was looked into, and the others below one line."""
    there = [place for place in places if place.is_there]
    absent = [place for place in places if not place.is_there]
    if there or absent:
        menu.addSeparator()
        menu.setToolTipsVisible(True)
    if there:
        _add_line(menu, "Looked into:", "")
    for place in there:
        _add_line(menu, f"{place.title} · {place.words}", place.path)
    if absent:
        more = menu.addMenu("Not on this machine")
        more.setToolTipsVisible(True)
        for place in absent:
            _add_line(more, f"{place.title} · {place.path}", place.path)


def _add_line(menu: QMenu, text: str, path: str) -> None:
    action: QAction = menu.addAction(text.replace("&", "&&"))
    action.setEnabled(False)
    if path:
        action.setToolTip(plain_tip(path))
