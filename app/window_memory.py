"""What a window remembers from one start to the next: place, docks, sizes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMainWindow, QStyle

from app.docks import Docks
from app.window_place import Place, centred_place, reachable_place, read_place

_PLACE, _MAXIMISED, _DOCKS = "place", "is_maximised", "docks"
_YES = "yes"


class KeepsWindow(Protocol):
    """Where the remembered texts are kept; setting them is all it takes."""

    window_state: dict[str, str]


@dataclass
class Unkept:
    """Stands in where nothing is kept from one start to the next."""

    window_state: dict[str, str] = field(default_factory=dict)
    theme: str = "system"
    font_scale: float = 1.0


class WindowMemory:
    """Writes down how a window stands, and puts a new one there."""

    def __init__(self, window: QMainWindow, docks: Docks, kept: KeepsWindow) -> None:
        """Remember ``window`` with its ``docks`` in ``kept``."""
        self._window = window
        self._docks = docks
        self._kept = kept

    def note(self, **further: str) -> None:
        """Keep how the window stands now, and ``further`` texts of its owner."""
        window = self._window
        is_normal = not (window.isMaximized() or window.isMinimized() or window.isFullScreen())
        stands = window.geometry() if is_normal else window.normalGeometry()
        place = Place(stands.x(), stands.y(), stands.width(), stands.height())
        state = dict(self._kept.window_state) | further
        # A minimised window comes back as it was before; its own rectangle may be no place at all.
        if read_place(place.text()) is not None:
            state[_PLACE] = place.text()
        state[_MAXIMISED] = _YES if window.isMaximized() or window.isFullScreen() else ""
        state[_DOCKS] = self._docks.save()
        if state != self._kept.window_state:
            self._kept.window_state = state

    def text(self, name: str) -> str:
        """A text that was kept by ``note``; empty where there is none."""
        value = self._kept.window_state.get(name, "")
        return value if isinstance(value, str) else ""

    def place(self, start_px: tuple[int, int]) -> None:
        """Put the window where it stood last, or in the middle of the main screen.

        Args:
            start_px: Width and height where nothing usable is remembered.
        """
        window = self._window
        minimum = (window.minimumWidth(), window.minimumHeight())
        frame_top = window.style().pixelMetric(QStyle.PixelMetric.PM_TitleBarHeight)
        wish = read_place(self.text(_PLACE))
        if wish is None:
            found = centred_place(start_px, _screens(), minimum, frame_top)
        else:
            found = reachable_place(wish, _screens(), minimum, frame_top)
        window.setGeometry(found.x, found.y, found.width, found.height)
        if self.text(_MAXIMISED) == _YES:
            window.setWindowState(window.windowState() | Qt.WindowState.WindowMaximized)

    def restore_docks(self) -> bool:
        """Put the docks as they were; False where nothing usable is remembered."""
        return self._docks.restore(self.text(_DOCKS))


def _screens() -> list[Place]:
    """Usable areas of all screens, the main one first."""
    first = QGuiApplication.primaryScreen()
    screens = [first, *(screen for screen in QGuiApplication.screens() if screen is not first)]
    areas = [screen.availableGeometry() for screen in screens]
    return [Place(area.x(), area.y(), area.width(), area.height()) for area in areas]
