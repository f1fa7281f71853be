"""The profiles that there are for the loaded model, and everything that is done to their files.

Holds no widget. Files are read and written in a thread of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QObject, Signal

from app.last_settings import LastSettings
from app.profiles import (
    ModelScope,
    Profile,
    Taken,
    built_in,
    checked_name,
    fits,
    folded,
    free_name,
    taken,
)
from app.session import Session
from app.storage.profile_store import ProfileStore, exported_to, imported_from
from app.worker import Worker
from engine_bridge.protocol import Applied

Result = TypeVar("Result")
# A write takes milliseconds; a drive that does not answer must not hold up the end.
_CLOSING_WAIT_S = 2.0


@dataclass(frozen=True)
class Listed:
    """A profile, and what this version of the program makes of it."""

    profile: Profile
    taken: Taken


@dataclass(frozen=True)
class _Read:
    profiles: tuple[Listed, ...]
    sentences: tuple[str, ...]


class ProfileKeeper(QObject):
    """All profiles.

    Signals:
        listed: The profiles, or the model that is loaded, are others.
        writing_changed: Whether (bool) something is on its way to the disk.
        saved: A ``Profile`` that was written as asked for.
        deleted: What a deleted profile is brought back by (str), and its name (str).
        told: A sentence: what was done.
        failed: A sentence: what could not be done.
    """

    listed = Signal()
    writing_changed = Signal(bool)
    saved = Signal(object)
    deleted = Signal(str, str)
    told = Signal(str)
    failed = Signal(str)

    def __init__(
        self,
        session: Session,
        store: ProfileStore,
        parent: QObject | None = None,
        last: LastSettings | None = None,
    ) -> None:
        """Begin with nothing read.

        Args:
            session: Says which model is loaded.
            store: The files.
            parent: Owner.
            last: Knows what ran last with the loaded model; None offers it not.
        """
        super().__init__(parent)
        self._store = store
        self._worker = Worker("profiles", self)
        self._own: tuple[Listed, ...] = ()
        self._built_in = _listed(built_in(None))
        self._is_read = False
        self._model: ModelScope | None = None
        self._sampling: tuple[tuple[str, str], ...] = ()
        self._said: set[str] = set()
        self._writing = 0
        self._last: tuple[Listed, ...] = ()
        self._last_settings = last
        session.applied_changed.connect(self._on_applied_changed)
        if last is not None:
            last.found.connect(self._on_last_found)
            last.failed.connect(self.failed)

    def close(self) -> str:
        """Write what waits, within two seconds.

        Returns:
            A sentence if that was not done in time, else nothing.
        """
        if self._worker.close(None, _CLOSING_WAIT_S) or not self._writing:
            return ""
        return (
            "A profile may not have been saved: its drive did not answer for "
            f"{_CLOSING_WAIT_S:.0f} s ({self._store.folder})."
        )

    # --- What is known ----------------------------------------------------------------------

    @property
    def model(self) -> ModelScope | None:
        """The loaded model; None without one."""
        return self._model

    @property
    def is_read(self) -> bool:
        """Whether the files were looked at."""
        return self._is_read

    @property
    def is_last_known(self) -> bool:
        """Whether it was looked what ran last with the loaded model."""
        return self._last_settings is None or self._last_settings.is_known

    @property
    def is_writing(self) -> bool:
        """Whether something is on its way to the disk; what is changed meanwhile would clash."""
        return self._writing > 0

    def all(self) -> tuple[Listed, ...]:
        """The profiles, those that are built in first."""
        return (*self._built_in, *self._last, *self._own)

    def get(self, profile_id: str) -> Listed | None:
        """The profile of that id; None where there is none."""
        return next((each for each in self.all() if each.profile.id == profile_id), None)

    def why_no_name(self, text: str, model: ModelScope | None, own_id: str = "") -> str:
        """Why a profile cannot have a name, a sentence; empty where it can.

        Args:
            text: The name as typed.
            model: Whom the profile is for.
            own_id: Of the profile that is to have it, whose own name it may be.
        """
        try:
            name = checked_name(text)
        except ValueError as error:
            return str(error)
        key = _key(model)
        others = [
            each.profile.name
            for each in self._own
            if each.profile.id != own_id and _key(each.profile.model) == key
        ]
        if free_name(name, others) == name:
            return ""
        if folded(name) in map(folded, others):
            return f"There is a profile “{name}” already."
        return f"“{name}” is built in; take another name."

    # --- What is done -----------------------------------------------------------------------

    def refresh(self) -> None:
        """Read the profiles again: another window may have changed them."""
        self._worker.do(self._read, self._on_read, self.failed.emit)

    def add(self, profile: Profile) -> None:
        """Keep a new profile."""
        self._write(
            partial(self._store.add, profile),
            lambda saved: self._on_saved(saved, f"Saved as “{saved.name}”."),
        )

    def replace(self, profile: Profile, seen: Profile, words: str) -> None:
        """Write a profile anew.

        Args:
            profile: What is to be kept.
            seen: What it was; if another window made something else of it, that is kept.
            words: What is told then.
        """
        self._write(
            partial(self._store.replace, profile, seen),
            lambda saved: self._on_saved(saved, words),
        )

    def rename(self, profile_id: str, text: str) -> None:
        """Give a profile another name.

        Raises:
            ValueError: If it is no name; see ``why_no_name``.
        """
        listed = self.get(profile_id)
        if listed is not None and not listed.profile.is_built_in and not self.is_writing:
            name = checked_name(text)
            renamed = replace(listed.profile, name=name)
            self.replace(renamed, listed.profile, f"It is called “{name}” now.")

    def delete(self, profile_id: str) -> None:
        """Take a profile out of the list; ``deleted`` says how to bring it back."""
        listed = self.get(profile_id)
        if listed is not None and not listed.profile.is_built_in:
            name = listed.profile.name
            self._write(
                partial(self._store.delete, profile_id),
                lambda token: self.deleted.emit(token, name),
            )

    def restore(self, token: str) -> None:
        """Bring a deleted profile back."""
        self._write(
            partial(self._store.restore, token),
            lambda saved: self._on_saved(saved, f"“{saved.name}” is back."),
        )

    def export(self, profile_id: str, path: Path, note: str = "") -> None:
        """Write a profile to a file of the user's; ``note`` is told behind where it went."""
        listed = self.get(profile_id)
        if listed is not None:
            self._worker.do(
                partial(exported_to, path, listed.profile),
                lambda _: self.told.emit(f"Exported to {path}.{note}"),
                self.failed.emit,
            )

    def import_from(self, paths: Sequence[Path]) -> None:
        """Keep the profiles of these files, numbered where their names are taken."""
        for path in paths:
            self._write(partial(self._imported, path), self._on_imported)

    # --- Inside -----------------------------------------------------------------------------

    def _write(self, deed: Callable[[], Result], then: Callable[[Result], object]) -> None:
        """In the thread: do ``deed`` and read what there is then, also where it failed."""

        def done(found: tuple[Result, _Read]) -> None:
            self._count(-1)
            result, read = found
            self._on_read(read)
            then(result)

        def failed(sentence: str) -> None:
            self._count(-1)
            self.refresh()
            self.failed.emit(sentence)

        self._count(1)
        self._worker.do(lambda: (deed(), self._read()), done, failed)

    def _count(self, change: int) -> None:
        self._writing += change
        self.writing_changed.emit(self.is_writing)

    def _read(self) -> _Read:
        """In the thread: all profiles, and what is to be made of them."""
        found = self._store.read()
        return _Read(_listed(found.profiles), found.sentences)

    def _imported(self, path: Path) -> Profile:
        """In the thread: keep the profile of a file."""
        return self._store.add(imported_from(path), is_numbered=True)

    def _on_read(self, found: _Read) -> None:
        self._own, self._is_read = found.profiles, True
        self.listed.emit()
        for sentence in found.sentences:
            if sentence not in self._said:
                self._said.add(sentence)
                self.failed.emit(sentence)

    def _on_saved(self, profile: Profile, words: str) -> None:
        self.saved.emit(profile)
        self.told.emit(words)

    def _on_imported(self, profile: Profile) -> None:
        scope, words = profile.model, f"Imported “{profile.name}”"
        if scope is None or fits(profile, self._model):
            words += "; it is in the list."
        else:
            words += f"; it is for {scope.name}, and can be switched to once that is loaded."
        listed = self.get(profile.id)
        caution = listed.taken.caution if listed is not None else ""
        self.told.emit(f"{words} {caution}".strip())

    def _on_applied_changed(self, applied: Applied | None) -> None:
        facts = applied.model if applied is not None else None
        model = ModelScope.of(facts) if facts is not None else None
        sampling = facts.sampling if facts is not None else ()
        if (model, sampling) != (self._model, self._sampling):
            self._model, self._sampling = model, sampling
            self._built_in = _listed(built_in(facts))
            self.listed.emit()

    def _on_last_found(self) -> None:
        last = self._last_settings.profile if self._last_settings is not None else None
        self._last = _listed(() if last is None else (last,))
        self.listed.emit()


def _listed(profiles: Sequence[Profile]) -> tuple[Listed, ...]:
    return tuple(Listed(profile, taken(profile)) for profile in profiles)


def _key(model: ModelScope | None) -> str | None:
    return model.key if model is not None else None
