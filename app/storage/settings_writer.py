"""The thread that waits for the settings' disk, so that nobody else has to.

Knows the store; must not know Qt or what the settings mean.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from app.storage.settings_merge import Document
from app.storage.settings_store import SettingsStore
from app.storage.storage_error import StorageError


@dataclass(frozen=True)
class Outcome:
    """What came of one try to write; no ``error`` means that the file says what was wanted."""

    error: StorageError | None


class SettingsWriter:
    """Writes the newest document it was given; older ones that still wait are dropped."""

    def __init__(
        self, store: SettingsStore, base: Document, tell: Callable[[Outcome], None]
    ) -> None:
        """Prepare for ``store``; no thread runs before there is something to do.

        Args:
            store: The file.
            base: What this copy of the program knows the file to say of it.
            tell: Called in the writer's thread after every try.
        """
        self._store = store
        self._base = base
        self._tell = tell
        self._turn = threading.Condition()
        self._wanted: Document | None = None
        self._wants_probe = False
        self._is_closing = False
        self._error: StorageError | None = None
        self._thread: threading.Thread | None = None

    def probe(self) -> None:
        """Try whether the folder can be written at all."""
        with self._turn:
            self._wants_probe = True
            self._wake()

    def write(self, document: Document) -> None:
        """Write ``document``, soon; nobody else may change it any more."""
        with self._turn:
            self._wanted = document
            self._wake()

    def close(self, document: Document | None, wait_s: float) -> str:
        """Write ``document``, if any and if the file does not say it yet, and end the thread.

        A disk that does not answer is left to itself after ``wait_s`` seconds.

        Returns:
            Why it could not be written, or nothing.
        """
        with self._turn:
            self._is_closing = True
            if self._thread is None and document in (None, self._base):
                return ""
            self._wanted = document
            self._wake()
            thread = self._thread
        if thread is not None:
            thread.join(wait_s)
            if thread.is_alive():
                return (
                    "The settings changed last could not be saved: the disk of "
                    f"{self._store.path.parent} does not answer."
                )
        is_lost = document is not None and self._error is not None
        return str(self._error) if is_lost else ""

    # --- Inside -------------------------------------------------------------------------

    def _wake(self) -> None:
        if self._thread is None:
            # A daemon: a network drive that died must not keep the program from ending.
            self._thread = threading.Thread(target=self._run, name="settings", daemon=True)
            self._thread.start()
        self._turn.notify()

    def _run(self) -> None:
        while True:
            with self._turn:
                self._turn.wait_for(
                    lambda: self._wanted is not None or self._wants_probe or self._is_closing
                )
                document, self._wanted = self._wanted, None
                wants_probe, self._wants_probe = self._wants_probe, False
                is_last = self._is_closing
            if document is not None or wants_probe:
                self._try(document)
            if is_last:
                return

    def _try(self, document: Document | None) -> None:
        try:
            if document is not None and document != self._base:
                self._store.keep(self._base, document)
                self._base = document
            elif document is None or self._error is not None:
                self._store.probe()
        except StorageError as error:
            self._error = error
        else:
            self._error = None
        if not self._is_closing:
            self._tell(Outcome(self._error))
