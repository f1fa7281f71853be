"""Every action of the program: what it is called, which keys it has, and what it does.

One table, from which come the shortcuts, the searchable list, the view of all keys, and the test
that no two actions have the same key.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

_RECENT_ACTIONS = 6


def _always() -> str:
    return ""


@dataclass(frozen=True)
class Action:
    """One thing that can be done.

    Attributes:
        id: Unique, e.g. ``chat.new``.
        text: What it does, as a command.
        keys: Key sequences in Qt's portable spelling, the one to show first; empty for none.
        group: The part of the program it belongs to.
        slot: Does it.
        why_not: Says why it cannot be done now; an empty text if it can.
        words: Further words that a search finds it by.
        is_on: Says whether what it turns on and off is on; None where it turns nothing on.
    """

    id: str
    text: str
    keys: tuple[str, ...]
    group: str
    slot: Callable[[], object]
    why_not: Callable[[], str] = _always
    words: str = ""
    is_on: Callable[[], bool] | None = None

    @property
    def keys_text(self) -> str:
        """The keys as this system writes them; empty for none."""
        native = QKeySequence.SequenceFormat.NativeText
        return " or ".join(QKeySequence(keys).toString(native) for keys in self.keys)


class Actions(QObject):
    """All actions of one window.

    Signals:
        refused: A sentence: why the action whose key was pressed cannot be done now.
    """

    refused = Signal(str)

    def __init__(self, window: QWidget) -> None:
        """Begin without actions; their keys work anywhere in ``window``."""
        super().__init__(window)
        self._window = window
        self._actions: dict[str, Action] = {}
        self._qt_actions: dict[str, QAction] = {}
        self._recent: list[str] = []

    def add(
        self,
        name: str,
        text: str,
        keys: str | tuple[str, ...],
        slot: Callable[[], object],
        group: str,
        *,
        why_not: Callable[[], str] = _always,
        words: str = "",
        is_on: Callable[[], bool] | None = None,
        is_heard: bool = False,
    ) -> None:
        """Add an action.

        Args:
            name: Unique, e.g. ``chat.new``.
            text: What it does, as a command.
            keys: Key sequence or sequences in Qt's portable spelling; empty for none.
            slot: Does it.
            group: The part of the program it belongs to.
            why_not: Says why it cannot be done now; an empty text if it can.
            words: Further words that a search finds it by.
            is_on: Says whether what it turns on and off is on; None where it turns nothing on.
            is_heard: A widget listens to these keys by itself already.

        Raises:
            ValueError: If there is an action of that name.
        """
        if name in self._actions:
            raise ValueError(f"There is an action {name!r} already.")
        sequences = (keys,) if isinstance(keys, str) else keys
        action = Action(
            name, text, tuple(filter(None, sequences)), group, slot, why_not, words, is_on
        )
        self._actions[name] = action
        trigger = QAction(text, self)
        trigger.triggered.connect(lambda: self.run(name))
        self._qt_actions[name] = trigger
        if action.keys and not is_heard:
            # Of the window, so that a dialog's own keys stay its own; Qt counts panels that float
            # as part of it.
            trigger.setShortcuts([QKeySequence(keys) for keys in action.keys])
            self._window.addAction(trigger)

    def all(self) -> tuple[Action, ...]:
        """Every action, in the order they were added."""
        return tuple(self._actions.values())

    def action(self, name: str) -> Action:
        """The action of that name.

        Raises:
            KeyError: If there is none.
        """
        return self._actions[name]

    def qt_action(self, name: str) -> QAction:
        """The same action for a menu of Qt's.

        Raises:
            KeyError: If there is none of that name.
        """
        return self._qt_actions[name]

    def recent(self) -> tuple[str, ...]:
        """Names of the actions done last, the latest first."""
        return tuple(self._recent)

    def run(self, name: str) -> None:
        """Do an action, or say why it cannot be done now.

        Raises:
            KeyError: If there is none of that name.
        """
        action = self._actions[name]
        reason = action.why_not()
        if reason:
            self.refused.emit(reason)
            return
        self._recent = [name, *(other for other in self._recent if other != name)]
        del self._recent[_RECENT_ACTIONS:]
        action.slot()
