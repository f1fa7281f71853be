"""Which profile is in use, whether the settings have left it, and the way from one to another.

Holds no widget.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

import msgspec
from PySide6.QtCore import QObject, Signal

from app.profile_keeper import Listed, ProfileKeeper
from app.profiles import (
    LAST_ID,
    MODELS_OWN_ID,
    Profile,
    changed_to,
    checked_name,
    fits,
    profile_of,
    switched,
)
from app.put_in_force import PutInForce
from app.session import Session
from engine_bridge.settings.config import EngineConfig

# Steps of the settings of which it is remembered which profile was in use: as many as undo keeps.
_STEPS = 200


class KeepsProfile(Protocol):
    """Where it is kept which profile is in use; setting it is all it takes."""

    profile: str


class ProfileUse(QObject):
    """The profile of one session.

    Signals:
        changed: Another profile is in use, or the settings differ from it now, or no longer.
    """

    changed = Signal()

    def __init__(
        self,
        session: Session,
        keeper: ProfileKeeper,
        kept: KeepsProfile | None = None,
        parent: QObject | None = None,
        clock_s: Callable[[], float] = time.time,
    ) -> None:
        """Go on with the profile of the last time.

        Args:
            session: Its settings are saved and switched.
            keeper: The profiles.
            kept: Remembers which profile is in use; None forgets it.
            parent: Owner.
            clock_s: Gives seconds since 1970.
        """
        super().__init__(parent)
        self._session = session
        self._keeper = keeper
        self._kept = kept
        self._clock_s = clock_s
        self._in_force = PutInForce(session, self)
        self._id = kept.profile if kept is not None else ""
        self._to_use: Profile | None = None  # once it is written
        self._was_used: dict[EngineConfig, str] = {}
        self._wanted = session.wanted
        session.wanted_changed.connect(self._on_wanted_changed)
        keeper.listed.connect(self._on_listed)
        keeper.saved.connect(self._on_saved)
        if self._id:
            keeper.refresh()

    @property
    def used(self) -> Listed | None:
        """The profile in use; None for none."""
        return self._keeper.get(self._id) if self._id else None

    @property
    def is_changed(self) -> bool:
        """Whether the settings differ from the profile in use; False without one."""
        used, wanted = self.used, self._session.wanted
        return used is not None and switched(wanted, used.taken) != wanted

    def why_not(self, listed: Listed) -> str:
        """Why a profile cannot be switched to now, a sentence; empty where it can."""
        scope = listed.profile.model
        if scope is None or fits(listed.profile, self._keeper.model):
            return ""
        return f"It is for {scope.name}: load that model first."

    def why_no_save(self) -> str:
        """Why the settings cannot be saved in the profile in use; empty where they can."""
        used = self.used
        if used is None or used.profile.is_built_in:
            return "No profile of your own is in use: save the settings as a new one."
        if self._keeper.is_writing:
            return "The profiles are being written; try again in a moment."
        return "" if self.is_changed else f"Nothing differs from “{used.profile.name}”."

    def begin_with(self, profile_id: str) -> None:
        """Its settings were given for this run alone, so it is in use for this run alone."""
        self._id = profile_id
        self._keeper.refresh()
        self.changed.emit()

    # --- What is done -----------------------------------------------------------------------

    def switch(self, profile_id: str) -> bool:
        """Want the settings of a profile, as one step that undo takes back, and apply them.

        Returns:
            Whether there is such a profile and it can be switched to.
        """
        listed = self._keeper.get(profile_id)
        if listed is None or self.why_not(listed):
            return False
        session = self._session
        before, target = session.wanted, switched(session.wanted, listed.taken)
        self._remember(before, self._id)
        self._remember(target, profile_id)
        session.want({key: getattr(target, key) for key in target.changed_from(before)})
        self._use(profile_id)
        self._in_force.apply()
        return True

    def save(self) -> None:
        """Save the settings in the profile in use, where ``why_no_save`` says nothing."""
        used = self.used
        if used is None or self.why_no_save():
            return
        profile = changed_to(used.profile, self._session.wanted, self._clock_s())
        self._keeper.replace(profile, used.profile, f"Saved in “{profile.name}”.")

    def save_as(self, text: str, *, is_for_model: bool) -> None:
        """Save the settings as a new profile, which is in use from then on.

        Args:
            text: Its name.
            is_for_model: Whether it is for the loaded model alone.

        Raises:
            ValueError: If it is no name; see ``ProfileKeeper.why_no_name``.
        """
        model = self._keeper.model if is_for_model else None
        profile = profile_of(self._session.wanted, checked_name(text), model, self._clock_s())
        self._to_use = profile
        self._keeper.add(profile)

    # --- Inside -----------------------------------------------------------------------------

    def _use(self, profile_id: str) -> None:
        self._id = profile_id
        if self._kept is not None:
            self._kept.profile = profile_id
        self.changed.emit()

    def _remember(self, config: EngineConfig, profile_id: str) -> None:
        step = _step(config)
        self._was_used.pop(step, None)
        self._was_used[step] = profile_id
        while len(self._was_used) > _STEPS:
            del self._was_used[next(iter(self._was_used))]

    def _on_wanted_changed(self, wanted: EngineConfig) -> None:
        """Undo and redo bring back which profile was in use, too."""
        before = self._was_used.get(_step(wanted), self._id)
        last, self._wanted = self._wanted, wanted
        listed = self._keeper.get(before)
        if before != self._id and (not before or (listed and not self.why_not(listed))):
            # An experiment may have tried these out: what was in use before comes back after it.
            self._remember(last, self._id)
            self._use(before)
        else:
            self.changed.emit()

    def _on_listed(self) -> None:
        """What is gone, or made for another model than the one that is loaded, is not in use."""
        listed, model = self.used, self._keeper.model
        if listed is not None:
            is_gone = model is not None and not fits(listed.profile, model)
        elif self._id == MODELS_OWN_ID:  # it comes with the model
            is_gone = model is not None
        elif self._id == LAST_ID:  # and this a moment later
            is_gone = model is not None and self._keeper.is_last_known
        else:
            is_gone = bool(self._id) and self._keeper.is_read
        if is_gone:
            self._use("")
        else:
            self.changed.emit()

    def _on_saved(self, profile: Profile) -> None:
        wanted, self._to_use = self._to_use, None
        if wanted is not None and (wanted.name, wanted.model) == (profile.name, profile.model):
            self._remember(self._session.wanted, profile.id)
            self._use(profile.id)
        else:
            self.changed.emit()


def _step(config: EngineConfig) -> EngineConfig:
    """Which model is loaded makes no other step of it."""
    return msgspec.structs.replace(config, model_path="")
