"""A JSON document of the program's own: read with patience, written for people, never lost.

Knows JSON and what befalls a file; must not know what a document is for, nor Qt, which who only
reads need not wait for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from app.storage.settings_merge import Document
from app.storage.storage_error import storage_error

# Of a value, in a sentence.
_MOST_SHOWN = 60


class DamagedError(ValueError):
    """It is no such document; the message says what is wrong with it."""


def document_in(content: bytes) -> Document:
    """The document that a file holds.

    Raises:
        DamagedError: If it is none.
    """
    try:
        # Editors of Windows put a mark in front.
        document = json.loads(content.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise DamagedError(str(error)) from error
    if not isinstance(document, dict):
        raise DamagedError("it holds no settings")
    return document


def schema_in(document: Mapping[str, object], otherwise: object) -> int:
    """The number of a document's layout; ``otherwise`` where it says none.

    Raises:
        DamagedError: If it is no such number.
    """
    schema = document.get("schema", otherwise)
    if isinstance(schema, bool) or not isinstance(schema, int) or schema < 1:
        raise DamagedError(f"its schema is {short(schema)}")
    return schema


def document_bytes(document: Mapping[str, object]) -> bytes:
    """For people to read; a file name that is no UTF-8 makes all of it ASCII."""
    try:
        return (json.dumps(document, ensure_ascii=False, indent=1) + "\n").encode()
    except UnicodeEncodeError:
        return (json.dumps(document, indent=1) + "\n").encode()


def short(value: object) -> str:
    """``value`` in a sentence."""
    text = repr(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 1]}…"


def move_aside(path: Path, what: str) -> Path:
    """Give a damaged file another name beside it; gives that name.

    Args:
        path: The file; a link is followed.
        what: Begins the sentence of an error.

    Raises:
        StorageError: If it cannot be renamed.
    """
    target = path.resolve()
    number = 1
    while (aside := target.with_name(f"{target.name}.damaged-{number}")).exists():
        number += 1
    try:
        target.rename(aside)
    except OSError as error:
        raise storage_error(what, target, error) from error
    return aside


def _refuse_constant(word: str) -> object:
    raise ValueError(f"{word} is no number")
