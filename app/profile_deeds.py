"""What ``tunedeck profile`` does: one function for each action. Waits for the disk."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from app.json_output import tell_error, write_json
from app.plain_output import printable
from app.profile_choice import all_profiles, found_profile, scope_of
from app.profiles import Profile, checked_name, fits, keys_left_out, profile_of, taken
from app.storage.folders import own_folders
from app.storage.profile_store import ProfileStore, exported_to, imported_from
from app.storage.storage_error import StorageError
from engine_bridge.settings.assignments import parse_assignments
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.home_path import whole_path
from engine_bridge.settings.table import BY_KEY


def run_action(arguments: argparse.Namespace) -> int:
    """Do what was asked for.

    Returns:
        0 done, 1 a problem, which is said in a sentence.
    """
    model = whole_path(arguments.model) if arguments.model else ""
    try:
        _ACTIONS[arguments.action or "list"](arguments, model)
    except (StorageError, ValueError) as error:  # values and names that cannot be taken
        tell_error(str(error), as_json=arguments.json)
        return 1
    return 0


def _list(arguments: argparse.Namespace, model: str) -> None:
    scope = scope_of(model)
    profiles = [p for p in all_profiles(model) if not model or fits(p, scope)]
    if arguments.json:
        write_json({"profiles": [_values(profile) for profile in profiles]}, sys.stdout)
        return
    for profile in profiles:
        whom = "all models" if profile.model is None else profile.model.name
        count = len(profile.settings)
        noun = "setting" if count == 1 else "settings"
        kind = ", built in" if profile.is_built_in else ""
        _say(f"{profile.name}  (for {whom}; {count} {noun}{kind})")


def _show(arguments: argparse.Namespace, model: str) -> None:
    profile = found_profile(arguments.name, model)
    made = taken(profile)
    if arguments.json:
        value = {"left_out": made.left_out, "unknown": made.unknown}
        write_json({**_values(profile), **value}, sys.stdout)
        return
    for key in made.config.changed_from(EngineConfig()):
        setting = BY_KEY[key]
        _say(f"{key} = {setting.domain.format(getattr(made.config, key))}")
    for sentence in (profile.about, made.caution):
        if sentence:
            sys.stderr.write(f"{printable(sentence)}\n")


def _save(arguments: argparse.Namespace, model: str) -> None:
    values = parse_assignments(arguments.set)
    scope = scope_of(model, must_be=True)
    config = EngineConfig.from_values(values)
    profile = profile_of(config, checked_name(arguments.name), scope, time.time())
    saved = _store().add(profile)
    words, left_out = f"Saved as “{saved.name}”.", keys_left_out(config, scope)
    if left_out:
        words += f" Left out, since they are of one model: {', '.join(left_out)}."
    _tell(arguments, saved, words)


def _export(arguments: argparse.Namespace, model: str) -> None:
    profile = found_profile(arguments.name, model)
    if arguments.out.exists() and not arguments.force:
        raise StorageError(
            f"There is a file {arguments.out} already; --force replaces it, another name leaves it."
        )
    exported_to(arguments.out, profile)
    _tell(arguments, profile, f"Exported to {arguments.out}.")


def _import(arguments: argparse.Namespace, _: str) -> None:
    profiles = [imported_from(path) for path in arguments.files]  # all of them or none
    store, done = _store(), []
    for profile in profiles:
        saved = store.add(profile, is_numbered=True)
        done.append(_values(saved))
        if not arguments.json:
            words = f"Imported “{saved.name}”. {taken(saved).caution}"
            _say(words.strip())
    if arguments.json:
        write_json({"imported": done}, sys.stdout)


def _delete(arguments: argparse.Namespace, model: str) -> None:
    profile = found_profile(arguments.name, model)
    if profile.is_built_in:
        raise StorageError(f"“{profile.name}” is built in and cannot be deleted.")
    token = _store().delete(profile.id)
    place = _store().folder / "deleted" / f"{token}.json"
    _tell(arguments, profile, f"Deleted “{profile.name}”; for 30 days it lies in {place}.")


_ACTIONS: Mapping[str, Callable[[argparse.Namespace, str], None]] = {
    "list": _list,
    "show": _show,
    "save": _save,
    "export": _export,
    "import": _import,
    "delete": _delete,
}


def _store() -> ProfileStore:
    return ProfileStore(own_folders().profiles)


def _tell(arguments: argparse.Namespace, profile: Profile, words: str) -> None:
    if arguments.json:
        write_json({**_values(profile), "done": words}, sys.stdout)
    else:
        _say(words)


def _values(profile: Profile) -> dict[str, object]:
    model = profile.model
    saved = datetime.fromtimestamp(profile.saved_s, UTC).isoformat(timespec="seconds")
    return {
        "name": profile.name,
        "model": None if model is None else {"key": model.key, "name": model.name},
        "saved": saved if profile.saved_s > 0 else None,
        "built_in": profile.is_built_in,
        "settings": dict(profile.settings),
    }


def _say(words: str) -> None:
    sys.stdout.write(f"{printable(words)}\n")
