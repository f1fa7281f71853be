"""Whether a text may be taken, found out beside the GUI thread.

To follow a long grammar through all its rules takes tenths of a second, in which a window would
stand still.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

import shiboken6
from PySide6.QtCore import QObject, Signal

from engine_bridge.settings.domain import DomainError
from engine_bridge.settings.text_domain import TextDomain


@dataclass(frozen=True)
class Verdict:
    """What was found out about a text.

    Attributes:
        text: The text.
        fault: What is wrong with it, in a sentence; empty where nothing is.
        line: Line of the fault, counted from 1; 0 where it has none.
    """

    text: str = ""
    fault: str = ""
    line: int = 0


def verdict_on(domain: TextDomain, text: str) -> Verdict:
    """Check ``text``; may take long."""
    try:
        domain.check(text)
    except DomainError as error:
        is_short = len(text) <= domain.most_characters
        found = domain.fault_in(text) if is_short else None
        return Verdict(text, str(error), 0 if found is None else found.line)
    return Verdict(text)


class TextCheck(QObject):
    """Checks one text at a time in a thread; of those asked for meanwhile only the newest.

    Signals:
        checked: What was found out (``Verdict``).
    """

    checked = Signal(object)
    _ended = Signal(object)

    def __init__(self, domain: TextDomain, parent: QObject) -> None:
        """Check against ``domain``; the empty text is none, and nothing is wrong with it."""
        super().__init__(parent)
        self._domain = domain
        self._known = Verdict()
        self._next: str | None = None
        self._is_busy = False
        self._ended.connect(self._on_ended)

    @property
    def is_busy(self) -> bool:
        """Whether a text is being checked."""
        return self._is_busy

    def verdict(self, text: str) -> Verdict | None:
        """What is known of ``text``; None where ``checked`` is going to tell."""
        if self._known.text == text:
            self._next = None
            return self._known
        self._next = text
        if not self._is_busy:
            self._begin()
        return None

    def _begin(self) -> None:
        text, self._next = self._next, None
        self._is_busy = text is not None
        if text is not None:
            threading.Thread(target=self._run, args=(text,), name="text check", daemon=True).start()

    def _run(self, text: str) -> None:
        verdict = verdict_on(self._domain, text)
        try:
            if shiboken6.isValid(self):
                self._ended.emit(verdict)
        except RuntimeError:  # the dialog was closed between the two
            if shiboken6.isValid(self):
                raise

    def _on_ended(self, verdict: Verdict) -> None:
        self._known = verdict
        if self._next == verdict.text:
            self._next = None
        self._begin()
        self.checked.emit(verdict)
