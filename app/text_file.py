"""A text file for a message: read whole within limits, decoded, refused in a sentence.

Touches the disk, so it runs off the GUI thread.
"""

from __future__ import annotations

from pathlib import Path

from app.plain_file import EndlessFileError, decoded, read_plain
from engine_bridge.gguf_window import shown_name
from widgets.attached_text import Attached
from widgets.composer_paste import cleaned

LIMIT_BYTES = 2 * 1024 * 1024


class TextFileError(Exception):
    """The file is not taken; the message is a sentence for the user."""


def read_text_file(path: Path) -> Attached:
    """Read a file for a message.

    Raises:
        TextFileError: If it cannot be read, is too large, or is no text.
    """
    name = " ".join(shown_name(path).split())
    try:
        raw = read_plain(path, LIMIT_BYTES)
    except IsADirectoryError as error:
        raise TextFileError(f"{name} is a folder. Drop its files one by one.") from error
    except EndlessFileError as error:
        raise TextFileError(
            f"{name} is a device or a pipe and has no end. Attach a file."
        ) from error
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise TextFileError(f"{name} could not be read: {reason}.") from error
    if len(raw) > LIMIT_BYTES:
        raise TextFileError(
            f"{name} is larger than {LIMIT_BYTES >> 20} MiB, which is more text than a "
            "context holds. Attach the part that matters."
        )
    text = decoded(raw)
    if text is None:
        raise TextFileError(f"{name} is not a text file; the model could make nothing of it.")
    text = cleaned(text).text
    if not text.strip():
        raise TextFileError(f"{name} is empty.")
    return Attached(name, text)
