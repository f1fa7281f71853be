"""The profile that a command line names: ``--profile NAME``. Waits for the disk."""

from __future__ import annotations

import sys

from app.plain_output import printable
from app.profiles import ModelScope, Profile, built_in, fits, folded, last_used, taken
from app.storage.folders import own_folders
from app.storage.last_store import LastStore
from app.storage.profile_store import ProfileStore
from app.storage.storage_error import StorageError
from engine_bridge.gguf_file import read_model_facts
from engine_bridge.gguf_window import GgufError
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import DomainError
from engine_bridge.typed_text import quoted


def profile_values(name: str | None, model_path: str) -> dict[str, object]:
    """The settings of a profile that differ from the defaults.

    Of two of that name the one for the model is taken. What of it has no effect here is said on the
    error stream.

    Args:
        name: Of the profile; None for none.
        model_path: The model that the command is about; empty for none.

    Raises:
        DomainError: If there is no such profile for that model, in a sentence.
    """
    if name is None:
        return {}
    config = _told(found_profile(name, model_path))
    return {key: getattr(config, key) for key in config.changed_from(EngineConfig())}


def profile_for_window(name: str, model_path: str) -> tuple[str, dict[str, object]]:
    """The id of a profile, and all settings with it: those that it does not say at their defaults.

    The window starts with what it kept from the last time, which a profile takes the place of.

    Args:
        name: Of the profile.
        model_path: The model that the window loads; empty where nobody knows.

    Raises:
        DomainError: If there is no such profile for that model, in a sentence.
    """
    profile = found_profile(name, model_path)
    values: dict[str, object] = dict(_told(profile).values())
    del values["model_path"]  # a profile loads no model
    return profile.id, values


def _told(profile: Profile) -> EngineConfig:
    """The settings of a profile; what of it has no effect is said on the error stream."""
    made = taken(profile)
    if made.caution:
        sys.stderr.write(f"{printable(f'Profile “{profile.name}”: {made.caution}')}\n")
    return made.config


def scope_of(model_path: str, *, must_be: bool = False) -> ModelScope | None:
    """The model of a file; None for no file, and for one that cannot be read.

    Args:
        model_path: The file; empty for none.
        must_be: Refuse a file that cannot be read.

    Raises:
        DomainError: If it is refused, in a sentence.
    """
    facts = _facts(model_path, must_be=must_be)
    return ModelScope.of(facts) if facts is not None else None


def all_profiles(model_path: str) -> tuple[Profile, ...]:
    """All there are, those for other models too; files that cannot be read are said.

    Raises:
        DomainError: If the folder cannot be read, in a sentence.
    """
    return _all(_facts(model_path))


def found_profile(name: str, model_path: str) -> Profile:
    """The profile of that name for a model, or else for all.

    Raises:
        DomainError: If there is none, with the names that there are.
    """
    facts = _facts(model_path)
    profiles = _all(facts)
    scope = ModelScope.of(facts) if facts is not None else None
    wanted = " ".join(folded(name).split())
    alike = [profile for profile in profiles if folded(profile.name) == wanted]
    fitting = [profile for profile in alike if fits(profile, scope)]
    if fitting:
        return max(fitting, key=lambda profile: profile.model is not None)
    for profile in alike:
        if profile.model is not None:
            why = "which is another model" if model_path else "so name that model's file too"
            raise DomainError(f"The profile “{profile.name}” is for {profile.model.name}, {why}.")
    names = ", ".join(f"“{profile.name}”" for profile in profiles if fits(profile, scope))
    raise DomainError(f"There is no profile {quoted(name)}. Those there are: {names}.")


def _all(facts: ModelFacts | None) -> tuple[Profile, ...]:
    try:
        found = ProfileStore(own_folders().profiles).read()
    except StorageError as error:
        raise DomainError(str(error)) from error
    for sentence in found.sentences:
        sys.stderr.write(f"{printable(sentence)}\n")
    return (*built_in(facts), *_last(facts), *found.profiles)


def _last(facts: ModelFacts | None) -> tuple[Profile, ...]:
    """What the window ran last with the model; nothing where it cannot be read, which is said."""
    if facts is None:
        return ()
    try:
        last = LastStore.beside(own_folders().profiles).read(ModelScope.of(facts))
    except StorageError as error:
        sys.stderr.write(f"{printable(str(error))}\n")
        return ()
    return () if last is None else (last_used(last),)


def _facts(model_path: str, *, must_be: bool = False) -> ModelFacts | None:
    """What the file says; one that says nothing is refused by the command itself."""
    if not model_path:
        return None
    try:
        return read_model_facts(model_path)
    except GgufError as error:
        if must_be:
            raise DomainError(str(error)) from error
        return None
