"""Puts settings that an experiment measured in force, as one step that can be taken back."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QObject, Signal

from app.experiment_offers import difference_words
from app.put_in_force import PutInForce
from app.result_settings import is_measured
from app.session import Session
from engine_bridge.gguf_window import shown_name
from engine_bridge.protocol import Refused
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import DomainError
from engine_bridge.settings.rules import errors_of
from engine_bridge.settings.table import SETTINGS

# Speed is what is measured: how answers are chosen, and what belongs to a model, stay the user's.
_KEYS = tuple(row.key for row in SETTINGS if is_measured(row.key))
NO_MODEL = "No model is loaded. Load the one that was measured first."


class ExperimentApply(QObject):
    """One way into the session and back.

    Signals:
        told: What became of it, a sentence, and whether it can be taken back (bool).
    """

    told = Signal(str, bool)

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        """Apply through ``session``."""
        super().__init__(parent)
        self._session = session
        self._before: EngineConfig | None = None
        self._after: EngineConfig | None = None
        self._in_force = PutInForce(session, self)
        self._applying = ""  # what is told again once it has happened
        self._can_undo = False
        session.settings_applied.connect(self._on_settings_applied)
        session.refused.connect(self._on_refused)

    def apply(self, values: Mapping[str, object], model_path: str = "") -> None:
        """Want the measured settings, and apply them where their model runs.

        Args:
            values: Settings that differ from the defaults, by key.
            model_path: The model that they were measured on; empty where it is the one that runs.
        """
        session = self._session
        applied = session.applied
        if applied is None:
            self.told.emit(NO_MODEL, False)
            return
        try:
            target = session.wanted.with_values(_whole(values))
        except DomainError as error:  # kept by an older or a newer program
            self.told.emit(f"These settings cannot be applied: {error}", False)
            return
        if broken := errors_of(target, session.model):
            self.told.emit(f"These settings cannot be applied: {broken[0].message}", False)
        elif target == session.wanted and target == applied.config:
            self.told.emit("The engine runs these settings already.", False)
        else:
            self._apply(target, applied.config, model_path)

    def apply_over(self, values: Mapping[str, object], model_path: str = "") -> None:
        """The same of settings beside which all others stay as they are wanted now.

        Args:
            values: Settings by key.
            model_path: As for ``apply``.
        """
        self.apply({**self._session.wanted.values(), **values}, model_path)

    def running_values(self, model_path: str = "") -> dict[str, object]:
        """Settings of which the engine runs what is wanted, by key; none on another model.

        Args:
            model_path: The model that is meant; empty for the one that runs.
        """
        applied, wanted = self._session.applied, self._session.wanted
        if applied is None or model_path not in ("", applied.config.model_path):
            return {}
        running = applied.config
        return {
            key: getattr(running, key)
            for key in _KEYS
            if getattr(running, key) == getattr(wanted, key)
        }

    def undo(self) -> None:
        """Bring back what was wanted before, as one step too."""
        before, self._before = self._before, None
        if before is None:
            return
        self._applying = ""
        session = self._session
        if session.wanted == self._after and session.can_undo:
            session.undo()
        else:
            session.want({key: getattr(before, key) for key in _KEYS})
        self._in_force.apply()
        self.told.emit("The settings of before are in force again.", False)

    def _apply(self, target: EngineConfig, running: EngineConfig, model_path: str) -> None:
        session = self._session
        can_undo = target != session.wanted
        self._applying = ""
        self._before = session.wanted if can_undo else None
        words = difference_words(running, target)
        session.want({key: getattr(target, key) for key in target.changed_from(session.wanted)})
        self._after = session.wanted
        if model_path not in ("", running.model_path):
            self.told.emit(
                f"They were measured on {shown_name(model_path)}, and another model runs: they "
                "stand in the Tune column, with what is predicted for this one, and wait for "
                "Apply.",
                can_undo,
            )
            return
        self._in_force.apply()
        if session.cost() is None and not session.work:
            self.told.emit(f"Applied: {words}.", can_undo)
            return
        if not session.work:
            self.told.emit("They stand in the Tune column and wait for Apply.", can_undo)
            return
        self._applying, self._can_undo = words, can_undo
        self.told.emit(f"Applying: {words}.", can_undo)

    def _on_settings_applied(self, _keys: object) -> None:
        """Say so once all of it is in force, and not a part that cost nothing."""
        after, applied = self._after, self._session.applied
        if not self._applying or after is None or applied is None:
            return
        if all(getattr(applied.config, key) == getattr(after, key) for key in _KEYS):
            words, self._applying = self._applying, ""
            self.told.emit(f"Applied: {words}.", self._can_undo)

    def _on_refused(self, refused: Refused) -> None:
        if self._applying:
            self._applying = ""
            self.told.emit(f"Not applied: {refused.problem.message}", self._can_undo)


def _whole(values: Mapping[str, object]) -> dict[str, object]:
    """The measured settings, those at their defaults included."""
    defaults = EngineConfig()
    return {key: values.get(key, getattr(defaults, key)) for key in _KEYS}
