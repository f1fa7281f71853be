"""What ran with the loaded model before it was loaded this time, and keeping what runs with it now.

Holds no widget. Files are read and written in a thread of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal

from app.profiles import LAST, ModelScope, Profile, last_used, profile_of
from app.session import Session
from app.storage.last_store import LastStore
from app.worker import Worker
from engine_bridge.protocol import Applied

# What runs no longer than this was tried, or broke something: it is not what was used.
_SETTLED_MS = 30_000
_CLOSING_WAIT_S = 2.0


class LastSettings(QObject):
    """The last settings of one model at a time.

    Signals:
        found: ``profile`` is another, or none.
        failed: A sentence: what could not be read or kept.
    """

    found = Signal()
    failed = Signal(str)

    def __init__(
        self,
        session: Session,
        store: LastStore,
        is_held: Callable[[], bool] = lambda: False,
        parent: QObject | None = None,
        *,
        settled_ms: int = _SETTLED_MS,
    ) -> None:
        """Follow ``session``.

        Args:
            session: Says which model is loaded, and what runs.
            store: The files.
            is_held: Whether an experiment moves the settings: those are not a person's.
            parent: Owner.
            settled_ms: How long settings run until they count as used.
        """
        super().__init__(parent)
        self._session = session
        self._store = store
        self._is_held = is_held
        self._worker = Worker("last settings", self)
        self._model: ModelScope | None = None
        self._profile: Profile | None = None
        self._may_write = self._is_known = False
        self._settled = QTimer(self, singleShot=True, interval=settled_ms)
        self._settled.timeout.connect(self._on_settled_timeout)
        session.applied_changed.connect(self._on_applied_changed)

    @property
    def profile(self) -> Profile | None:
        """What ran before with the loaded model; None where nobody knows."""
        return self._profile

    @property
    def is_known(self) -> bool:
        """Whether it was looked what ran before with the loaded model."""
        return self._is_known

    def close(self) -> str:
        """Write what waits; what is lost is no more than a convenience, so nothing is told."""
        self._settled.stop()
        self._worker.close(None, _CLOSING_WAIT_S)
        return ""

    # --- Inside -----------------------------------------------------------------------------

    def _on_applied_changed(self, applied: Applied | None) -> None:
        facts = applied.model if applied is not None else None
        model = ModelScope.of(facts) if facts is not None else None
        if model != self._model:
            self._model, self._profile = model, None
            self._may_write = self._is_known = False
            self.found.emit()
            if model is not None:
                found = partial(self._on_read, model)
                failed = partial(self._on_failed, model)
                self._worker.do(partial(self._store.read, model), found, failed)
        if model is None:
            self._settled.stop()
        else:
            self._settled.start()

    def _on_read(self, model: ModelScope, profile: Profile | None) -> None:
        if model != self._model:
            return  # another one was loaded meanwhile
        self._may_write = self._is_known = True
        self._profile = None if profile is None else last_used(profile)
        self.found.emit()

    def _on_failed(self, model: ModelScope, sentence: str) -> None:
        """What cannot be read, such as a file of a newer version, stays as it is."""
        self.failed.emit(sentence)
        if model == self._model:
            self._is_known = True
            self.found.emit()

    def _on_settled_timeout(self) -> None:
        applied, model = self._session.applied, self._model
        if applied is None or model is None:
            return
        if self._is_held() or not self._is_known:
            self._settled.start()
            return
        if not self._may_write:
            return
        profile = profile_of(applied.config, LAST, model, time.time())
        self._worker.do(partial(self._store.write, profile, model), None, self.failed.emit)
