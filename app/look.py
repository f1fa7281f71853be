"""The theme and the size of the type as a person chose them, and kept so."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtCore import QObject

from widgets.theme import TuneTheme


class KeepsLook(Protocol):
    """Where the choice is kept; setting it is all it takes."""

    theme: str
    font_scale: float


class Look(QObject):
    """Changes a ``TuneTheme`` and remembers the choice."""

    def __init__(self, theme: TuneTheme | None, kept: KeepsLook, parent: QObject) -> None:
        """Change ``theme``; None where the look is given from outside and stays."""
        super().__init__(parent)
        self._theme = theme
        self._kept = kept

    def why_not(self) -> str:
        """Why nothing can be changed; empty where it can."""
        return "" if self._theme else "This window was opened with a look of its own."

    def is_mode(self, mode: str) -> bool:
        """Whether ``mode`` is chosen."""
        return self._theme is not None and self._theme.mode == mode

    def set_mode(self, mode: str) -> None:
        """Follow the system, or pin ``dark`` or ``light``."""
        if self._theme is not None:
            self._theme.set_mode(mode)
            self._kept.theme = mode

    def step_font_scale(self, steps: int) -> None:
        """Make the type larger or smaller by so many steps."""
        if self._theme is not None:
            self._theme.step_font_scale(steps)
            self._kept.font_scale = self._theme.font_scale

    def reset_font_scale(self) -> None:
        """Make the type as large as the system's."""
        if self._theme is not None:
            self._theme.set_font_scale(1.0)
            self._kept.font_scale = 1.0
