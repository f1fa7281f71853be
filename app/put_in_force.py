"""Applies all that is wanted, also where a part of it is on its way already."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer

from app.session import Session


class PutInForce(QObject):
    """One ``Apply`` of a session that waits for its turn."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        """Apply through ``session``."""
        super().__init__(parent)
        self._session = session
        self._is_waiting = False
        session.work_changed.connect(self._on_work_changed)

    def apply(self) -> None:
        """Apply all that is wanted: now, or once what costs nothing has gone its own way."""
        self._is_waiting = bool(self._session.work)
        if not self._is_waiting:
            self._session.apply()

    def _on_work_changed(self, work: str) -> None:
        if self._is_waiting and not work:
            self._is_waiting = False
            # The session is in the middle of telling everybody.
            QTimer.singleShot(0, self, self._session.apply)
