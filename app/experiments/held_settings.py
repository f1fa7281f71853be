"""The user's settings while an experiment has the engine: what shall be in force at its end.

Pure; knows configurations. What the user changes meanwhile is among them.
"""

from __future__ import annotations

from app.model_bound import with_model_of
from engine_bridge.settings.config import EngineConfig


class HeldSettings:
    """Follows what the user does.

    Attributes:
        config: What ran before, with what the user applied since; None without a model.
        wanted: How the faders stood, with what the user moved since.
    """

    def __init__(self, config: EngineConfig | None, wanted: EngineConfig) -> None:
        """Remember what runs and what is wanted before the experiment."""
        self.config = config
        self.wanted = wanted
        self._shown = wanted

    def note_wanted(self, wanted: EngineConfig, *, is_own: bool) -> None:
        """Faders moved.

        Args:
            wanted: How they stand.
            is_own: The experiment moved them.
        """
        if not is_own:
            self.wanted = self.wanted.with_values(_changes(self._shown, wanted))
        self._shown = wanted

    def note_applied(self, before: EngineConfig, applied: EngineConfig) -> None:
        """The user applied settings: ``before`` is what the experiment ran."""
        changes = _changes(before, applied)
        self.wanted = self.wanted.with_values(changes)
        if self.config is not None:
            self.config = self.config.with_values(changes)

    def follow_model(self, loaded: EngineConfig) -> bool:
        """The model that was loaded last stays, whatever becomes of the rest.

        Returns:
            Whether it is another one.
        """
        if self.config is None or self.config.model_path == loaded.model_path:
            return False
        self.config = with_model_of(loaded, self.config)
        self.wanted = with_model_of(loaded, self.wanted)
        return True


def _changes(before: EngineConfig, after: EngineConfig) -> dict[str, object]:
    """What differs but for the model, by key."""
    same_model = with_model_of(before, after)
    return {key: getattr(after, key) for key in same_model.changed_from(before)}
