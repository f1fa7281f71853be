"""A file whose text is to be imported: read whole within limits, refused in a sentence.

Touches the disk, so it runs off the GUI thread.
"""

from __future__ import annotations

from pathlib import Path

from app.plain_file import EndlessFileError, decoded, read_plain
from engine_bridge.gguf_window import shown_name

LIMIT_BYTES = 1024 * 1024
"""A log of days is larger; a command in it stands in its first lines and can be pasted."""


class CommandFileError(Exception):
    """The file is not taken; the message is a sentence for the user."""


def read_command_file(path: Path) -> str:
    """The text of a file that a person opened.

    Raises:
        CommandFileError: If it cannot be read, is too large, is empty or is no text.
    """
    name = " ".join(shown_name(path).split())
    try:
        raw = read_plain(path, LIMIT_BYTES)
    except IsADirectoryError as error:
        raise CommandFileError(f"{name} is a folder. Open one of its files.") from error
    except EndlessFileError as error:
        raise CommandFileError(f"{name} is a device or a pipe and has no end. Open a file.") from (
            error
        )
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise CommandFileError(f"{name} could not be read: {reason}.") from error
    if len(raw) > LIMIT_BYTES:
        raise CommandFileError(
            f"{name} is larger than {LIMIT_BYTES >> 20} MiB, which no command is. Copy the lines "
            "that matter and paste them."
        )
    text = decoded(raw)
    if text is None:
        raise CommandFileError(f"{name} is not a text file, so no command stands in it.")
    if not text.strip():
        raise CommandFileError(f"{name} is empty.")
    return text
