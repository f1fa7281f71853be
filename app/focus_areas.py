"""The keyboard goes from one part of the window to the next, and back to where it was in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import shiboken6
from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QApplication, QWidget


@dataclass
class _Area:
    name: str
    widget: QWidget
    first: Callable[[], QWidget | None]
    last: QWidget | None = None


class FocusAreas(QObject):
    """Parts of a window that F6 goes through."""

    def __init__(self, app: QApplication, parent: QObject) -> None:
        """Begin without areas; remembers where the focus was in each."""
        super().__init__(parent)
        self._areas: list[_Area] = []
        app.focusChanged.connect(self._on_focus_changed)

    def add(
        self, name: str, widget: QWidget, first: Callable[[], QWidget | None] = lambda: None
    ) -> None:
        """Add an area after those there are.

        Args:
            name: Unique.
            widget: Holds all of the area.
            first: Says which widget gets the keyboard at the first visit; None takes the first
                that can have it.
        """
        self._areas.append(_Area(name, widget, first))

    def names(self) -> tuple[str, ...]:
        """All areas, in the order they are gone through."""
        return tuple(area.name for area in self._areas)

    def current(self) -> str:
        """Name of the area that has the focus; empty where none has it."""
        focus = QApplication.focusWidget()
        area = self._area_of(focus) if focus is not None else None
        return area.name if area else ""

    def go(self, name: str) -> bool:
        """Give the keyboard to an area.

        Returns:
            False where nothing in it can be seen that could take it.

        Raises:
            KeyError: If there is no such area.
        """
        area = next((area for area in self._areas if area.name == name), None)
        if area is None:
            raise KeyError(name)
        for widget in _candidates(area):
            if widget is not None and shiboken6.isValid(widget) and _can_take(widget):
                widget.setFocus(Qt.FocusReason.ShortcutFocusReason)
                return True
        return False

    def step(self, direction: int) -> None:
        """Go to the next area that can take the keyboard, or to the one before it."""
        names = self.names()
        current = self.current()
        start = names.index(current) if current else (-1 if direction > 0 else 0)
        for distance in range(1, len(names) + 1):
            if self.go(names[(start + direction * distance) % len(names)]):
                return

    def _area_of(self, widget: QWidget) -> _Area | None:
        for area in self._areas:
            if area.widget is widget or area.widget.isAncestorOf(widget):
                return area
        return None

    def _on_focus_changed(self, _: QWidget | None, now: QWidget | None) -> None:
        area = self._area_of(now) if now is not None else None
        if area is not None:
            area.last = now


def _candidates(area: _Area) -> Iterator[QWidget | None]:
    """What could take the keyboard, the best first."""
    yield area.last
    yield area.first()
    # In the order they were made, which is that of Tab. Qt's own chain is not asked for it: PySide
    # ties each widget that it names to the one before, for good, and so no closed tab would go.
    yield from area.widget.findChildren(QWidget)


def _can_take(widget: QWidget) -> bool:
    takes_tab = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)
    return takes_tab and widget.isVisible() and widget.isEnabled()
