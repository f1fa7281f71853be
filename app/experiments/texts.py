"""The texts that prompts are cut from: those that come with the program, and the user's own.

Touches the disk. Must not know how they are cut.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

import resources
from app.experiments.workload_error import WorkloadError
from app.plain_file import EndlessFileError, decoded, read_plain
from engine_bridge.gguf_window import shown_name

FOLDER = Path(resources.__file__).parent / "texts"
# Twenty novels; what is longer would be read for nothing, since runs are shorter.
LIMIT_BYTES = 8 * 1024 * 1024
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f\x80-\x84\x86-\x9f]")
_LOOKED_AT = 8192


@functools.cache
def bundled(name: str) -> str:
    """A text that comes with the program.

    Args:
        name: Of its file in ``resources/texts``.

    Raises:
        WorkloadError: If the program's files are not whole.
    """
    try:
        return (FOLDER / name).read_text(encoding="utf-8")
    except OSError as error:
        raise WorkloadError(
            f"The text {name} that comes with TuneDeck could not be read: "
            f"{_reason(error)}. Install TuneDeck again."
        ) from error


def bundled_lines(name: str) -> tuple[str, ...]:
    """The lines of a text that comes with the program, without empty ones."""
    return tuple(line for line in bundled(name).splitlines() if line.strip())


def user_text(path: Path) -> str:
    r"""The user's text with ``\n`` as line ends, without control characters.

    Raises:
        WorkloadError: If it cannot be read, is too large, is no text or has nothing in it.
    """
    name = " ".join(shown_name(path).split())
    raw = _raw(path, name)
    if len(raw) > LIMIT_BYTES:
        raise WorkloadError(
            f"{name} is larger than {LIMIT_BYTES >> 20} MiB, more than a run reads. "
            "Use a part of it."
        )
    text = decoded(raw)
    if text is None or _is_garbled(text[:_LOOKED_AT]):
        raise WorkloadError(f"{name} is not a text file.")
    text = _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).strip()
    if not text:
        raise WorkloadError(f"{name} is empty.")
    return text


def _raw(path: Path, name: str) -> bytes:
    try:
        return read_plain(path, LIMIT_BYTES)
    except FileNotFoundError as error:
        raise WorkloadError(f"There is no file {name}. Check the path {path}.") from error
    except IsADirectoryError as error:
        raise WorkloadError(f"{name} is a folder. Name a text file in it.") from error
    except EndlessFileError as error:
        raise WorkloadError(f"{name} is a device or a pipe and has no end. Name a file.") from error
    except (OSError, ValueError) as error:
        # ValueError: a path with a NUL character.
        raise WorkloadError(f"{name} could not be read: {_reason(error)}.") from error


def _is_garbled(text: str) -> bool:
    """Whether it is binary data that happens to have an encoding."""
    odd = sum(not character.isprintable() and not character.isspace() for character in text)
    return odd + text.count("\ufffd") > max(1, len(text) // 100)


def _reason(error: Exception) -> str:
    return (isinstance(error, OSError) and error.strerror) or type(error).__name__
