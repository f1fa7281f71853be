"""What was measured of each model on each machine, one file for each pair.

It can be measured again, so a damaged file is no loss worth more than a sentence in the log.
"""

from __future__ import annotations

import contextlib
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec

from app.storage.atomic_file import write_whole
from app.storage.storage_error import storage_error
from engine_bridge.metrics.observations import MOST, Observation

# Of the file's layout; another one is read as nothing.
_VERSION = 1
# Models that were tried once and never again are forgotten.
_FILES = 64
# Twice what as many observations take; a larger file is none of ours.
_LARGEST_BYTES = 400_000
_WHAT = "What was measured could not be kept for the next time"


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    version: int
    observations: Annotated[tuple[Observation, ...], msgspec.Meta(max_length=MOST)] = ()


@dataclass(frozen=True)
class Found:
    """What a file said.

    Attributes:
        observations: Empty where there was no file, or a damaged one.
        sentence: What the log should know; empty if nothing.
    """

    observations: tuple[Observation, ...] = ()
    sentence: str = ""


class MeasurementStore:
    """A folder of measurements. Waits for the disk: never call it on the GUI thread."""

    def __init__(self, folder: Path) -> None:
        """Use ``folder``; it need not exist."""
        self.folder = folder

    def read(self, machine: str, model: str) -> Found:
        """What was measured of a model on a machine.

        Args:
            machine: ``machine_key``.
            model: ``model_key``.

        Raises:
            StorageError: If there is something that cannot be read.
        """
        path = self._path(machine, model)
        try:
            status = path.stat()
            if stat.S_ISFIFO(status.st_mode) or stat.S_ISCHR(status.st_mode):  # has no end
                return Found(sentence=_damaged(path, "it is no file"))
            if status.st_size > _LARGEST_BYTES:
                return Found(sentence=_damaged(path, "it is too large"))
            content = path.read_bytes()
        except FileNotFoundError:
            return Found()
        except OSError as error:
            raise storage_error("What was measured before could not be read", path, error) from None
        try:
            file = msgspec.json.decode(content, type=_File)
        except msgspec.MsgspecError as error:
            return Found(sentence=_damaged(path, str(error)))
        if file.version != _VERSION:
            return Found(sentence=_damaged(path, f"its version is {file.version}"))
        return Found(file.observations)

    def write(self, machine: str, model: str, observations: Iterable[Observation]) -> None:
        """Replace what is kept of a model on a machine, and forget the models used least lately.

        Raises:
            StorageError: If it could not be written.
        """
        newest = tuple(observations)[-MOST:]
        content = msgspec.json.encode(_File(_VERSION, newest))
        write_whole(self._path(machine, model), content, _WHAT)
        self._forget_old()

    def _path(self, machine: str, model: str) -> Path:
        return self.folder / f"{machine}-{model}.json"

    def _forget_old(self) -> None:
        with contextlib.suppress(OSError):  # another copy of the program may do the same
            paths = sorted(self.folder.glob("*-*.json"), key=lambda path: path.stat().st_mtime_ns)
            for path in paths[:-_FILES]:
                path.unlink(missing_ok=True)


def _damaged(path: Path, why: str) -> str:
    return (
        f"What was measured before ({path.name}) cannot be used, since {why}: predictions begin "
        "anew with the next answers."
    )
