"""One step of a tour: what is done, when it has come about, and what the picture must show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtWidgets import QWidget


@dataclass(frozen=True)
class Step:
    """One step of the tour.

    Attributes:
        name: Of the picture.
        act: Starts it.
        is_done: Whether it has come about.
        fault: What is wrong with what is shown now, or the empty string.
        timeout_s: After this it has failed.
        must_settle: Whether the picture waits until nothing moves.
        shown: The window that the picture is of; None for the main window.
        end: Cleans up behind the picture.
    """

    name: str
    act: Callable[[], object]
    is_done: Callable[[], bool]
    fault: Callable[[], str]
    timeout_s: float = 60.0
    must_settle: bool = True
    shown: Callable[[], QWidget | None] = lambda: None
    end: Callable[[], object] = lambda: None
