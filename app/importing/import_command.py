"""Reads the text that ``tunedeck import`` is given and tells what was found in it.

Opens that text and nothing else: no path that stands in it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from app.importing.found_json import as_json as json_of
from app.importing.found_lines import lines_of
from app.importing.importer import TextError, import_text
from app.json_output import tell_error, write_json
from app.plain_file import EndlessFileError, decoded, read_plain
from app.plain_output import printable

LIMIT_BYTES = 2 * 1024 * 1024
"""No command and no file of settings is near it."""


def run_import(name: str, *, as_json: bool) -> int:
    """Tell what ``name`` (``-`` is the input) holds.

    Returns:
        0, or 1 where nothing can be taken from it, which is said in a sentence.
    """
    try:
        found = import_text(_text_of(name), "" if name == "-" else Path(name).name)
    except TextError as error:
        tell_error(str(error), as_json=as_json)
        return 1
    if as_json:
        write_json({"found": [json_of(one) for one in found]}, sys.stdout)
        return 0
    blocks = ["\n".join(map(printable, lines_of(one))) for one in found]
    sys.stdout.write("\n\n".join(blocks) + "\n")
    return 0


def _text_of(name: str) -> str:
    """The text.

    Raises:
        TextError: If it cannot be read, is no text, or is too long.
    """
    raw = _bytes_of(name)
    if len(raw) > LIMIT_BYTES:
        raise TextError(
            f"The text is longer than {LIMIT_BYTES // 1024**2} MiB, and no command line is. Give "
            "the part with the command."
        )
    text = decoded(raw)
    if text is None:
        raise TextError("This is no text but bytes. Give a text with a command, or a text file.")
    return text


def _bytes_of(name: str) -> bytes:
    if name == "-":
        stream = getattr(sys.stdin, "buffer", None)
        if stream is None:
            raise TextError("There is no input to read from. Name a file, or pipe a text in.")
        raw: bytes = stream.read(LIMIT_BYTES + 1)
        return raw
    shown = printable(name)
    try:
        return read_plain(Path(name).expanduser(), LIMIT_BYTES)
    except IsADirectoryError:
        raise TextError(f"{shown} is a folder. Name the file in it.") from None
    except EndlessFileError:
        raise TextError(f"{shown} is a device or a pipe. Pipe its text in and give “-”.") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise TextError(f"{shown} cannot be read: {reason}.") from None
