"""What a file of a profile says, the same in the program's folder and where one is exported. Pure.

JSON: ``{"format": "tunedeck-profile", "schema": 1, "name", "model": {"key", "name"}, "saved":
"2026-11-30T18:47:00Z", "settings": {key: value}}``. ``model`` is left out in a profile for all
models, ``saved`` where nobody knows. Settings are those that differ from the defaults.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime

from app.profiles import ModelScope, Profile, checked_name
from app.storage.json_document import (
    DamagedError,
    document_bytes,
    document_in,
    schema_in,
    short,
)
from app.storage.settings_merge import Document
from app.storage.storage_error import StorageError

FORMAT = "tunedeck-profile"
SCHEMA = 1
# A hundred times what all settings take; more than that is no profile.
MOST_BYTES = 1_000_000
_OWN = ("format", "schema", "name", "model", "saved", "settings")
_MOST_KEY_CHARACTERS, _MOST_MODEL_CHARACTERS = 64, 200


class NewerProfileError(StorageError):
    """The file is of a newer version of the program; it is left as it is."""


def profile_bytes(profile: Profile) -> bytes:
    """The content of a file; its id is the file's name and stands not in it."""
    document: Document = {**profile.rest, "format": FORMAT, "schema": SCHEMA, "name": profile.name}
    if profile.model is not None:
        document["model"] = {"key": profile.model.key, "name": profile.model.name}
    if profile.saved_s > 0:
        saved = datetime.fromtimestamp(profile.saved_s, UTC)
        document["saved"] = saved.isoformat(timespec="seconds").replace("+00:00", "Z")
    return document_bytes({**document, "settings": dict(profile.settings)})


def profile_in(content: bytes, where: str) -> Profile:
    """The profile that a file holds, without an id.

    Args:
        content: All of the file.
        where: The file, for a sentence.

    Raises:
        DamagedError: If it holds none; the message says what is wrong with it.
        NewerProfileError: If a newer version of the program wrote it.
    """
    if len(content) > MOST_BYTES:
        raise DamagedError(f"it has more than {MOST_BYTES:,} bytes")
    document = document_in(content)
    if document.get("format") != FORMAT:
        raise DamagedError("it is no profile of TuneDeck")
    schema = schema_in(document, None)
    if schema > SCHEMA:
        raise NewerProfileError(
            f"The profile in {where} was written by a newer version of TuneDeck (schema "
            f"{short(schema)}, this one knows {SCHEMA}), so nothing of it is taken. Use the newer "
            "version."
        )
    settings = document.get("settings", {})
    if not isinstance(settings, dict):
        raise DamagedError(f"its settings are {short(settings)}")
    return Profile(
        name=_name(document.get("name")),
        settings=settings,
        model=_model(document.get("model")),
        saved_s=_saved_s(document.get("saved")),
        rest={key: value for key, value in document.items() if key not in _OWN},
    )


def _name(value: object) -> str:
    if not isinstance(value, str):
        raise DamagedError(f"its name is {short(value)}")
    try:
        return checked_name(value)
    except ValueError as error:
        raise DamagedError(f"of its name: {str(error).rstrip('.')}") from error


def _model(value: object) -> ModelScope | None:
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise DamagedError(f"its model is {short(value)}")
    key, name = value.get("key"), value.get("name")
    if not isinstance(key, str) or not 0 < len(key) <= _MOST_KEY_CHARACTERS:
        raise DamagedError(f"the key of its model is {short(key)}")
    if not isinstance(name, str):
        raise DamagedError(f"the name of its model is {short(name)}")
    seen = " ".join("".join(filter(str.isprintable, word)) for word in name.split())
    return ModelScope(key, seen[:_MOST_MODEL_CHARACTERS] or key)


def _saved_s(value: object) -> float:
    """When it was saved; a time that is none is no fault in what people made."""
    try:
        saved = datetime.fromisoformat(value) if isinstance(value, str) else None
        seconds = saved.timestamp() if saved is not None and saved.tzinfo is not None else 0.0
    except (ValueError, OverflowError, OSError):
        return 0.0
    return seconds if math.isfinite(seconds) and seconds > 0 else 0.0
